use restante_core::id::{EndpointId, ReceiptId, RefusalId, TenantId};
use restante_core::time::Clock as _;

use super::*;
use crate::both_engines;
use crate::handoffs::tests::{ENDPOINT, OTHER_ENDPOINT, OTHER_TENANT, TENANT, make_tenant, random};
use crate::testing::TestStore;

async fn refuse(t: &TestStore, tenant: TenantId, endpoint: EndpointId, request: &str) -> RefusalId {
    let id = RefusalId::new(t.clock.now(), random());
    let sample = RefusalSample {
        id,
        received_at: t.clock.now(),
        reason: "signature_mismatch",
        explanation: format!("Why {request}."),
        request_sealed: request.as_bytes().to_vec(),
        request_id: Some(request.to_owned()),
    };
    t.store.write_refusals(tenant, endpoint, Vec::new(), vec![sample]).await.unwrap();
    t.clock.advance_seconds(1);
    id
}

both_engines!(kept_refusals_are_listed_newest_first_within_their_tenant, |t| async {
    make_tenant(&t, TENANT).await;
    make_tenant(&t, OTHER_TENANT).await;
    refuse(&t, TENANT, ENDPOINT, "req_1").await;
    let second = refuse(&t, TENANT, OTHER_ENDPOINT, "req_2").await;
    refuse(&t, TENANT, ENDPOINT, "req_3").await;
    refuse(&t, OTHER_TENANT, ENDPOINT, "req_4").await;
    let list = async |endpoint| -> Vec<String> {
        let found = t.store.read(move |conn| Box::pin(newest(conn, TENANT, endpoint))).await.unwrap();
        found.into_iter().filter_map(|refusal| refusal.request_id).collect()
    };
    assert_eq!(list(None).await, ["req_3", "req_2", "req_1"]);
    assert_eq!(list(Some(ENDPOINT)).await, ["req_3", "req_1"]);
    let get = async |tenant, endpoint| {
        t.store.read(move |conn| Box::pin(one(conn, tenant, endpoint, second))).await.unwrap()
    };
    let (record, sealed) = get(TENANT, OTHER_ENDPOINT).await.unwrap();
    assert_eq!((record.explanation.as_str(), sealed.as_slice()), ("Why req_2.", &b"req_2"[..]));
    assert!(get(OTHER_TENANT, OTHER_ENDPOINT).await.is_none() && get(TENANT, ENDPOINT).await.is_none());
    let by_request = async |tenant| {
        t.store
            .read(move |conn| Box::pin(async move { with_request_id(conn, tenant, "req_2").await }))
            .await
            .unwrap()
            .len()
    };
    assert_eq!((by_request(TENANT).await, by_request(OTHER_TENANT).await), (1, 0));

    // What it became is written once, and within its tenant.
    let entered = |n: u128| Entered { at: t.clock.now(), receipt: Some(ReceiptId(uuid::Uuid::from_u128(n))) };
    for (tenant, entered) in [(OTHER_TENANT, entered(1)), (TENANT, entered(2)), (TENANT, entered(3))] {
        let write = t.store.write(move |conn| Box::pin(enter(conn, tenant, OTHER_ENDPOINT, second, entered)));
        write.await.unwrap();
    }
    assert_eq!(get(TENANT, OTHER_ENDPOINT).await.unwrap().0.entered, Some(entered(2)));
});
