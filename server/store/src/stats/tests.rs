use super::*;
use crate::both_engines;
use crate::handoffs::tests::{
    ENDPOINT, OTHER_TENANT, TENANT, ack, claim, make_tenant, receive, with_consumer,
};
use crate::testing::TestStore;
use restante_core::time::Clock as _;

async fn since(t: &TestStore, seconds: i64) -> Counters {
    let since = t.clock.now().plus_seconds(-seconds);
    t.store.read(move |conn| Box::pin(counters_since(conn, TENANT, since))).await.unwrap()
}

both_engines!(a_window_counts_to_the_minute, |t| async {
    with_consumer(&t).await;
    for n in 0..6 {
        receive(&t, TENANT, &format!("evt_{n}")).await;
        t.clock.advance_seconds(20 * 60);
    }
    receive(&t, TENANT, "evt_0").await;
    // Received 0, 20, 40, 60, 80, 100 and (a repeat) 120 minutes after the start.
    for (minutes, accepted) in [(10, 0), (21, 1), (41, 2), (61, 3), (101, 5), (121, 6), (600, 6)] {
        assert_eq!(since(&t, minutes * 60).await.get(ENDPOINT.0, "accepted"), accepted, "{minutes} minutes");
    }
    assert_eq!(since(&t, 60).await.get(ENDPOINT.0, "duplicates"), 1);
    assert_eq!(since(&t, 60).await.get(ENDPOINT.0, "nothing of the kind"), 0);
});

both_engines!(gauges_and_ages_tell_what_waits_now, |t| async {
    let consumer = with_consumer(&t).await;
    let first = t.clock.now();
    for n in 0..4 {
        receive(&t, TENANT, &format!("evt_{n}")).await;
        t.clock.advance_seconds(10);
    }
    let look = || async { t.store.read(|conn| Box::pin(consumers(conn, TENANT))).await.unwrap().remove(0) };
    assert_eq!(look().await.oldest, Some(first));
    let leases = claim(&t, &consumer, 2).await;
    assert_eq!(look().await.oldest.map(Timestamp::seconds), Some(first.plus_seconds(20).seconds()));
    ack(&t, &consumer, vec![Some(leases[0].token.clone())]).await;
    let gauges = t.store.read(|conn| Box::pin(gauges(conn, TENANT))).await.unwrap();
    let of = |metric| gauges.get(consumer.id.0, metric);
    assert_eq!((of("pending"), of("leased"), of("processed")), (2, 1, 1));
    let waiting = t.store.read(|conn| Box::pin(waiting(conn))).await.unwrap();
    assert_eq!((waiting.pending, waiting.leased), (2, 1));
    assert_eq!(waiting.oldest, look().await.oldest);
});

both_engines!(figures_are_of_one_tenant, |t| async {
    with_consumer(&t).await;
    make_tenant(&t, OTHER_TENANT).await;
    receive(&t, OTHER_TENANT, "evt").await;
    assert_eq!(since(&t, 3_600).await, Counters::default());
    assert!(t.store.read(|conn| Box::pin(consumers(conn, OTHER_TENANT))).await.unwrap().is_empty());
});
