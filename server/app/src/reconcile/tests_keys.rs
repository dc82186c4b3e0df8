//! What retention has forgotten gets no second life: however far back a run looks, in whatever order policies are edited.

use std::sync::Arc;

use restante_core::reconcile::{CLOCK_ERROR_SECONDS, keys_held_from};
use restante_core::retention::Policy;
use restante_core::time::Timestamp;
use restante_store::both_engines;
use restante_store::reconciliation::{self as rows, NewRun, PageWrite};
use restante_store::{StoreError, consumers, handoffs};
use tokio::sync::Notify;

use super::run::Left;
use super::tests::{Bench, asked, bench, go, ids};
use super::tests_provider::{Fault, KEY};
use super::*;
use crate::people::Actor;
use crate::retention::{Held, Options, Report};

const DAY: i64 = 86_400;

impl Bench {
    /// Claims what is due, and acks it.
    async fn work(&self) {
        let tenant = self.tenant.by.tenant();
        let randoms: Vec<_> = (0..100).map(|_| self.a.app.random.bytes()).collect();
        let work = self.a.app.store.write(move |conn| {
            Box::pin(async move {
                let found = consumers::by_name(conn, tenant, "default").await?.expect("the consumer");
                let claim = handoffs::Claim { randoms, lease_seconds: 60, handler_version: None };
                let leases = handoffs::claim(conn, &found, claim).await?.leases;
                let acks = leases.into_iter().map(|lease| handoffs::LeaseAck {
                    token: Some(lease.token),
                    remote_operation_id: None,
                    note: None,
                });
                handoffs::ack(conn, &found, acks.collect()).await.map(|_| ())
            })
        });
        work.await.unwrap();
    }

    /// Lets days go by, as a server that is up sees them.
    async fn days(&self, days: i64) {
        for _ in 0..days {
            self.a.t.clock.advance_seconds(DAY);
            self.a.app.note_alive().await.unwrap();
        }
    }

    /// A run that looks back as far as Stripe lists.
    async fn ask_far(&self) -> Run {
        let from = Some(self.a.app.clock.now().plus_seconds(-30 * DAY));
        self.ask_as(AskedRun { from, ..AskedRun::default() }).await
    }

    async fn retain(&self) -> Report {
        crate::retention::run(&self.a.app, None, Options::default()).await.unwrap()
    }

    /// An administrator's word that keys may go after so many days.
    async fn shorten(&self, days: u32) {
        let tenant = self.tenant.by.tenant();
        let why = "a test system of ours";
        self.a.app.override_retention(&Actor::operator(), tenant, self.endpoint, days, why).await.unwrap();
        let short = Policy { payload_days: Some(1), ..Policy::default() };
        self.a.app.set_retention(&self.tenant.by, short).await.unwrap();
    }

    async fn lengthen(&self) {
        let tenant = self.tenant.by.tenant();
        // It may not be shortened at all.
        drop(self.a.app.lift_override(&Actor::operator(), tenant, self.endpoint).await);
        self.a.app.set_retention(&self.tenant.by, Policy::default()).await.unwrap();
    }

    /// An event that came and was processed, and whose key retention has removed. Gives when it came.
    async fn forgotten(&self) -> Timestamp {
        self.a.app.note_alive().await.unwrap();
        let came = self.a.app.clock.now();
        self.provider.add(ids("gone", 0..1), self.now() - 5, "charge.succeeded");
        self.deliver("evt_gone00000", self.now() - 5, "charge.succeeded").await;
        self.work().await;
        self.shorten(3).await;
        self.days(5).await;
        assert_eq!(self.retain().await.counts.keys, 1);
        assert_eq!(self.a.t.count("receipts").await, 0);
        came
    }
}

both_engines!(a_run_that_looks_back_beyond_the_removed_keys_begins_after_them_and_says_so, |t| async {
    let b = bench(t).await;
    let came = b.forgotten().await;
    b.provider.add(ids("lost", 0..3), b.now() - 60, "charge.succeeded");
    let run = b.ask().await;
    assert_eq!(run.row.outcome.as_deref(), Some("done"), "{:?}", run.row.error);
    assert_eq!((run.row.listed, run.row.inserted, run.row.too_old), (3, 3, 0));
    assert_eq!(run.row.from, Some(keys_held_from(came)));
    assert_eq!(run.row.wanted_from, Some(run.row.to.unwrap().plus_seconds(-30 * DAY)));
    let asked = b.provider.asked().pop().unwrap();
    assert!(asked.contains(&format!("gte%5D={}", came.seconds() + CLOCK_ERROR_SECONDS)), "{asked}");
    let set = b.a.app.reconciliation(&b.tenant.by, b.endpoint).await.unwrap();
    assert_eq!(set.checkpoint_at, run.row.to, "it goes on all the same");
    // A person's own stretch is no other.
    let from = Some(came.plus_seconds(-DAY));
    let run = b.ask_as(AskedRun { from, ..AskedRun::default() }).await;
    assert_eq!((run.row.from, run.row.wanted_from), (Some(keys_held_from(came)), from));
    assert_eq!((run.row.known, run.row.inserted), (3, 0));
    // A stretch after them is left as it is.
    let from = Some(came.plus_seconds(2 * DAY));
    let run = b.ask_as(AskedRun { from, ..AskedRun::default() }).await;
    assert_eq!((run.row.from, run.row.wanted_from), (from, None));
});

both_engines!(a_provider_that_lists_more_than_it_was_asked_for_is_not_believed, |t| async {
    let b = bench(t).await;
    b.forgotten().await;
    b.provider.add(ids("lost", 0..1), b.now() - 60, "charge.succeeded");
    b.provider.then(Fault::Unfiltered);
    let run = b.ask().await;
    assert_eq!(run.row.outcome.as_deref(), Some("done"), "{:?}", run.row.error);
    assert_eq!((run.row.listed, run.row.inserted, run.row.too_old, run.row.failed), (2, 1, 1, 0));
    assert_eq!(run.found.len(), 1);
    assert_eq!(b.a.t.count("receipts").await, 1);
});

both_engines!(no_order_of_edits_opens_the_door_to_what_was_here, |t| async {
    let b = bench(t).await;
    let came = b.forgotten().await;
    // Lengthened again, with an endpoint more for the same provider, whose keys are the same ones.
    b.lengthen().await;
    assert_eq!(b.ask().await.row.from, Some(keys_held_from(came)));
    let other = b.a.endpoint(&b.tenant.by, "The same account").await;
    b.a.app.set_reconciliation(&b.tenant.by, other, asked(&b.provider, KEY)).await.unwrap();
    b.a.app.ask_reconciliation(&b.tenant.by, other, AskedRun::default(), None).await.unwrap();
    b.provider.then(Fault::Unfiltered);
    assert_eq!(go(&b.a.app, &b.tenant, other).await, Some(Left::Ended));
    assert_eq!(b.a.t.count("receipts").await, 0);
    // Shortened once more: the mark moves on with what is removed, and never back.
    for edits in [[true, false], [false, true]] {
        let at = b.now();
        b.deliver(&format!("evt_later{at}"), at, "charge.succeeded").await;
        b.work().await;
        let later = b.a.app.clock.now();
        for shorter in edits {
            if shorter {
                b.shorten(4).await
            } else {
                b.lengthen().await
            }
            b.days(6).await;
            b.retain().await;
        }
        b.shorten(1).await;
        b.retain().await;
        assert_eq!(b.a.t.count("receipts").await, 0);
        b.lengthen().await;
        assert_eq!(b.ask_far().await.row.from, Some(keys_held_from(later)), "{edits:?}");
    }
    // The endpoint is deleted, and another one asks: the keys are still gone.
    b.a.app.delete_endpoint(&b.tenant.by, b.endpoint).await.unwrap();
    b.a.app.ask_reconciliation(&b.tenant.by, other, AskedRun::default(), None).await.unwrap();
    assert_eq!(go(&b.a.app, &b.tenant, other).await, Some(Left::Ended));
    assert_eq!(b.a.t.count("receipts").await, 0);
    // Nor has another tenant anything to do with it.
    assert_eq!(b.a.t.count("removed_keys").await, 1);
});

both_engines!(what_is_held_or_erased_is_known_and_shortens_nothing, |t| async {
    let b = bench(t).await;
    b.a.app.note_alive().await.unwrap();
    b.provider.add(ids("kept", 0..2), b.now() - 5, "charge.succeeded");
    for id in ids("kept", 0..2) {
        b.deliver(&id, b.now() - 5, "charge.succeeded").await;
    }
    b.work().await;
    b.shorten(3).await;
    let hold = b.a.app.hold(&b.tenant.by, Held::Tenant, "an audit", None).await.unwrap();
    b.days(5).await;
    assert_eq!(b.retain().await.counts.keys, 0);
    let run = b.ask_far().await;
    assert_eq!((run.row.known, run.row.inserted, run.row.wanted_from), (2, 0, None), "held");
    b.lengthen().await;
    b.a.app.release_hold(&b.tenant.by, hold.value.id).await.unwrap();
    let erased = b.a.app.erase_payloads(&b.tenant.by, "acme", "the contract ended").await.unwrap();
    assert_eq!(erased.erased.events, 2);
    let run = b.ask_far().await;
    assert_eq!((run.row.known, run.row.inserted, run.row.wanted_from), (2, 0, None), "a tombstone is left");
    b.shorten(3).await;
    assert_eq!(b.retain().await.counts.keys, 2);
    let run = b.ask_far().await;
    assert_eq!((run.row.listed, run.row.inserted), (0, 0), "and now they are gone");
    assert!(run.row.wanted_from.is_some());
});

both_engines!(keys_that_go_while_a_page_is_read_are_looked_at_again, |t| async {
    let b = bench(t).await;
    b.a.app.note_alive().await.unwrap();
    b.provider.add(ids("here", 0..1), b.now() - 5, "charge.succeeded");
    b.deliver("evt_here00000", b.now() - 5, "charge.succeeded").await;
    b.work().await;
    b.shorten(3).await;
    b.days(5).await;
    b.a.app.ask_reconciliation(&b.tenant.by, b.endpoint, AskedRun::default(), None).await.unwrap();
    let (arrived, let_go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    b.provider.then(Fault::Held(Arc::clone(&arrived), Arc::clone(&let_go)));
    let (left, ()) = tokio::join!(b.go(), async {
        arrived.notified().await;
        assert_eq!(b.retain().await.counts.keys, 1);
        let_go.notify_one();
    });
    assert_eq!(left, Some(Left::Ended));
    let run = b.last().await;
    assert_eq!((run.row.listed, run.row.inserted, run.row.too_old), (1, 0, 1));
    assert_eq!(b.a.t.count("receipts").await, 0);
});

both_engines!(keys_that_go_between_the_look_and_the_write_leave_nothing_of_the_page, |t| async {
    let b = bench(t).await;
    let came = b.forgotten().await;
    let (tenant, endpoint) = (b.tenant.by.tenant(), b.endpoint);
    let id = restante_core::id::ReconciliationRunId::new(b.a.app.clock.now(), b.a.app.random.bytes());
    let new = NewRun { id, cause: "asked", actor: None, from: None, to: None, trusting: false };
    let claimed = b.a.app.store.write(move |conn| {
        Box::pin(async move {
            rows::ask(conn, tenant, endpoint, new.clone()).await?;
            rows::claim(conn, tenant, endpoint, "stripe", 60, |_, _| new, |_, _, now| now).await
        })
    });
    let hold = claimed.await.unwrap().unwrap().hold;
    let token = b.a.app.token_of(tenant, endpoint).await.unwrap();
    let target = b.a.app.find_endpoint(&token).await.unwrap().unwrap();
    for (happened, comes_in) in
        [(Some(came), false), (None, false), (Some(keys_held_from(came).plus_seconds(1)), true)]
    {
        let body = super::tests_provider::event("evt_gone00000", came.seconds(), "charge.succeeded");
        let request = restante_core::request::Request {
            method: "POST".to_owned(),
            body: body.to_string().into_bytes().into(),
            ..Default::default()
        };
        let delivery = b.a.app.listed_delivery(&target, request, id).unwrap();
        let page = PageWrite {
            deliveries: vec![delivery],
            happened: vec![happened],
            found: "[]".to_owned(),
            ..PageWrite::default()
        };
        let hold = hold.clone();
        let written =
            b.a.app
                .store
                .write(move |conn| Box::pin(async move { rows::write_page(conn, &hold, page).await }));
        let written = written.await;
        assert_eq!(written.is_ok(), comes_in, "{happened:?}");
        assert!(comes_in || matches!(written, Err(StoreError::Stale)));
        assert_eq!(b.a.t.count("receipts").await, i64::from(comes_in));
    }
});

both_engines!(a_stretch_that_a_person_chose_leaves_no_gap_behind_it, |t| async {
    let b = bench(t).await;
    let now = b.a.app.clock.now();
    b.provider.add(ids("early", 0..1), now.seconds() - 5 * DAY, "charge.succeeded");
    let hour = AskedRun { from: Some(now.plus_seconds(-3_600)), ..AskedRun::default() };
    let run = b.ask_as(hour).await;
    assert_eq!((run.row.outcome.as_deref(), run.row.listed), (Some("done"), 0));
    let set = b.a.app.reconciliation(&b.tenant.by, b.endpoint).await.unwrap();
    assert_eq!(set.checkpoint_at, None, "what lies before has not been looked at");
    b.a.t.clock.advance_seconds(600);
    assert_eq!(b.go().await, Some(Left::Ended));
    let whole = b.last().await;
    assert_eq!((whole.row.cause.as_str(), whole.row.inserted), ("wide", 1));
    let checkpoint = whole.row.to;
    // After an outage a person looks at the last hour alone.
    b.a.t.clock.advance_seconds(DAY / 2);
    let from = Some(b.a.app.clock.now().plus_seconds(-3_600));
    b.ask_as(AskedRun { from, ..AskedRun::default() }).await;
    let set = b.a.app.reconciliation(&b.tenant.by, b.endpoint).await.unwrap();
    assert_eq!(set.checkpoint_at, checkpoint);
    // And at a stretch that has an end.
    let (from, to) = (now.plus_seconds(-6 * DAY), now.plus_seconds(-4 * DAY));
    let run = b.ask_as(AskedRun { from: Some(from), to: Some(to), ..AskedRun::default() }).await;
    assert_eq!((run.row.from, run.row.to, run.row.known), (Some(from), Some(to), 1));
    let asked = b.provider.asked().pop().unwrap();
    assert!(asked.contains(&format!("lte%5D={}", to.seconds())), "{asked}");
    let set = b.a.app.reconciliation(&b.tenant.by, b.endpoint).await.unwrap();
    assert_eq!(set.checkpoint_at, checkpoint);
});

both_engines!(a_stretch_that_makes_no_sense_is_refused_at_its_place, |t| async {
    let b = bench(t).await;
    let now = b.a.app.clock.now();
    let (past, future) = (Some(now.plus_seconds(-DAY)), Some(now.plus_seconds(DAY)));
    for (from, to, place) in [
        (None, past, "/from"),
        (future, None, "/from"),
        (past, future, "/to"),
        (past, past, "/to"),
        (Some(now), past, "/to"),
    ] {
        let asked = AskedRun { from, to, trusting: false };
        let said = b.a.app.ask_reconciliation(&b.tenant.by, b.endpoint, asked, None).await;
        let Err(StoreError::Problem(problem)) = said else { panic!("{from:?} {to:?}") };
        assert_eq!(problem.errors[0].pointer, place, "{from:?} {to:?}");
    }
    assert_eq!(b.a.t.count("reconciliation_runs").await, 0);
});
