//! Tests of leases and what moves handoffs, on both engines, with a clock that is moved by hand.

mod consumers;
mod leases;
mod people;
mod races;

use restante_core::filter::Filter;
use restante_core::handoff::LeaseResult;
use restante_core::id::{ConsumerId, EndpointId, PayloadId, ReceiptId, TenantId};
use restante_core::time::Clock as _;
use restante_core::token::LeaseToken;
use uuid::Uuid;

use super::{Claim, Claimed, Lease, LeaseAck};
use crate::consumers::{ConsumerRecord, NewConsumer};
use crate::control::tenants::{self, TenantRow};
use crate::deliveries::{Delivery, NewReceipt, SealedPayload};
use crate::engine::{Conn, StoreError};
use crate::testing::TestStore;
use crate::{BoxFuture, Store};

pub(crate) const TENANT: TenantId = TenantId(Uuid::from_u128(0x11));
pub(crate) const OTHER_TENANT: TenantId = TenantId(Uuid::from_u128(0x12));
pub(crate) const ENDPOINT: EndpointId = EndpointId(Uuid::from_u128(0x21));
pub(crate) const OTHER_ENDPOINT: EndpointId = EndpointId(Uuid::from_u128(0x22));

/// Ten bytes that are seldom the same twice.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).unwrap();
    bytes
}

pub(crate) async fn write<T, F>(store: &Store, work: F) -> T
where
    T: Send + 'static,
    F: for<'a, 'c> FnOnce(&'a mut Conn<'c>) -> BoxFuture<'a, Result<T, StoreError>> + Send + 'static,
{
    store.write(work).await.unwrap()
}

pub(crate) async fn make_tenant(t: &TestStore, id: TenantId) {
    let tenant = TenantRow {
        id,
        slug: id.to_string().replace('_', "-"),
        name: "A".to_owned(),
        suspended: false,
        created_at: t.clock.now(),
    };
    assert!(write(&t.store, move |conn| Box::pin(async move { tenants::insert(conn, &tenant).await })).await);
}

pub(crate) fn new_consumer(t: &TestStore, name: &str) -> NewConsumer {
    NewConsumer {
        id: ConsumerId::new(t.clock.now(), random()),
        name: name.to_owned(),
        filter: Filter::default(),
        max_attempts: 3,
        enabled: true,
        start: "now".to_owned(),
        start_from: None,
    }
}

pub(crate) async fn insert_consumer(t: &TestStore, tenant: TenantId, new: NewConsumer) -> ConsumerRecord {
    write(&t.store, move |conn| Box::pin(async move { crate::consumers::insert(conn, tenant, &new).await }))
        .await
}

/// A tenant with a pull consumer "billing" that gives an event up after three claims.
pub(crate) async fn with_consumer(t: &TestStore) -> ConsumerRecord {
    make_tenant(t, TENANT).await;
    insert_consumer(t, TENANT, new_consumer(t, "billing")).await
}

pub(crate) fn delivery(t: &TestStore, tenant: TenantId, key: &str) -> Delivery {
    let id = Uuid::from_u128(ReceiptId::new(t.clock.now(), random()).0.as_u128());
    Delivery {
        tenant,
        endpoint: ENDPOINT,
        seen: None,
        provider: "stripe".to_owned(),
        received_at: t.clock.now(),
        origin: "delivery",
        compares_bodies: true,
        request_id: None,
        secret: None,
        payload: SealedPayload {
            id: PayloadId(id),
            headers_sealed: b"h".to_vec(),
            body_sealed: b"b".to_vec(),
            decoded_sealed: None,
        },
        receipts: vec![NewReceipt {
            id: ReceiptId(id),
            scope: String::new(),
            event_key: key.to_owned(),
            event_id: Some(key.to_owned()),
            event_type: Some("invoice.paid".to_owned()),
            account: None,
            api_version: None,
            livemode: None,
            occurred_at: None,
            decoder: "stripe/1".to_owned(),
            slice_decoded: false,
            slice_offset: 0,
            slice_length: 1,
            content_type: None,
            body_mac: vec![1; 8],
            sha256_sealed: vec![2; 8],
            ambiguous: false,
            id_unsigned: false,
            weak: String::new(),
            reason: None,
        }],
    }
}

/// Receives an event; each call takes a millisecond, so that the order is plain.
pub(crate) async fn receive(t: &TestStore, tenant: TenantId, key: &str) -> ReceiptId {
    let delivery = delivery(t, tenant, key);
    commit(t, delivery).await
}

pub(crate) async fn commit(t: &TestStore, delivery: Delivery) -> ReceiptId {
    let id = t.store.commit(delivery).await.unwrap().receipts[0].id;
    t.clock.set(restante_core::time::Timestamp::from_micros(t.clock.now().micros() + 1_000));
    id
}

pub(crate) fn asking(max: usize, lease_seconds: u32) -> Claim {
    Claim { randoms: (0..max).map(|_| random()).collect(), lease_seconds, handler_version: Some("v1".into()) }
}

pub(crate) async fn claim_of(store: &Store, consumer: &ConsumerRecord, max: usize) -> Claimed {
    let consumer = consumer.clone();
    let asked = asking(max, 60);
    write(store, move |conn| Box::pin(async move { super::claim(conn, &consumer, asked).await })).await
}

/// Claims for a minute.
pub(crate) async fn claim(t: &TestStore, consumer: &ConsumerRecord, max: usize) -> Vec<Lease> {
    claim_of(&t.store, consumer, max).await.leases
}

pub(crate) async fn ack(
    t: &TestStore,
    consumer: &ConsumerRecord,
    tokens: Vec<Option<LeaseToken>>,
) -> Vec<LeaseResult> {
    let consumer = consumer.clone();
    let leases = tokens
        .into_iter()
        .map(|token| LeaseAck { token, remote_operation_id: Some("re_1".into()), note: None })
        .collect();
    write(&t.store, move |conn| Box::pin(async move { super::ack(conn, &consumer, leases).await })).await
}

/// The number of handoffs in a state, by the table and by the counter, which must agree.
pub(crate) async fn in_state(t: &TestStore, consumer: &ConsumerRecord, state: &str) -> i64 {
    let code = restante_core::handoff::State::from_word(state).unwrap().code();
    let id = match t.engine() {
        crate::Engine::Sqlite => format!("x'{}'", consumer.id.0.simple()),
        crate::Engine::Postgres => format!("'{}'", consumer.id.0),
    };
    let rows =
        t.number(&format!("SELECT COUNT(*) FROM handoffs WHERE consumer_id = {id} AND state = {code}")).await;
    let counted = t
        .number(&format!(
            "SELECT CAST(COALESCE(SUM(count), 0) AS BIGINT) FROM rollups \
             WHERE subject = {id} AND grain = 0 AND metric = '{state}'"
        ))
        .await;
    assert_eq!(rows, counted, "the counter of {state}");
    rows
}
