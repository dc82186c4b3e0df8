//! From what the levels say to what is in force, with where each value comes from.

use serde::Serialize;

use super::policy::{Bounds, Limit, Policy, Range};

/// A level, from the narrowest to the widest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// The endpoint itself.
    Endpoint,
    /// Every endpoint of the provider in the tenant.
    Provider,
    /// The tenant.
    Tenant,
    /// The instance: what its administrators set.
    Instance,
    /// What Restante comes with.
    Product,
}

impl Level {
    /// Who said it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Endpoint => "this endpoint's policy",
            Self::Provider => "the tenant's policy for this provider",
            Self::Tenant => "the tenant's policy",
            Self::Instance => "the instance's default",
            Self::Product => "Restante's default",
        }
    }
}

/// A value, and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Sourced<T> {
    /// What is in force.
    pub value: T,
    /// Who said so.
    pub from: Level,
    /// What that level said, where the instance's bounds allow it no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<T>,
}

/// What is in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Resolved {
    /// Days after which the sealed request goes.
    pub payload_days: Sourced<u32>,
    /// Days for which the key stays, before the guardrail.
    pub receipt_days: Sourced<u32>,
    /// Hours after the last consumer has processed it.
    pub payload_after_processed_hours: Sourced<Limit>,
    /// Days after which what nobody has processed is given up.
    pub expire_unprocessed_days: Sourced<Limit>,
    /// Days for which it must be possible to show that an event came.
    pub audit_days: Sourced<u32>,
    /// Days for which people may have events sent or imported again.
    pub replay_days: Sourced<u32>,
    /// Days of the longest outage.
    pub outage_days: Sourced<u32>,
    /// Days for which a line of the audit log is kept.
    pub log_days: Sourced<u32>,
}

/// What Restante comes with.
const PRODUCT: Policy = Policy {
    payload_days: Some(30),
    receipt_days: Some(400),
    payload_after_processed_hours: Some(Limit::Never),
    expire_unprocessed_days: Some(Limit::Never),
    audit_days: Some(0),
    replay_days: Some(0),
    // A team's long holidays.
    outage_days: Some(14),
    log_days: Some(730),
};

/// What is in force by these levels, the narrowest first. Each value is the first that is said, within the bounds.
pub fn resolve(levels: &[(Level, Policy)], bounds: &Bounds) -> Resolved {
    let payload_days = said(levels, |policy| policy.payload_days, 30);
    let receipt_days = said(levels, |policy| policy.receipt_days, 400);
    Resolved {
        payload_days: within(payload_days, bounds.payload_days),
        receipt_days: within(receipt_days, bounds.receipt_days),
        payload_after_processed_hours: said(
            levels,
            |policy| policy.payload_after_processed_hours,
            Limit::Never,
        ),
        expire_unprocessed_days: said(levels, |policy| policy.expire_unprocessed_days, Limit::Never),
        audit_days: said(levels, |policy| policy.audit_days, 0),
        replay_days: said(levels, |policy| policy.replay_days, 0),
        outage_days: said(levels, |policy| policy.outage_days, 0),
        log_days: said(levels, |policy| policy.log_days, 730),
    }
}

fn said<T>(levels: &[(Level, Policy)], of: impl Fn(&Policy) -> Option<T>, otherwise: T) -> Sourced<T> {
    let product = [(Level::Product, PRODUCT)];
    let found = levels.iter().chain(&product).find_map(|(level, policy)| Some((of(policy)?, *level)));
    let (value, from) = found.unwrap_or((otherwise, Level::Product));
    Sourced { value, from, asked: None }
}

fn within(said: Sourced<u32>, range: Range) -> Sourced<u32> {
    let value = range.clamp(said.value);
    Sourced { value, asked: (value != said.value).then_some(said.value), ..said }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(payload: Option<u32>, receipt: Option<u32>) -> Policy {
        Policy { payload_days: payload, receipt_days: receipt, ..Policy::default() }
    }

    #[test]
    fn without_a_word_payloads_stay_30_days_and_keys_400() {
        let found = resolve(&[], &Bounds::default());
        assert_eq!(found.payload_days, Sourced { value: 30, from: Level::Product, asked: None });
        assert_eq!(found.receipt_days.value, 400);
        assert_eq!(found.expire_unprocessed_days.value, Limit::Never);
        assert_eq!(found.payload_after_processed_hours.value, Limit::Never);
    }

    #[test]
    fn the_narrowest_word_counts_for_each_value_by_itself() {
        let levels = [
            (Level::Endpoint, days(None, Some(90))),
            (Level::Provider, days(Some(3), None)),
            (Level::Tenant, days(Some(5), Some(100))),
            (Level::Instance, Policy { log_days: Some(60), ..days(Some(9), Some(200)) }),
        ];
        let found = resolve(&levels, &Bounds::default());
        assert_eq!((found.payload_days.value, found.payload_days.from), (3, Level::Provider));
        assert_eq!((found.receipt_days.value, found.receipt_days.from), (90, Level::Endpoint));
        assert_eq!((found.log_days.value, found.log_days.from), (60, Level::Instance));
        let never = Policy { expire_unprocessed_days: Some(Limit::Never), ..Policy::default() };
        let after = Policy { expire_unprocessed_days: Some(Limit::After(5)), ..Policy::default() };
        let found = resolve(&[(Level::Endpoint, never), (Level::Tenant, after)], &Bounds::default());
        assert_eq!(found.expire_unprocessed_days.value, Limit::Never, "a narrower level switches it off");
    }

    #[test]
    fn bounds_that_were_narrowed_later_hold_and_say_so() {
        let bounds = Bounds { payload_days: Range { min: 2, max: 10 }, ..Bounds::default() };
        let found = resolve(&[(Level::Endpoint, days(Some(90), None))], &bounds);
        assert_eq!(found.payload_days, Sourced { value: 10, from: Level::Endpoint, asked: Some(90) });
        let found = resolve(&[(Level::Tenant, days(Some(1), None))], &bounds);
        assert_eq!(found.payload_days, Sourced { value: 2, from: Level::Tenant, asked: Some(1) });
    }
}
