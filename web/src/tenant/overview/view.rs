//! The overview as its template takes it: every figure in words, each with the list that it stands for.

use askama::Template;
use restante_app::overview::{AGE_RANGES, ConsumerOverview, EndpointOverview, OLDEST_RANGE, Overview, Slot};
use restante_app::stats::Window;
use restante_core::time::Timestamp;

use crate::page::Page;
use crate::parts::amount::{counted, number, percent};
use crate::parts::badge::Badge;
use crate::parts::chart::{AgeStrip, Bars, Series, Spark};
use crate::parts::link::Link;
use crate::parts::moment::{Moment, exact, hour_and_minute, span, weekday_and_hour};
use crate::parts::reasons::reason;
use crate::parts::shell::{Shell, letter};

/// Rows that each table shows; the lists show the rest.
const ROWS_MAX: usize = 8;
/// An age from which on the oldest pending event is worth a colour: ten minutes.
const OLD_SECONDS: u64 = 600;

/// The page.
#[derive(Debug, Template)]
#[template(path = "tenant/overview.html")]
pub(crate) struct OverviewPage {
    pub(crate) shell: Shell,
    windows: Vec<Choice>,
    /// How the window is called in a sentence.
    window: &'static str,
    /// Its word in addresses.
    window_word: &'static str,
    now: String,
    tiles: Vec<Tile>,
    chart: Bars,
    consumers: Vec<ConsumerRow>,
    consumers_more: usize,
    endpoints: Vec<EndpointRow>,
    endpoints_more: usize,
    refusals: Vec<RefusalRow>,
    silent: Vec<SilentRow>,
    /// Endpoints whose provider could be asked what it sent, and is not: a few, and how many more.
    unasked: Vec<(String, String)>,
    unasked_more: usize,
    /// Whether there is anything that could receive.
    has_endpoints: bool,
}

impl Page for OverviewPage {}

/// A choice that is a link.
#[derive(Debug)]
pub(crate) struct Choice {
    pub(crate) label: &'static str,
    pub(crate) href: String,
    pub(crate) current: bool,
}

/// A figure that stands for a whole.
#[derive(Debug)]
struct Tile {
    id: &'static str,
    tone: &'static str,
    icon: &'static str,
    label: &'static str,
    value: String,
    sub: String,
    href: String,
}

#[derive(Debug)]
struct ConsumerRow {
    name: String,
    href: String,
    pending: String,
    pending_href: String,
    oldest: Option<String>,
    late: bool,
    ages: Option<AgeStrip>,
    leased: String,
    failed: u64,
    failed_href: String,
}

#[derive(Debug)]
struct EndpointRow {
    name: String,
    letter: String,
    provider: String,
    href: String,
    accepted: String,
    events_href: String,
    repeats: String,
    usual: Option<String>,
    unusual: bool,
    course: Spark,
    badge: Option<Badge>,
    newest: Option<Moment>,
}

#[derive(Debug)]
struct RefusalRow {
    reason: String,
    count: String,
    mostly_at: Option<String>,
    href: String,
}

#[derive(Debug)]
struct SilentRow {
    name: String,
    href: String,
    since: String,
    pause: Option<String>,
}

/// Endpoints that are named of those whose provider is not asked.
const UNASKED_MAX: usize = 3;

impl OverviewPage {
    /// With the endpoints whose provider could be asked what it sent, and is not: name and address.
    pub(crate) fn with_unasked(mut self, mut unasked: Vec<(String, String)>) -> Self {
        self.unasked_more = unasked.len().saturating_sub(UNASKED_MAX);
        unasked.truncate(UNASKED_MAX);
        self.unasked = unasked;
        self
    }

    /// The page of what an app gave.
    pub(crate) fn new(shell: Shell, overview: Overview) -> Self {
        let Overview { window, now, slots, endpoints, refusals, consumers } = overview;
        let total = slots.total();
        let tiles = tiles(&shell, total, &consumers, &refusals);
        let name = |id| {
            endpoints.iter().find(|endpoint| Some(endpoint.id) == id).map(|endpoint| endpoint.name.clone())
        };
        let refusals = refusals
            .iter()
            .take(ROWS_MAX)
            .map(|refused| RefusalRow {
                reason: reason(&refused.reason).to_owned(),
                count: number(refused.count),
                mostly_at: name(refused.mostly_at),
                href: match refused.mostly_at {
                    Some(id) => Link::to(shell.at("/refusals")).with("endpoint", id.to_string()).to_string(),
                    None => shell.at("/refusals"),
                },
            })
            .collect();
        let silent = endpoints.iter().filter_map(|endpoint| {
            let silence = endpoint.silence?;
            Some(SilentRow {
                name: endpoint.name.clone(),
                href: shell.at(&format!("/endpoints/{}", endpoint.id)),
                since: span(silence.seconds),
                pause: silence.longest_pause_seconds.map(span),
            })
        });
        let since = slots.since();
        Self {
            unasked: Vec::new(),
            unasked_more: 0,
            windows: windows(&shell.at(""), window),
            window: in_a_sentence(window),
            window_word: window.as_str(),
            now: exact(Timestamp::from_seconds(now.seconds())).replacen(".000", "", 1),
            chart: requests(window, slots.iter()),
            consumers: consumers.iter().take(ROWS_MAX).map(|one| consumer(&shell, one, now)).collect(),
            consumers_more: consumers.len().saturating_sub(ROWS_MAX),
            silent: silent.collect(),
            has_endpoints: !endpoints.is_empty(),
            endpoints_more: endpoints.len().saturating_sub(ROWS_MAX),
            endpoints: endpoints.iter().take(ROWS_MAX).map(|one| endpoint(&shell, one, since, now)).collect(),
            refusals,
            tiles,
            shell,
        }
    }
}

/// The windows as choices below a path.
pub(crate) fn windows(path: &str, present: Window) -> Vec<Choice> {
    let choice = |window: Window| Choice {
        label: match window {
            Window::Hour => "1 hour",
            Window::Day => "24 hours",
            Window::Week => "7 days",
        },
        href: Link::to(path).with("window", window.as_str()).to_string(),
        current: window == present,
    };
    Window::ALL.map(choice).into()
}

/// "the last 24 hours".
pub(crate) const fn in_a_sentence(window: Window) -> &'static str {
    match window {
        Window::Hour => "the last hour",
        Window::Day => "the last 24 hours",
        Window::Week => "the last 7 days",
    }
}

/// A slot's beginning in words.
pub(crate) fn slot_label(window: Window, at: Timestamp) -> String {
    match window {
        Window::Hour | Window::Day => hour_and_minute(at),
        Window::Week => weekday_and_hour(at),
    }
}

/// What a slot is called.
pub(crate) const fn slot_unit(window: Window) -> &'static str {
    match window {
        Window::Hour => "Minute (UTC)",
        Window::Day => "Hour (UTC)",
        Window::Week => "From (UTC)",
    }
}

/// The chart of what came in.
pub(crate) fn requests<'a>(window: Window, slots: impl Iterator<Item = &'a Slot>) -> Bars {
    let series = vec![
        Series { name: "new events", colour: "c1" },
        Series { name: "repeats", colour: "c2" },
        Series { name: "refused", colour: "c3" },
        Series { name: "not kept", colour: "c4" },
    ];
    let slots = slots
        .map(|slot| crate::parts::chart::Slot {
            label: slot_label(window, slot.at),
            counts: vec![slot.accepted, slot.duplicates, slot.refused, slot.failed],
        })
        .collect();
    Bars::new(&format!("What came in during {}", in_a_sentence(window)), slot_unit(window), series, slots)
}

fn tiles(
    shell: &Shell,
    total: Slot,
    consumers: &[ConsumerOverview],
    refusals: &[restante_app::overview::Refused],
) -> Vec<Tile> {
    let events = |link: Link| link.to_string();
    let oldest = consumers.iter().find(|consumer| consumer.oldest.is_some());
    let (failed, uncertain) =
        consumers.iter().fold((0, 0), |sum, one| (sum.0 + one.failed, sum.1 + one.uncertain));
    let authentic = total.accepted + total.duplicates;
    let repeats = if authentic == 0 { 0.0 } else { total.duplicates as f64 / authentic as f64 };
    let requests = authentic + total.refused;
    let refused = if requests == 0 { 0.0 } else { total.refused as f64 / requests as f64 };
    vec![
        Tile {
            id: "tile-events",
            tone: "",
            icon: "events",
            label: "New events",
            value: number(total.accepted),
            sub: if authentic == 0 {
                "nothing came in".to_owned()
            } else {
                format!("{} repeats, {} of all deliveries", number(total.duplicates), percent(repeats))
            },
            href: events(Link::to(shell.at("/events")).with("received_after", minute(total.at))),
        },
        oldest_tile(shell, oldest),
        Tile {
            id: "tile-failures",
            tone: if failed + uncertain > 0 { "bad" } else { "" },
            icon: "failures",
            label: "Wait for a person",
            value: number(failed + uncertain),
            sub: if failed + uncertain == 0 {
                "no permanent failure is open".to_owned()
            } else {
                format!("{} failed for good, {} uncertain", number(failed), number(uncertain))
            },
            href: shell.at("/failures"),
        },
        Tile {
            id: "tile-refused",
            tone: "",
            icon: "shield",
            label: "Refused",
            value: number(total.refused),
            sub: match refusals.first() {
                Some(most) => format!("{} of requests; mostly: {}", percent(refused), reason(&most.reason)),
                None => "every request was authentic".to_owned(),
            },
            href: shell.at("/refusals"),
        },
    ]
}

/// A moment for the field of a filter: `2026-11-30T14:02`.
pub(crate) fn minute(at: Timestamp) -> String {
    at.to_string().chars().take(16).collect()
}

fn oldest_tile(shell: &Shell, oldest: Option<&ConsumerOverview>) -> Tile {
    let base = Tile {
        id: "tile-oldest",
        tone: "",
        icon: "clock",
        label: "Oldest pending",
        value: "none".to_owned(),
        sub: "every consumer is up to date".to_owned(),
        href: shell.at("/consumers"),
    };
    match oldest.and_then(|one| Some((one, one.age_seconds?))) {
        None => base,
        Some((one, seconds)) => Tile {
            tone: if seconds >= OLD_SECONDS { "warn" } else { "" },
            value: span(seconds),
            sub: format!("at {}, {}", one.name, counted(one.pending, "event waits", "events wait")),
            href: shell.at(&format!("/consumers/{}", one.name)),
            ..base
        },
    }
}

fn consumer(shell: &Shell, one: &ConsumerOverview, _now: Timestamp) -> ConsumerRow {
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

fn endpoint(shell: &Shell, one: &EndpointOverview, since: Timestamp, now: Timestamp) -> EndpointRow {
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

#[cfg(test)]
pub(crate) mod samples {
    //! What the page is tried with.

    use restante_app::overview::{Refused, Silence, Slots};
    use restante_core::id::{ConsumerId, EndpointId};
    use restante_store::stats::AgeCount;
    use uuid::Uuid;

    use super::*;
    use crate::parts::samples::{HOSTILE, long};

    pub(crate) const NOW: Timestamp = Timestamp::from_seconds(1_796_040_000);

    fn endpoint(name: &str, provider: &str) -> EndpointOverview {
        EndpointOverview {
            id: EndpointId(Uuid::from_u128(1)),
            name: name.to_owned(),
            provider: provider.to_owned(),
            enabled: true,
            accepted: 8_210,
            duplicates: 271,
            refused: 12,
            newest: Some(NOW.plus_seconds(-60)),
            repeats: (0..24).map(|n| (n % 5 != 4).then_some(f64::from(n) / 100.0)).collect(),
            usual_repeats: Some((0.01, 0.04)),
            silence: None,
        }
    }

    fn consumer(name: &str) -> ConsumerOverview {
        ConsumerOverview {
            id: ConsumerId(Uuid::from_u128(2)),
            name: name.to_owned(),
            pending: 1_204,
            leased: 50,
            failed: 9,
            uncertain: 3,
            attempts: 4_000,
            oldest: Some(NOW.plus_seconds(-8_040)),
            age_seconds: Some(8_040),
            ages: Some(
                [40, 80, 200, 400, 300, 184].map(|count| AgeCount { count, more: count == 400 }).into(),
            ),
        }
    }

    fn of(
        endpoints: Vec<EndpointOverview>,
        consumers: Vec<ConsumerOverview>,
        refusals: Vec<Refused>,
    ) -> Overview {
        let slots = Slots::empty(Window::Day, NOW);
        Overview { window: Window::Day, now: NOW, slots, endpoints, refusals, consumers }
    }

    fn refused(reason: &str) -> Refused {
        Refused { reason: reason.to_owned(), count: 291, mostly_at: Some(EndpointId(Uuid::from_u128(1))) }
    }

    pub(crate) fn empty() -> Overview {
        of(Vec::new(), Vec::new(), Vec::new())
    }

    pub(crate) fn ordinary() -> Overview {
        let silence = Silence { seconds: 32_400, longest_pause_seconds: Some(2_400) };
        let shop = EndpointOverview { silence: Some(silence), ..endpoint("Shop EU", "shopify") };
        let mailer = ConsumerOverview {
            pending: 0,
            oldest: None,
            age_seconds: None,
            ages: None,
            failed: 0,
            uncertain: 0,
            ..consumer("mailer")
        };
        of(
            vec![endpoint("Payments", "stripe"), shop],
            vec![consumer("billing"), mailer],
            vec![refused("signature_mismatch")],
        )
    }

    pub(crate) fn hostile() -> Overview {
        of(vec![endpoint(HOSTILE, HOSTILE)], vec![consumer("billing")], vec![refused(HOSTILE)])
    }

    pub(crate) fn huge() -> Overview {
        let endpoints = (0..1_000)
            .map(|_| EndpointOverview { accepted: u64::MAX / 4_000, ..endpoint(&long(), "stripe") })
            .collect();
        let consumers = (0..100).map(|_| consumer(&"a".repeat(64))).collect();
        of(endpoints, consumers, (0..40).map(|_| refused(&long())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples::check;
    use crate::parts::shell::Area;

    fn page(overview: Overview) -> String {
        OverviewPage::new(Shell::sample(Area::Overview), overview).render().unwrap()
    }

    #[test]
    fn every_sample_makes_a_page() {
        for overview in [samples::empty(), samples::ordinary(), samples::hostile(), samples::huge()] {
            check(&page(overview));
        }
    }

    #[test]
    fn each_figure_leads_to_its_list() {
        let text = page(samples::ordinary());
        for href in [
            "href=\"/t/acme/events?received_after=2026-11-29T13%3A00\"",
            "href=\"/t/acme/consumers/billing\"",
            "href=\"/t/acme/failures\"",
            "href=\"/t/acme/refusals\"",
            "href=\"/t/acme/events?consumer=billing&#38;state=pending\"",
            "href=\"/t/acme/failures?consumer=billing\"",
        ] {
            assert!(text.contains(href), "{href} in {text}");
        }
        assert!(
            text.contains("2 h 14 min") && text.contains("8,210") && text.contains("usually 1.0 % to 4.0 %")
        );
        assert!(text.contains("Shop EU") && text.contains("fell silent"));
    }

    #[test]
    fn without_an_endpoint_the_page_says_the_next_step() {
        let text = page(samples::empty());
        assert!(text.contains("href=\"/t/acme/endpoints/new\""), "{text}");
        assert!(!text.contains("class=\"tiles\""));
    }
}
