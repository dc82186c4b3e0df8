//! What time moves, over the verbs of one node and of two, on both engines.

use restante_core::handoff::{LeaseResult, Nack};
use restante_core::id::EndpointId;
use restante_store::both_engines;
use restante_store::testing::TestStore;
use tokio::sync::watch;

use super::*;
use crate::By;
use crate::claim::{Ack, Claim, NackOne};
use crate::consumers::{ConsumerChange, NewConsumer};
use crate::testing::{TestApp, TestTenant};

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
                    let consumer = consumers::by_name(conn, tenant, "default").await?.unwrap();
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

both_engines!(the_sweep_stops_when_it_is_told_and_sends_home_who_waits, |t| async {
    let bench = bench(t).await;
    let (stop, stopped) = watch::channel(false);
    let sweeps = tokio::spawn(run_sweeps(bench.a.app.clone(), stopped));
    let (app, by) = (bench.a.app.clone(), bench.by().clone());
    let claim = Claim { max: 1, lease_seconds: 1, wait_seconds: 30, handler_version: None };
    let waiting = tokio::spawn(async move { app.claim(&by, "default", claim).await.unwrap() });
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
    let claimed = bench.a.app.claim(bench.by(), "default", claim).await.unwrap();
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
