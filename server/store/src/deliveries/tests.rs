//! What a commit of deliveries must do and must never do, on both engines.

use std::collections::HashSet;

use restante_core::id::{ConsumerId, EndpointId, PayloadId, ReceiptId, TenantId};
use restante_core::limits;
use restante_core::time::Timestamp;
use uuid::Uuid;

use crate::testing::{START, TestStore};
use crate::{Committed, Delivery, NewReceipt, SealedPayload, SeenEndpoint, StoreError, both_engines};

pub(crate) const TENANT: TenantId = TenantId(Uuid::from_u128(1));
const OTHER_TENANT: TenantId = TenantId(Uuid::from_u128(2));
const ENDPOINT: EndpointId = EndpointId(Uuid::from_u128(11));
const OTHER_ENDPOINT: EndpointId = EndpointId(Uuid::from_u128(12));
const EVERYTHING: &str = r#"{"endpoints":[],"providers":[],"types":[]}"#;
const CONSUMER: ConsumerId = ConsumerId(Uuid::from_u128(21));

fn random() -> [u8; 10] {
    let mut bytes = [0; 10];
    getrandom::fill(&mut bytes).expect("randomness");
    bytes
}

fn hex(id: Uuid) -> String {
    id.as_simple().to_string()
}

/// The literal of an id in the text of either engine.
fn literal(t: &TestStore, id: Uuid) -> String {
    match t.engine() {
        crate::Engine::Sqlite => format!("X'{}'", hex(id)),
        crate::Engine::Postgres => format!("'{id}'"),
    }
}

async fn tenant(t: &TestStore, id: TenantId, slug: &str) {
    let id = literal(t, id.0);
    t.execute(&format!(
        "INSERT INTO tenants (id, slug, name, created_at) VALUES ({id}, '{slug}', '{slug}', 0)"
    ))
    .await;
}

async fn consumer(t: &TestStore, tenant: TenantId, id: ConsumerId, filter: &str) {
    let enabled = if t.engine() == crate::Engine::Sqlite { "1" } else { "TRUE" };
    let (name, tenant, id) = (hex(id.0), literal(t, tenant.0), literal(t, id.0));
    t.execute(&format!(
        "INSERT INTO consumers (tenant_id, id, name, mode, filter, max_attempts, enabled, start, created_at, updated_at) \
         VALUES ({tenant}, {id}, '{name}', 'pull', '{filter}', 12, {enabled}, 'now', 0, 0); \
         UPDATE tenants SET config_version = config_version + 1 WHERE id = {tenant}"
    ))
    .await;
}

pub(crate) async fn prepare(t: &TestStore) {
    tenant(t, TENANT, "one").await;
    tenant(t, OTHER_TENANT, "two").await;
    consumer(t, TENANT, CONSUMER, EVERYTHING).await;
}

/// The same, some seconds later.
fn at(mut delivery: Delivery, seconds: i64) -> Delivery {
    delivery.received_at = START.plus_seconds(seconds);
    delivery.receipts[0].id = ReceiptId::new(delivery.received_at, random());
    delivery.payload.id = PayloadId(delivery.receipts[0].id.0);
    delivery
}

fn event(key: &str, body: &str) -> Delivery {
    let id = ReceiptId::new(START, random());
    Delivery {
        tenant: TENANT,
        endpoint: ENDPOINT,
        seen: None,
        provider: "stripe".to_owned(),
        received_at: START,
        origin: "delivery",
        compares_bodies: true,
        request_id: Some("req-1".to_owned()),
        secret: None,
        payload: SealedPayload {
            id: PayloadId(id.0),
            headers_sealed: b"headers".to_vec(),
            body_sealed: body.as_bytes().to_vec(),
            decoded_sealed: None,
        },
        receipts: vec![receipt(id, key, body)],
    }
}

fn receipt(id: ReceiptId, key: &str, body: &str) -> NewReceipt {
    NewReceipt {
        id,
        scope: String::new(),
        event_key: key.to_owned(),
        event_id: Some(key.to_owned()),
        event_type: Some("invoice.paid".to_owned()),
        account: None,
        api_version: None,
        livemode: Some(true),
        occurred_at: Some(Timestamp::from_seconds(1)),
        decoder: "stripe/1".to_owned(),
        slice_decoded: false,
        slice_offset: 0,
        slice_length: u32::try_from(body.len()).unwrap(),
        content_type: Some("application/json".to_owned()),
        body_mac: body.as_bytes().to_vec(),
        sha256_sealed: b"digest".to_vec(),
        ambiguous: false,
        id_unsigned: false,
        weak: String::new(),
        reason: None,
    }
}

/// One request with many events.
pub(crate) fn batch_of(events: u32) -> Delivery {
    let mut delivery = event("evt_0", "{}");
    delivery.receipts =
        (0..events).map(|n| receipt(ReceiptId::new(START, random()), &format!("evt_{n}"), "{}")).collect();
    delivery
}

async fn commit(t: &TestStore, delivery: Delivery) -> Committed {
    t.store.commit(delivery).await.expect("a commit")
}

both_engines!(a_new_event_gets_its_receipt_payload_and_handoff, |t| async {
    prepare(&t).await;
    let delivery = event("evt_1", "{}");
    let id = delivery.receipts[0].id;
    let committed = commit(&t, delivery).await;
    assert_eq!((committed.receipts[0].id, committed.receipts[0].duplicate), (id, false));
    assert_eq!(committed.wake, [CONSUMER]);
    for table in ["receipts", "payloads", "handoffs"] {
        assert_eq!(t.count(table).await, 1, "{table}");
    }
});

both_engines!(a_repeat_keeps_the_first_id_and_is_counted, |t| async {
    prepare(&t).await;
    let first = commit(&t, event("evt_1", "{}")).await.receipts[0];
    for _ in 0..3 {
        let again = commit(&t, event("evt_1", "{}")).await.receipts[0];
        assert_eq!((again.id, again.duplicate, again.diverged), (first.id, true, false));
    }
    assert_eq!(t.number("SELECT deliveries FROM receipts").await, 4);
    assert_eq!(t.count("deliveries").await, 3);
    assert_eq!((t.count("payloads").await, t.count("handoffs").await), (1, 1));
});

both_engines!(of_a_thousand_concurrent_copies_one_is_first, |t| async {
    prepare(&t).await;
    let node = t.second().await;
    let mut copies = tokio::task::JoinSet::new();
    for number in 0..1_000 {
        // On PostgreSQL two nodes meet at the key; SQLite has one server.
        let two_nodes = t.engine() == crate::Engine::Postgres && number % 2 == 1;
        let store = if two_nodes { node.clone() } else { t.store.clone() };
        copies.spawn(async move { store.commit(event("evt_1", "{}")).await });
    }
    let outcomes: Vec<_> =
        copies.join_all().await.into_iter().map(|done| done.expect("a commit").receipts[0]).collect();
    let ids: HashSet<_> = outcomes.iter().map(|outcome| outcome.id).collect();
    assert_eq!(ids.len(), 1, "every answer names one receipt");
    assert_eq!(outcomes.iter().filter(|outcome| !outcome.duplicate).count(), 1, "one copy was first");
    assert_eq!(t.number("SELECT deliveries FROM receipts").await, 1_000);
    assert_eq!((t.count("receipts").await, t.count("payloads").await, t.count("handoffs").await), (1, 1, 1));
});

both_engines!(other_bytes_under_a_key_diverge_and_leave_the_first_alone, |t| async {
    prepare(&t).await;
    commit(&t, event("evt_1", "first")).await;
    for body in ["second", "second", "third", "fourth", "fifth"] {
        assert!(commit(&t, event("evt_1", body)).await.receipts[0].diverged);
    }
    assert!(!commit(&t, event("evt_1", "first")).await.receipts[0].diverged);
    assert_eq!(t.count("variants").await, 3, "a few are kept, each once");
    assert_eq!(t.number("SELECT variants FROM receipts").await, 3);
    assert_eq!(t.count("payloads").await, 4);
    assert_eq!(t.number("SELECT COUNT(*) FROM receipts WHERE diverged").await, 1);
    assert_eq!(t.number("SELECT slice_length FROM receipts").await, 5);
});

both_engines!(a_key_is_unique_within_tenant_provider_and_scope_alone, |t| async {
    prepare(&t).await;
    let base = || event("evt_1", "{}");
    let tenant = Delivery { tenant: OTHER_TENANT, ..base() };
    let provider = Delivery { provider: "github".to_owned(), ..base() };
    let mut scope = base();
    scope.receipts[0].scope = "acct_1".to_owned();
    let mut case = base();
    case.receipts[0].event_key = "EVT_1".to_owned();
    for delivery in [base(), tenant, provider, scope, case] {
        assert!(!commit(&t, delivery).await.receipts[0].duplicate);
    }
    assert_eq!(t.count("receipts").await, 5);
});

both_engines!(a_batch_is_one_payload_with_a_receipt_an_element, |t| async {
    prepare(&t).await;
    commit(&t, event("b", "b")).await;
    let mut batch = event("a", "a");
    batch.receipts.push(receipt(ReceiptId::new(START, random()), "b", "b"));
    batch.receipts.push(receipt(ReceiptId::new(START, random()), "c", "c"));
    batch.receipts.push(receipt(ReceiptId::new(START, random()), "a", "a"));
    let committed = commit(&t, batch).await;
    let repeats: Vec<bool> = committed.receipts.iter().map(|receipt| receipt.duplicate).collect();
    assert_eq!(repeats, [false, true, false, true], "answers stand in the order of the elements");
    assert_eq!(committed.receipts[0].id, committed.receipts[3].id);
    assert_eq!((t.count("receipts").await, t.count("payloads").await, t.count("handoffs").await), (3, 2, 3));
});

both_engines!(an_unreadable_envelope_waits_for_repair_at_each_consumer, |t| async {
    prepare(&t).await;
    let mut delivery = event("envelope-1", "rubbish");
    delivery.receipts[0].reason = Some("envelope");
    commit(&t, delivery).await;
    assert_eq!(t.number("SELECT state FROM handoffs").await, 3, "failed, so that no claim returns it");
});

both_engines!(the_same_bytes_under_another_unsigned_id_are_marked, |t| async {
    prepare(&t).await;
    let unsigned = |key: &str, body: &str| {
        let mut delivery = event(key, body);
        delivery.receipts[0].id_unsigned = true;
        delivery
    };
    commit(&t, unsigned("a", "same")).await;
    commit(&t, unsigned("b", "same")).await;
    commit(&t, unsigned("b", "same")).await;
    commit(&t, unsigned("c", "else")).await;
    // A signed id can't be swapped, so equal bodies mean nothing there.
    commit(&t, event("d", "same")).await;
    assert_eq!(t.count("receipts").await, 4);
    assert_eq!(t.number("SELECT COUNT(*) FROM receipts WHERE repeated_body").await, 1);
    assert_eq!(t.number("SELECT COUNT(*) FROM receipts WHERE repeated_body AND event_key = 'b'").await, 1);
});

both_engines!(a_repeat_through_another_endpoint_reaches_the_consumers_there_once, |t| async {
    prepare(&t).await;
    let there = ConsumerId(Uuid::from_u128(22));
    consumer(
        &t,
        TENANT,
        there,
        &format!(r#"{{"endpoints":["{OTHER_ENDPOINT}"],"providers":[],"types":[]}}"#),
    )
    .await;
    commit(&t, event("evt_1", "{}")).await;
    assert_eq!(t.count("handoffs").await, 1);
    for _ in 0..2 {
        let elsewhere = Delivery { endpoint: OTHER_ENDPOINT, ..event("evt_1", "{}") };
        assert!(commit(&t, elsewhere).await.receipts[0].duplicate);
        assert_eq!(t.count("handoffs").await, 2);
    }
});

both_engines!(a_tombstone_refuses_a_second_life_and_is_handed_to_nobody, |t| async {
    prepare(&t).await;
    commit(&t, event("evt_1", "{}")).await;
    t.execute("UPDATE receipts SET payload_state = 'removed'; DELETE FROM payloads; DELETE FROM handoffs")
        .await;
    for endpoint in [ENDPOINT, OTHER_ENDPOINT] {
        let again = Delivery { endpoint, ..event("evt_1", "other bytes") };
        assert!(commit(&t, again).await.receipts[0].duplicate);
    }
    assert_eq!((t.count("payloads").await, t.count("handoffs").await, t.count("variants").await), (0, 0, 0));
});

both_engines!(a_consumer_that_exists_misses_no_event, |t| async {
    prepare(&t).await;
    commit(&t, event("before", "{}")).await;
    let late = ConsumerId(Uuid::from_u128(23));
    consumer(&t, TENANT, late, EVERYTHING).await;
    let wake = commit(&t, event("after", "{}")).await.wake;
    assert!(wake.contains(&late), "the version in the tenant's row tells the commit to look again");
});

both_engines!(a_record_that_the_database_refuses_costs_its_neighbours_nothing, |t| async {
    prepare(&t).await;
    let mut all = tokio::task::JoinSet::new();
    for number in 0..64 {
        let mut delivery = event(&format!("evt_{number}"), "{}");
        if number % 8 == 3 {
            // A tenant that was deleted a moment ago: the commit refuses it.
            delivery.tenant = TenantId(Uuid::from_u128(99));
        }
        let store = t.store.clone();
        all.spawn(async move { (number % 8 == 3, store.commit(delivery).await.is_err()) });
    }
    for (bad, refused) in all.join_all().await {
        assert_eq!(bad, refused);
    }
    assert_eq!(t.count("receipts").await, 56);
});

both_engines!(a_delivery_whose_endpoint_has_changed_is_left_out_and_its_neighbours_are_not, |t| async {
    prepare(&t).await;
    let id = literal(&t, ENDPOINT.0);
    let tenant = literal(&t, TENANT.0);
    let columns =
        "tenant_id, id, name, provider, token_hash, token_sealed, options, enabled, created_at, updated_at";
    let (blob, yes) = match t.engine() {
        crate::Engine::Sqlite => ("X'00'", "1"),
        crate::Engine::Postgres => ("'x'", "TRUE"),
    };
    t.execute(&format!(
        "INSERT INTO endpoints ({columns}) VALUES ({tenant}, {id}, 'e', 'stripe', {blob}, {blob}, '{{}}', {yes}, 0, 0)"
    ))
    .await;
    let version = t.number("SELECT config_version FROM tenants WHERE slug = 'one'").await;
    let commit = async |key: &str, config_version, revision| {
        let seen = Some(SeenEndpoint { config_version, revision });
        t.store.commit(Delivery { seen, ..event(key, "{}") }).await
    };
    assert!(commit("a", version, 1).await.is_ok());
    // Another version with the same revision: something else has changed.
    assert!(commit("b", version - 1, 1).await.is_ok());
    assert!(matches!(commit("c", version - 1, 2).await, Err(StoreError::Stale)));
    t.execute("UPDATE endpoints SET deleted_at = 1; UPDATE tenants SET config_version = config_version + 1")
        .await;
    assert!(matches!(commit("d", version, 1).await, Err(StoreError::Stale)));
    t.execute(
        "UPDATE endpoints SET deleted_at = NULL; UPDATE tenants SET config_version = config_version + 1",
    )
    .await;
    let mut all = tokio::task::JoinSet::new();
    for number in 0..64 {
        let stale = number % 3 == 0;
        let seen = Some(SeenEndpoint { config_version: version, revision: if stale { 7 } else { 1 } });
        let delivery = Delivery { seen, ..event(&format!("evt_{number}"), "{}") };
        let (store, asked) = (t.store.clone(), delivery.receipts[0].id);
        all.spawn(async move { (stale, asked, store.commit(delivery).await) });
    }
    for (stale, asked, outcome) in all.join_all().await {
        match outcome {
            Err(StoreError::Stale) => assert!(stale),
            Ok(committed) => assert_eq!((stale, committed.receipts[0].id), (false, asked)),
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!((t.count("receipts").await, t.count("handoffs").await), (2 + 42, 2 + 42));
});

both_engines!(a_refused_group_leaves_nothing_half_done, |t| async {
    prepare(&t).await;
    let mut batch = event("a", "a");
    batch.payload.id = PayloadId(Uuid::from_u128(7));
    commit(&t, batch.clone()).await;
    // The second element is new, but its payload's id is taken: all of the request is refused.
    batch.receipts.push(receipt(ReceiptId::new(START, random()), "b", "b"));
    assert!(t.store.commit(batch).await.is_err());
    assert_eq!(t.number("SELECT deliveries FROM receipts").await, 1);
    assert_eq!((t.count("receipts").await, t.count("payloads").await, t.count("handoffs").await), (1, 1, 1));
});

both_engines!(figures_are_kept_by_the_commit, |t| async {
    prepare(&t).await;
    for body in ["x", "x", "y"] {
        commit(&t, event("evt_1", body)).await;
    }
    let count = async |metric: &str| {
        t.number(&format!(
            "SELECT CAST(SUM(count) AS BIGINT) FROM rollups WHERE grain = 1 AND metric = '{metric}'"
        ))
        .await
    };
    assert_eq!((count("deliveries").await, count("accepted").await, count("duplicates").await), (3, 1, 2));
    assert_eq!(
        t.number("SELECT CAST(SUM(count) AS BIGINT) FROM rollups WHERE grain = 0 AND metric = 'pending'")
            .await,
        1
    );
});

/// On SQLite nothing comes between two statements of the one writer.
#[tokio::test]
async fn a_key_that_goes_between_two_questions_on_postgres_is_free_for_the_next() {
    let Some(t) = TestStore::postgres().await else {
        return crate::testing::say_skipped(
            "a_key_that_goes_between_two_questions_on_postgres_is_free_for_the_next",
        );
    };
    prepare(&t).await;
    let first = t.store.commit(event("evt_1", "a")).await.unwrap().receipts[0];
    // Retention removes the receipt, and has not committed yet. The statement sees the receipt, and waits for what
    // becomes of it.
    let mut retention = t.postgres_connection().await;
    sqlx::raw_sql("BEGIN; DELETE FROM receipts WHERE event_key = 'evt_1'")
        .execute(&mut retention)
        .await
        .unwrap();
    let store = t.store.clone();
    let again = tokio::spawn(async move { store.commit(event("evt_1", "a")).await });
    let waits = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while t.number(waits).await == 0 {
        tokio::task::yield_now().await;
    }
    sqlx::raw_sql("COMMIT").execute(&mut retention).await.unwrap();
    let again = again.await.unwrap().unwrap().receipts[0];
    assert!(!again.duplicate && again.id != first.id, "it is a new event");
    assert_eq!(t.count("receipts").await, 1);
}

/// A record that comes to a key between the two halves of PostgreSQL's question is met when it is asked anew.
#[tokio::test]
async fn a_key_that_is_taken_meanwhile_on_postgres_is_a_repeat() {
    let Some(t) = TestStore::postgres().await else {
        return crate::testing::say_skipped("a_key_that_is_taken_meanwhile_on_postgres_is_a_repeat");
    };
    prepare(&t).await;
    let first = t.store.commit(event("evt_1", "a")).await.unwrap().receipts[0];
    t.execute("CREATE TABLE aside AS SELECT * FROM receipts; DELETE FROM receipts").await;
    // Another node has claimed the key, and has not committed yet, so that the statement does not see it.
    let mut other = t.postgres_connection().await;
    sqlx::raw_sql("BEGIN; INSERT INTO receipts SELECT * FROM aside").execute(&mut other).await.unwrap();
    let store = t.store.clone();
    let again = tokio::spawn(async move { store.commit(event("evt_1", "a")).await });
    let waits = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while t.number(waits).await == 0 {
        tokio::task::yield_now().await;
    }
    sqlx::raw_sql("COMMIT").execute(&mut other).await.unwrap();
    let again = again.await.unwrap().unwrap().receipts[0];
    assert!(again.duplicate && again.id == first.id, "it is the other node's event");
    assert_eq!(t.number("SELECT deliveries FROM receipts").await, 2);
}

both_engines!(however_often_an_event_came_its_last_delivery_by_each_endpoint_is_known, |t| async {
    prepare(&t).await;
    // The first stands on the receipt.
    for number in 0..i64::try_from(limits::DELIVERIES_LOGGED_PER_RECEIPT_MAX).unwrap() + 4 {
        commit(&t, at(event("evt_1", "a"), number)).await;
    }
    let elsewhere = |number| {
        let mut again = at(event("evt_1", "a"), number);
        again.endpoint = OTHER_ENDPOINT;
        again
    };
    commit(&t, elsewhere(200)).await;
    commit(&t, at(event("evt_1", "a"), 201)).await;
    commit(&t, elsewhere(202)).await;
    // Ninety-nine, and one each.
    assert_eq!(t.count("deliveries").await, 99 + 2);
    for seconds in [201, 202] {
        let micros = START.plus_seconds(seconds).micros();
        let found = t.number(&format!("SELECT COUNT(*) FROM deliveries WHERE received_at = {micros}")).await;
        assert_eq!(found, 1, "{seconds}");
    }
    assert_eq!(t.number("SELECT deliveries FROM receipts").await, 107);
});
