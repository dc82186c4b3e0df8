//! Whatever the hour at which the demo is started: each state that it speaks of is really there.

use restante_app::events::EventFilter;
use restante_app::stats::Window;
use restante_core::handoff::State;

use super::*;
use crate::commands::demo::cast::{BILLING, CHAT, DEFAULT, FULFILMENT, SEARCH};
use crate::commands::demo::kinds::{KINDS, STRIPE, WAREHOUSE};

/// A week that ended at a time.
struct Told {
    _folder: ThrowAway,
    instance: Instance,
    cast: Cast,
}

async fn told(end: &str) -> Told {
    let folder = ThrowAway::make().unwrap();
    let settings = settings(&folder.0, SocketAddr::from((Ipv4Addr::LOCALHOST, 8080))).unwrap();
    let end = Timestamp::parse_rfc3339(end).unwrap();
    let (instance, _, cast) = tell(&settings, end).await.unwrap();
    Told { _folder: folder, instance, cast }
}

impl Told {
    async fn in_state(&self, consumer: &str, state: State) -> usize {
        let filter =
            EventFilter { consumer: Some(consumer.to_owned()), state: Some(state), ..EventFilter::default() };
        let page = self.instance.app.events(&self.cast.by_owner, filter, None, 200, false).await.unwrap();
        page.events.len()
    }

    /// All that a page of the tenant can show.
    async fn check(self) {
        let (app, by) = (&self.instance.app, &self.cast.by_owner);
        let week = app.overview(by, Window::Week).await.unwrap();
        let day = app.overview(by, Window::Day).await.unwrap();

        // Lively: every endpoint has had events, most days some hundreds of them.
        assert_eq!(week.endpoints.len(), KINDS.len());
        for endpoint in &week.endpoints {
            assert!(endpoint.accepted > 20, "{endpoint:?}");
        }
        assert!((600..4_000).contains(&week.slots.total().accepted), "{:?}", week.slots.total());
        assert!(day.slots.total().accepted > 50, "{:?}", day.slots.total());
        let hour = app.overview(by, Window::Hour).await.unwrap();
        assert!(hour.slots.total().accepted > 0);

        // Repeats, with a band that is usual, and a day that was not.
        assert!(week.slots.total().duplicates > 30);
        let shop = week.endpoints.iter().find(|one| one.provider == "shopify").unwrap();
        assert!(shop.usual_repeats.is_some());
        assert!(shop.repeats.iter().flatten().any(|share| *share > 0.4), "{:?}", shop.repeats);

        // Exactly one endpoint has fallen silent.
        let silent: Vec<&str> =
            week.endpoints.iter().filter(|one| one.silence.is_some()).map(|one| one.name.as_str()).collect();
        assert_eq!(silent, [WAREHOUSE.name]);

        // Refusals: a burst of forgeries, and what goes wrong on the way.
        let refused =
            |reason: &str| week.refusals.iter().find(|one| one.reason == reason).map(|one| one.count);
        assert_eq!(refused("signature_mismatch"), Some(60), "{:?}", week.refusals);
        assert_eq!(refused("missing_signature"), Some(3), "{:?}", week.refusals);
        assert_eq!(refused("timestamp_out_of_tolerance"), Some(1), "{:?}", week.refusals);
        let stripe = week.endpoints.iter().find(|one| one.provider == STRIPE.provider).unwrap();
        let kept = app.refusals(by, Some(stripe.id)).await.unwrap();
        assert!(kept.iter().any(|one| one.explanation.contains("spac")), "{kept:?}");

        // One consumer is behind, one is at its work, the others keep pace.
        let at = |name: &str| day.consumers.iter().find(|one| one.name == name).unwrap();
        let hours = |name: &str| at(name).age_seconds.map_or(0, |seconds| seconds / 3_600);
        assert!(hours(SEARCH) >= 18 && at(SEARCH).pending > 50, "{:?}", at(SEARCH));
        assert_eq!(day.consumers[0].name, SEARCH, "it stands first");
        assert!(at(DEFAULT).pending > 0 && hours(DEFAULT) == 0, "{:?}", at(DEFAULT));
        assert_eq!(at(CHAT).pending + at(CHAT).failed, 0, "{:?}", at(CHAT));
        assert!(self.in_state(FULFILMENT, State::Leased).await > 0);

        // Failures of two kinds, one uncertain, one that a replay has mended, one that was settled.
        assert_eq!((at(BILLING).failed, at(BILLING).uncertain), (4, 1), "{:?}", at(BILLING));
        assert_eq!(self.in_state(BILLING, State::Failed).await, 5, "one of them is settled");
        let failures = app.failures(by, Some(BILLING.to_owned())).await.unwrap();
        assert_eq!(failures.groups.len(), 3, "{failures:?}");

        // One event with two bodies, one without a readable id.
        let (mut diverged, mut unreadable, mut after) = (0, 0, None);
        loop {
            let page = app.events(by, EventFilter::default(), after, 200, false).await.unwrap();
            let receipts = || page.events.iter().map(|event| &event.receipt);
            diverged += receipts().filter(|one| one.diverged && one.deliveries == 3).count();
            unreadable += receipts().filter(|one| one.reason.as_deref() == Some("envelope")).count();
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!((diverged, unreadable), (1, 1));
        self.instance.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_state_is_there_on_a_monday_night() {
    told("2026-11-30T03:10:00Z").await.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_state_is_there_on_a_saturday_afternoon() {
    told("2026-12-05T15:40:00Z").await.check().await;
}
