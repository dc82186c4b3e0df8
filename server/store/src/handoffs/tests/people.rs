//! What only a person moves: replay, repair, settlement.

use restante_core::handoff::{Settlement, State};
use restante_core::id::ReplayId;
use restante_core::problem::Code;

use super::*;
use crate::both_engines;
use crate::handoffs::{
    NewReplay, NewSettlement, Repair, Repaired, handoffs_of_receipt, replays_by_id, replays_of_receipt,
    settlements_of_receipt,
};

async fn replay(
    t: &TestStore,
    receipt: ReceiptId,
    consumer: Option<ConsumerRecord>,
) -> Result<Vec<ConsumerId>, StoreError> {
    let new = NewReplay {
        id: ReplayId::new(t.clock.now(), random()),
        receipt,
        actor: "key_1".into(),
        reason: Some("asked".into()),
    };
    t.store
        .write(move |conn| {
            Box::pin(async move { crate::handoffs::replay(conn, TENANT, new, consumer).await })
        })
        .await
}

fn code<T: std::fmt::Debug>(answer: Result<T, StoreError>) -> Code {
    answer.unwrap_err().into_problem().code
}

async fn settle(
    t: &TestStore,
    consumer: &ConsumerRecord,
    receipt: ReceiptId,
    settlement: Settlement,
) -> Result<State, StoreError> {
    let consumer = consumer.clone();
    let new = NewSettlement {
        id: restante_core::id::uuid_v7(t.clock.now(), random()),
        receipt,
        settlement,
        actor: "usr_1".into(),
        note: Some("by hand".into()),
    };
    t.store
        .write(move |conn| {
            Box::pin(async move { crate::handoffs::settle(conn, TENANT, &consumer, new).await })
        })
        .await
}

both_engines!(a_replay_makes_an_event_pending_with_fresh_tries, |t| async {
    let consumer = with_consumer(&t).await;
    let receipt = receive(&t, TENANT, "evt").await;
    let lease = claim(&t, &consumer, 1).await.remove(0);
    ack(&t, &consumer, vec![Some(lease.token.clone())]).await;
    assert_eq!(replay(&t, receipt, None).await.unwrap(), [consumer.id]);
    assert_eq!(
        (in_state(&t, &consumer, "pending").await, in_state(&t, &consumer, "processed").await),
        (1, 0)
    );
    let again = claim(&t, &consumer, 1).await.remove(0);
    assert_eq!(again.attempt, 2);
    let marked = again.replay.unwrap();
    let known =
        t.store.read(|conn| Box::pin(async move { replays_by_id(conn, TENANT, &[marked]).await })).await;
    assert_eq!(known.unwrap()[0].reason.as_deref(), Some("asked"));
    // The ack of the first time still answers as it did, and doesn't end the second lease.
    assert_eq!(ack(&t, &consumer, vec![Some(lease.token)]).await, [LeaseResult::Acked]);
    assert_eq!(in_state(&t, &consumer, "leased").await, 1);
    let handoffs =
        t.store.read(|conn| Box::pin(async move { handoffs_of_receipt(conn, TENANT, receipt).await })).await;
    assert_eq!((handoffs.as_ref().unwrap()[0].attempt, handoffs.unwrap()[0].tries), (2, 1));
});

both_engines!(a_replay_reaches_those_who_never_had_the_event, |t| async {
    let consumer = with_consumer(&t).await;
    let receipt = receive(&t, TENANT, "evt").await;
    let late = insert_consumer(&t, TENANT, new_consumer(&t, "late")).await;
    let filter = Filter { providers: vec!["github".into()], ..Filter::default() };
    let other = insert_consumer(&t, TENANT, NewConsumer { filter, ..new_consumer(&t, "other") }).await;
    let mut all = replay(&t, receipt, None).await.unwrap();
    all.sort();
    let mut expected = vec![consumer.id, late.id];
    expected.sort();
    assert_eq!(all, expected);
    t.clock.advance_seconds(1);
    // Named, it gets the event though its filter doesn't match.
    assert_eq!(replay(&t, receipt, Some(other.clone())).await.unwrap(), [other.id]);
    assert_eq!(claim(&t, &other, 1).await[0].receipt, receipt);
    let replays =
        t.store.read(|conn| Box::pin(async move { replays_of_receipt(conn, TENANT, receipt).await })).await;
    let named: Vec<_> = replays.unwrap().into_iter().map(|replay| replay.consumer).collect();
    assert_eq!(named, [Some("other".to_owned()), None]);
});

both_engines!(a_replay_leaves_a_leased_event_alone, |t| async {
    let consumer = with_consumer(&t).await;
    let receipt = receive(&t, TENANT, "evt").await;
    let lease = claim(&t, &consumer, 1).await.remove(0);
    assert_eq!(replay(&t, receipt, None).await.unwrap(), []);
    assert_eq!(t.count("replays").await, 0);
    assert_eq!(ack(&t, &consumer, vec![Some(lease.token)]).await, [LeaseResult::Acked]);
});

both_engines!(what_has_no_payload_or_no_id_is_not_replayed, |t| async {
    let consumer = with_consumer(&t).await;
    let tombstone = receive(&t, TENANT, "evt").await;
    t.execute("UPDATE receipts SET payload_state = 'removed'").await;
    assert_eq!(code(replay(&t, tombstone, None).await), Code::Gone);
    let mut unreadable = delivery(&t, TENANT, "sha256-1");
    unreadable.receipts[0].reason = Some("envelope");
    let unreadable = commit(&t, unreadable).await;
    let refused = replay(&t, unreadable, Some(consumer.clone())).await.unwrap_err().into_problem();
    assert_eq!(refused.code, Code::Conflict);
    assert!(refused.detail.contains("repair"));
    assert_eq!(code(replay(&t, ReceiptId(Uuid::from_u128(9)), None).await), Code::NotFound);
    assert_eq!(in_state(&t, &consumer, "failed").await, 1);
    assert!(t.count("replays").await == 0);
});

both_engines!(another_tenants_event_is_not_replayed, |t| async {
    with_consumer(&t).await;
    make_tenant(&t, OTHER_TENANT).await;
    let foreign = receive(&t, OTHER_TENANT, "evt").await;
    assert_eq!(code(replay(&t, foreign, None).await), Code::NotFound);
});

both_engines!(a_settlement_ends_what_waits_for_a_person, |t| async {
    let consumer = with_consumer(&t).await;
    let receipt = receive(&t, TENANT, "evt").await;
    assert_eq!(code(settle(&t, &consumer, receipt, Settlement::Failed).await), Code::Conflict);
    t.execute("UPDATE handoffs SET state = 4").await;
    t.execute("UPDATE rollups SET metric = 'uncertain' WHERE metric = 'pending' AND grain = 0").await;
    assert_eq!(settle(&t, &consumer, receipt, Settlement::Processed).await.unwrap(), State::Processed);
    assert_eq!(
        (in_state(&t, &consumer, "processed").await, in_state(&t, &consumer, "uncertain").await),
        (1, 0)
    );
    let kept = t
        .store
        .read(|conn| Box::pin(async move { settlements_of_receipt(conn, TENANT, receipt).await }))
        .await;
    let kept = kept.unwrap();
    assert_eq!((kept.len(), kept[0].state, kept[0].note.as_deref()), (1, State::Processed, Some("by hand")));
    assert_eq!(
        code(settle(&t, &consumer, ReceiptId(Uuid::from_u128(9)), Settlement::Failed).await),
        Code::NotFound
    );
});

fn repair_of(receipt: ReceiptId, key: &str) -> Repair {
    Repair {
        receipt,
        event_key: key.into(),
        event_id: key.into(),
        event_type: Some("invoice.paid".into()),
        sha256_sealed: vec![9; 8],
    }
}

async fn repair(t: &TestStore, repair: Repair) -> Result<Repaired, StoreError> {
    t.store
        .write(move |conn| Box::pin(async move { crate::handoffs::repair(conn, TENANT, repair).await }))
        .await
}

both_engines!(a_repaired_event_gets_its_key_and_goes_out, |t| async {
    let consumer = with_consumer(&t).await;
    let filter = Filter {
        types: vec![restante_core::filter::TypeGlob::parse("invoice.*").unwrap()],
        ..Filter::default()
    };
    t.clock.advance_seconds(1);
    let typed = insert_consumer(&t, TENANT, NewConsumer { filter, ..new_consumer(&t, "typed") }).await;
    let mut unreadable = delivery(&t, TENANT, "sha256-1");
    unreadable.receipts[0].reason = Some("envelope");
    unreadable.receipts[0].event_type = None;
    let receipt = commit(&t, unreadable).await;
    assert!(claim(&t, &consumer, 1).await.is_empty());
    let done = repair(&t, repair_of(receipt, "evt_9")).await.unwrap();
    assert_eq!(done, Repaired::HandedOff(vec![consumer.id, typed.id]));
    assert_eq!(claim(&t, &consumer, 1).await[0].receipt, receipt);
    assert_eq!(claim(&t, &typed, 1).await[0].receipt, receipt);
    assert_eq!(in_state(&t, &consumer, "failed").await, 0);
    assert_eq!(code(repair(&t, repair_of(receipt, "evt_10")).await), Code::Conflict);
    // From now on a delivery with that id is a repeat.
    let again = t.store.commit(delivery(&t, TENANT, "evt_9")).await.unwrap().receipts[0];
    assert_eq!((again.id, again.duplicate), (receipt, true));
});

both_engines!(a_repair_can_not_take_the_key_of_another, |t| async {
    let consumer = with_consumer(&t).await;
    let holder = receive(&t, TENANT, "evt_9").await;
    let mut unreadable = delivery(&t, TENANT, "sha256-1");
    unreadable.receipts[0].reason = Some("envelope");
    let receipt = commit(&t, unreadable).await;
    assert_eq!(repair(&t, repair_of(receipt, "evt_9")).await.unwrap(), Repaired::KeyIsHeldBy(holder));
    assert_eq!(in_state(&t, &consumer, "failed").await, 1);
    t.execute("UPDATE receipts SET payload_state = 'removed' WHERE event_key = 'sha256-1'").await;
    assert_eq!(code(repair(&t, repair_of(receipt, "evt_10")).await), Code::Gone);
});

async fn settled_by_the_counter(t: &TestStore) -> i64 {
    t.number(
        "SELECT CAST(COALESCE(SUM(count), 0) AS BIGINT) FROM rollups WHERE grain = 0 AND metric = 'settled'",
    )
    .await
}

async fn nack_all(t: &TestStore, consumer: &ConsumerRecord, asked: restante_core::handoff::Nack) {
    let leases = claim(t, consumer, 10)
        .await
        .into_iter()
        .map(|lease| crate::handoffs::LeaseNack {
            token: Some(lease.token),
            asked,
            retry_in_seconds: None,
            random: 7,
            remote_operation_id: None,
            error: Some("out of paper".into()),
        })
        .collect();
    let consumer = consumer.clone();
    write(&t.store, move |conn| {
        Box::pin(async move { crate::handoffs::nack(conn, &consumer, leases).await })
    })
    .await;
}

both_engines!(what_waits_for_a_person_is_listed_until_somebody_settles_it, |t| async {
    use restante_core::handoff::Nack;
    let consumer = with_consumer(&t).await;
    let first = receive(&t, TENANT, "evt_1").await;
    let second = receive(&t, TENANT, "evt_2").await;
    nack_all(&t, &consumer, Nack::Failed).await;
    let third = receive(&t, TENANT, "evt_3").await;
    nack_all(&t, &consumer, Nack::Uncertain).await;
    let id = consumer.id;
    let list = async |state, limit| {
        t.store
            .read(move |conn| Box::pin(crate::handoffs::waiting_for_a_person(conn, TENANT, id, state, limit)))
            .await
            .unwrap()
    };
    let failed = list(State::Failed, 9).await;
    assert_eq!(failed.iter().map(|one| one.receipt).collect::<Vec<_>>(), [second, first]);
    assert_eq!(list(State::Failed, 1).await, failed[..1]);
    assert_eq!(failed[0].note.as_deref(), Some("out of paper"));
    assert_eq!(failed[0].outcome, Some(restante_core::handoff::Outcome::Failed));
    assert_eq!(list(State::Uncertain, 9).await[0].receipt, third);
    assert!(list(State::Pending, 9).await.is_empty());

    // Settled as failed it stays failed and waits no more; the counter tells the two apart.
    settle(&t, &consumer, first, Settlement::Failed).await.unwrap();
    assert_eq!(settled_by_the_counter(&t).await, 1);
    assert_eq!(list(State::Failed, 9).await.len(), 1);
    settle(&t, &consumer, second, Settlement::Failed).await.unwrap();
    assert!(list(State::Failed, 9).await.is_empty(), "all are settled");
    replay(&t, second, None).await.unwrap();
    nack_all(&t, &consumer, Nack::Failed).await;
    assert_eq!(list(State::Failed, 1).await[0].receipt, second, "the settled one takes no place");
    assert_eq!(in_state(&t, &consumer, "failed").await, 2);
    let states = t
        .store
        .read(move |conn| {
            Box::pin(async move { crate::handoffs::states_of_receipts(conn, TENANT, &[first, third]).await })
        })
        .await
        .unwrap();
    let told: Vec<_> =
        states.iter().map(|one| (one.receipt, one.consumer.as_str(), one.state, one.settled)).collect();
    assert!(told.contains(&(first, "billing", State::Failed, true)), "{told:?}");
    assert!(told.contains(&(third, "billing", State::Uncertain, false)) && told.len() == 2);
    // Said again it counts once; replayed it is pending and nobody's word stands on it.
    settle(&t, &consumer, first, Settlement::Failed).await.unwrap();
    assert_eq!(settled_by_the_counter(&t).await, 1);
    replay(&t, first, None).await.unwrap();
    assert_eq!(settled_by_the_counter(&t).await, 0);
    settle(&t, &consumer, second, Settlement::Failed).await.unwrap();
    settle(&t, &consumer, second, Settlement::Processed).await.unwrap();
    assert_eq!(settled_by_the_counter(&t).await, 0);
});
