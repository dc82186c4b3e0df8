//! Failures: groups of handoffs that failed, or may have had an effect, in the same way at one consumer.

use askama::Template;
use axum::extract::{Query, State};
use axum::response::Response;
use restante_app::failures::{FailureGroup, Failures};
use restante_core::handoff::{Outcome, State as Standing};
use restante_core::time::Timestamp;
use serde::Deserialize;

use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::alien::Alien;
use crate::parts::amount::{counted, number};
use crate::parts::badge::Badge;
use crate::parts::link::Link;
use crate::parts::moment::Moment;
use crate::parts::shell::{Area, Shell};
use crate::session::Member;
use crate::state::Web;
use crate::tenant::choices::{Choice, Choices};
use crate::tenant::frame::{Said, frame};

/// Characters of an error that the list shows.
const ERROR_CHARS_MAX: usize = 500;

/// The page.
#[derive(Debug, Template)]
#[template(path = "tenant/failures/list.html")]
struct ListPage {
    shell: Shell,
    consumers: Vec<Choice>,
    groups: Vec<Group>,
    /// That there are more than were looked at.
    more: Option<String>,
    filtered: bool,
}

impl Page for ListPage {}

#[derive(Debug)]
struct Group {
    consumer: String,
    href: String,
    state: Badge,
    error: Option<Alien>,
    how: &'static str,
    unreadable: bool,
    count: String,
    types: Vec<Alien>,
    last: Option<Moment>,
    events: String,
    receipts: Vec<String>,
    /// What a replay or settlement of this group covers, when it has more events than that.
    first: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    consumer: String,
}

pub(crate) async fn show(
    State(web): State<Web>,
    member: Member,
    Query(asked): Query<Asked>,
    said: Said,
) -> Result<Response, Fault> {
    let choices = Choices::of(&web.app, &member.by).await?;
    let consumer = Some(asked.consumer.clone()).filter(|name| !name.is_empty());
    let failures = web.app.failures(&member.by, consumer).await?;
    let shell = frame(&web, &member, Area::Failures, &said).await?;
    Ok(answer(&ListPage::new(shell, &choices, &asked.consumer, &failures, web.app.clock.now())))
}

impl ListPage {
    fn new(shell: Shell, choices: &Choices, present: &str, failures: &Failures, now: Timestamp) -> Self {
        let shown: u64 = failures.groups.iter().map(|group| group.count as u64).sum();
        let more = failures.waiting.saturating_sub(shown);
        Self {
            groups: failures.groups.iter().map(|one| group(&shell, one, now)).collect(),
            more: (more > 0).then(|| counted(more, "older one", "older ones")),
            consumers: choices.consumers(present),
            filtered: !present.is_empty(),
            shell,
        }
    }
}

fn group(shell: &Shell, one: &FailureGroup, now: Timestamp) -> Group {
    let events = Link::to(shell.at("/events"));
    let covered = one.receipts.len();
    Group {
        href: shell.at(&format!("/consumers/{}", one.consumer)),
        events: events.with("consumer", &*one.consumer).with("state", one.state.as_str()).to_string(),
        state: Badge::state(one.state),
        error: one.error.as_deref().map(|text| Alien::cut(text, ERROR_CHARS_MAX)),
        how: how(one),
        unreadable: one.unreadable,
        count: if one.exact { number(one.count as u64) } else { format!("{}+", number(one.count as u64)) },
        types: one.types.iter().map(|text| Alien::cut(text, 60)).collect(),
        last: one.last_at.map(|at| Moment::new(at, now)),
        receipts: one.receipts.iter().map(ToString::to_string).collect(),
        first: (covered < one.count || !one.exact).then(|| format!("the newest {covered}")),
        consumer: one.consumer.clone(),
    }
}

/// How the last attempts ended, where nobody said more.
const fn how(one: &FailureGroup) -> &'static str {
    match (one.unreadable, one.outcome, one.state) {
        (true, ..) => "The event’s id could not be read",
        (_, Some(Outcome::Exhausted), _) => "No try was left",
        (_, Some(Outcome::Expired), _) => "The last lease ran out",
        (_, _, Standing::Uncertain) => "The application can’t tell whether it had an effect",
        _ => "The application gave it up",
    }
}

#[cfg(test)]
mod tests {
    use restante_core::id::ReceiptId;
    use uuid::Uuid;

    use super::*;
    use crate::parts::samples::{HOSTILE, check, long};

    const NOW: Timestamp = Timestamp::from_seconds(1_796_040_000);

    fn group(text: &str, count: usize) -> FailureGroup {
        FailureGroup {
            consumer: "billing".to_owned(),
            state: Standing::Failed,
            outcome: Some(Outcome::Exhausted),
            error: Some(text.to_owned()).filter(|text| !text.is_empty()),
            unreadable: false,
            count,
            exact: count < 1_000,
            receipts: (0..count.min(100)).map(|n| ReceiptId(Uuid::from_u128(n as u128))).collect(),
            types: vec![text.to_owned()],
            last_at: Some(NOW.plus_seconds(-60)),
        }
    }

    fn page(groups: Vec<FailureGroup>, waiting: u64, shell: Shell) -> String {
        let failures = Failures { groups, waiting };
        ListPage::new(shell, &Choices::sample("Payments"), "", &failures, NOW).render().unwrap()
    }

    #[test]
    fn every_sample_makes_a_page() {
        let shell = || Shell::hostile(Area::Failures);
        let unreadable =
            FailureGroup { unreadable: true, outcome: None, error: None, last_at: None, ..group("", 1) };
        let uncertain = FailureGroup {
            state: Standing::Uncertain,
            outcome: Some(Outcome::Uncertain),
            ..group(HOSTILE, 1)
        };
        for groups in [
            vec![],
            vec![group("timeout", 3)],
            vec![unreadable, uncertain],
            (0..40).map(|_| group(&long(), 1_000)).collect(),
        ] {
            check(&page(groups, 90_000, shell()));
        }
    }

    #[test]
    fn a_group_is_replayed_or_settled_as_a_whole_and_a_viewer_only_looks() {
        let text = page(vec![group("timeout", 120)], 130, Shell::sample(Area::Failures));
        assert_eq!(text.matches("name=\"event\" value=\"rcp_").count(), 100);
        assert!(text.contains("the newest 100") && text.contains("10 older ones"), "{text}");
        assert!(text.contains(">120</a>"), "all of them");
        let some = FailureGroup { exact: false, ..group("timeout", 80) };
        let text = page(vec![some], 90_000, Shell::sample(Area::Failures));
        assert!(text.contains(">80+</a>") && text.contains("the newest 80"), "{text}");
        assert!(
            text.contains("name=\"to\" value=\"billing\"")
                && text.contains("formaction=\"/t/acme/failures/settle\"")
        );
        let mut shell = Shell::sample(Area::Failures);
        shell.scopes = restante_core::access::Role::Viewer.scopes();
        let text = page(vec![group("timeout", 1)], 1, shell);
        assert!(!text.contains("<button class=\"btn small\"") && text.contains("timeout"));
    }

    #[test]
    fn nothing_to_do_is_told_as_good_news() {
        assert!(page(vec![], 0, Shell::sample(Area::Failures)).contains("Nothing waits for a person"));
    }
}
