//! Reconciliation on both engines against a strict provider: what is inserted, what is told, and that a
//! crash at any point leaves neither a gap nor a second copy.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use restante_core::handoff::State;
use restante_core::id::EndpointId;
use restante_core::problem::Code;
use restante_core::secret::Secret;
use restante_core::verify::{SignRequest, sign};
use restante_store::both_engines;
use restante_store::testing::{START, TestStore};
use serde_json::json;
use tokio::sync::watch;

use super::run::Left;
use super::tests_provider::{Fault, KEY, Provider, event};
use super::*;
use crate::App;
use crate::events::EventFilter;
use crate::receive::{Incoming, Road};
use crate::settings::Settings;
use crate::testing::{TestApp, TestTenant};

pub(super) struct Bench {
    pub(super) a: TestApp,
    pub(super) tenant: TestTenant,
    pub(super) endpoint: EndpointId,
    pub(super) provider: Provider,
}

pub(super) fn asked(provider: &Provider, key: &str) -> ReconciliationAsked {
    ReconciliationAsked {
        credentials: BTreeMap::from([("api_key".to_owned(), Secret::new(key.to_owned()))]),
        base_url: Some(provider.base_url.clone()),
        interval_seconds: Some(600),
        ..ReconciliationAsked::default()
    }
}

pub(super) async fn bench(t: TestStore) -> Bench {
    let settings = Settings { outbound_allow: vec!["127.0.0.0/8".parse().unwrap()], ..Settings::default() };
    let a = TestApp::with_settings(t, settings);
    let tenant = a.tenant("acme").await;
    let endpoint = a.endpoint(&tenant.by, "Payments").await;
    let provider = Provider::start().await;
    a.app.set_reconciliation(&tenant.by, endpoint, asked(&provider, KEY)).await.unwrap();
    Bench { a, tenant, endpoint, provider }
}

impl Bench {
    pub(super) fn now(&self) -> i64 {
        self.a.app.clock.now().seconds()
    }

    /// What is to be done now.
    pub(super) async fn go(&self) -> Option<Left> {
        go(&self.a.app, &self.tenant, self.endpoint).await
    }

    pub(super) async fn ask(&self) -> Run {
        self.ask_as(AskedRun::default()).await
    }

    /// Asks for a run and does it.
    pub(super) async fn ask_as(&self, how: AskedRun) -> Run {
        let made = self.a.app.ask_reconciliation(&self.tenant.by, self.endpoint, how, None).await.unwrap();
        assert!(self.go().await.is_some());
        self.a.app.reconciliation_run(&self.tenant.by, self.endpoint, made.value).await.unwrap()
    }

    pub(super) async fn last(&self) -> Run {
        self.a.app.reconciliation_runs(&self.tenant.by, self.endpoint, None, 1).await.unwrap().remove(0)
    }

    /// Delivers an event as the provider does, signed.
    pub(super) async fn deliver(&self, id: &str, at: i64, kind: &str) {
        let token = self.a.app.token_of(self.tenant.by.tenant(), self.endpoint).await.unwrap();
        let target = self.a.app.find_endpoint(&token).await.unwrap().unwrap();
        let now = self.a.app.clock.now();
        let body = event(id, at, kind).to_string().into_bytes();
        let request =
            SignRequest { body: Some(&body), sample: None, id: Some(id), event_type: Some(kind), at: now };
        let signed = sign(&target.for_verification(), &request).unwrap();
        let incoming = Incoming {
            request: signed.into_request(),
            received_at: now,
            request_id: "req_test".to_owned(),
            trace_id: None,
            peer: None,
            held: None,
        };
        let taken = self.a.app.take(Road::Sender, &target, incoming).await;
        assert!(matches!(taken.ending, crate::receive::Ending::Committed(_)));
    }

    pub(super) async fn stored(&self) -> BTreeSet<String> {
        let mut ids = BTreeSet::new();
        let tenant = self.tenant.by.tenant();
        let mut after = None;
        loop {
            let query = restante_store::events::EventQuery { after, limit: 250, ..Default::default() };
            let page = self
                .a
                .app
                .store
                .read(move |conn| {
                    Box::pin(async move { restante_store::events::list(conn, tenant, &query).await })
                })
                .await
                .unwrap();
            for receipt in page.receipts {
                assert!(ids.insert(receipt.event_id.unwrap()), "twice");
            }
            after = page.next;
            if after.is_none() {
                return ids;
            }
        }
    }
}

pub(super) async fn go(app: &App, tenant: &TestTenant, endpoint: EndpointId) -> Option<Left> {
    let stop = watch::channel(false).1;
    let until = Instant::now() + Duration::from_secs(600);
    app.reconcile(tenant.by.tenant(), endpoint, &stop, until).await.unwrap()
}

pub(super) fn ids(name: &str, range: std::ops::Range<usize>) -> impl Iterator<Item = String> + use<'_> {
    range.map(move |number| format!("evt_{name}{number:05}"))
}

both_engines!(what_never_arrived_is_inserted_once_and_handed_off, |t| async {
    let b = bench(t).await;
    b.provider.add(ids("a", 0..3), b.now() - 60, "charge.succeeded");
    b.provider.add(ids("b", 0..1), b.now() - 10, "charge.dispute.created");
    b.deliver("evt_a00000", b.now() - 62, "charge.succeeded").await;
    let run = b.ask().await;
    assert_eq!(run.row.outcome.as_deref(), Some("done"), "{:?}", run.row.error);
    assert_eq!((run.row.listed, run.row.known, run.row.inserted), (4, 1, 3));
    assert_eq!((run.row.mismatched, run.row.failed), (0, 0));
    assert_eq!(run.never_by_webhook, ["charge.dispute.created"]);
    assert_eq!(run.found.len(), 3);
    assert_eq!(run.unprocessed.get("default"), Some(&1));
    assert_eq!(b.stored().await, b.provider.ids().into_iter().collect());
    let filter = EventFilter { state: Some(State::Pending), ..EventFilter::default() };
    assert_eq!(b.a.app.count_events(&b.tenant.by, filter).await.unwrap().0, 4, "each is handed off");
    assert_eq!(b.a.t.count("receipts WHERE origin = 'reconciliation'").await, 3);
    let again = b.ask().await;
    assert_eq!((again.row.listed, again.row.known, again.row.inserted), (4, 4, 0));
    assert_eq!(b.a.t.count("receipts").await, 4);
});

both_engines!(a_listed_event_and_its_delivery_are_one_and_no_divergence, |t| async {
    let b = bench(t).await;
    b.provider.add(ids("a", 0..1), b.now() - 60, "charge.succeeded");
    assert_eq!(b.ask().await.row.inserted, 1);
    // The list is pretty-printed: other bytes.
    b.deliver("evt_a00000", b.now() - 60, "charge.succeeded").await;
    b.deliver("evt_a00000", b.now() - 60, "charge.succeeded").await;
    assert_eq!(b.a.t.count("receipts").await, 1);
    assert_eq!(b.a.t.count("receipts WHERE diverged").await, 0);
    assert_eq!(b.a.t.count("variants").await, 1, "the signed bytes are kept as well");
    let run = b.ask().await;
    assert_eq!((run.row.known, run.row.inserted), (1, 0));
    assert!(
        b.a.app
            .reconciliation_run(&b.tenant.by, b.endpoint, run.row.id)
            .await
            .unwrap()
            .never_by_webhook
            .is_empty()
    );
});

both_engines!(the_first_run_looks_back_as_far_as_the_list_and_later_ones_overlap, |t| async {
    let b = bench(t).await;
    b.provider.add(ids("old", 0..1), b.now() - 20 * 86_400, "charge.succeeded");
    assert_eq!(go(&b.a.app, &b.tenant, b.endpoint).await, None, "it is not due before its interval");
    b.a.t.clock.advance_seconds(600);
    assert_eq!(b.go().await, Some(Left::Ended));
    let first = b.last().await;
    assert_eq!((first.row.inserted, first.row.cause.as_str()), (1, "wide"));
    let end = first.row.to.unwrap();
    assert_eq!(first.row.from.unwrap(), end.plus_seconds(-30 * 86_400));
    b.a.t.clock.advance_seconds(600);
    assert_eq!(b.go().await, Some(Left::Ended));
    let second = b.last().await;
    assert_eq!((second.row.cause.as_str(), second.row.from), ("due", Some(end.plus_seconds(-3_600))));
    // Once a day it looks further back.
    b.a.t.clock.advance_seconds(86_400);
    assert_eq!(b.go().await, Some(Left::Ended));
    let third = b.last().await;
    assert_eq!(third.row.cause, "wide");
    assert_eq!(third.row.from.unwrap(), third.row.to.unwrap().plus_seconds(-48 * 3_600));
    let set = b.a.app.reconciliation(&b.tenant.by, b.endpoint).await.unwrap();
    assert_eq!(set.checkpoint_at, third.row.to);
});

both_engines!(a_page_that_is_lost_in_the_middle_is_read_again_and_nothing_is_lost_or_doubled, |t| async {
    let long = std::env::var("RESTANTE_LONG").is_ok_and(|value| value == "1");
    let (events, kills) = if long { (5_000, 50) } else { (500, 8) };
    let b = bench(t).await;
    b.provider.add(ids("a", 0..events), b.now() - 60, "charge.succeeded");
    // The server was down for half of them.
    for (number, id) in ids("a", 0..events).enumerate().filter(|(number, _)| number % 2 == 0) {
        b.deliver(&id, b.now() - 60 - (events - 1 - number) as i64, "charge.succeeded").await;
    }
    let run =
        b.a.app.ask_reconciliation(&b.tenant.by, b.endpoint, AskedRun::default(), None).await.unwrap().value;
    for kill in 0..kills {
        let (app, endpoint, tenant) = (b.a.app.clone(), b.endpoint, b.tenant.by.tenant());
        let mut served = b.provider.served.clone();
        let before = *served.borrow();
        let mut node = tokio::spawn(async move {
            let stop = watch::channel(false).1;
            app.reconcile(tenant, endpoint, &stop, Instant::now() + Duration::from_secs(600)).await
        });
        // Somewhere between the answer of a page and the commit of the next.
        let pages = 1 + kill % 2;
        let ended = tokio::select! {
            _ = &mut node => true,
            _ = served.wait_for(|count| *count >= before + pages) => false,
        };
        for _ in 0..kill * 7 % 40 {
            tokio::task::yield_now().await;
        }
        if !ended {
            node.abort();
            let _ = node.await;
        }
        assert!(b.go().await.is_none_or(|left| left != Left::Lost), "nobody else holds it");
        b.a.t.clock.advance_seconds(121);
        let state = b.a.app.reconciliation_run(&b.tenant.by, b.endpoint, run).await.unwrap();
        if state.row.finished_at.is_some() {
            break;
        }
    }
    while b.go().await.is_some() {}
    let state = b.a.app.reconciliation_run(&b.tenant.by, b.endpoint, run).await.unwrap();
    assert_eq!(state.row.outcome.as_deref(), Some("done"), "{:?}", state.row.error);
    assert_eq!(
        state.row.inserted as usize,
        events / 2,
        "each is counted once, however often its page was read"
    );
    assert_eq!(b.stored().await, b.provider.ids().into_iter().collect());
    assert_eq!(b.a.t.count("receipts").await, events as i64);
});

both_engines!(a_list_that_grows_while_it_is_read_costs_nothing, |t| async {
    let b = bench(t).await;
    b.provider.add(ids("a", 0..250), b.now() - 60, "charge.succeeded");
    for number in 0..3 {
        b.provider.then(Fault::Grows(format!("evt_new{number}")));
    }
    let run = b.ask().await;
    assert_eq!(run.row.outcome.as_deref(), Some("done"), "{:?}", run.row.error);
    b.ask().await;
    assert_eq!(b.stored().await, b.provider.ids().into_iter().collect());
});

both_engines!(a_provider_that_asks_to_wait_is_waited_for_and_the_run_goes_on_where_it_was, |t| async {
    let b = bench(t).await;
    b.provider.add(ids("a", 0..150), b.now() - 60, "charge.succeeded");
    b.a.app.ask_reconciliation(&b.tenant.by, b.endpoint, AskedRun::default(), None).await.unwrap();
    b.provider.then(Fault::Status(429, Some(90)));
    assert_eq!(b.go().await, Some(Left::Waits));
    let run = b.last().await;
    assert!(run.row.error.as_deref().unwrap().contains("asks to wait"), "it is told while it waits");
    assert!(run.row.finished_at.is_none());
    assert_eq!(b.go().await, None, "not before the time");
    b.a.t.clock.advance_seconds(90);
    for fault in [Fault::Status(503, None), Fault::BreaksOff, Fault::Html, Fault::Status(500, None)] {
        b.provider.then(fault);
        assert_eq!(b.go().await, Some(Left::Waits));
        b.a.t.clock.advance_seconds(3_600);
    }
    assert_eq!(b.go().await, Some(Left::Ended));
    let run = b.last().await;
    assert_eq!((run.row.outcome.as_deref(), run.row.inserted, run.row.error), (Some("done"), 150, None));
});

both_engines!(a_provider_that_stays_broken_ends_the_run_and_the_checkpoint_stays, |t| async {
    let b = bench(t).await;
    b.a.app.ask_reconciliation(&b.tenant.by, b.endpoint, AskedRun::default(), None).await.unwrap();
    let mut tries = 0;
    loop {
        b.provider.then(Fault::Status(500, None));
        tries += 1;
        if b.go().await == Some(Left::Ended) {
            break;
        }
        b.a.t.clock.advance_seconds(3_600);
        assert!(tries < 20);
    }
    let run = b.last().await;
    assert_eq!(run.row.outcome.as_deref(), Some("failed"));
    let set = b.a.app.reconciliation(&b.tenant.by, b.endpoint).await.unwrap();
    assert_eq!((set.checkpoint_at, set.stopped), (None, None), "the next run tries again");
});

both_engines!(refused_credentials_stop_the_runs_until_there_are_new_ones, |t| async {
    let b = bench(t).await;
    b.provider.then(Fault::Status(401, None));
    let run = b.ask().await;
    assert_eq!(run.row.outcome.as_deref(), Some("refused"));
    let set = b.a.app.reconciliation(&b.tenant.by, b.endpoint).await.unwrap();
    assert!(set.stopped.unwrap().contains("credentials") && set.next_at.is_none());
    b.a.t.clock.advance_seconds(86_400);
    assert_eq!(b.go().await, None, "nothing begins by itself");
    b.a.app.set_reconciliation(&b.tenant.by, b.endpoint, asked(&b.provider, KEY)).await.unwrap();
    b.a.t.clock.advance_seconds(600);
    assert_eq!(b.go().await, Some(Left::Ended));
    assert_eq!(b.last().await.row.outcome.as_deref(), Some("done"));
});

both_engines!(a_list_that_leads_in_a_circle_ends_and_keeps_what_it_brought, |t| async {
    let b = bench(t).await;
    b.provider.add(ids("a", 0..250), b.now() - 60, "charge.succeeded");
    b.a.app.ask_reconciliation(&b.tenant.by, b.endpoint, AskedRun::default(), None).await.unwrap();
    b.provider.then(Fault::Grows("evt_top".to_owned()));
    b.provider.then(Fault::Circle);
    assert_eq!(b.go().await, Some(Left::Ended));
    let run = b.last().await;
    assert!(run.row.error.as_deref().unwrap().contains("circle"), "{:?}", run.row);
    assert_eq!(run.row.inserted, 100);
});

both_engines!(a_place_that_the_provider_forgot_begins_the_list_again, |t| async {
    let b = bench(t).await;
    b.provider.add(ids("a", 0..250), b.now() - 60, "charge.succeeded");
    b.a.app.ask_reconciliation(&b.tenant.by, b.endpoint, AskedRun::default(), None).await.unwrap();
    b.provider.then(Fault::Grows("evt_top".to_owned()));
    b.provider.then(Fault::Status(400, None));
    assert_eq!(b.go().await, Some(Left::Ended));
    let run = b.last().await;
    assert_eq!((run.row.outcome.as_deref(), run.row.restarts), (Some("done"), 1));
    assert_eq!((run.row.inserted, run.row.known), (251, 100));
});

both_engines!(another_accounts_list_inserts_nothing_unless_a_person_says_so, |t| async {
    let b = bench(t).await;
    for id in ids("mine", 0..25) {
        b.deliver(&id, b.now(), "charge.succeeded").await;
    }
    b.provider.add(ids("theirs", 0..30), b.now(), "charge.succeeded");
    let run = b.ask().await;
    assert_eq!((run.row.outcome.as_deref(), run.row.inserted), (Some("refused"), 0));
    assert!(run.row.error.as_deref().unwrap().contains("another account"));
    assert!(b.a.app.reconciliation(&b.tenant.by, b.endpoint).await.unwrap().stopped.is_some());
    let run = b.ask_as(AskedRun { trusting: true, ..AskedRun::default() }).await;
    assert_eq!((run.row.outcome.as_deref(), run.row.inserted), (Some("done"), 30));
    assert!(b.a.app.reconciliation(&b.tenant.by, b.endpoint).await.unwrap().stopped.is_none());
});

both_engines!(an_outage_is_no_other_account, |t| async {
    let b = bench(t).await;
    // Webhooks came until an hour ago; then the server was down.
    for id in ids("before", 0..25) {
        b.deliver(&id, b.now(), "charge.succeeded").await;
    }
    b.provider.add(ids("before", 0..25), b.now(), "charge.succeeded");
    b.a.t.clock.advance_seconds(3 * 3_600);
    b.provider.add(ids("lost", 0..250), b.now() - 60, "charge.succeeded");
    let run = b.ask().await;
    assert_eq!((run.row.outcome.as_deref(), run.row.inserted), (Some("done"), 250), "{:?}", run.row.error);
});

// Webhooks come again before the provider is asked, and more of them than one could overlook.
both_engines!(an_outage_between_webhooks_is_no_other_account, |t| async {
    let b = bench(t).await;
    let busy = async |name: &str| {
        b.provider.add(ids(name, 0..150), b.now(), "charge.succeeded");
        for (place, id) in ids(name, 0..150).enumerate() {
            b.deliver(&id, b.now() - 149 + place as i64, "charge.succeeded").await;
        }
    };
    busy("before").await;
    b.a.t.clock.advance_seconds(151);
    // The first ones are lost in the very second in which the last ones came.
    b.provider.add(ids("lost", 0..300), b.now() + 149, "charge.succeeded");
    b.a.t.clock.advance_seconds(300);
    busy("after").await;
    let run = b.ask().await;
    assert_eq!((run.row.outcome.as_deref(), run.row.inserted), (Some("done"), 300), "{:?}", run.row.error);
    assert_eq!(b.stored().await, b.provider.ids().into_iter().collect());
});

// The newest page holds nothing that came, and events that came just before it arrived within its time.
both_engines!(the_end_of_a_burst_is_no_other_account, |t| async {
    let b = bench(t).await;
    b.a.t.clock.advance_seconds(10);
    b.provider.add(ids("burst", 0..30), b.now() - 3, "charge.succeeded");
    for (place, id) in ids("burst", 0..30).enumerate() {
        // A while on the way.
        b.deliver(&id, b.now() - 32 + place as i64, "charge.succeeded").await;
    }
    b.provider.add(ids("lost", 0..100), b.now() + 96, "charge.succeeded");
    b.a.t.clock.advance_seconds(200);
    let run = b.ask().await;
    assert_eq!((run.row.outcome.as_deref(), run.row.inserted), (Some("done"), 100), "{:?}", run.row.error);
});

both_engines!(an_empty_list_beside_webhooks_is_no_clean_bill, |t| async {
    let b = bench(t).await;
    for id in ids("mine", 0..25) {
        b.deliver(&id, b.now(), "charge.succeeded").await;
    }
    b.a.t.clock.advance_seconds(60);
    let run = b.ask().await;
    assert_eq!(run.row.outcome.as_deref(), Some("refused"), "{:?}", run.row);
    assert!(run.row.error.as_deref().unwrap().contains("lists nothing"));
    assert_eq!(b.a.app.reconciliation(&b.tenant.by, b.endpoint).await.unwrap().checkpoint_at, None);
});

both_engines!(one_node_at_a_time_runs_an_endpoint, |t| async {
    let b = bench(t).await;
    b.provider.add(ids("a", 0..300), b.now() - 60, "charge.succeeded");
    b.a.app.ask_reconciliation(&b.tenant.by, b.endpoint, AskedRun::default(), None).await.unwrap();
    let other = b.a.second_node().await;
    let (one, two) = tokio::join!(b.go(), go(&other, &b.tenant, b.endpoint));
    assert_eq!([one, two].iter().flatten().count(), 1, "{one:?} {two:?}");
    let calls = b.provider.asked().len();
    assert_eq!(calls, 1 + 3, "one to try the credentials, one a page");
    assert_eq!(b.last().await.row.inserted, 300);
});

both_engines!(credentials_are_tried_sealed_and_never_sent_elsewhere, |t| async {
    let b = bench(t).await;
    let by = &b.tenant.by;
    let refused =
        b.a.app.set_reconciliation(by, b.endpoint, asked(&b.provider, "rk_test_wrong_one_99")).await;
    let Err(restante_store::StoreError::Problem(problem)) = refused else { panic!("{refused:?}") };
    assert_eq!(problem.errors[0].pointer, "/credentials");
    let set = b.a.app.reconciliation(by, b.endpoint).await.unwrap();
    assert_eq!(set.credentials["api_key"], "…1234", "the right one is still there");
    assert!(!b.a.t.holds(KEY).await);
    // Without credentials the ones that are there stay.
    let keep = |base_url: &str| ReconciliationAsked {
        credentials: BTreeMap::new(),
        interval_seconds: Some(900),
        ..ReconciliationAsked { base_url: Some(base_url.to_owned()), ..asked(&b.provider, KEY) }
    };
    let set = b.a.app.set_reconciliation(by, b.endpoint, keep(&b.provider.base_url)).await.unwrap();
    assert_eq!((set.interval_seconds, set.credentials["api_key"].as_str()), (900, "…1234"));
    let elsewhere = Provider::start().await;
    let refused = b.a.app.set_reconciliation(by, b.endpoint, keep(&elsewhere.base_url)).await;
    assert!(
        matches!(&refused, Err(restante_store::StoreError::Problem(p)) if p.errors[0].pointer == "/credentials")
    );
    assert_eq!(elsewhere.asked().len(), 0, "they did not go there");
    // Nor does anybody reach an inner address that the operator does not allow.
    let inner =
        ReconciliationAsked { base_url: Some("http://10.0.0.1:9".to_owned()), ..asked(&b.provider, KEY) };
    let refused = b.a.app.set_reconciliation(by, b.endpoint, inner).await;
    assert!(
        matches!(&refused, Err(restante_store::StoreError::Problem(p)) if p.errors[0].pointer == "/base_url"),
        "{refused:?}"
    );
    b.a.app.delete_reconciliation(by, b.endpoint).await.unwrap();
    assert!(matches!(b.a.app.reconciliation(by, b.endpoint).await,
        Err(restante_store::StoreError::Problem(p)) if p.code == Code::NotFound));
    assert_eq!(b.a.t.count("reconciliations").await, 0);
});

both_engines!(another_tenant_finds_nothing, |t| async {
    let b = bench(t).await;
    let run = b.ask().await;
    let other = b.a.tenant("beta").await;
    let gone = |error: restante_store::StoreError| matches!(error, restante_store::StoreError::Problem(p) if p.code == Code::NotFound);
    let app = &b.a.app;
    assert!(app.reconciliation(&other.by, b.endpoint).await.is_err_and(gone));
    assert!(app.reconciliation_offer(&other.by, b.endpoint).await.is_err_and(gone));
    assert!(app.set_reconciliation(&other.by, b.endpoint, asked(&b.provider, KEY)).await.is_err_and(gone));
    assert!(app.delete_reconciliation(&other.by, b.endpoint).await.is_err_and(gone));
    assert!(app.ask_reconciliation(&other.by, b.endpoint, AskedRun::default(), None).await.is_err_and(gone));
    assert!(app.reconciliation_runs(&other.by, b.endpoint, None, 10).await.is_err_and(gone));
    assert!(app.reconciliation_run(&other.by, b.endpoint, run.row.id).await.is_err_and(gone));
    assert_eq!(app.reconciliation_offers(&other.by).await.unwrap().len(), 0);
});

both_engines!(the_job_does_what_is_due_and_reports_it, |t| async {
    let b = bench(t).await;
    b.provider.add(ids("a", 0..2), b.now() - 60, "charge.succeeded");
    b.a.app.ask_reconciliation(&b.tenant.by, b.endpoint, AskedRun::default(), None).await.unwrap();
    b.a.app.ask_reconciliation(&b.tenant.by, b.endpoint, AskedRun::default(), None).await.unwrap();
    let work = crate::schedule::Work {
        app: b.a.app.clone(),
        lease: restante_store::jobs::JobLease {
            job: JOB.to_owned(),
            epoch: 1,
            run: restante_core::id::JobRunId::new(START, [0; 10]),
        },
        stop: watch::channel(false).1,
    };
    let report = reconcile_due(work).await.unwrap();
    assert_eq!(report.counts[0], ("runs ended".to_owned(), 2), "the second waits behind the first");
    let details = json!(b.last().await.found);
    assert_eq!(details, json!([]));
    assert_eq!(b.a.t.count("receipts").await, 2);
});
