use super::*;
use crate::both_engines;
use crate::handoffs::tests::{
    ENDPOINT, OTHER_ENDPOINT, OTHER_TENANT, TENANT, ack, claim, make_tenant, receive, with_consumer,
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

both_engines!(the_course_of_a_counter_is_cut_into_minutes_and_hours, |t| async {
    with_consumer(&t).await;
    // The clock of a test starts at a full hour.
    let start = t.clock.now();
    receive(&t, TENANT, "evt_0").await;
    receive(&t, TENANT, "evt_1").await;
    receive(&t, TENANT, "evt_0").await;
    t.clock.advance_seconds(61 * 60);
    receive(&t, TENANT, "evt_2").await;
    let look = async |grain, since, subject| {
        t.store.read(move |conn| Box::pin(course(conn, TENANT, grain, since, subject))).await.unwrap()
    };
    let told = |counted: Vec<Counted>, metric: &str| -> Vec<(i64, u64)> {
        let of = counted.into_iter().filter(|one| one.metric == metric);
        of.map(|one| (one.at.micros_since(start) / 60_000_000, one.count)).collect()
    };
    assert_eq!(told(look(Grain::Minute, start, None).await, "accepted"), [(0, 2), (61, 1)]);
    assert_eq!(told(look(Grain::Minute, start, None).await, "duplicates"), [(0, 1)]);
    assert_eq!(told(look(Grain::Hour, start, None).await, "accepted"), [(0, 2), (60, 1)]);
    let later = start.plus_seconds(119 * 60);
    assert_eq!(
        told(look(Grain::Hour, later, None).await, "accepted"),
        [(60, 1)],
        "from the start of its hour"
    );
    assert_eq!(told(look(Grain::Hour, start, Some(ENDPOINT.0)).await, "deliveries"), [(0, 3), (60, 1)]);
    assert!(look(Grain::Hour, start, Some(OTHER_ENDPOINT.0)).await.is_empty());
});

both_engines!(ages_of_what_waits_fall_into_their_ranges_and_end_at_the_bound, |t| async {
    let consumer = with_consumer(&t).await;
    for n in 0..5 {
        receive(&t, TENANT, &format!("old_{n}")).await;
    }
    t.clock.advance_seconds(600);
    for n in 0..3 {
        receive(&t, TENANT, &format!("new_{n}")).await;
    }
    let now = t.clock.now();
    let bounds = [now.plus_seconds(-60), now.plus_seconds(-300), now.plus_seconds(-900)];
    let look = || async {
        let id = consumer.id;
        t.store
            .read(move |conn| Box::pin(async move { pending_ages(conn, TENANT, id, &bounds).await }))
            .await
            .unwrap()
    };
    let counts = |ages: Vec<AgeCount>| ages.iter().map(|age| age.count).collect::<Vec<_>>();
    assert_eq!(counts(look().await), [3, 0, 5, 0]);
    // What is leased or done does not wait; another tenant's never did.
    let leases = claim(&t, &consumer, 2).await;
    ack(&t, &consumer, vec![Some(leases[0].token.clone())]).await;
    make_tenant(&t, OTHER_TENANT).await;
    receive(&t, OTHER_TENANT, "evt").await;
    assert_eq!(counts(look().await), [3, 0, 3, 0]);
    for n in 0..COUNTED_MAX {
        receive(&t, TENANT, &format!("many_{n}")).await;
    }
    let ages = look().await;
    assert_eq!(ages[0], AgeCount { count: COUNTED_MAX, more: true });
    assert!(!ages[2].more);
});

both_engines!(an_endpoint_is_told_with_its_newest_event, |t| async {
    with_consumer(&t).await;
    let insert = |id: EndpointId, name: &str, deleted: &str| {
        let id = match t.engine() {
            crate::Engine::Sqlite => format!("x'{}'", id.0.simple()),
            crate::Engine::Postgres => format!("'{}'", id.0),
        };
        let tenant = match t.engine() {
            crate::Engine::Sqlite => format!("x'{}'", TENANT.0.simple()),
            crate::Engine::Postgres => format!("'{}'", TENANT.0),
        };
        let (hash, yes) = match t.engine() {
            crate::Engine::Sqlite => ("x''", "1"),
            crate::Engine::Postgres => ("''", "true"),
        };
        format!(
            "INSERT INTO endpoints (tenant_id, id, name, provider, token_hash, token_sealed, options, enabled, \
             created_at, updated_at, deleted_at) VALUES ({tenant}, {id}, '{name}', 'stripe', {hash}, {hash}, '{{}}', \
             {yes}, 1, 1, {deleted})"
        )
    };
    t.execute(&insert(ENDPOINT, "Payments", "NULL")).await;
    t.execute(&insert(OTHER_ENDPOINT, "Quiet", "NULL")).await;
    t.execute(&insert(EndpointId(Uuid::from_u128(0x23)), "Gone", "5")).await;
    receive(&t, TENANT, "evt_0").await;
    t.clock.advance_seconds(60);
    let newest = t.clock.now();
    receive(&t, TENANT, "evt_1").await;
    receive(&t, TENANT, "evt_0").await;
    let seen = t.store.read(|conn| Box::pin(endpoints_seen(conn, TENANT))).await.unwrap();
    let told: Vec<_> = seen.iter().map(|one| (one.name.as_str(), one.newest)).collect();
    assert_eq!(told, [("Quiet", None), ("Payments", Some(newest))]);
    assert!(t.store.read(|conn| Box::pin(endpoints_seen(conn, OTHER_TENANT))).await.unwrap().is_empty());
});
