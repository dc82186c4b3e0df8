//! What retention says to people: spans, reasons, sentences. All words are ours, but names.

use restante_app::retention::{EndpointPlan, Kept};
use restante_core::retention::{Limit, Sourced};

use crate::parts::amount::counted;

/// `30 days`.
pub(crate) fn days(days: u32) -> String {
    counted(days.into(), "day", "days")
}

/// `30 days`, `never`, `2 hours after the last consumer is done`.
pub(crate) fn limit(limit: Limit, one: &str, many: &str) -> String {
    limit.value().map_or_else(|| "never".to_owned(), |value| counted(value.into(), one, many))
}

/// Where a number of days comes from, and what was asked for in vain.
pub(crate) fn source(sourced: &Sourced<u32>) -> String {
    let from = sourced.from.words();
    let Some(asked) = sourced.asked else { return from.to_owned() };
    let bound = if asked > sourced.value { "at most" } else { "at least" };
    format!("{from} says {}, and the instance allows {bound} {}", days(asked), days(sourced.value))
}

/// Why something stays, after "they stay:".
pub(crate) fn kept(why: &str) -> &'static str {
    let why = Kept::ALL.into_iter().find(|known| known.as_str() == why);
    match why {
        Some(Kept::Pending) => "a consumer has still to process them",
        Some(Kept::Leased) => "a worker has them",
        Some(Kept::Failed) => "they failed, and nobody has settled them",
        Some(Kept::Uncertain) => "they are uncertain, and nobody has settled them",
        Some(Kept::Repair) => "they wait for a repair",
        Some(Kept::Hold) => "they are held",
        Some(Kept::Shared) => "another event of the same request stays",
        Some(Kept::Backfill) => "a consumer is being handed what was here before it",
        Some(Kept::Secret) => "a secret of their day still verifies, and the sender signs no id or no time",
        Some(Kept::SentAgain) => "the sender sent them again and may still be trying",
        None => "for a reason that this version does not know",
    }
}

/// How long keys live, in days; what is no whole number of them can't be.
pub(crate) fn key_days(plan: &EndpointPlan) -> String {
    counted(plan.life.seconds / restante_core::retention::DAY_SECONDS, "day", "days")
}

/// What the key's life means, in a sentence or two.
pub(crate) fn meaning(plan: &EndpointPlan) -> String {
    let life = key_days(plan);
    if let (Some(over), Some(window)) = (&plan.overridden, &plan.life.overridden) {
        return format!(
            "An event that comes again is known as a duplicate for {life} only: an administrator has overridden the window of \
             {} in which {}. The reason given is: {}",
            window.span(),
            window.what,
            over.reason
        );
    }
    let known = format!("An event that comes again is known as a duplicate for {life}.");
    match (&plan.life.raised_by, restante_core::retention::largest(&plan.windows)) {
        (Some(window), _) => format!(
            "{known} The policy says {}, which is too short: for {} {}. {}",
            days(plan.resolved.receipt_days.value),
            window.span(),
            window.what,
            window.source
        ),
        (None, Some(window)) => {
            format!("{known} That covers the longest window, {}, in which {}.", window.span(), window.what)
        }
        (None, None) => known,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_a_bound_changed_says_what_was_asked_for() {
        let sourced = |asked| Sourced { value: 20, from: restante_core::retention::Level::Tenant, asked };
        assert_eq!(source(&sourced(None)), "the tenant's policy");
        assert!(
            source(&sourced(Some(90))).ends_with("says 90 days, and the instance allows at most 20 days")
        );
        assert!(source(&sourced(Some(1))).ends_with("says 1 day, and the instance allows at least 20 days"));
    }

    #[test]
    fn every_reason_has_words_of_its_own() {
        let all: std::collections::BTreeSet<&str> = Kept::ALL.iter().map(|why| kept(why.as_str())).collect();
        assert_eq!(all.len(), Kept::ALL.len());
        assert!(kept("<b>").contains("does not know"));
    }
}
