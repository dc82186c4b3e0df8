//! The rows of the overview's tables, each with the list that it stands for.

use restante_app::overview::{AGE_RANGES, ConsumerOverview, EndpointOverview, OLDEST_RANGE};
use restante_core::time::Timestamp;

use super::tiles::OLD_SECONDS;
use super::window::minute;
use crate::parts::amount::{number, percent};
use crate::parts::badge::Badge;
use crate::parts::chart::{AgeStrip, Spark};
use crate::parts::link::Link;
use crate::parts::moment::{Moment, span};
use crate::parts::shell::{Shell, letter};

/// What waits at a consumer.
#[derive(Debug)]
pub(super) struct ConsumerRow {
    pub(super) name: String,
    pub(super) href: String,
    pub(super) pending: String,
    pub(super) pending_href: String,
    pub(super) oldest: Option<String>,
    pub(super) late: bool,
    pub(super) ages: Option<AgeStrip>,
    pub(super) leased: String,
    pub(super) failed: u64,
    pub(super) failed_href: String,
}

/// What came in at an endpoint.
#[derive(Debug)]
pub(super) struct EndpointRow {
    pub(super) name: String,
    pub(super) letter: String,
    pub(super) provider: String,
    pub(super) href: String,
    pub(super) accepted: String,
    pub(super) events_href: String,
    pub(super) repeats: String,
    pub(super) usual: Option<String>,
    pub(super) unusual: bool,
    pub(super) course: Spark,
    pub(super) badge: Option<Badge>,
    pub(super) newest: Option<Moment>,
}

/// Why requests were refused.
#[derive(Debug)]
pub(super) struct RefusalRow {
    pub(super) reason: String,
    pub(super) count: String,
    pub(super) mostly_at: Option<String>,
    pub(super) href: String,
}

/// An endpoint that fell silent.
#[derive(Debug)]
pub(super) struct SilentRow {
    pub(super) name: String,
    pub(super) href: String,
    pub(super) since: String,
    pub(super) pause: Option<String>,
}

pub(super) fn consumer(shell: &Shell, one: &ConsumerOverview) -> ConsumerRow {
    let events = |state: &str| {
        let link = Link::to(shell.at("/events")).with("consumer", &*one.name).with("state", state);
        link.to_string()
    };
    ConsumerRow {
        href: shell.at(&format!("/consumers/{}", one.name)),
        pending: number(one.pending),
        pending_href: events("pending"),
        oldest: one.age_seconds.map(span),
        late: one.age_seconds.is_some_and(|seconds| seconds >= OLD_SECONDS),
        ages: one.ages.as_ref().map(|ages| {
            let words = AGE_RANGES.iter().map(|(_, word)| *word).chain([OLDEST_RANGE]);
            AgeStrip::new(words.zip(ages).map(|(word, age)| (word, age.count, age.more)))
        }),
        leased: number(one.leased),
        failed: one.failed + one.uncertain,
        failed_href: Link::to(shell.at("/failures")).with("consumer", &*one.name).to_string(),
        name: one.name.clone(),
    }
}

pub(super) fn endpoint(
    shell: &Shell,
    one: &EndpointOverview,
    since: Timestamp,
    now: Timestamp,
) -> EndpointRow {
    let repeats = one.repeat_share();
    EndpointRow {
        letter: letter(&one.provider),
        href: shell.at(&format!("/endpoints/{}", one.id)),
        accepted: number(one.accepted),
        events_href: Link::to(shell.at("/events"))
            .with("endpoint", one.id.to_string())
            .with("received_after", minute(since))
            .to_string(),
        repeats: percent(repeats),
        usual: one.usual_repeats.map(|(low, high)| match (percent(low), percent(high)) {
            (low, high) if low == high => format!("usually {low}"),
            (low, high) => format!("usually {low} to {high}"),
        }),
        unusual: one.repeats_are_unusual(),
        course: Spark::new("Repeats", one.repeats.iter().map(|share| share.unwrap_or(0.0)).collect()),
        badge: badge(one),
        newest: one.newest.map(|at| Moment::new(at, now)),
        name: one.name.clone(),
        provider: one.provider.clone(),
    }
}

/// What is to be said of an endpoint beside its figures.
pub(crate) fn badge(one: &EndpointOverview) -> Option<Badge> {
    match (one.enabled, one.silence, one.newest) {
        (false, ..) => Some(Badge::enabled(false)),
        (true, Some(_), _) => Some(Badge::SILENT),
        (true, None, None) => Some(Badge::WAITING),
        (true, None, Some(_)) => None,
    }
}
