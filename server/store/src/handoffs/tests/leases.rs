//! One holder at a time: claim, ack, nack, extend, expiry.

use restante_core::handoff::{LeaseResult, Nack};
use restante_core::limits;
use restante_core::time::Clock as _;

use super::*;
use crate::both_engines;
use crate::handoffs::{Extension, LeaseNack, attempts_of_receipt, idle};

async fn nack(
    t: &TestStore,
    consumer: &ConsumerRecord,
    token: &LeaseToken,
    asked: Nack,
    retry_in_seconds: Option<u32>,
) -> LeaseResult {
    let consumer = consumer.clone();
    let lease = LeaseNack {
        token: Some(token.clone()),
        asked,
        retry_in_seconds,
        error: Some("no".into()),
        remote_operation_id: None,
        random: u64::MAX,
    };
    let results = write(&t.store, move |conn| {
        Box::pin(async move { crate::handoffs::nack(conn, &consumer, vec![lease]).await })
    });
    results.await[0]
}

async fn extend(
    t: &TestStore,
    consumer: &ConsumerRecord,
    tokens: Vec<Option<LeaseToken>>,
    seconds: u32,
) -> Vec<Extension> {
    let consumer = consumer.clone();
    write(&t.store, move |conn| {
        Box::pin(async move { crate::handoffs::extend(conn, &consumer, &tokens, seconds).await })
    })
    .await
}

fn some(lease: &Lease) -> Option<LeaseToken> {
    Some(lease.token.clone())
}

both_engines!(a_claim_gives_events_in_the_order_in_which_they_came, |t| async {
    let consumer = with_consumer(&t).await;
    let mut ids = Vec::new();
    for n in 0..5 {
        ids.push(receive(&t, TENANT, &format!("evt_{n}")).await);
    }
    let first = claim(&t, &consumer, 3).await;
    let second = claim(&t, &consumer, 3).await;
    let claimed: Vec<_> = first.iter().chain(&second).map(|lease| lease.receipt).collect();
    assert_eq!(claimed, ids);
    assert!(
        first.iter().all(|lease| lease.attempt == 1 && lease.expires_at == t.clock.now().plus_seconds(60))
    );
    assert_eq!((in_state(&t, &consumer, "pending").await, in_state(&t, &consumer, "leased").await), (0, 5));
    assert!(claim(&t, &consumer, 3).await.is_empty());
});

both_engines!(an_ack_is_final_and_its_repeat_changes_nothing, |t| async {
    let consumer = with_consumer(&t).await;
    let receipt = receive(&t, TENANT, "evt").await;
    let lease = claim(&t, &consumer, 1).await.remove(0);
    for _ in 0..3 {
        assert_eq!(ack(&t, &consumer, vec![some(&lease)]).await, [LeaseResult::Acked]);
    }
    t.clock.advance_seconds(100_000);
    assert_eq!(ack(&t, &consumer, vec![some(&lease)]).await, [LeaseResult::Acked]);
    assert!(claim(&t, &consumer, 1).await.is_empty());
    assert_eq!(in_state(&t, &consumer, "processed").await, 1);
    let attempts = t
        .store
        .read(|conn| Box::pin(async move { attempts_of_receipt(conn, TENANT, receipt).await }))
        .await
        .unwrap();
    assert_eq!(attempts.len(), 1);
    assert_eq!(attempts[0].handler_version.as_deref(), Some("v1"));
    assert_eq!(attempts[0].remote_operation_id.as_deref(), Some("re_1"));
});

both_engines!(a_lease_that_ran_out_is_fenced_off, |t| async {
    let consumer = with_consumer(&t).await;
    receive(&t, TENANT, "evt").await;
    let first = claim(&t, &consumer, 1).await.remove(0);
    t.clock.advance_seconds(60);
    // Nobody has claimed since, and it is over all the same.
    assert_eq!(ack(&t, &consumer, vec![some(&first)]).await, [LeaseResult::Expired]);
    let second = claim(&t, &consumer, 1).await.remove(0);
    assert_eq!((second.receipt, second.attempt), (first.receipt, 2));
    assert_eq!(ack(&t, &consumer, vec![some(&first)]).await, [LeaseResult::Expired]);
    assert_eq!(nack(&t, &consumer, &first.token, Nack::Failed, None).await, LeaseResult::Expired);
    assert_eq!(extend(&t, &consumer, vec![some(&first)], 60).await[0].result, LeaseResult::Expired);
    assert_eq!(in_state(&t, &consumer, "leased").await, 1);
    assert_eq!(ack(&t, &consumer, vec![some(&second)]).await, [LeaseResult::Acked]);
    // What ended first still answers as it did.
    assert_eq!(ack(&t, &consumer, vec![some(&first)]).await, [LeaseResult::Expired]);
});

both_engines!(a_list_is_answered_lease_by_lease, |t| async {
    let consumer = with_consumer(&t).await;
    for n in 0..3 {
        receive(&t, TENANT, &format!("evt_{n}")).await;
    }
    let leases = claim(&t, &consumer, 3).await;
    let forged = LeaseToken::new(leases[1].receipt, leases[1].attempt, [7; 16]);
    let nowhere = LeaseToken::new(ReceiptId(Uuid::from_u128(5)), 1, [7; 16]);
    let future = LeaseToken::new(leases[1].receipt, 9, [7; 16]);
    let asked = vec![
        some(&leases[0]),
        None,
        some(&leases[0]),
        Some(forged),
        some(&leases[2]),
        Some(nowhere),
        Some(future),
    ];
    let (acked, unknown) = (LeaseResult::Acked, LeaseResult::Unknown);
    assert_eq!(ack(&t, &consumer, asked).await, [acked, unknown, acked, unknown, acked, unknown, unknown]);
    assert_eq!((in_state(&t, &consumer, "processed").await, in_state(&t, &consumer, "leased").await), (2, 1));
    assert_eq!(t.count("attempts").await, 2);
    assert!(ack(&t, &consumer, vec![]).await.is_empty());
});

both_engines!(a_nack_frees_the_event_at_once_or_when_asked, |t| async {
    let consumer = with_consumer(&t).await;
    receive(&t, TENANT, "evt").await;
    let first = claim(&t, &consumer, 1).await.remove(0);
    assert_eq!(nack(&t, &consumer, &first.token, Nack::Retry, Some(0)).await, LeaseResult::Retried);
    assert_eq!(nack(&t, &consumer, &first.token, Nack::Retry, Some(0)).await, LeaseResult::Retried);
    let second = claim(&t, &consumer, 1).await.remove(0);
    assert_eq!(second.attempt, 2);
    assert_eq!(nack(&t, &consumer, &second.token, Nack::Retry, Some(30)).await, LeaseResult::Retried);
    assert_eq!(nack(&t, &consumer, &first.token, Nack::Retry, None).await, LeaseResult::Retried);
    t.clock.advance_seconds(29);
    assert!(claim(&t, &consumer, 1).await.is_empty());
    t.clock.advance_seconds(1);
    assert_eq!(claim(&t, &consumer, 1).await[0].attempt, 3);
});

both_engines!(a_nack_without_a_delay_backs_off, |t| async {
    let consumer = with_consumer(&t).await;
    receive(&t, TENANT, "evt").await;
    let lease = claim(&t, &consumer, 1).await.remove(0);
    nack(&t, &consumer, &lease.token, Nack::Retry, None).await;
    t.clock.advance_seconds(4);
    assert!(claim(&t, &consumer, 1).await.is_empty());
    t.clock.advance_seconds(1);
    assert_eq!(claim(&t, &consumer, 1).await.len(), 1);
});

both_engines!(after_the_last_attempt_an_event_is_failed, |t| async {
    let consumer = with_consumer(&t).await;
    receive(&t, TENANT, "evt").await;
    for attempt in 1..=3 {
        let lease = claim(&t, &consumer, 1).await.remove(0);
        let expected = if attempt == 3 { LeaseResult::Failed } else { LeaseResult::Retried };
        assert_eq!(nack(&t, &consumer, &lease.token, Nack::Retry, Some(0)).await, expected);
        assert_eq!(nack(&t, &consumer, &lease.token, Nack::Retry, Some(0)).await, expected, "repeated");
    }
    t.clock.advance_seconds(100_000);
    assert!(claim(&t, &consumer, 1).await.is_empty());
    assert_eq!(in_state(&t, &consumer, "failed").await, 1);
});

both_engines!(failed_and_uncertain_wait_for_a_person, |t| async {
    let consumer = with_consumer(&t).await;
    receive(&t, TENANT, "evt_1").await;
    receive(&t, TENANT, "evt_2").await;
    let leases = claim(&t, &consumer, 2).await;
    assert_eq!(nack(&t, &consumer, &leases[0].token, Nack::Failed, None).await, LeaseResult::Failed);
    assert_eq!(nack(&t, &consumer, &leases[1].token, Nack::Uncertain, None).await, LeaseResult::Uncertain);
    assert_eq!(ack(&t, &consumer, vec![some(&leases[1])]).await, [LeaseResult::Expired]);
    t.clock.advance_seconds(100_000);
    assert!(claim(&t, &consumer, 2).await.is_empty());
    assert_eq!((in_state(&t, &consumer, "failed").await, in_state(&t, &consumer, "uncertain").await), (1, 1));
});

both_engines!(the_last_lease_that_runs_out_fails_the_event_without_any_claim, |t| async {
    let consumer = with_consumer(&t).await;
    receive(&t, TENANT, "evt").await;
    for _ in 0..3 {
        assert_eq!(claim(&t, &consumer, 1).await.len(), 1);
        t.clock.advance_seconds(60);
    }
    let found = write(&t.store, |conn| Box::pin(crate::handoffs::with_run_out_leases(conn, 10))).await;
    assert_eq!(found, [(TENANT, consumer.id, 3)]);
    let id = consumer.id;
    let expired = write(&t.store, move |conn| Box::pin(crate::handoffs::expire(conn, TENANT, id, 3))).await;
    assert_eq!((expired.pending, expired.failed), (0, 1));
    assert_eq!((in_state(&t, &consumer, "failed").await, in_state(&t, &consumer, "leased").await), (1, 0));
    assert!(
        write(&t.store, |conn| Box::pin(crate::handoffs::with_run_out_leases(conn, 10))).await.is_empty()
    );
    assert_eq!(t.count("attempts").await, 3);
});

both_engines!(an_extended_lease_lives_on_but_not_for_ever, |t| async {
    let consumer = with_consumer(&t).await;
    receive(&t, TENANT, "evt").await;
    let lease = claim(&t, &consumer, 1).await.remove(0);
    let claimed_at = t.clock.now();
    t.clock.advance_seconds(59);
    let extended = extend(&t, &consumer, vec![some(&lease), some(&lease), None], 60).await;
    let until = Some(t.clock.now().plus_seconds(60));
    assert_eq!(extended[0], Extension { result: LeaseResult::Extended, expires_at: until });
    assert_eq!((extended[1], extended[2].result), (extended[0], LeaseResult::Unknown));
    t.clock.advance_seconds(59);
    assert!(claim(&t, &consumer, 1).await.is_empty());
    let last = claimed_at.plus_seconds(limits::LEASE_TOTAL_SECONDS_MAX.into());
    while t.clock.now() < last {
        let extended = extend(&t, &consumer, vec![some(&lease)], limits::LEASE_SECONDS_MAX).await;
        assert_eq!(extended[0].result, LeaseResult::Extended);
        assert!(extended[0].expires_at.unwrap() <= last);
        t.clock.set(extended[0].expires_at.unwrap().plus_seconds(-1).max(t.clock.now().plus_seconds(1)));
    }
    assert_eq!(ack(&t, &consumer, vec![some(&lease)]).await, [LeaseResult::Expired]);
});

both_engines!(a_claim_carries_eight_mebibytes_but_at_least_one_event, |t| async {
    let consumer = with_consumer(&t).await;
    for (key, length) in [("evt_1", 20 << 20), ("evt_2", 5 << 20), ("evt_3", 3 << 20), ("evt_4", 1)] {
        let mut delivery = delivery(&t, TENANT, key);
        delivery.receipts[0].slice_length = length;
        commit(&t, delivery).await;
    }
    let mut sizes = Vec::new();
    for _ in 0..4 {
        let claimed = claim_of(&t.store, &consumer, 50).await;
        sizes.push((claimed.leases.len(), claimed.more));
    }
    assert_eq!(sizes, [(1, true), (2, true), (1, false), (0, false)]);
});

both_engines!(an_empty_claim_tells_what_others_hold_and_when_to_come_again, |t| async {
    let consumer = with_consumer(&t).await;
    let look = || async {
        let consumer = consumer.clone();
        t.store.read(move |conn| Box::pin(async move { idle(conn, &consumer).await })).await.unwrap()
    };
    assert_eq!((look().await.leased, look().await.next_at), (0, None));
    for n in 0..3 {
        receive(&t, TENANT, &format!("evt_{n}")).await;
    }
    let leases = claim(&t, &consumer, 3).await;
    assert_eq!((look().await.leased, look().await.next_at), (3, Some(leases[0].expires_at)));
    nack(&t, &consumer, &leases[0].token, Nack::Retry, Some(7)).await;
    assert_eq!((look().await.leased, look().await.next_at), (2, Some(t.clock.now().plus_seconds(7))));
});

both_engines!(a_paused_consumer_gets_nothing_and_loses_nothing, |t| async {
    let consumer = with_consumer(&t).await;
    let paused = ConsumerRecord { enabled: false, ..consumer.clone() };
    receive(&t, TENANT, "evt").await;
    assert!(claim(&t, &paused, 1).await.is_empty());
    assert_eq!(in_state(&t, &consumer, "pending").await, 1);
    assert_eq!(claim(&t, &consumer, 1).await.len(), 1);
});

both_engines!(a_lease_is_of_one_consumer_and_one_tenant, |t| async {
    let consumer = with_consumer(&t).await;
    let second = insert_consumer(&t, TENANT, new_consumer(&t, "audit")).await;
    make_tenant(&t, OTHER_TENANT).await;
    let foreign = insert_consumer(&t, OTHER_TENANT, new_consumer(&t, "billing")).await;
    receive(&t, TENANT, "evt").await;
    receive(&t, OTHER_TENANT, "evt").await;
    let lease = claim(&t, &consumer, 1).await.remove(0);
    for other in [&second, &foreign] {
        assert_eq!(ack(&t, other, vec![some(&lease)]).await, [LeaseResult::Unknown]);
        assert_eq!(claim(&t, other, 10).await.len(), 1, "each has a handoff of its own");
    }
    assert_eq!(ack(&t, &consumer, vec![some(&lease)]).await, [LeaseResult::Acked]);
    assert_eq!(in_state(&t, &second, "leased").await, 1);
});

/// An event may be seen a moment before it is on the disk; its sender has no answer then, and would bring it again
/// under another id if the power failed. So it must not be handed out yet. On SQLite every write waits.
#[tokio::test]
async fn what_a_claim_hands_out_on_postgres_has_reached_the_disk() {
    use crate::engine::Sql;

    static HOW: Sql = Sql::both("how", "SELECT current_setting('synchronous_commit') AS how");
    let Some(t) = TestStore::postgres().await else {
        return crate::testing::say_skipped("what_a_claim_hands_out_on_postgres_has_reached_the_disk");
    };
    let consumer = with_consumer(&t).await;
    receive(&t, TENANT, "evt_1").await;
    let asked = asking(1, 60);
    let how = write(&t.store, move |conn| {
        Box::pin(async move {
            assert_eq!(super::super::claim(conn, &consumer, asked).await?.leases.len(), 1);
            conn.fetch_one(&HOW, vec![]).await?.text("how")
        })
    });
    assert_eq!(how.await, "on");
}
