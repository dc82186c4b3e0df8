//! Retention over years, on both engines, with a clock that is moved by hand.

use restante_core::id::{EndpointId, PayloadId, ReceiptId, RefusalId};
use restante_core::problem::{Code, Problem};
use restante_core::retention::{Level, Limit, Policy, Range, WindowKind};
use restante_core::secret::Secret;
use restante_store::refusals::{Entered, RefusalSample};
use restante_store::testing::TestStore;
use restante_store::{
    CommittedReceipt, Delivery, NewReceipt, SealedPayload, StoreError, both_engines, consumers, handoffs,
};

use super::*;
use crate::endpoints::{EndpointChange, NewEndpoint};
use crate::people::Actor;
use crate::testing::{TestApp, TestTenant};

/// A tenant with an endpoint for Stripe and its consumer `default`.
struct Bench {
    a: TestApp,
    tenant: TestTenant,
    endpoint: EndpointId,
}

impl Bench {
    async fn new(t: TestStore) -> Self {
        let a = TestApp::new(t);
        let tenant = a.tenant("acme").await;
        let endpoint = a.endpoint(&tenant.by, "Payments").await;
        a.app.note_alive().await.unwrap();
        Self { a, tenant, endpoint }
    }

    /// A delivery of events in one request.
    async fn deliver_many(&self, keys: &[&str], weak: &str, body: u8) -> Vec<CommittedReceipt> {
        let now = self.a.app.clock.now();
        let payload = PayloadId::new(now, self.a.app.random.bytes());
        let receipts = keys.iter().map(|key| {
            let id = match keys.len() {
                1 => ReceiptId(payload.0),
                _ => ReceiptId::new(now, self.a.app.random.bytes()),
            };
            NewReceipt {
                id,
                scope: String::new(),
                event_key: (*key).to_owned(),
                event_id: Some((*key).to_owned()),
                event_type: None,
                account: None,
                api_version: None,
                livemode: None,
                occurred_at: None,
                decoder: "test/1".to_owned(),
                slice_decoded: false,
                slice_offset: 0,
                slice_length: 100,
                content_type: None,
                body_mac: vec![body; 36],
                sha256_sealed: vec![0; 80],
                ambiguous: false,
                id_unsigned: weak.contains("id"),
                weak: weak.to_owned(),
                reason: None,
            }
        });
        let delivery = Delivery {
            tenant: self.tenant.by.tenant(),
            endpoint: self.endpoint,
            seen: None,
            provider: "stripe".to_owned(),
            received_at: now,
            origin: "delivery",
            compares_bodies: true,
            request_id: None,
            secret: None,
            payload: SealedPayload {
                id: payload,
                headers_sealed: vec![1; 60],
                body_sealed: vec![2; 140],
                decoded_sealed: None,
            },
            receipts: receipts.collect(),
        };
        self.a.app.store.commit(delivery).await.unwrap().receipts
    }

    async fn deliver(&self, key: &str) -> CommittedReceipt {
        self.deliver_many(&[key], "", 0).await[0]
    }

    /// A refused request at an endpoint; with `became` it was verified later, and this is its event.
    async fn refuse(&self, endpoint: EndpointId, became: Option<ReceiptId>) {
        let (tenant, now) = (self.tenant.by.tenant(), self.a.app.clock.now());
        let id = RefusalId::new(now, self.a.app.random.bytes());
        let sample = RefusalSample {
            id,
            received_at: now,
            reason: "signature_mismatch",
            explanation: "Why.".to_owned(),
            request_sealed: vec![3; 90],
            request_id: None,
        };
        self.a.app.store.write_refusals(tenant, endpoint, Vec::new(), vec![sample]).await.unwrap();
        let Some(receipt) = became else { return };
        let entered = Entered { at: now, receipt: Some(receipt) };
        let write = self.a.app.store.write(move |conn| {
            Box::pin(restante_store::refusals::enter(conn, tenant, endpoint, id, entered))
        });
        write.await.unwrap();
    }

    /// Claims what is due, and acks it.
    async fn work(&self) -> usize {
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
                handoffs::ack(conn, &found, acks.collect()).await.map(|done| done.len())
            })
        });
        work.await.unwrap()
    }

    /// Lets days go by, as a server that is up sees them.
    async fn days(&self, days: i64) {
        for _ in 0..days {
            self.a.t.clock.advance_seconds(86_400);
            self.a.app.note_alive().await.unwrap();
        }
    }

    async fn run(&self) -> Report {
        run(&self.a.app, None, Options::default()).await.unwrap()
    }

    async fn look(&self) -> Report {
        run(&self.a.app, None, Options { dry_run: true, ..Options::default() }).await.unwrap()
    }

    /// Has a job of the schedule run, and gives its report.
    async fn ask_job(&self, name: &str) -> crate::schedule::Report {
        self.a.app.ask_job(&self.administrator(), name).await.unwrap();
        self.a.app.do_job(name).await;
        let (_, runs) = self.a.app.scheduled_job(&self.administrator(), name).await.unwrap();
        assert_eq!(runs[0].row.outcome.as_deref(), Some("done"), "{runs:?}");
        runs[0].report.clone().unwrap()
    }

    async fn count(&self, table: &str) -> i64 {
        self.a.t.count(table).await
    }

    /// Whether the payload of an event is there; `None` when the event isn't.
    async fn state(&self, id: ReceiptId) -> Option<&'static str> {
        match self.a.app.event(&self.tenant.by, id, false).await {
            Ok(detail) => Some(detail.event.receipt.payload_state.as_str()),
            Err(StoreError::Problem(problem)) if problem.code == Code::NotFound => None,
            Err(error) => panic!("{error}"),
        }
    }

    async fn plan(&self) -> EndpointPlan {
        self.a.app.endpoint_retention(&self.tenant.by, self.endpoint).await.unwrap()
    }

    fn administrator(&self) -> Actor {
        Actor::operator()
    }
}

fn days(payload: Option<u32>, receipt: Option<u32>) -> Policy {
    Policy { payload_days: payload, receipt_days: receipt, ..Policy::default() }
}

fn refused<T: std::fmt::Debug>(result: Result<T, StoreError>) -> Problem {
    match result.unwrap_err() {
        StoreError::Problem(problem) => problem,
        other => panic!("a failure and no refusal: {other}"),
    }
}

both_engines!(over_two_years_the_payload_goes_first_then_the_key_and_never_work, |t| async {
    let b = Bench::new(t).await;
    let done = b.deliver("evt_done").await.id;
    assert_eq!(b.work().await, 1);
    let waits = b.deliver("evt_waits").await.id;

    b.days(30).await;
    assert_eq!(b.run().await.counts, LineCounts::default(), "on the thirtieth day it is not over yet");
    b.a.t.clock.advance_seconds(1);
    let looked = b.look().await;
    assert_eq!((looked.counts.payloads, looked.counts.payload_bytes), (1, 200));
    assert_eq!(looked.kept.get(&Kept::Pending), Some(&1));
    assert_eq!(b.count("payloads").await, 2, "a look removes nothing");
    let report = b.run().await;
    assert_eq!(report.counts, LineCounts { payloads: 1, payload_bytes: 200, keys: 0, expired: 0 });
    assert_eq!(report.kept.get(&Kept::Pending), Some(&1));
    assert_eq!((b.count("payloads").await, b.count("receipts").await), (1, 2));
    assert_eq!(b.state(done).await, Some("removed"));
    assert_eq!(b.run().await.counts, LineCounts::default(), "a second run finds nothing");

    // The tombstone refuses a second life and is handed to nobody.
    let again = b.deliver("evt_done").await;
    assert_eq!((again.id, again.duplicate), (done, true));
    assert_eq!((b.count("payloads").await, b.count("handoffs").await), (1, 2));
    let replay = b.a.app.replay_event(&b.tenant.by, done, None, None, None).await;
    assert_eq!(refused(replay).code, Code::Gone);
    assert_eq!(b.a.app.event(&b.tenant.by, done, true).await.unwrap().event.receipt.deliveries, 2);

    b.days(370).await;
    let report = b.run().await;
    assert_eq!(report.counts.keys, 1, "400 days and a second after it came: {report:?}");
    assert_eq!(b.count("receipts").await, 1);
    for table in ["deliveries", "attempts"] {
        assert_eq!(b.count(table).await, 0, "{table}");
    }
    assert_eq!(b.count("handoffs").await, 1);
    let reborn = b.deliver("evt_done").await;
    assert!(!reborn.duplicate, "from now on it would be a new event");

    // Two years on, what nobody has processed is still here, with its bytes and its key.
    b.days(330).await;
    b.run().await;
    assert_eq!(b.state(waits).await, Some("stored"), "what is pending keeps its payload");
    assert!(b.deliver("evt_waits").await.duplicate);
    assert_eq!(b.work().await, 2);
    let report = b.run().await;
    assert_eq!(b.state(waits).await, Some("removed"), "once it is processed, its payload goes");
    assert_eq!(report.kept.get(&Kept::SentAgain), Some(&1), "its sender may still be trying");
    b.days(4).await;
    b.run().await;
    assert_eq!(b.state(waits).await, None, "and its key");
});

both_engines!(leased_failed_and_uncertain_work_is_left_alone_and_settled_work_goes, |t| async {
    let b = Bench::new(t).await;
    let ids = [b.deliver("a").await.id, b.deliver("b").await.id, b.deliver("c").await.id];
    for (id, state) in ids.iter().zip([1, 3, 4]) {
        b.a.t.execute(&format!("UPDATE handoffs SET state = {state}, lease_expires_at = 9223372036854775000 WHERE receipt_id = {}", b.literal(*id))).await;
    }
    b.days(500).await;
    let report = b.run().await;
    assert_eq!(report.counts, LineCounts::default());
    assert_eq!(report.kept.values().collect::<Vec<_>>(), [&1, &1, &1]);
    assert_eq!(
        report.kept.keys().copied().collect::<Vec<_>>(),
        [Kept::Leased, Kept::Failed, Kept::Uncertain]
    );
    let settled = "UPDATE handoffs SET settled_at = 1 WHERE state = 3";
    b.a.t.execute(settled).await;
    let report = b.run().await;
    assert_eq!((report.counts.payloads, report.counts.keys), (1, 1), "settled as failed, it goes");
});

impl Bench {
    fn literal(&self, id: ReceiptId) -> String {
        match self.a.t.engine() {
            restante_store::Engine::Sqlite => format!("x'{}'", id.0.simple()),
            restante_store::Engine::Postgres => format!("'{}'", id.0),
        }
    }
}

both_engines!(what_nobody_processes_is_given_up_only_when_a_person_says_so_and_on_the_record, |t| async {
    let b = Bench::new(t).await;
    let id = b.deliver("evt_1").await.id;
    let policy = Policy { expire_unprocessed_days: Some(Limit::After(60)), ..Policy::default() };
    b.a.app.set_retention(&b.tenant.by, policy).await.unwrap();
    b.days(60).await;
    assert_eq!(b.run().await.counts.expired, 0);
    b.a.t.clock.advance_seconds(1);
    let looked = b.look().await.counts;
    assert_eq!((looked.expired, looked.payloads), (1, 1));
    let report = b.run().await;
    assert_eq!((report.counts.expired, report.counts.payloads), (1, 1));
    let detail = b.a.app.event(&b.tenant.by, id, false).await.unwrap();
    assert_eq!(detail.handoffs[0].state.as_str(), "cancelled");
    assert_eq!(detail.settlements[0].actor, "retention");
    assert!(detail.settlements[0].note.as_deref().unwrap().contains("expire_unprocessed_days"));
    assert_eq!(b.work().await, 0, "nobody is handed it");
});

both_engines!(a_body_may_go_hours_after_everybody_is_done_with_it, |t| async {
    let b = Bench::new(t).await;
    let policy = Policy { payload_after_processed_hours: Some(Limit::After(2)), ..Policy::default() };
    b.a.app.set_retention(&b.tenant.by, policy).await.unwrap();
    b.deliver("done").await;
    assert_eq!(b.work().await, 1);
    b.deliver("waits").await;
    b.a.t.clock.advance_seconds(2 * 3_600);
    assert_eq!(b.run().await.counts.payloads, 0);
    b.a.t.clock.advance_seconds(1);
    assert_eq!(b.run().await.counts.payloads, 1);
    assert_eq!(b.count("payloads").await, 1, "what waits stays");
});

both_engines!(a_request_goes_when_all_of_its_events_may_go, |t| async {
    let b = Bench::new(t).await;
    let batch = b.deliver_many(&["a", "b", "c"], "", 0).await;
    assert_eq!(b.work().await, 3);
    let back = b.a.app.replay_event(&b.tenant.by, batch[1].id, None, None, None).await.unwrap();
    assert_eq!(back.value, 1);
    b.days(31).await;
    let report = b.run().await;
    assert_eq!(report.counts.payloads, 0);
    assert_eq!((report.kept.get(&Kept::Pending), report.kept.get(&Kept::Shared)), (Some(&1), Some(&2)));
    assert_eq!(b.state(batch[0].id).await, Some("stored"), "no lie: its bytes are there");
    assert_eq!(b.work().await, 1);
    let report = b.run().await;
    assert_eq!(
        (report.counts.payloads, report.counts.payload_bytes),
        (3, 200),
        "one request of three events"
    );
});

both_engines!(other_bytes_under_a_key_go_with_its_payload, |t| async {
    let b = Bench::new(t).await;
    b.deliver_many(&["a"], "", 0).await;
    b.deliver_many(&["a"], "", 1).await;
    assert_eq!((b.count("variants").await, b.count("payloads").await), (1, 2));
    // A request whose first event came before with other bytes, and whose second is new.
    let both = b.deliver_many(&["a", "b"], "", 2).await;
    assert_eq!((b.count("variants").await, b.count("payloads").await), (2, 3));
    b.work().await;
    let back = b.a.app.replay_event(&b.tenant.by, both[1].id, None, None, None).await.unwrap();
    assert_eq!(back.value, 1);
    b.days(31).await;
    let report = b.run().await;
    assert_eq!(report.counts.payloads, 1, "{report:?}");
    assert_eq!(
        (b.count("variants").await, b.count("payloads").await),
        (0, 1),
        "the request of b stays for b"
    );
    b.work().await;
    b.run().await;
    assert_eq!(b.count("payloads").await, 0);
});

both_engines!(a_policy_that_breaks_a_window_is_refused_with_the_window_and_its_source, |t| async {
    let b = Bench::new(t).await;
    let by = &b.tenant.by;
    for policy in [days(None, Some(30)), days(Some(50), Some(50))] {
        let said = refused(b.a.app.set_retention(by, policy).await);
        assert_eq!(said.errors[0].pointer, "/receipt_days");
    }
    let said = refused(b.a.app.set_retention(by, days(None, Some(30))).await).detail;
    for part in ["Payments", "Stripe send an event again", "docs.stripe.com", "31 or more"] {
        assert!(said.contains(part), "{said}");
    }
    b.a.app.set_retention(by, days(Some(7), Some(31))).await.unwrap();
    let change = |policy| EndpointChange { retention: Some(policy), ..EndpointChange::default() };
    let said = refused(b.a.app.update_endpoint(by, b.endpoint, change(Some(days(None, Some(30))))).await);
    assert_eq!(said.errors[0].pointer, "/retention/receipt_days");
    let made = b.a.app.update_endpoint(by, b.endpoint, change(Some(days(Some(9), Some(40))))).await.unwrap();
    assert_eq!(made.endpoint.retention, Some(days(Some(9), Some(40))));
    let plan = b.plan().await;
    assert_eq!((plan.resolved.payload_days.value, plan.resolved.payload_days.from), (9, Level::Endpoint));
    b.a.app.update_endpoint(by, b.endpoint, change(None)).await.unwrap();
    assert_eq!(b.plan().await.resolved.payload_days.from, Level::Tenant);
    b.a.app.set_provider_retention(by, "stripe", days(Some(8), None)).await.unwrap();
    assert_eq!(b.plan().await.resolved.payload_days.from, Level::Provider);
    assert_eq!(
        refused(b.a.app.set_provider_retention(by, "nobody", days(None, None)).await).code,
        Code::NotFound
    );
    assert_eq!(b.count("audit_log WHERE action = 'retention.policy'").await, 2);
});

// Every order of three edits, each of which is right at its time: the key outlives the window in force at the run.
both_engines!(no_order_of_edits_lets_a_key_go_early, |t| async {
    let b = Bench::new(t).await;
    let by = &b.tenant.by;
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        b.a.t.execute("UPDATE consumers SET max_attempts = 12").await;
        b.a.app.set_instance_retention(&b.administrator(), InstanceRetention::default()).await.unwrap();
        b.a.app.set_retention(by, Policy::default()).await.unwrap();
        for edit in order {
            // Whether an edit is refused is its own matter; what counts is the key.
            match edit {
                0 => drop(b.a.app.set_retention(by, days(Some(1), Some(31))).await),
                1 => b.a.t.execute("UPDATE consumers SET max_attempts = 1000").await,
                _ => {
                    let mut wanted = InstanceRetention::default();
                    wanted.bounds.receipt_days = Range { min: 1, max: 35 };
                    b.a.app.set_instance_retention(&b.administrator(), wanted).await.unwrap();
                }
            }
        }
        let plan = b.plan().await;
        let longest = plan.windows.iter().map(|window| window.seconds).max().unwrap();
        assert!(plan.life.seconds > longest, "{order:?}: {plan:?}");
        assert_eq!(plan.life.raised_by.as_ref().map(|window| window.kind), Some(WindowKind::ConsumerRetry));
    }
    // And the run keeps to it.
    let id = b.deliver("evt_1").await.id;
    b.work().await;
    let life = i64::try_from(b.plan().await.life.seconds).unwrap();
    b.days(life / 86_400).await;
    b.run().await;
    assert!(b.deliver("evt_1").await.duplicate, "it is still known");
    b.days(4).await;
    b.run().await;
    assert_ne!(b.deliver("evt_1").await.id, id);
});

both_engines!(an_administrator_may_override_the_windows_and_the_endpoint_says_so, |t| async {
    let b = Bench::new(t).await;
    let (admin, tenant) = (b.administrator(), b.tenant.by.tenant());
    let over = |days, why| b.a.app.override_retention(&admin, tenant, b.endpoint, days, why);
    assert_eq!(refused(over(3, " ").await).errors[0].pointer, "/reason");
    assert!(refused(over(400, "none").await).detail.contains("nothing to override"));
    over(3, "a test system of ours").await.unwrap();
    let plan = b.plan().await;
    assert_eq!(plan.life.seconds, 3 * 86_400);
    assert_eq!(plan.life.overridden.map(|window| window.kind), Some(WindowKind::ProviderRedelivery));
    assert_eq!(plan.overridden.unwrap().reason, "a test system of ours");
    for log in ["audit_log", "instance_audit_log"] {
        assert_eq!(b.count(&format!("{log} WHERE action = 'retention.override'")).await, 1, "{log}");
    }
    b.a.app.lift_override(&admin, tenant, b.endpoint).await.unwrap();
    assert_eq!(b.plan().await.life.overridden, None);
    let stranger = Actor::person(restante_core::id::UserId::new(b.a.app.clock.now(), [1; 10]), None);
    let said = b.a.app.override_retention(&stranger, tenant, b.endpoint, 3, "x").await;
    assert_eq!(refused(said).code, Code::MissingScope);
});

both_engines!(an_unsigned_id_is_known_until_the_secret_of_its_day_is_retired, |t| async {
    let b = Bench::new(t).await;
    let id = b.deliver_many(&["guid"], "id time", 0).await[0].id;
    b.work().await;
    b.days(500).await;
    let report = b.run().await;
    assert_eq!((report.counts.payloads, report.counts.keys), (1, 0));
    assert_eq!(report.kept.get(&Kept::Secret), Some(&1));
    assert!(b.deliver_many(&["guid"], "id time", 0).await[0].duplicate);
    let asked = crate::endpoints::NewSecret {
        secret: Secret::new("whsec_c2Vjb25kLXNlY3JldA".to_owned()),
        retire_others: crate::endpoints::Retire::AfterSeconds(0),
    };
    b.a.app.add_secret(&b.tenant.by, b.endpoint, asked, None).await.unwrap();
    b.days(4).await;
    assert_eq!(b.run().await.counts.keys, 1);
    assert_ne!(b.deliver_many(&["guid"], "id time", 0).await[0].id, id);
});

// The captured request verifies wherever its secret does: at another endpoint of the provider, which may have taken the
// place of the first. Where the key is shared, it would come in there as a new event.
both_engines!(
    an_unsigned_id_is_known_while_another_endpoint_with_a_secret_of_its_day_could_take_it,
    |t| async {
        let mut b = Bench::new(t).await;
        let first = b.endpoint;
        let second = b.a.endpoint(&b.tenant.by, "The same secret").await;
        let id = b.deliver_many(&["guid"], "id time", 0).await[0].id;
        b.work().await;
        b.a.app.delete_endpoint(&b.tenant.by, first).await.unwrap();
        b.a.t.clock.advance_seconds(500 * 86_400);
        b.a.app.confirm_clock(&b.administrator()).await.unwrap();
        let report = b.run().await;
        assert_eq!((report.counts.keys, report.kept.get(&Kept::Secret)), (0, Some(&1)));
        b.endpoint = second;
        let again = b.deliver_many(&["guid"], "id time", 0).await[0];
        assert_eq!((again.id, again.duplicate), (id, true));
        b.a.app.delete_endpoint(&b.tenant.by, second).await.unwrap();
        b.days(4).await;
        assert_eq!(b.run().await.counts.keys, 1, "no secret of its day verifies any more");
    }
);

both_engines!(a_key_stays_while_the_provider_may_still_be_trying_what_it_sent_again, |t| async {
    let b = Bench::new(t).await;
    b.deliver("evt_1").await;
    b.work().await;
    b.days(400).await;
    assert!(b.deliver("evt_1").await.duplicate);
    b.days(2).await;
    let report = b.run().await;
    assert_eq!(
        (report.counts.keys, report.kept.get(&Kept::SentAgain)),
        (0, Some(&1)),
        "Stripe tries for three days"
    );
    b.days(2).await;
    assert_eq!(b.run().await.counts.keys, 1);
});

both_engines!(a_hold_of_each_kind_is_respected_until_it_is_released, |t| async {
    let b = Bench::new(t).await;
    let (one, other) = (b.deliver("one").await.id, b.deliver("other").await.id);
    b.work().await;
    let by = &b.tenant.by;
    let hold = b.a.app.hold(by, Held::Event(one), "a dispute", None).await.unwrap();
    b.days(500).await;
    let report = b.run().await;
    assert_eq!((report.counts.payloads, report.counts.keys), (1, 1));
    assert_eq!(report.kept.get(&Kept::Hold), Some(&1));
    assert_eq!(b.state(one).await, Some("stored"));
    assert_eq!(b.state(other).await, None);
    let erased = refused(b.a.app.erase_event(by, one, false, "asked for").await);
    assert!(erased.code == Code::Conflict && erased.detail.contains("a dispute"), "{erased}");
    b.a.app.release_hold(by, hold.value.id).await.unwrap();
    for wide in [Held::Endpoint(b.endpoint), Held::Tenant] {
        let hold = b.a.app.hold(by, wide, "an audit", None).await.unwrap();
        let report = b.run().await;
        assert_eq!((report.counts.payloads, report.kept.get(&Kept::Hold)), (0, Some(&1)), "{wide:?}");
        b.a.app.release_hold(by, hold.value.id).await.unwrap();
    }
    assert_eq!(refused(b.a.app.release_hold(by, hold.value.id).await).code, Code::NotFound);
    assert_eq!(b.run().await.counts.payloads, 1);
});

both_engines!(erasing_takes_the_bytes_now_and_leaves_the_key, |t| async {
    let b = Bench::new(t).await;
    let by = &b.tenant.by;
    let id = b.deliver("evt_1").await.id;
    let batch = b.deliver_many(&["a", "b"], "", 0).await;
    let erased = b.a.app.erase_event(by, id, false, "the customer asked").await.unwrap();
    assert_eq!((erased.events, erased.bytes, erased.handoffs), (1, 200, 1));
    assert_eq!(b.state(id).await, Some("erased"));
    assert!(b.deliver("evt_1").await.duplicate);
    assert_eq!(refused(b.a.app.erase_event(by, id, false, "again").await).code, Code::Gone);
    let said = refused(b.a.app.erase_event(by, batch[0].id, false, "one of two").await);
    assert!(said.code == Code::Conflict && said.detail.contains("1 others"), "{said}");
    assert_eq!(b.a.app.erase_event(by, batch[0].id, true, "both").await.unwrap().events, 2);
    assert_eq!(b.work().await, 0, "what was pending is handed to nobody");

    for key in ["x", "y", "z"] {
        b.deliver(key).await;
    }
    let held = b.deliver("held").await.id;
    b.a.app.hold(by, Held::Event(held), "a dispute", None).await.unwrap();
    assert_eq!(refused(b.a.app.erase_payloads(by, "beta", "gone").await).errors[0].pointer, "/confirm");
    b.a.t.clock.advance_seconds(1);
    let done = b.a.app.erase_payloads(by, "acme", "the contract ended").await.unwrap();
    assert_eq!((done.erased.events, done.erased.held, done.complete), (3, 1, true));
    assert_eq!(b.count("payloads").await, 1);
    assert_eq!(b.count("audit_log WHERE action = 'tenant.erase_payloads'").await, 1);
});

// What a hold covers must survive erasing everything else: bytes that belong to a held event although they came in the
// request of another one, events that a held endpoint was sent again, and refused requests of either.
both_engines!(erasing_all_of_a_tenant_takes_nothing_that_a_hold_covers, |t| async {
    let mut b = Bench::new(t).await;
    let by = b.tenant.by.clone();
    b.deliver("held").await;
    let held = b.deliver_many(&["held"], "", 1).await[0].id;
    // A third request brings other bytes of the held event, and an event of its own.
    let beside = b.deliver_many(&["held", "beside"], "", 2).await[1].id;
    let first = b.endpoint;
    b.endpoint = b.a.endpoint(&by, "Held as a whole").await;
    let whole = b.endpoint;
    b.deliver("of the held endpoint").await;
    b.endpoint = first;
    let sent_again = b.deliver("came by the first one, and by the held one as well").await.id;
    b.endpoint = whole;
    assert!(b.deliver("came by the first one, and by the held one as well").await.duplicate);
    b.endpoint = first;
    let free = b.deliver("free").await.id;
    for (endpoint, became) in [(whole, None), (first, None), (first, Some(held)), (first, Some(free))] {
        b.refuse(endpoint, became).await;
    }
    b.a.app.hold(&by, Held::Event(held), "a dispute", None).await.unwrap();
    b.a.app.hold(&by, Held::Endpoint(whole), "an audit", None).await.unwrap();
    assert_eq!((b.count("payloads").await, b.count("variants").await), (6, 2));
    b.a.t.clock.advance_seconds(1);
    for id in [held, sent_again] {
        assert_eq!(refused(b.a.app.erase_event(&by, id, true, "x").await).code, Code::Conflict);
    }
    let done = b.a.app.erase_payloads(&by, "acme", "the contract ended").await.unwrap();
    assert!(done.complete, "{done:?}");
    assert_eq!((done.erased.events, done.erased.held, done.erased.refusals), (1, 4, 2));
    assert_eq!((b.count("payloads").await, b.count("variants").await), (5, 2));
    assert_eq!((b.state(free).await, b.state(beside).await), (Some("erased"), Some("stored")));
    assert_eq!(b.count("refusals").await, 2, "that of the held endpoint and that of the held event");
    // The years go by, and a run takes nothing of it either.
    b.work().await;
    b.a.t.clock.advance_seconds(900 * 86_400);
    b.a.app.confirm_clock(&b.administrator()).await.unwrap();
    let report = b.run().await;
    assert_eq!((report.counts.payloads, report.counts.keys), (0, 1), "{report:?}");
    assert_eq!((b.count("payloads").await, b.count("variants").await, b.count("refusals").await), (5, 2, 2));
    for hold in b.a.app.holds(&by, None, 10).await.unwrap() {
        b.a.app.release_hold(&by, restante_core::id::HoldId(hold.id)).await.unwrap();
    }
    // The request of two events goes with the second of them, which the first run still finds needed.
    b.run().await;
    b.run().await;
    assert_eq!((b.count("payloads").await, b.count("variants").await, b.count("refusals").await), (0, 0, 0));
});

both_engines!(the_events_of_a_deleted_endpoint_can_be_held, |t| async {
    let b = Bench::new(t).await;
    b.deliver("evt_1").await;
    b.work().await;
    b.a.app.delete_endpoint(&b.tenant.by, b.endpoint).await.unwrap();
    b.a.app.hold(&b.tenant.by, Held::Endpoint(b.endpoint), "an audit", None).await.unwrap();
    b.days(500).await;
    assert_eq!(b.run().await.counts, LineCounts::default());
    let nobody = EndpointId::new(b.a.app.clock.now(), [7; 10]);
    assert_eq!(
        refused(b.a.app.hold(&b.tenant.by, Held::Endpoint(nobody), "x", None).await).code,
        Code::NotFound
    );
});

both_engines!(a_clock_that_leaps_removes_nothing_until_an_administrator_says_it_is_right, |t| async {
    let b = Bench::new(t).await;
    b.deliver("evt_1").await;
    b.work().await;
    b.a.t.clock.advance_seconds(500 * 86_400);
    b.a.app.note_alive().await.unwrap();
    let report = b.run().await;
    assert_eq!((report.counts, b.count("payloads").await), (LineCounts::default(), 1));
    assert!(report.stopped.unwrap().contains("last seen alive"));
    assert_eq!(b.count("retention_runs WHERE outcome <> 'done'").await, 1);
    b.a.app.confirm_clock(&b.administrator()).await.unwrap();
    assert_eq!(b.run().await.counts.payloads, 1);
});

both_engines!(who_names_the_time_of_a_run_is_believed, |t| async {
    let b = Bench::new(t).await;
    b.deliver("evt_1").await;
    b.work().await;
    let at = b.a.app.clock.now().plus_seconds(31 * 86_400);
    let report =
        run(&b.a.app, Some(at), Options { cause: Cause::Command, ..Options::default() }).await.unwrap();
    assert_eq!((report.counts.payloads, report.at), (1, at));
    assert_eq!(b.count("retention_runs WHERE cause = 'command' AND outcome = 'done'").await, 1);
});

both_engines!(a_node_whose_clock_is_years_behind_loses_nothing, |t| async {
    let b = Bench::new(t).await;
    // The event says that it came long ago; the database knows when it was committed.
    b.deliver("evt_1").await;
    b.work().await;
    b.a.t.execute("UPDATE receipts SET received_at = 0").await;
    assert_eq!(b.run().await.counts.payloads, 0);
});

both_engines!(a_run_that_is_told_to_stop_ends_after_its_batch_and_the_next_one_goes_on, |t| async {
    let b = Bench::new(t).await;
    for number in 0..3 {
        b.deliver(&format!("evt_{number}")).await;
    }
    b.work().await;
    b.days(31).await;
    let (stop, stopped) = tokio::sync::watch::channel(true);
    let options = Options { stop: Some(stopped), ..Options::default() };
    let report = run(&b.a.app, None, options).await.unwrap();
    assert!(report.stopped.is_some());
    drop(stop);
    assert_eq!(b.run().await.counts.payloads, 3 - report.counts.payloads);
    assert_eq!(b.count("payloads").await, 0);
});

both_engines!(two_runs_at_once_remove_each_thing_once, |t| async {
    let b = Bench::new(t).await;
    for number in 0..60 {
        b.deliver(&format!("evt_{number}")).await;
    }
    b.work().await;
    b.days(500).await;
    let node = b.a.second_node().await;
    let (one, other) =
        tokio::join!(run(&b.a.app, None, Options::default()), run(&node, None, Options::default()));
    let (one, other) = (one.unwrap().counts, other.unwrap().counts);
    // What one of them had locked is found by the next.
    let rest = b.run().await.counts;
    assert_eq!(one.payloads + other.payloads + rest.payloads, 60);
    assert_eq!(one.keys + other.keys + rest.keys, 60);
    assert_eq!((b.count("receipts").await, b.count("handoffs").await), (0, 0));
    let lines = b.a.t.number("SELECT CAST(SUM(payloads) AS BIGINT) FROM retention_run_lines").await;
    assert_eq!(lines, 60, "the record adds up");
});

both_engines!(a_consumer_that_is_being_handed_the_past_keeps_the_payloads_until_it_has_them, |t| async {
    let b = Bench::new(t).await;
    let id = b.deliver("evt_1").await.id;
    b.work().await;
    b.days(31).await;
    let here = b.literal(id);
    b.a.t.execute(&format!("UPDATE consumers SET backfill_from = {here}, backfill_to = {here}")).await;
    let report = b.run().await;
    assert_eq!((report.counts.payloads, report.kept.get(&Kept::Backfill)), (0, Some(&1)), "{report:?}");
    b.a.app.sweep().await.unwrap();
    assert_eq!(b.run().await.counts.payloads, 1);
});

both_engines!(counters_and_logs_have_a_life_too, |t| async {
    let b = Bench::new(t).await;
    b.deliver("evt_1").await;
    let audit = b.count("audit_log").await;
    assert!(audit > 0 && b.count("rollups WHERE grain = 1").await > 0);
    let minutes = b.count("rollups WHERE grain = 1").await;
    b.days(14).await;
    assert_eq!(b.ask_job("rollups").await.counts[0].1, 0);
    b.days(1).await;
    let report = b.ask_job("rollups").await;
    assert_eq!(report.counts[0], ("counters by the minute removed".to_owned(), minutes.unsigned_abs()));
    assert_eq!(report.counts[1].1, 0);
    assert_eq!(b.count("rollups WHERE grain = 1").await, 0);
    assert!(b.count("rollups WHERE grain = 2").await > 0);
    b.days(390).await;
    b.ask_job("rollups").await;
    b.run().await;
    assert_eq!(b.count("rollups WHERE grain = 2").await, 0);
    assert!(b.count("rollups WHERE grain = 0").await > 0, "what is now stays");
    assert_eq!(b.count("audit_log").await, audit);
    b.days(330).await;
    b.run().await;
    assert_eq!(b.count("audit_log").await, 0, "after 730 days");
});

both_engines!(an_invitation_and_its_link_go_a_month_after_its_end, |t| async {
    let b = Bench::new(t).await;
    let owner = b.a.app.person_of("owner@acme.test").await.unwrap().unwrap();
    let by = b.a.app.who(owner, Some("acme")).await.unwrap().unwrap().here.unwrap().by(owner, None);
    b.a.app.invite(&by, "eve@example.com", restante_core::access::Role::Viewer).await.unwrap();
    let links = b.count("lookups").await;
    b.days(30).await;
    b.run().await;
    assert_eq!((b.count("invites").await, b.count("lookups").await), (1, links));
    b.days(8).await;
    b.run().await;
    assert_eq!((b.count("invites").await, b.count("lookups").await), (0, links - 1));
});

both_engines!(a_preview_tells_what_a_draft_would_remove_and_saves_nothing, |t| async {
    let b = Bench::new(t).await;
    b.deliver("evt_1").await;
    b.work().await;
    b.days(10).await;
    let by = &b.tenant.by;
    assert_eq!(b.a.app.retention_preview(by, None).await.unwrap().counts.payloads, 0);
    let draft = Some((PolicyLevel::Tenant, days(Some(5), None)));
    let preview = b.a.app.retention_preview(by, draft).await.unwrap();
    assert_eq!((preview.counts.payloads, preview.endpoints[0].endpoint), (1, b.endpoint));
    assert_eq!((b.count("payloads").await, b.count("retention_policies").await), (1, 0));
    assert_eq!(b.count("retention_runs").await, 0);
});

both_engines!(bounds_of_the_instance_hold_and_say_so, |t| async {
    let b = Bench::new(t).await;
    b.a.app.set_retention(&b.tenant.by, days(Some(90), None)).await.unwrap();
    let mut wanted = InstanceRetention::default();
    wanted.bounds.payload_days = Range { min: 1, max: 20 };
    wanted.defaults.receipt_days = Some(365);
    b.a.app.set_instance_retention(&b.administrator(), wanted).await.unwrap();
    let found = b.a.app.retention(&b.tenant.by).await.unwrap();
    assert_eq!((found.in_force.payload_days.value, found.in_force.payload_days.asked), (20, Some(90)));
    assert_eq!((found.in_force.receipt_days.value, found.in_force.receipt_days.from), (365, Level::Instance));
    let said = refused(b.a.app.set_retention(&b.tenant.by, days(Some(21), None)).await);
    assert!(said.detail.contains("1 to 20 days"), "{said}");
    wanted.bounds.payload_days = Range { min: 5, max: 4 };
    let said = b.a.app.set_instance_retention(&b.administrator(), wanted).await;
    assert_eq!(refused(said).errors[0].pointer, "/bounds/payload_days");
});

both_engines!(another_tenant_finds_and_changes_nothing_of_it, |t| async {
    let b = Bench::new(t).await;
    let id = b.deliver("evt_1").await.id;
    let hold = b.a.app.hold(&b.tenant.by, Held::Event(id), "a dispute", None).await.unwrap();
    let beta = b.a.tenant("beta").await.by;
    assert_eq!(refused(b.a.app.endpoint_retention(&beta, b.endpoint).await).code, Code::NotFound);
    assert_eq!(refused(b.a.app.hold(&beta, Held::Event(id), "x", None).await).code, Code::NotFound);
    assert_eq!(
        refused(b.a.app.hold(&beta, Held::Endpoint(b.endpoint), "x", None).await).code,
        Code::NotFound
    );
    assert_eq!(refused(b.a.app.release_hold(&beta, hold.value.id).await).code, Code::NotFound);
    assert_eq!(refused(b.a.app.erase_event(&beta, id, true, "x").await).code, Code::NotFound);
    assert!(b.a.app.holds(&beta, None, 10).await.unwrap().is_empty());
    let asked = NewEndpoint {
        name: "Theirs".to_owned(),
        provider: "slack".to_owned(),
        secrets: vec![Secret::new("8f742231b10e8888abcd99yyyzzz85a5".to_owned())],
        options: serde_json::Map::new(),
        dedup_scope: None,
        max_body_bytes: None,
        retention: Some(days(Some(1), Some(15))),
        enabled: true,
    };
    assert!(b.a.app.create_endpoint(&beta, asked, None).await.is_ok());
    assert_eq!(b.a.app.retention(&b.tenant.by).await.unwrap().endpoints.len(), 1);
});
