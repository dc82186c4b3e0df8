//! Refusals that took the whole road, and what their tenant sees of them.

use bytes::Bytes;
use restante_core::id::{EndpointId, RefusalId};
use restante_core::limits::REFUSAL_BODY_BYTES_MAX;
use restante_core::problem::Code;
use restante_core::request::{HeaderList, Request};
use restante_core::secret::Secret;
use restante_core::time::Clock as _;
use restante_store::testing::TestStore;
use restante_store::{StoreError, both_engines};
use serde_json::{Value, json};

use super::VerifiedAgain;
use crate::By;
use crate::endpoints::{EndpointChange, NewEndpoint, NewSecret, Retire};
use crate::events::EventFilter;
use crate::search::Found;
use crate::testing::{TestApp, TestTenant};

both_engines!(a_kept_refusal_is_listed_explained_and_opened_by_its_tenant_alone, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let other = a.tenant("beta").await;
    let id = a.endpoint(&tenant.by, "Payments").await;
    let header = |name: &str, value: &'static str| (name.to_owned(), Bytes::from_static(value.as_bytes()));
    let request = Request {
        method: "POST".to_owned(),
        headers: HeaderList(vec![header("stripe-signature", "t=1,v1=00"), header("x-more", "canary-header")]),
        body: Bytes::from_static(b"{\"canary\":true}"),
        ..Request::default()
    };
    a.receive(&tenant.by, id, request, "req_7").await;
    a.app.flush_refusals().await;

    let listed = a.app.refusals(&tenant.by, Some(id)).await.unwrap();
    assert_eq!((listed.len(), listed[0].request_id.as_deref()), (1, Some("req_7")));
    assert!(!listed[0].explanation.is_empty());
    assert!(a.app.refusals(&other.by, None).await.unwrap().is_empty());
    let before = a.t.count("audit_log WHERE action = 'refusal.view'").await;
    let opened = a.app.open_refusal(&tenant.by, id, listed[0].id).await.unwrap();
    assert_eq!(opened.headers.first("x-more"), Some(&b"canary-header"[..]));
    assert_eq!((&opened.body[..], opened.cut), (&b"{\"canary\":true}"[..], false));
    assert_eq!(a.t.count("audit_log WHERE action = 'refusal.view'").await, before + 1);
    assert!(!a.t.holds("canary-header").await);
    match a.app.open_refusal(&other.by, id, listed[0].id).await {
        Err(StoreError::Problem(problem)) => assert_eq!(problem.code, Code::NotFound),
        other => panic!("{other:?}"),
    }
});

/// A request that its sender signs with a secret which our endpoint doesn't have.
struct Refused {
    a: TestApp,
    tenant: TestTenant,
    endpoint: EndpointId,
    refusal: RefusalId,
    request: Request,
}

const OTHER_SECRET: &str = "whsec_dGhlLW90aGVyLXNlY3JldA";

async fn make(a: &TestApp, by: &By, provider: &str, secret: &str, options: Value) -> EndpointId {
    let asked = NewEndpoint {
        name: "Payments".to_owned(),
        provider: provider.to_owned(),
        secrets: vec![Secret::new(secret.to_owned())],
        options: options.as_object().unwrap().clone(),
        dedup_scope: None,
        max_body_bytes: None,
        retention: None,
        enabled: true,
    };
    a.app.create_endpoint(by, asked, None).await.unwrap().value.endpoint.id
}

async fn refused(t: TestStore, provider: &str, options: Value, body: Option<&[u8]>) -> Refused {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let endpoint = make(&a, &tenant.by, provider, "whsec_c2VjcmV0LW9mLWEtdGVzdA", options).await;
    let request = a.signed(&tenant.by, endpoint, OTHER_SECRET, body).await;
    a.receive(&tenant.by, endpoint, request.clone(), "req_refused").await;
    a.app.flush_refusals().await;
    let refusal = a.app.refusals(&tenant.by, Some(endpoint)).await.unwrap()[0].id;
    Refused { a, tenant, endpoint, refusal, request }
}

impl Refused {
    async fn again(&self) -> Result<VerifiedAgain, StoreError> {
        self.a.app.verify_refusal_again(&self.tenant.by, self.endpoint, self.refusal).await
    }

    async fn add_the_secret(&self) {
        let secret = NewSecret { secret: Secret::new(OTHER_SECRET.to_owned()), retire_others: Retire::Never };
        self.a.app.add_secret(&self.tenant.by, self.endpoint, secret, None).await.unwrap();
    }

    async fn conflict(&self) -> String {
        let problem = self.again().await.unwrap_err().into_problem();
        assert_eq!(problem.code, Code::Conflict);
        problem.detail
    }
}

both_engines!(a_refusal_that_verifies_under_a_new_secret_enters_as_its_delivery_would_have, |t| async {
    let r = refused(t, "stripe", json!({}), None).await;
    let (a, by) = (&r.a, &r.tenant.by);
    assert_eq!(a.app.search(by, "req_refused").await.unwrap(), Found::Refusal(r.endpoint, r.refusal));
    let received_at = a.t.clock.now();
    // Far out of the tolerance of the signed time, by the clock of today.
    a.t.clock.advance_seconds(86_400);
    r.add_the_secret().await;
    let receipt = match r.again().await.unwrap() {
        VerifiedAgain::Entered(receipts) => {
            assert_eq!((receipts.len(), receipts[0].duplicate), (1, false));
            receipts[0].id
        }
        other => panic!("{other:?}"),
    };
    let event = a.app.event(by, receipt, true).await.unwrap();
    let found = &event.event.receipt;
    assert_eq!((found.received_at, found.origin.as_str(), found.deliveries), (received_at, "delivery", 1));
    assert_eq!(event.handoffs.len(), 1, "the consumer of the tenant is handed it");
    assert_eq!(a.app.search(by, "req_refused").await.unwrap(), Found::Event(receipt));
    let record = a.app.refusal(by, r.endpoint, r.refusal).await.unwrap();
    assert_eq!(record.entered.unwrap().receipt, Some(receipt));
    // Once more does nothing, and the sender that comes again is told that it is here.
    match r.again().await.unwrap() {
        VerifiedAgain::WasEntered(entered) => assert_eq!(entered.receipt, Some(receipt)),
        other => panic!("{other:?}"),
    }
    let actions = |action: &str| format!("audit_log WHERE action = '{action}'");
    assert_eq!(a.t.count(&actions("refusal.verify")).await, 1);
    assert_eq!(a.t.count(&actions("refusal.enter")).await, 1);
    assert_eq!(a.app.event(by, receipt, true).await.unwrap().event.receipt.deliveries, 1);
    a.t.clock.set(received_at);
    let reply = a.receive(by, r.endpoint, r.request.clone(), "req_later").await;
    let said: Value = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!(
        (said["status"].as_str(), said["id"].as_str()),
        (Some("duplicate"), Some(&*receipt.to_string()))
    );
});

both_engines!(
    a_refusal_that_is_still_wrong_is_explained_and_leaves_nothing_but_a_line_in_the_log,
    |t| async {
        let r = refused(t, "stripe", json!({}), None).await;
        let rejected = "rollups WHERE metric LIKE 'rejected:%' AND grain = 1";
        let before = (r.a.t.count("refusals").await, r.a.t.count(rejected).await);
        match r.again().await.unwrap() {
            VerifiedAgain::Refused { reason, explanation } => {
                assert_eq!(reason, "signature_mismatch");
                assert!(!explanation.is_empty());
            }
            other => panic!("{other:?}"),
        }
        r.a.t.clock.advance_seconds(120);
        assert!(matches!(r.again().await.unwrap(), VerifiedAgain::Refused { .. }));
        r.a.app.flush_refusals().await;
        assert_eq!((r.a.t.count("refusals").await, r.a.t.count(rejected).await), before);
        assert_eq!(r.a.t.count("receipts").await, 0);
        assert_eq!(r.a.t.count("audit_log WHERE action = 'refusal.verify'").await, 2);
        // Of another tenant it is not there.
        let other = r.a.tenant("beta").await;
        let gone = r.a.app.verify_refusal_again(&other.by, r.endpoint, r.refusal).await.unwrap_err();
        assert_eq!(gone.into_problem().code, Code::NotFound);
    }
);

both_engines!(a_sender_without_ids_enters_once_even_when_the_mark_was_lost, |t| async {
    let options =
        json!({ "verify": { "algorithm": "hmac-sha256", "header": "X-Sig", "signed": "{method}.{body}" } });
    let r = refused(t, "custom", options, Some(b"no id")).await;
    r.add_the_secret().await;
    for duplicate in [false, true] {
        match r.again().await.unwrap() {
            VerifiedAgain::Entered(receipts) => assert_eq!(receipts[0].duplicate, duplicate),
            other => panic!("{other:?}"),
        }
        // As if the process had ended between the commit and the mark.
        r.a.t.execute("UPDATE refusals SET entered_at = NULL, receipt_id = NULL").await;
    }
    assert_eq!(r.a.t.count("receipts").await, 1);
});

both_engines!(what_is_not_kept_whole_is_not_judged, |t| async {
    let body = vec![b' '; REFUSAL_BODY_BYTES_MAX + 1];
    let r = refused(t, "stripe", json!({}), Some(&body)).await;
    r.add_the_secret().await;
    assert!(r.conflict().await.contains("64 KiB"));
    assert_eq!(r.a.t.count("receipts").await, 0);
});

both_engines!(a_credential_that_was_not_kept_can_not_be_verified_again, |t| async {
    let options = json!({ "verify": { "algorithm": "token", "header": "X-Token" } });
    let r = refused(t, "custom", options, Some(b"{}")).await;
    r.add_the_secret().await;
    assert!(r.conflict().await.contains("x-token"));
    let change = EndpointChange { enabled: Some(false), ..EndpointChange::default() };
    r.a.app.update_endpoint(&r.tenant.by, r.endpoint, change).await.unwrap();
    assert!(r.conflict().await.contains("disabled"));
    r.a.app.delete_endpoint(&r.tenant.by, r.endpoint).await.unwrap();
    assert!(r.conflict().await.contains("deleted"));
    let count = r.a.app.count_events(&r.tenant.by, EventFilter::default()).await.unwrap();
    assert_eq!(count.0, 0);
});
