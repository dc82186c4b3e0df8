//! Many at once. Each event has one holder, and each lease ends once.

use std::collections::HashSet;
use std::sync::Arc;

use restante_core::handoff::LeaseResult;
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use super::*;
use crate::both_engines;

async fn receive_many(t: &TestStore, count: usize) {
    let mut commits = JoinSet::new();
    for n in 0..count {
        let (store, delivery) = (t.store.clone(), delivery(t, TENANT, &format!("evt_{n}")));
        commits.spawn(async move { store.commit(delivery).await.unwrap() });
    }
    while commits.join_next().await.is_some() {}
}

both_engines!(sixty_four_claimers_get_each_of_2000_events_once, |t| async {
    let consumer = with_consumer(&t).await;
    receive_many(&t, 2_000).await;
    let seen = Arc::new(Mutex::new(HashSet::new()));
    let mut claimers = JoinSet::new();
    for _ in 0..64 {
        let (store, consumer, seen) = (t.store.clone(), consumer.clone(), Arc::clone(&seen));
        claimers.spawn(async move {
            let mut empty = 0;
            while empty < 2 {
                let claimed = claim_of(&store, &consumer, 10).await;
                empty = if claimed.leases.is_empty() { empty + 1 } else { 0 };
                let mut acks = Vec::new();
                for lease in claimed.leases {
                    assert!(seen.lock().await.insert(lease.receipt), "handed out twice");
                    acks.push(LeaseAck { token: Some(lease.token), remote_operation_id: None, note: None });
                }
                let (consumer, count) = (consumer.clone(), acks.len());
                let results = write(&store, move |conn| {
                    Box::pin(async move { crate::handoffs::ack(conn, &consumer, acks).await })
                })
                .await;
                assert_eq!(results, vec![LeaseResult::Acked; count]);
            }
        });
    }
    while let Some(done) = claimers.join_next().await {
        done.unwrap();
    }
    // A claimer may have found everything locked by others; nothing is left behind for good.
    while !claim(&t, &consumer, 100).await.is_empty() {}
    assert_eq!(in_state(&t, &consumer, "pending").await, 0);
    assert_eq!(in_state(&t, &consumer, "processed").await + in_state(&t, &consumer, "leased").await, 2_000);
    assert_eq!(t.count("attempts").await, in_state(&t, &consumer, "processed").await);
});

both_engines!(of_many_acks_and_claims_at_the_end_of_a_lease_one_counts, |t| async {
    let consumer = with_consumer(&t).await;
    for round in 0..10 {
        receive(&t, TENANT, &format!("evt_{round}")).await;
        let lease = claim(&t, &consumer, 1).await.remove(0);
        t.clock.advance_seconds(if round % 2 == 0 { 59 } else { 60 });
        let mut calls = JoinSet::new();
        for n in 0..8 {
            let (store, consumer, token) = (t.store.clone(), consumer.clone(), lease.token.clone());
            calls.spawn(async move {
                if n % 2 == 0 {
                    let acks = vec![LeaseAck { token: Some(token), remote_operation_id: None, note: None }];
                    let results = write(&store, move |conn| {
                        Box::pin(async move { crate::handoffs::ack(conn, &consumer, acks).await })
                    });
                    (0, usize::from(results.await[0] == LeaseResult::Acked))
                } else {
                    (claim_of(&store, &consumer, 1).await.leases.len(), 0)
                }
            });
        }
        let (mut claims, mut acks) = (0, 0);
        while let Some(done) = calls.join_next().await {
            let (claimed, acked) = done.unwrap();
            claims += claimed;
            acks += acked;
        }
        if round % 2 == 0 {
            assert_eq!((claims, acks), (0, 4), "round {round}");
        } else {
            // An ack that looks at the lease at this very moment may hide it from the claims.
            claims += claim(&t, &consumer, 1).await.len();
            assert_eq!((claims, acks), (1, 0), "round {round}");
        }
        loop {
            t.clock.advance_seconds(60);
            if claim(&t, &consumer, 1).await.is_empty() {
                break;
            }
        }
    }
});

both_engines!(a_second_node_gets_what_the_first_has_not, |t| async {
    if t.engine() == crate::Engine::Sqlite {
        // One server holds an SQLite file.
        return;
    }
    let consumer = with_consumer(&t).await;
    receive_many(&t, 300).await;
    let other = t.second().await;
    let mut claimers = JoinSet::new();
    for n in 0..8 {
        let store = if n % 2 == 0 { t.store.clone() } else { other.clone() };
        let consumer = consumer.clone();
        claimers.spawn(async move {
            let mut got = Vec::new();
            loop {
                let leases = claim_of(&store, &consumer, 7).await.leases;
                if leases.is_empty() {
                    return got;
                }
                got.extend(leases.into_iter().map(|lease| lease.receipt));
            }
        });
    }
    let mut all = Vec::new();
    while let Some(got) = claimers.join_next().await {
        all.extend(got.unwrap());
    }
    all.extend(claim(&t, &consumer, 300).await.into_iter().map(|lease| lease.receipt));
    assert_eq!(all.len(), 300);
    assert_eq!(all.into_iter().collect::<HashSet<_>>().len(), 300);
});
