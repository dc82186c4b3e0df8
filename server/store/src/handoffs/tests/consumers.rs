//! Which events a consumer gets: from when on, by its filter, and until it is deleted.

use restante_core::time::Timestamp;

use super::*;
use crate::both_engines;
use crate::consumers;

async fn backfill(t: &TestStore, consumer: &ConsumerRecord) -> u64 {
    let mut handed_off = 0;
    loop {
        let id = consumer.id;
        let step =
            write(&t.store, move |conn| Box::pin(consumers::write_backfill_step(conn, TENANT, id))).await;
        handed_off += step.handed_off;
        if step.done {
            return handed_off;
        }
    }
}

fn from(t: &TestStore, name: &str, start_from: Option<Uuid>) -> NewConsumer {
    NewConsumer { start_from, start: "beginning".into(), ..new_consumer(t, name) }
}

both_engines!(start_decides_what_a_consumer_gets_of_what_is_here, |t| async {
    with_consumer(&t).await;
    let old = receive(&t, TENANT, "evt_1").await;
    let middle = t.clock.now();
    let new = receive(&t, TENANT, "evt_2").await;
    for (name, start_from, expected) in [
        ("now", None, vec![]),
        ("beginning", Some(Uuid::nil()), vec![old, new]),
        ("middle", Some(restante_core::id::uuid_v7_floor(middle)), vec![new]),
        ("later", Some(restante_core::id::uuid_v7_floor(middle.plus_seconds(9))), vec![]),
    ] {
        let consumer = insert_consumer(&t, TENANT, from(&t, name, start_from)).await;
        assert_eq!(backfill(&t, &consumer).await, expected.len() as u64, "{name}");
        let claimed: Vec<_> = claim(&t, &consumer, 10).await.iter().map(|lease| lease.receipt).collect();
        assert_eq!(claimed, expected, "{name}");
    }
    let left = write(&t.store, |conn| Box::pin(consumers::unfinished_backfills(conn, 10))).await;
    assert_eq!(left, []);
});

both_engines!(a_backfill_goes_on_where_it_stopped_and_doubles_nothing, |t| async {
    with_consumer(&t).await;
    let mut commits = tokio::task::JoinSet::new();
    for n in 0..1_200 {
        let (store, delivery) = (t.store.clone(), delivery(&t, TENANT, &format!("evt_{n}")));
        commits.spawn(async move { store.commit(delivery).await.unwrap() });
    }
    while commits.join_next().await.is_some() {}
    t.clock.advance_seconds(1);
    let consumer = insert_consumer(&t, TENANT, from(&t, "late", Some(Uuid::nil()))).await;
    let id = consumer.id;
    let step = write(&t.store, move |conn| Box::pin(consumers::write_backfill_step(conn, TENANT, id))).await;
    assert_eq!((step.handed_off, step.done), (500, false));
    let left = write(&t.store, |conn| Box::pin(consumers::unfinished_backfills(conn, 10))).await;
    assert_eq!(left, [(TENANT, id)]);
    receive(&t, TENANT, "evt_meanwhile").await;
    assert_eq!(backfill(&t, &consumer).await, 700);
    assert_eq!(in_state(&t, &consumer, "pending").await, 1_201);
    assert_eq!(backfill(&t, &consumer).await, 0);
});

both_engines!(a_backfill_goes_by_the_filter_and_leaves_tombstones_alone, |t| async {
    with_consumer(&t).await;
    receive(&t, TENANT, "evt_1").await;
    let mut elsewhere = delivery(&t, TENANT, "evt_2");
    elsewhere.endpoint = OTHER_ENDPOINT;
    let elsewhere = commit(&t, elsewhere).await;
    // It came in by both endpoints.
    let both = receive(&t, TENANT, "evt_3").await;
    let mut again = delivery(&t, TENANT, "evt_3");
    again.endpoint = OTHER_ENDPOINT;
    commit(&t, again).await;
    let mut unreadable = delivery(&t, TENANT, "sha256-1");
    unreadable.endpoint = OTHER_ENDPOINT;
    unreadable.receipts[0].reason = Some("envelope");
    commit(&t, unreadable).await;
    let mut gone = delivery(&t, TENANT, "evt_4");
    gone.endpoint = OTHER_ENDPOINT;
    commit(&t, gone).await;
    t.execute("UPDATE receipts SET payload_state = 'removed' WHERE event_key = 'evt_4'").await;
    let filter = Filter { endpoints: vec![OTHER_ENDPOINT], ..Filter::default() };
    let new = NewConsumer { filter, ..from(&t, "late", Some(Uuid::nil())) };
    let consumer = insert_consumer(&t, TENANT, new).await;
    assert_eq!(backfill(&t, &consumer).await, 3);
    assert_eq!(in_state(&t, &consumer, "failed").await, 1);
    let claimed: Vec<_> = claim(&t, &consumer, 10).await.iter().map(|lease| lease.receipt).collect();
    assert_eq!(claimed, [elsewhere, both]);
});

both_engines!(no_event_misses_a_consumer_that_is_made_meanwhile, |t| async {
    with_consumer(&t).await;
    let mut commits = tokio::task::JoinSet::new();
    for n in 0..400 {
        let (store, delivery) = (t.store.clone(), delivery(&t, TENANT, &format!("evt_{n}")));
        commits.spawn(async move { store.commit(delivery).await.unwrap() });
    }
    let consumer = insert_consumer(&t, TENANT, from(&t, "meanwhile", Some(Uuid::nil()))).await;
    while commits.join_next().await.is_some() {}
    backfill(&t, &consumer).await;
    assert_eq!(in_state(&t, &consumer, "pending").await, 400);
});

both_engines!(deleting_a_consumer_cancels_what_it_held_and_keeps_its_history, |t| async {
    let consumer = with_consumer(&t).await;
    for n in 0..4 {
        receive(&t, TENANT, &format!("evt_{n}")).await;
    }
    let leases = claim(&t, &consumer, 2).await;
    ack(&t, &consumer, vec![Some(leases[0].token.clone())]).await;
    let gone = consumer.clone();
    assert!(write(&t.store, move |conn| Box::pin(async move { consumers::delete(conn, &gone).await })).await);
    let gone = consumer.clone();
    assert!(
        !write(&t.store, move |conn| Box::pin(async move { consumers::delete(conn, &gone).await })).await
    );
    let left = write(&t.store, |conn| Box::pin(consumers::unfinished_removals(conn, 10))).await;
    assert_eq!(left, [(TENANT, consumer.id)]);
    let id = consumer.id;
    let step = write(&t.store, move |conn| Box::pin(consumers::write_cancel_step(conn, TENANT, id))).await;
    assert_eq!((step.cancelled, step.done), (3, true));
    assert_eq!(in_state(&t, &consumer, "cancelled").await, 3);
    assert_eq!(in_state(&t, &consumer, "processed").await, 1);
    assert_eq!(t.count("attempts").await, 2);
    assert!(write(&t.store, |conn| Box::pin(consumers::unfinished_removals(conn, 10))).await.is_empty());
    // Events that come now are not its own, and its name is free.
    receive(&t, TENANT, "evt_new").await;
    assert_eq!(in_state(&t, &consumer, "pending").await, 0);
    let named = insert_consumer(&t, TENANT, new_consumer(&t, "billing")).await;
    assert_ne!(named.id, consumer.id);
});

both_engines!(a_name_is_taken_once_in_a_tenant, |t| async {
    with_consumer(&t).await;
    let again = new_consumer(&t, "billing");
    let error = t
        .store
        .write(move |conn| Box::pin(async move { consumers::insert(conn, TENANT, &again).await }))
        .await;
    assert!(matches!(error, Err(StoreError::Taken { .. })));
    make_tenant(&t, OTHER_TENANT).await;
    insert_consumer(&t, OTHER_TENANT, new_consumer(&t, "billing")).await;
});

both_engines!(a_changed_filter_counts_from_the_next_event_on, |t| async {
    let consumer = with_consumer(&t).await;
    receive(&t, TENANT, "evt_1").await;
    let filter = Filter { providers: vec!["github".into()], ..Filter::default() };
    let (changed, wanted) = (consumer.clone(), filter.clone());
    assert!(
        write(&t.store, move |conn| {
            Box::pin(async move { consumers::update(conn, &changed, &wanted, 5, true).await })
        })
        .await
    );
    receive(&t, TENANT, "evt_2").await;
    assert_eq!(in_state(&t, &consumer, "pending").await, 1);
    let found = write(&t.store, |conn| Box::pin(consumers::by_name(conn, TENANT, "billing"))).await.unwrap();
    assert_eq!((found.filter, found.max_attempts), (filter, 5));
});

both_engines!(a_claim_is_noted_to_the_minute, |t| async {
    let consumer = with_consumer(&t).await;
    let last = || async {
        write(&t.store, |conn| Box::pin(consumers::by_name(conn, TENANT, "billing")))
            .await
            .unwrap()
            .last_claim_at
    };
    assert_eq!(last().await, None);
    let first = t.clock.now();
    claim(&t, &consumer, 1).await;
    t.clock.advance_seconds(30);
    claim(&t, &consumer, 1).await;
    assert_eq!(last().await, Some(first));
    t.clock.advance_seconds(31);
    claim(&t, &consumer, 1).await;
    assert_eq!(last().await, Some(Timestamp::from_micros(first.micros()).plus_seconds(61)));
});
