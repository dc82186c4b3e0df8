//! What time moves, over the verbs of one node and of two, on both engines.

use restante_core::handoff::{LeaseResult, Nack};
use restante_core::id::EndpointId;
use restante_store::both_engines;
use restante_store::testing::TestStore;
use tokio::sync::watch;

use super::*;
use crate::claim::{Ack, Claim, NackOne};
use crate::consumers::{ConsumerChange, NewConsumer};
use crate::testing::{TestApp, TestTenant};
use crate::{By, Repeat};

struct Bench {
    a: TestApp,
    tenant: TestTenant,
    endpoint: EndpointId,
}

async fn bench(t: TestStore) -> Bench {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let change = ConsumerChange { max_attempts: Some(Some(2)), ..ConsumerChange::default() };
    a.app.update_consumer(&tenant.by, "default", change).await.unwrap();
    Bench { a, tenant, endpoint: EndpointId(restante_core::id::uuid_v7_floor(a_moment())) }
}

/// A claimer that never hangs up.
fn stays() -> watch::Receiver<bool> {
    watch::channel(false).1
}

const fn a_moment() -> restante_core::time::Timestamp {
    restante_core::time::Timestamp::from_seconds(1)
}

impl Bench {
    fn by(&self) -> &By {
        &self.tenant.by
    }

    async fn event(&self) {
        self.a.hold_event(self.by(), self.endpoint).await;
    }

    /// Leases without opening: the events of these tests hold no bytes that could be opened.
    async fn lease(&self, seconds: u32) -> usize {
        self.lease_of("default", seconds).await
    }

    async fn lease_of(&self, name: &'static str, seconds: u32) -> usize {
        let tenant = self.by().tenant();
        let claim = restante_store::handoffs::Claim {
            randoms: vec![[7; 16]; 10],
            lease_seconds: seconds,
            handler_version: None,
        };
        let claimed = self
            .a
            .app
            .store
            .write(move |conn| {
                Box::pin(async move {
                    let consumer = consumers::by_name(conn, tenant, name).await?.unwrap();
                    handoffs::claim(conn, &consumer, claim).await
                })
            })
            .await
            .unwrap();
        claimed.leases.len()
    }

    async fn state(&self, state: u8) -> i64 {
        self.a.t.number(&format!("SELECT COUNT(*) FROM handoffs WHERE state = {state}")).await
    }
}

both_engines!(a_lease_that_runs_out_is_due_again_and_the_last_one_fails, |t| async {
    let bench = bench(t).await;
    bench.event().await;
    assert_eq!(bench.lease(30).await, 1);
    assert_eq!(bench.a.app.sweep().await.unwrap(), Swept::default());
    bench.a.t.clock.advance_seconds(30);
    assert_eq!(bench.a.app.sweep().await.unwrap(), Swept { expired: 1, ..Swept::default() });
    assert_eq!((bench.state(0).await, bench.state(1).await), (1, 0));
    assert_eq!(bench.lease(30).await, 1);
    bench.a.t.clock.advance_seconds(30);
    assert_eq!(bench.a.app.sweep().await.unwrap(), Swept { failed: 1, ..Swept::default() });
    assert_eq!(bench.state(3).await, 1);
    assert_eq!(bench.a.app.sweep().await.unwrap(), Swept::default());
});

both_engines!(a_backfill_and_a_removal_that_were_cut_off_are_finished, |t| async {
    let bench = bench(t).await;
    for _ in 0..3 {
        bench.event().await;
    }
    let new = NewConsumer { name: "late".into(), start: Some("beginning".into()), ..NewConsumer::default() };
    bench.a.app.create_consumer(bench.by(), new, None).await.unwrap();
    // As if the process had ended right after the consumer was made, and had then been deleted.
    bench
        .a
        .t
        .execute("DELETE FROM handoffs WHERE consumer_id = (SELECT id FROM consumers WHERE name = 'late')")
        .await;
    let newest = "(SELECT id FROM receipts ORDER BY id DESC LIMIT 1)";
    let all = format!(
        "UPDATE consumers SET backfill_from = (SELECT id FROM receipts ORDER BY id LIMIT 1), backfill_to = {newest} WHERE name = 'late'"
    );
    bench.a.t.execute(&all).await;
    assert!(bench.a.app.consumer(bench.by(), "late").await.unwrap().backfilling);
    assert_eq!(bench.a.app.sweep().await.unwrap(), Swept { handed_off: 3, ..Swept::default() });
    assert!(!bench.a.app.consumer(bench.by(), "late").await.unwrap().backfilling);
    bench.a.t.execute("UPDATE consumers SET deleted_at = 1 WHERE name = 'late'").await;
    assert_eq!(bench.a.app.sweep().await.unwrap(), Swept { cancelled: 3, ..Swept::default() });
    assert_eq!((bench.state(0).await, bench.state(5).await), (3, 3));
});

both_engines!(kept_answers_go_after_their_day_and_not_before, |t| async {
    let bench = bench(t).await;
    let make = async |key: &str| {
        let asked = NewConsumer { name: format!("made-with-{key}"), ..NewConsumer::default() };
        let repeat = Repeat::new(key.to_owned(), "POST", "/v1/consumers", key.as_bytes());
        bench.a.app.create_consumer(bench.by(), asked, Some(repeat)).await.unwrap();
    };
    make("first").await;
    bench.a.t.clock.advance_seconds(12 * 60 * 60);
    make("second").await;
    bench.a.t.clock.advance_seconds(12 * 60 * 60);
    // The first is a day old to the second, and still an answer.
    assert_eq!(bench.a.app.sweep().await.unwrap(), Swept::default());
    assert_eq!(bench.a.t.count("idempotency_keys").await, 2);
    bench.a.t.clock.advance_seconds(1);
    assert_eq!(bench.a.app.sweep().await.unwrap(), Swept { answers: 1, ..Swept::default() });
    assert_eq!(bench.a.t.count("idempotency_keys").await, 1);
    bench.a.t.clock.advance_seconds(12 * 60 * 60);
    bench.a.app.sweep().await.unwrap();
    assert_eq!(bench.a.t.count("idempotency_keys").await, 0);
});

both_engines!(many_answers_go_in_steps_each_of_which_counts, |t| async {
    let bench = bench(t).await;
    let numbers = match bench.a.t.engine() {
        restante_store::Engine::Sqlite => {
            "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 1200)
                SELECT t.id, CAST(printf('%032d', n) AS BLOB), X'00', X'00', 0 FROM n, tenants AS t"
        }
        restante_store::Engine::Postgres => {
            "SELECT t.id, decode(lpad(CAST(n AS text), 32, '0'), 'hex'), 'x', 'x', 0
                FROM generate_series(1, 1200) AS n, tenants AS t"
        }
    };
    let columns = "(tenant_id, key_hash, request_hash, answer_sealed, created_at)";
    bench.a.t.execute(&format!("INSERT INTO idempotency_keys {columns} {numbers}")).await;
    // No time but for one step: as a pass that is cut off, whose step stays done.
    let step = bench.a.app.expire_kept_answers(Duration::ZERO).await.unwrap();
    assert!((1..1_200).contains(&step), "{step}");
    assert_eq!(bench.a.t.count("idempotency_keys").await, 1_200 - i64::try_from(step).unwrap());
    assert_eq!(bench.a.app.sweep().await.unwrap().answers, 1_200 - step);
    assert_eq!(bench.a.app.sweep().await.unwrap().answers, 0);
});

both_engines!(what_fails_for_one_consumer_costs_the_others_nothing, |t| async {
    let bench = bench(t).await;
    let late = NewConsumer { name: "late".into(), ..NewConsumer::default() };
    bench.a.app.create_consumer(bench.by(), late, None).await.unwrap();
    bench.event().await;
    assert_eq!((bench.lease(30).await, bench.lease_of("late", 30).await), (1, 1));
    bench.a.t.clock.advance_seconds(30);
    let of_the_older = "(SELECT id FROM consumers WHERE name = 'default')";
    bench.a.t.execute(&format!("UPDATE handoffs SET attempt = -1 WHERE consumer_id = {of_the_older}")).await;
    bench.a.t.execute("UPDATE consumers SET filter = 'broken' WHERE name = 'default'").await;
    let all = "(SELECT id FROM receipts)";
    bench.a.t.execute(&format!("UPDATE consumers SET backfill_from = {all}, backfill_to = {all}")).await;
    assert!(bench.a.app.sweep().await.is_err(), "it is told");
    for (state, of) in [(1, "="), (0, "<>")] {
        let found = format!("handoffs WHERE state = {state} AND consumer_id {of} {of_the_older}");
        assert_eq!(bench.a.t.count(&found).await, 1, "the lease that can't be read alone stays");
    }
    assert!(!bench.a.app.consumer(bench.by(), "late").await.unwrap().backfilling);
});

both_engines!(two_nodes_sweep_one_lease_once, |t| async {
    let bench = bench(t).await;
    if bench.a.t.engine() == restante_store::Engine::Sqlite {
        // One server holds an SQLite file.
        return;
    }
    let other = bench.a.second_node().await;
    for _ in 0..10 {
        bench.event().await;
    }
    assert_eq!(bench.lease(30).await, 10);
    bench.a.t.clock.advance_seconds(30);
    let (one, two) = tokio::join!(bench.a.app.sweep(), other.sweep());
    assert_eq!(one.unwrap().expired + two.unwrap().expired, 10);
    assert_eq!(bench.a.t.count("attempts").await, 10);
});

both_engines!(two_nodes_do_the_rest_of_a_sweep_once_as_well, |t| async {
    let bench = bench(t).await;
    if bench.a.t.engine() == restante_store::Engine::Sqlite {
        return;
    }
    let other = bench.a.second_node().await;
    for _ in 0..10 {
        bench.event().await;
    }
    for name in ["late", "gone"] {
        let asked = NewConsumer { name: name.into(), ..NewConsumer::default() };
        let repeat = Repeat::new(name.to_owned(), "POST", "/v1/consumers", b"");
        bench.a.app.create_consumer(bench.by(), asked, Some(repeat)).await.unwrap();
    }
    bench.event().await;
    let unfinished = "UPDATE consumers SET backfill_from = (SELECT id FROM receipts ORDER BY id LIMIT 1),
        backfill_to = (SELECT id FROM receipts ORDER BY id DESC LIMIT 1) WHERE name = 'late'";
    bench.a.t.execute(unfinished).await;
    bench.a.t.execute("UPDATE consumers SET deleted_at = 1 WHERE name = 'gone'").await;
    bench.a.t.clock.advance_seconds(24 * 60 * 60 + 1);
    let (one, two) = tokio::join!(bench.a.app.sweep(), other.sweep());
    let (one, two) = (one.unwrap(), two.unwrap());
    // Of eleven events the new consumer had one already.
    assert_eq!(one.handed_off + two.handed_off, 10);
    assert_eq!(one.cancelled + two.cancelled, 1);
    assert_eq!(one.answers + two.answers, 2);
    assert_eq!((bench.state(0).await, bench.state(5).await), (22, 1));
    assert_eq!(bench.a.app.sweep().await.unwrap(), Swept::default());
    for (state, count) in [("pending", 22), ("cancelled", 1)] {
        let sum = "SELECT CAST(COALESCE(SUM(count), 0) AS BIGINT) FROM rollups WHERE grain = 0 AND metric =";
        assert_eq!(bench.a.t.number(&format!("{sum} '{state}'")).await, count, "{state}");
    }
});

both_engines!(the_sweep_stops_when_it_is_told_and_sends_home_who_waits, |t| async {
    let bench = bench(t).await;
    let (stop, stopped) = watch::channel(false);
    let sweeps = tokio::spawn(run_sweeps(bench.a.app.clone(), stopped));
    let (app, by) = (bench.a.app.clone(), bench.by().clone());
    let claim = Claim { max: 1, lease_seconds: 1, wait_seconds: 30, handler_version: None };
    let waiting = tokio::spawn(async move { app.claim(&by, "default", claim, stays()).await.unwrap() });
    stop.send(true).unwrap();
    sweeps.await.unwrap();
    assert!(waiting.await.unwrap().events.is_empty());
});

both_engines!(what_can_not_be_opened_is_failed_and_the_claim_goes_on, |t| async {
    let bench = bench(t).await;
    for _ in 0..3 {
        bench.event().await;
    }
    let claim = Claim { max: 2, lease_seconds: 60, wait_seconds: 0, handler_version: None };
    let claimed = bench.a.app.claim(bench.by(), "default", claim, stays()).await.unwrap();
    assert!(claimed.events.is_empty());
    assert_eq!(bench.state(3).await, 3);
});

both_engines!(rubbish_is_unknown_and_changes_nothing, |t| async {
    let bench = bench(t).await;
    bench.event().await;
    bench.lease(60).await;
    let rubbish = ["", "x", "\0", &"A".repeat(48), &"é".repeat(24)].map(str::to_owned);
    let acks = rubbish.iter().map(|lease| Ack { lease: lease.clone(), ..Ack::default() }).collect();
    let acked = bench.a.app.ack(bench.by(), "default", acks).await.unwrap();
    assert!(acked.iter().all(|answer| answer.result == LeaseResult::Unknown));
    let nack = |lease: &String| NackOne {
        lease: lease.clone(),
        asked: Nack::Failed,
        retry_in_seconds: None,
        error: Some("\0".into()),
        remote_operation_id: Some("x".repeat(10_000)),
    };
    let nacked = bench.a.app.nack(bench.by(), "default", rubbish.iter().map(nack).collect()).await.unwrap();
    assert!(nacked.iter().all(|answer| answer.result == LeaseResult::Unknown));
    assert_eq!(bench.state(1).await, 1);
});
