use std::collections::BTreeSet;

use restante_core::filter::{Filter, TypeGlob};
use restante_core::handoff::State;
use restante_core::id::{ReceiptId, uuid_v7_floor};
use restante_core::time::Clock as _;

use super::*;
use crate::both_engines;
use crate::consumers::NewConsumer;
use crate::handoffs::tests::{
    ENDPOINT, OTHER_ENDPOINT, OTHER_TENANT, TENANT, ack, claim, commit, delivery, insert_consumer,
    make_tenant, new_consumer, receive, with_consumer,
};
use crate::testing::TestStore;

async fn page(t: &TestStore, query: &EventQuery) -> EventPage {
    let query = query.clone();
    t.store.read(move |conn| Box::pin(async move { list(conn, TENANT, &query).await })).await.unwrap()
}

/// Everything that a query gives, over its pages, newest first.
async fn all(t: &TestStore, query: EventQuery) -> Vec<ReceiptId> {
    let mut query = EventQuery { limit: 7, ..query };
    let mut ids = Vec::new();
    loop {
        let page = page(t, &query).await;
        assert!(page.receipts.len() <= 7);
        ids.extend(page.receipts.iter().map(|receipt| receipt.id));
        match page.next {
            Some(next) => query.after = Some(next),
            None => return ids,
        }
    }
}

fn newest_first(ids: impl IntoIterator<Item = ReceiptId>) -> Vec<ReceiptId> {
    let mut ids: Vec<_> = ids.into_iter().collect();
    ids.sort_by(|a, b| b.cmp(a));
    ids
}

both_engines!(each_filter_gives_what_it_says, |t| async {
    let consumer = with_consumer(&t).await;
    let filter = Filter { endpoints: vec![OTHER_ENDPOINT], ..Filter::default() };
    let other = insert_consumer(&t, TENANT, NewConsumer { filter, ..new_consumer(&t, "other") }).await;
    make_tenant(&t, OTHER_TENANT).await;
    receive(&t, OTHER_TENANT, "evt_0").await;
    let mut made = Vec::new();
    let middle = restante_core::time::Timestamp::from_micros(t.clock.now().micros() + 20_000);
    for n in 0..40 {
        let mut new = delivery(&t, TENANT, &format!("evt_{n}"));
        if n % 4 == 1 {
            new.endpoint = OTHER_ENDPOINT;
            new.provider = "github".into();
            new.receipts[0].event_type = Some("push".into());
        }
        if n % 4 == 2 {
            new.receipts[0].event_type = None;
            new.receipts[0].event_key = format!("sha256-{n}");
        }
        made.push(commit(&t, new).await);
    }
    let wanted = |keep: fn(usize) -> bool| {
        newest_first(made.iter().enumerate().filter(|(n, _)| keep(*n)).map(|(_, id)| *id))
    };
    let none = EventQuery::default;
    assert_eq!(all(&t, none()).await, wanted(|_| true));
    assert_eq!(
        all(&t, EventQuery { endpoint: Some(OTHER_ENDPOINT), ..none() }).await,
        wanted(|n| n % 4 == 1)
    );
    assert_eq!(
        all(&t, EventQuery { provider: Some("github".into()), ..none() }).await,
        wanted(|n| n % 4 == 1)
    );
    let glob = TypeGlob::parse("inv*").unwrap();
    let typed = EventQuery { event_type: Some(glob), ..none() };
    assert_eq!(all(&t, typed.clone()).await, wanted(|n| n % 4 != 1 && n % 4 != 2));
    assert_eq!(all(&t, EventQuery { endpoint: Some(OTHER_ENDPOINT), ..typed }).await, []);
    for n in [3, 2, 5] {
        let query = EventQuery { event_id: Some(format!("evt_{n}")), ..none() };
        assert_eq!(all(&t, query).await, [made[n]], "id and key may differ");
    }
    assert_eq!(all(&t, EventQuery { event_id: Some("sha256-2".into()), ..none() }).await, []);
    let from = EventQuery { from: Some(uuid_v7_floor(middle)), ..none() };
    assert_eq!(all(&t, from).await, wanted(|n| n >= 20));
    let until = EventQuery { until: Some(uuid_v7_floor(middle)), ..none() };
    assert_eq!(all(&t, until).await, wanted(|n| n < 20));

    // Ten are leased, five of them acked; the other consumer has those of its endpoint.
    let leases = claim(&t, &consumer, 10).await;
    ack(&t, &consumer, leases[..5].iter().map(|lease| Some(lease.token.clone())).collect()).await;
    let of = |state, consumer| EventQuery { state, consumer, ..EventQuery::default() };
    assert_eq!(all(&t, of(None, Some(consumer.id))).await, wanted(|_| true));
    assert_eq!(all(&t, of(None, Some(other.id))).await, wanted(|n| n % 4 == 1));
    assert_eq!(all(&t, of(Some(State::Processed), Some(consumer.id))).await, wanted(|n| n < 5));
    assert_eq!(all(&t, of(Some(State::Leased), Some(consumer.id))).await, wanted(|n| (5..10).contains(&n)));
    assert_eq!(all(&t, of(Some(State::Pending), Some(consumer.id))).await, wanted(|n| n >= 10));
    assert_eq!(all(&t, of(Some(State::Pending), None)).await, wanted(|n| n >= 10 || n % 4 == 1));
    assert_eq!(all(&t, of(Some(State::Processed), None)).await, wanted(|n| n < 5));
    assert_eq!(all(&t, of(Some(State::Failed), None)).await, []);
    assert_eq!(all(&t, of(Some(State::Cancelled), Some(consumer.id))).await, []);
    let one = EventQuery { event_id: Some("evt_3".into()), ..of(Some(State::Processed), Some(consumer.id)) };
    assert_eq!(all(&t, one.clone()).await, [made[3]]);
    assert_eq!(all(&t, EventQuery { consumer: Some(other.id), ..one }).await, []);
});

both_engines!(pages_skip_nothing_that_was_there_before_the_first, |t| async {
    with_consumer(&t).await;
    let mut before = BTreeSet::new();
    for n in 0..30 {
        before.insert(receive(&t, TENANT, &format!("evt_{n}")).await);
    }
    let mut query = EventQuery { limit: 4, ..EventQuery::default() };
    let mut seen = BTreeSet::new();
    let mut n = 30;
    loop {
        // An event that is committed late may carry an id from before.
        let mut late = delivery(&t, TENANT, &format!("evt_{n}"));
        let early = crate::testing::START.plus_seconds(-n);
        late.receipts[0].id = ReceiptId::new(early, crate::handoffs::tests::random());
        commit(&t, late).await;
        n += 1;
        let page = page(&t, &query).await;
        seen.extend(page.receipts.iter().map(|receipt| receipt.id));
        match page.next {
            Some(next) => query.after = Some(next),
            None => break,
        }
    }
    assert!(before.is_subset(&seen));
});

both_engines!(a_page_that_found_little_says_where_to_go_on, |t| async {
    with_consumer(&t).await;
    let mut commits = tokio::task::JoinSet::new();
    for n in 0..6_000 {
        let (store, delivery) = (t.store.clone(), delivery(&t, TENANT, &format!("evt_{n}")));
        commits.spawn(async move { store.commit(delivery).await.unwrap() });
        if n % 1_000 == 999 {
            while commits.join_next().await.is_some() {}
            t.clock.advance_seconds(1);
        }
    }
    t.execute("UPDATE receipts SET provider = 'github' WHERE event_key IN ('evt_0', 'evt_5999')").await;
    let mut query = EventQuery { provider: Some("github".into()), limit: 50, ..EventQuery::default() };
    let first = page(&t, &query).await;
    assert!(first.receipts.len() < 2 && first.next.is_some());
    query.after = first.next;
    let second = page(&t, &query).await;
    assert_eq!((first.receipts.len() + second.receipts.len(), second.next), (2, None));
});

both_engines!(the_history_of_an_event_is_its_own, |t| async {
    with_consumer(&t).await;
    let receipt = receive(&t, TENANT, "evt").await;
    receive(&t, TENANT, "evt").await;
    let mut other = delivery(&t, TENANT, "evt");
    other.endpoint = OTHER_ENDPOINT;
    other.receipts[0].body_mac = vec![9; 8];
    let variant = other.payload.id;
    commit(&t, other).await;
    let log = t.store.read(move |conn| Box::pin(deliveries_of_receipt(conn, TENANT, receipt))).await.unwrap();
    let shown: Vec<_> = log.iter().map(|entry| (entry.endpoint, entry.same_body)).collect();
    assert_eq!(shown, [(ENDPOINT, true), (OTHER_ENDPOINT, false)]);
    let variants =
        t.store.read(move |conn| Box::pin(variants_of_receipt(conn, TENANT, receipt))).await.unwrap();
    assert_eq!((variants.len(), variants[0].payload), (1, variant));
    let found = t.store.read(move |conn| Box::pin(by_id(conn, TENANT, receipt))).await.unwrap().unwrap();
    assert_eq!((found.deliveries, found.diverged, found.variants), (3, true, 1));
    let kept = t
        .store
        .read(move |conn| Box::pin(async move { payloads(conn, TENANT, &[found.payload, variant]).await }));
    assert_eq!(kept.await.unwrap().len(), 2);
    for foreign in [OTHER_TENANT] {
        assert!(t.store.read(move |conn| Box::pin(by_id(conn, foreign, receipt))).await.unwrap().is_none());
        let kept =
            t.store.read(move |conn| Box::pin(async move { payloads(conn, foreign, &[variant]).await }));
        assert!(kept.await.unwrap().is_empty());
        let log = t.store.read(move |conn| Box::pin(deliveries_of_receipt(conn, foreign, receipt)));
        assert!(log.await.unwrap().is_empty());
    }
});
