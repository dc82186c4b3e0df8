//! What receiving promises, from the request to the rows, on both engines.

use std::sync::Arc;

use bytes::Bytes;
use restante_core::request::{HeaderList, Request};
use restante_core::secret::Secret;
use restante_core::verify::{Reply, SignRequest, sign};
use restante_store::both_engines;
use restante_store::testing::TestStore;
use serde_json::{Map, Value, json};
use tokio::sync::Notify;

use super::{Incoming, Target};
use crate::endpoints::{Endpoint, EndpointChange, NewEndpoint};
use crate::testing::{TestApp, TestTenant};

const SECRET: &str = "whsec_aTestSecretOfThirtyTwoCharacters";

struct Bench {
    test: TestApp,
    tenant: TestTenant,
    endpoint: Endpoint,
}

async fn bench(t: TestStore, provider: &str, options: Value) -> Bench {
    let test = TestApp::new(t);
    let tenant = test.tenant("acme").await;
    let Value::Object(options) = options else { panic!("options are an object") };
    let endpoint = endpoint(&test, &tenant, provider, options).await;
    Bench { test, tenant, endpoint }
}

async fn endpoint(
    test: &TestApp,
    tenant: &TestTenant,
    provider: &str,
    options: Map<String, Value>,
) -> Endpoint {
    let asked = NewEndpoint {
        name: "payments".to_owned(),
        provider: provider.to_owned(),
        secrets: vec![Secret::new(SECRET.to_owned())],
        options,
        dedup_scope: None,
        max_body_bytes: None,
        retention: None,
        enabled: true,
    };
    test.app.create_endpoint(&tenant.by, asked, None).await.expect("an endpoint").value.endpoint
}

fn token(endpoint: &Endpoint) -> &str {
    endpoint.url.rsplit('/').next().expect("a token at the end of the URL")
}

impl Bench {
    async fn target(&self) -> Arc<Target> {
        self.test.app.find_endpoint(token(&self.endpoint)).await.expect("the store").expect("the endpoint")
    }

    /// A request as the provider signs it now.
    async fn signed(&self, body: &str) -> Request {
        let target = self.target().await;
        let at = self.test.app.clock.now();
        let asked = SignRequest { body: Some(body.as_bytes()), sample: None, id: None, event_type: None, at };
        let signed = sign(&target.for_verification(), &asked).expect("a signed request");
        Request {
            method: signed.method,
            query: signed.query,
            headers: HeaderList(
                signed.headers.into_iter().map(|(n, v)| (n.to_lowercase(), Bytes::from(v))).collect(),
            ),
            body: Bytes::from(signed.body),
        }
    }

    async fn receive(&self, request: Request) -> Reply {
        let incoming = Incoming {
            request,
            received_at: self.test.app.clock.now(),
            request_id: "req_test".to_owned(),
            trace_id: None,
            peer: None,
            held: None,
        };
        self.test.app.receive(&self.target().await, incoming).await
    }

    async fn deliver(&self, body: &str) -> Reply {
        let request = self.signed(body).await;
        self.receive(request).await
    }

    async fn count(&self, metric: &str) -> i64 {
        self.test.app.flush_refusals().await;
        let sum = "SELECT CAST(COALESCE(SUM(count), 0) AS BIGINT) FROM rollups WHERE grain = 1 AND metric =";
        self.test.t.number(&format!("{sum} '{metric}'")).await
    }
}

fn told(reply: &Reply) -> Value {
    serde_json::from_slice(&reply.body).expect("JSON")
}

both_engines!(an_authentic_event_is_stored_when_its_sender_is_told_so, |t| async {
    let bench = bench(t, "stripe", json!({})).await;
    let reply = bench.deliver(r#"{"id":"evt_1","object":"event","type":"invoice.paid","created":1}"#).await;
    assert_eq!((reply.status, &told(&reply)["status"]), (200, &json!("accepted")));
    assert_eq!(
        bench
            .test
            .t
            .number("SELECT COUNT(*) FROM receipts WHERE event_id = 'evt_1' AND type = 'invoice.paid'")
            .await,
        1
    );
    assert_eq!(bench.test.t.number("SELECT COUNT(*) FROM handoffs WHERE state = 0").await, 1);
});

both_engines!(a_repeat_answers_as_the_first_with_its_id, |t| async {
    let bench = bench(t, "stripe", json!({})).await;
    let body = r#"{"id":"evt_1","object":"event","type":"invoice.paid","created":1}"#;
    let first = bench.deliver(body).await;
    bench.test.t.clock.advance_seconds(3_600);
    let again = bench.deliver(body).await;
    assert_eq!(again.status, first.status);
    assert_eq!(told(&again), json!({ "status": "duplicate", "id": told(&first)["id"] }));
    assert_eq!(bench.test.t.count("receipts").await, 1);
});

both_engines!(nothing_of_a_forged_request_reaches_the_events, |t| async {
    let bench = bench(t, "stripe", json!({})).await;
    let mut forged = bench.signed(r#"{"id":"evt_1","object":"event","type":"invoice.paid"}"#).await;
    forged.body = Bytes::from_static(br#"{"id":"evt_2","object":"event","type":"invoice.paid"}"#);
    for _ in 0..30 {
        let reply = bench.receive(forged.clone()).await;
        assert_eq!((reply.status, &told(&reply)["reason"]), (401, &json!("signature")));
        bench.test.app.flush_refusals().await;
    }
    for table in ["receipts", "payloads", "handoffs", "deliveries", "variants"] {
        assert_eq!(bench.test.t.count(table).await, 0, "{table}");
    }
    assert_eq!(bench.count("rejected:signature_mismatch").await, 30);
    assert_eq!(bench.test.t.count("refusals").await, 20, "the newest are kept");
    // A forged id is still free for the real event.
    assert_eq!(
        told(&bench.deliver(r#"{"id":"evt_2","object":"event","type":"x"}"#).await)["status"],
        "accepted"
    );
});

both_engines!(neither_payload_nor_header_nor_secret_stands_in_the_files, |t| async {
    let bench = bench(t, "stripe", json!({})).await;
    let mut request =
        bench.signed(r#"{"id":"evt_1","object":"event","type":"x","data":"CANARY-BODY"}"#).await;
    request.headers.0.push(("x-canary".to_owned(), Bytes::from_static(b"CANARY-HEADER")));
    assert_eq!(bench.receive(request.clone()).await.status, 200);
    request.body = Bytes::from_static(b"CANARY-REFUSED");
    assert_eq!(bench.receive(request).await.status, 401);
    bench.test.app.flush_refusals().await;
    for canary in ["CANARY-BODY", "CANARY-HEADER", "CANARY-REFUSED", SECRET, token(&bench.endpoint)] {
        assert!(!bench.test.t.holds(canary).await, "{canary} is in clear");
    }
    // The look does find what is there in clear.
    assert!(bench.test.t.holds("evt_1").await);
});

both_engines!(an_event_that_cannot_be_read_is_kept_and_waits_for_repair, |t| async {
    let bench = bench(t, "stripe", json!({})).await;
    for body in [r#"{"object":"event"}"#, "not JSON", ""] {
        for status in ["accepted", "duplicate"] {
            let reply = bench.deliver(body).await;
            assert_eq!((reply.status, &told(&reply)["status"]), (200, &json!(status)), "{body:?}");
        }
    }
    assert_eq!(bench.test.t.number("SELECT COUNT(*) FROM receipts WHERE reason = 'envelope'").await, 3);
    assert_eq!(bench.test.t.number("SELECT COUNT(*) FROM handoffs WHERE state = 3").await, 3);
});

both_engines!(a_batch_answers_for_each_of_its_events, |t| async {
    let verify = json!({ "algorithm": "hmac-sha256", "header": "X-Signature", "event": { "id": { "json": "/id" } },
        "unique_by": ["id"], "batch": "" });
    let bench = bench(t, "custom", json!({ "verify": verify })).await;
    let reply = bench.deliver(r#"[{"id":"a"}, {"id":"b"}, {"id":"a"}]"#).await;
    let statuses: Vec<_> =
        told(&reply)["receipts"].as_array().expect("receipts").iter().map(|r| r["status"].clone()).collect();
    assert_eq!(
        (&told(&reply)["status"], statuses),
        (&json!("accepted"), vec![json!("accepted"), json!("accepted"), json!("duplicate")])
    );
    assert_eq!(told(&bench.deliver(r#"[{"id":"b"}]"#).await)["status"], "duplicate");
    assert_eq!(told(&bench.deliver("[]").await), json!({ "status": "accepted", "receipts": [] }));
    assert_eq!((bench.test.t.count("receipts").await, bench.test.t.count("payloads").await), (2, 1));
});

both_engines!(a_sender_without_ids_makes_an_event_of_each_delivery, |t| async {
    let verify = json!({ "algorithm": "hmac-sha256", "header": "X-Signature" });
    let bench = bench(t, "custom", json!({ "verify": verify })).await;
    for _ in 0..3 {
        assert_eq!(told(&bench.deliver("same bytes").await)["status"], "accepted");
    }
    assert_eq!(bench.test.t.count("receipts").await, 3);
});

both_engines!(a_database_that_is_away_is_answered_503_and_never_2xx, |t| async {
    let bench = bench(t, "stripe", json!({})).await;
    let request = bench.signed(r#"{"id":"evt_1","object":"event","type":"x"}"#).await;
    let target = bench.target().await;
    bench.test.app.store.clone().close().await;
    let incoming = Incoming {
        request,
        received_at: bench.test.app.clock.now(),
        request_id: "req_test".to_owned(),
        trace_id: None,
        peer: None,
        held: None,
    };
    let reply = bench.test.app.receive(&target, incoming).await;
    assert_eq!(reply.status, 503);
    assert!(reply.headers.iter().any(|(name, _)| name == "retry-after"));
    assert_eq!(bench.test.t.count("receipts").await, 0);
});

both_engines!(a_change_of_an_endpoint_works_at_once_here_and_within_seconds_elsewhere, |t| async {
    let bench = bench(t, "stripe", json!({})).await;
    let node = bench.test.second_node().await;
    let there = async || node.find_endpoint(token(&bench.endpoint)).await.expect("the store");
    assert!(there().await.expect("the endpoint").gate("POST").is_none());
    let off = EndpointChange { enabled: Some(false), ..EndpointChange::default() };
    bench.test.app.update_endpoint(&bench.tenant.by, bench.endpoint.id, off).await.expect("a change");
    let gate = bench.target().await.gate("POST").expect("a disabled endpoint takes nothing");
    assert_eq!(gate.status, 503, "a provider must not give up");
    assert_eq!(bench.target().await.gate("HEAD").map(|reply| reply.status), Some(200));
    bench.test.t.clock.advance_seconds(5);
    assert!(there().await.expect("the endpoint").gate("POST").is_some());
    bench.test.app.delete_endpoint(&bench.tenant.by, bench.endpoint.id).await.expect("gone");
    assert!(bench.test.app.find_endpoint(token(&bench.endpoint)).await.expect("the store").is_none());
});

/// Another node, and the endpoint as it knows it from now on for some seconds.
async fn node_that_knows(bench: &Bench) -> (crate::App, Arc<Target>) {
    let node = bench.test.second_node().await;
    let known = node.find_endpoint(token(&bench.endpoint)).await.expect("the store").expect("the endpoint");
    (node, known)
}

async fn receive_at(node: &crate::App, known: &Arc<Target>, request: Request) -> Reply {
    let received_at = node.clock.now();
    let request_id = "req_test".to_owned();
    let incoming = Incoming { request, received_at, request_id, trace_id: None, peer: None, held: None };
    node.receive(known, incoming).await
}

const PAID: &str = r#"{"id":"evt_1","object":"event","type":"invoice.paid","created":1}"#;

both_engines!(a_scope_that_changed_elsewhere_counts_for_the_very_next_event, |t| async {
    let bench = bench(t, "stripe", json!({})).await;
    let (node, known) = node_that_knows(&bench).await;
    let request = bench.signed(PAID).await;
    let scope = Some(Some(restante_core::catalogue::DedupScope::Endpoint));
    let change = EndpointChange { dedup_scope: scope, ..EndpointChange::default() };
    bench.test.app.update_endpoint(&bench.tenant.by, bench.endpoint.id, change).await.expect("no event yet");
    let first = receive_at(&node, &known, request.clone()).await;
    assert_eq!((first.status, &told(&first)["status"]), (200, &json!("accepted")));
    let of_the_endpoint = format!("receipts WHERE scope = '{}'", bench.endpoint.id);
    assert_eq!(bench.test.t.count(&of_the_endpoint).await, 1, "the scope is the one that was chosen");
    // So that a repeat by any node is one.
    let again = bench.receive(request).await;
    assert_eq!(told(&again), json!({ "status": "duplicate", "id": told(&first)["id"] }));
    assert_eq!(bench.test.t.count("receipts").await, 1);
});

both_engines!(a_large_body_under_which_its_endpoint_changed_is_stored_when_it_comes_again, |t| async {
    let bench = bench(t, "stripe", json!({})).await;
    let (node, known) = node_that_knows(&bench).await;
    let large = PAID.replace("\"created\"", &format!("\"more\":\"{}\",\"created\"", "x".repeat(600_000)));
    let request = bench.signed(&large).await;
    let scope = Some(Some(restante_core::catalogue::DedupScope::Endpoint));
    let change = EndpointChange { dedup_scope: scope, ..EndpointChange::default() };
    bench.test.app.update_endpoint(&bench.tenant.by, bench.endpoint.id, change).await.expect("no event yet");
    assert_eq!(receive_at(&node, &known, request.clone()).await.status, 503);
    assert_eq!(bench.test.t.count("receipts").await, 0);
    let known = node.find_endpoint(token(&bench.endpoint)).await.expect("the store").expect("the endpoint");
    assert_eq!(receive_at(&node, &known, request).await.status, 200);
    let of_the_endpoint = format!("receipts WHERE scope = '{}'", bench.endpoint.id);
    assert_eq!(bench.test.t.count(&of_the_endpoint).await, 1);
});

both_engines!(nothing_is_stored_by_rules_or_secrets_that_are_gone, |t| async {
    let verify = json!({ "algorithm": "token", "header": "X-Token", "event": { "id": { "json": "/id" } } });
    let bench = bench(t, "custom", json!({ "verify": verify })).await;
    let (by, id) = (&bench.tenant.by, bench.endpoint.id);
    let app = &bench.test.app;
    let change = async |change: EndpointChange| {
        let (node, known) = node_that_knows(&bench).await;
        let request = bench.signed(r#"{"id":"1"}"#).await;
        app.update_endpoint(by, id, change).await.expect("a change");
        receive_at(&node, &known, request).await.status
    };
    let options = |verify: Value| EndpointChange {
        options: Some(json!({ "verify": verify }).as_object().cloned()),
        ..EndpointChange::default()
    };
    assert_eq!(change(options(json!({ "header": "X-Other" }))).await, 401);
    assert_eq!(change(options(json!({ "header": "X-Token" }))).await, 401, "it was signed for the other one");
    let small = EndpointChange { max_body_bytes: Some(Some(3)), ..EndpointChange::default() };
    assert_eq!(change(small).await, 413);
    let off =
        EndpointChange { enabled: Some(false), max_body_bytes: Some(None), ..EndpointChange::default() };
    assert_eq!(change(off).await, 503);
    let on = EndpointChange { enabled: Some(true), ..EndpointChange::default() };
    app.update_endpoint(by, id, on).await.expect("a change");

    let (node, known) = node_that_knows(&bench).await;
    let request = bench.signed(r#"{"id":"1"}"#).await;
    let added = crate::endpoints::NewSecret {
        secret: Secret::new("another-secret-of-the-sender".to_owned()),
        retire_others: crate::endpoints::Retire::Never,
    };
    app.add_secret(by, id, added, None).await.expect("a secret");
    app.delete_secret(by, id, bench.endpoint.secrets[0].id).await.expect("it is gone");
    assert_eq!(receive_at(&node, &known, request).await.status, 401);

    let (node, known) = node_that_knows(&bench).await;
    let request = bench.signed(r#"{"id":"1"}"#).await;
    bench.test.t.execute("UPDATE tenants SET suspended = suspended OR TRUE").await;
    assert_eq!(receive_at(&node, &known, request.clone()).await.status, 503);
    bench.test.t.execute("UPDATE tenants SET suspended = suspended AND FALSE").await;
    assert_eq!(bench.test.t.count("receipts").await, 0);
    assert_eq!(receive_at(&node, &known, request.clone()).await.status, 200);

    app.delete_endpoint(by, id).await.expect("it is gone");
    assert_eq!(receive_at(&node, &known, request).await.status, 404);
    assert_eq!(bench.test.t.count("receipts").await, 1);
    assert_eq!(bench.test.t.number("SELECT deliveries FROM receipts").await, 1);
});

both_engines!(a_change_of_something_else_leaves_a_verdict_as_it_is, |t| async {
    let bench = bench(t, "stripe", json!({})).await;
    let (node, known) = node_that_knows(&bench).await;
    let request = bench.signed(PAID).await;
    // So that a request which was judged anew could not be read.
    let new = crate::consumers::NewConsumer { name: "late".to_owned(), ..Default::default() };
    bench.test.app.create_consumer(&bench.tenant.by, new, None).await.expect("a consumer");
    bench.test.t.execute("UPDATE endpoints SET provider = 'nobody'").await;
    assert_eq!(receive_at(&node, &known, request).await.status, 200);
    assert_eq!(bench.test.t.count("handoffs").await, 2);
});

both_engines!(a_secret_that_was_added_elsewhere_counts_after_a_second, |t| async {
    let bench = bench(t, "stripe", json!({})).await;
    let (node, known) = node_that_knows(&bench).await;
    let added = crate::endpoints::NewSecret {
        secret: Secret::new("whsec_anotherSecretOfThirtyTwoCharact".to_owned()),
        retire_others: crate::endpoints::Retire::AfterSeconds(0),
    };
    bench.test.app.add_secret(&bench.tenant.by, bench.endpoint.id, added, None).await.expect("a secret");
    bench.test.t.clock.advance_seconds(1);
    let request = bench.signed(PAID).await;
    assert_eq!(receive_at(&node, &known, request.clone()).await.status, 200);
    // What is forged is refused once, and counted once.
    bench.test.t.clock.advance_seconds(1);
    let forged = Request { body: Bytes::from_static(b"forged"), ..request };
    assert_eq!(receive_at(&node, &known, forged).await.status, 401);
    node.flush_refusals().await;
    assert_eq!(bench.count("rejected:signature_mismatch").await, 1);
});

both_engines!(a_rotated_secret_verifies_until_its_time_and_not_after, |t| async {
    let bench = bench(t, "stripe", json!({})).await;
    let old = bench.signed(r#"{"id":"evt_1","object":"event","type":"x"}"#).await;
    let added = crate::endpoints::NewSecret {
        secret: Secret::new("whsec_anotherSecretOfThirtyTwoCharact".to_owned()),
        retire_others: crate::endpoints::Retire::AfterSeconds(60),
    };
    bench.test.app.add_secret(&bench.tenant.by, bench.endpoint.id, added, None).await.expect("a secret");
    bench.test.t.clock.advance_seconds(59);
    assert_eq!(bench.receive(old.clone()).await.status, 200);
    bench.test.t.clock.advance_seconds(1);
    assert_eq!(bench.receive(old).await.status, 401);
});

#[tokio::test]
async fn what_is_held_for_a_record_is_held_until_it_is_committed_also_when_that_is_late() {
    let bench = bench(TestStore::sqlite().await, "stripe", json!({})).await;
    let request = bench.signed(r#"{"id":"evt_1","object":"event","type":"invoice.paid","created":1}"#).await;
    let target = bench.target().await;
    let (begun, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (begins, goes, store) = (Arc::clone(&begun), Arc::clone(&go), bench.test.app.store.clone());
    // The one writer of SQLite is kept busy.
    let writing = tokio::spawn(async move {
        let work = store.write(move |_| {
            Box::pin(async move {
                begins.notify_one();
                goes.notified().await;
                Ok(())
            })
        });
        work.await.unwrap();
    });
    begun.notified().await;
    let held = Arc::new(());
    let kept = Arc::downgrade(&held);
    let incoming = Incoming {
        request,
        received_at: bench.test.app.clock.now(),
        request_id: "req_test".to_owned(),
        trace_id: None,
        peer: None,
        held: Some(held),
    };
    // Nobody works, so the sender's patience is over at once.
    tokio::time::pause();
    let reply = bench.test.app.receive(&target, incoming).await;
    tokio::time::resume();
    assert_eq!(reply.status, 503);
    assert_eq!(kept.strong_count(), 1);
    go.notify_one();
    writing.await.unwrap();
    while kept.strong_count() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(bench.test.t.count("receipts").await, 1);
}
