//! Refusals that took the whole road, and what their tenant sees of them.

use bytes::Bytes;
use restante_core::problem::Code;
use restante_core::request::{HeaderList, Request};
use restante_core::time::Clock as _;
use restante_store::{StoreError, both_engines};

use crate::receive::Incoming;
use crate::testing::TestApp;

both_engines!(a_kept_refusal_is_listed_explained_and_opened_by_its_tenant_alone, |t| async {
    let a = TestApp::new(t);
    let tenant = a.tenant("acme").await;
    let other = a.tenant("beta").await;
    let id = a.endpoint(&tenant.by, "Payments").await;
    let url = a.app.endpoint(&tenant.by, id).await.unwrap().url;
    let token = url.rsplit('/').next().unwrap().to_owned();
    let target = a.app.find_endpoint(&token).await.unwrap().unwrap();
    let header = |name: &str, value: &'static str| (name.to_owned(), Bytes::from_static(value.as_bytes()));
    let request = Request {
        method: "POST".to_owned(),
        headers: HeaderList(vec![header("stripe-signature", "t=1,v1=00"), header("x-more", "canary-header")]),
        body: Bytes::from_static(b"{\"canary\":true}"),
        ..Request::default()
    };
    let incoming = Incoming {
        request,
        received_at: a.t.clock.now(),
        request_id: "req_7".to_owned(),
        trace_id: None,
        peer: None,
        held: None,
    };
    a.app.receive(&target, incoming).await;
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
