//! Leases and slots on both engines, with a clock that is moved by hand, also backwards.

use restante_core::id::JobRunId;
use restante_core::time::{Clock as _, Timestamp};
use uuid::Uuid;

use super::*;
use crate::testing::{START, TestStore};
use crate::{Store, both_engines};

const LEASE_SECONDS: u32 = 60;

/// A slot each five minutes.
fn next(after: Timestamp) -> Timestamp {
    Timestamp::from_seconds((after.seconds().div_euclid(300) + 1) * 300)
}

async fn claim_at(store: &Store, number: u128, node: &'static str) -> Option<ClaimedRun> {
    let run = JobRunId(Uuid::from_u128(number));
    store
        .write(move |conn| {
            Box::pin(async move {
                claim(conn, JobClaim { job: "job", run, node, lease_seconds: LEASE_SECONDS, next: &next })
                    .await
            })
        })
        .await
        .unwrap()
}

async fn done(store: &Store, lease: &JobLease) -> bool {
    let lease = lease.clone();
    let how = JobEnd { outcome: "done", report: Some("{}".to_owned()), error: None };
    store.write(move |conn| Box::pin(async move { end(conn, &lease, how).await })).await.unwrap()
}

async fn renewed(store: &Store, lease: &JobLease) -> bool {
    let lease = lease.clone();
    store.write(move |conn| Box::pin(async move { renew(conn, &lease, LEASE_SECONDS).await })).await.unwrap()
}

async fn history(t: &TestStore) -> Vec<JobRunRow> {
    t.store.read(|conn| Box::pin(runs(conn, "job", 100))).await.unwrap()
}

/// Known, and one second into its first slot.
async fn due(t: &TestStore) {
    assert_eq!(claim_at(&t.store, 1, "a").await, None, "it is made known first");
    assert_eq!(claim_at(&t.store, 1, "a").await, None, "its first slot lies ahead");
    t.clock.set(next(START).plus_seconds(1));
}

both_engines!(a_slot_is_run_once_however_many_ask, |t| async {
    due(&t).await;
    let other = t.second().await;
    let (one, two) = tokio::join!(claim_at(&t.store, 10, "a"), claim_at(&other, 11, "b"));
    let claimed: Vec<ClaimedRun> = [one, two].into_iter().flatten().collect();
    assert_eq!(claimed.len(), 1);
    assert_eq!((claimed[0].slot_at, claimed[0].missed, claimed[0].taken_over), (Some(next(START)), 0, false));
    assert!(done(&t.store, &claimed[0].lease).await);
    assert_eq!(claim_at(&other, 12, "b").await, None, "the slot is done");
    assert_eq!(history(&t).await.len(), 1);
});

both_engines!(missed_slots_are_caught_up_once_and_counted, |t| async {
    due(&t).await;
    t.clock.advance_seconds(4 * 300);
    let claimed = claim_at(&t.store, 10, "a").await.unwrap();
    assert_eq!((claimed.slot_at, claimed.missed), (Some(next(START).plus_seconds(4 * 300)), 4));
    assert!(done(&t.store, &claimed.lease).await);
    assert_eq!(claim_at(&t.store, 11, "a").await, None);
});

both_engines!(a_lost_holder_is_followed_by_another_and_changes_nothing_any_more, |t| async {
    due(&t).await;
    let first = claim_at(&t.store, 10, "a").await.unwrap();
    t.clock.advance_seconds(i64::from(LEASE_SECONDS) - 1);
    assert_eq!(claim_at(&t.store, 11, "b").await, None, "the lease is live");
    assert!(renewed(&t.store, &first.lease).await);
    t.clock.advance_seconds(i64::from(LEASE_SECONDS) - 1);
    assert_eq!(claim_at(&t.store, 11, "b").await, None, "it was renewed");
    t.clock.advance_seconds(2);
    let second = claim_at(&t.store, 11, "b").await.unwrap();
    assert!(second.taken_over);
    assert_eq!((second.slot_at, second.lease.run), (first.slot_at, first.lease.run), "the same run goes on");
    // The first one wakes up.
    assert!(!renewed(&t.store, &first.lease).await);
    let lease = first.lease.clone();
    let write = t.store.write(move |conn| Box::pin(async move { demand(conn, &lease).await })).await;
    assert!(matches!(write, Err(StoreError::Stale)), "{write:?}");
    assert!(!done(&t.store, &first.lease).await);
    assert!(history(&t).await[0].finished_at.is_none());
    assert!(done(&t.store, &second.lease).await);
    let runs = history(&t).await;
    assert_eq!((runs.len(), runs[0].takeovers, runs[0].node.as_str()), (1, 1, "b"));
});

both_engines!(a_clock_that_is_set_back_runs_no_slot_again, |t| async {
    due(&t).await;
    let mut slots = Vec::new();
    for number in 0..12 {
        let claimed = claim_at(&t.store, 10 + number, "a").await.unwrap();
        slots.push(claimed.slot_at.unwrap());
        assert!(done(&t.store, &claimed.lease).await);
        t.clock.advance_seconds(300);
    }
    // An hour back, and through the same hour once more.
    t.clock.advance_seconds(-12 * 300);
    for number in 0..12 {
        assert_eq!(claim_at(&t.store, 100 + number, "a").await, None);
        t.clock.advance_seconds(300);
    }
    let claimed = claim_at(&t.store, 200, "a").await.unwrap();
    assert!(!slots.contains(&claimed.slot_at.unwrap()), "it goes on with the first new one");
});

both_engines!(a_clock_that_jumps_ahead_and_back_neither_stops_a_job_nor_doubles_a_slot, |t| async {
    due(&t).await;
    let normal = t.clock.now();
    t.clock.advance_seconds(400 * 86_400);
    let far = claim_at(&t.store, 10, "a").await.unwrap();
    // Its holder is lost while the clock is wrong.
    t.clock.set(normal);
    let taken = claim_at(&t.store, 11, "b").await.unwrap();
    assert_eq!(taken.lease.run, far.lease.run, "a lease from the future holds nobody up");
    assert!(done(&t.store, &taken.lease).await);
    assert_eq!(claim_at(&t.store, 12, "a").await, None, "the next slot is moved back to where it belongs");
    t.clock.advance_seconds(300);
    let claimed = claim_at(&t.store, 13, "a").await.unwrap();
    assert_eq!(claimed.slot_at, Some(next(normal)));
});

both_engines!(a_paused_job_passes_its_slots_over_and_runs_when_asked, |t| async {
    due(&t).await;
    assert!(t.store.write(|conn| Box::pin(pause(conn, "job", true))).await.unwrap());
    assert!(!t.store.write(|conn| Box::pin(pause(conn, "job", true))).await.unwrap());
    assert_eq!(claim_at(&t.store, 10, "a").await, None);
    let asked = t.store.write(|conn| Box::pin(ask(conn, "job", "usr_1".to_owned()))).await.unwrap();
    assert!(asked);
    assert!(!t.store.write(|conn| Box::pin(ask(conn, "none", "usr_1".to_owned()))).await.unwrap());
    let claimed = claim_at(&t.store, 11, "a").await.unwrap();
    assert_eq!(claimed.slot_at, None);
    assert!(done(&t.store, &claimed.lease).await);
    assert_eq!(history(&t).await[0].asked_by.as_deref(), Some("usr_1"));
    assert_eq!(claim_at(&t.store, 12, "a").await, None, "once");
    t.store.write(|conn| Box::pin(pause(conn, "job", false))).await.unwrap();
    assert_eq!(claim_at(&t.store, 13, "a").await, None, "what was passed over is not caught up");
    t.clock.advance_seconds(300);
    assert!(claim_at(&t.store, 14, "a").await.is_some());
});
