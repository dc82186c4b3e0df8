//! Pulling over HTTP on both engines: from the sender's request to the ack, the shapes of the
//! contract, what is answered lease by lease, and waiting.

use std::sync::Arc;

use axum::body::Body;
use http::Request;
use restante_app::testing::TestTenant;
use restante_core::secret::Secret;
use restante_store::both_engines;
use restante_store::testing::TestStore;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::tests::{Site, names};

pub(super) const TOKEN: &str = "a-long-random-token";

/// A tenant with an endpoint whose sender presents a token, and its consumer `default`.
pub(super) struct Pull {
    pub(super) site: Site,
    pub(super) tenant: TestTenant,
    pub(super) endpoint: String,
    /// The path of its URL.
    pub(super) path: String,
}

pub(super) fn verify(extra: Value) -> Value {
    let mut verify = json!({
        "algorithm": "token",
        "header": "X-Token",
        "event": {"id": {"json": "/id"}, "type": {"json": "/type"}},
    });
    let Value::Object(extra) = extra else { panic!("an object") };
    verify.as_object_mut().unwrap().extend(extra);
    verify
}

impl Pull {
    pub(super) async fn new(t: TestStore) -> Self {
        Self::with(t, json!({})).await
    }

    pub(super) async fn with(t: TestStore, extra: Value) -> Self {
        let site = Site::new(t);
        let tenant = site.a.tenant("acme").await;
        let (endpoint, path) = endpoint(&site, &tenant, extra).await;
        Self { site, tenant, endpoint, path }
    }

    /// Sends a body as the sender does, and gives the answer.
    pub(super) async fn send(&self, body: impl Into<Body>) -> Value {
        let request = Request::builder()
            .method("POST")
            .uri(&self.path)
            .header("host", "localhost")
            .header("x-token", TOKEN)
            .header("x-note", http::HeaderValue::from_bytes(b"caf\xe9").unwrap())
            .header("content-type", "application/json")
            .body(body.into())
            .unwrap();
        let response = self.site.router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), 200);
        let bytes = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
        // Each event has a millisecond of its own.
        let clock = &self.site.a.t.clock;
        clock.set(restante_core::time::Timestamp::from_micros(
            restante_core::time::Clock::now(clock).micros() + 1_000,
        ));
        serde_json::from_slice(&bytes).unwrap()
    }

    pub(super) async fn event(&self, id: &str) -> String {
        let answer = self.send(json!({"id": id, "type": "invoice.paid"}).to_string()).await;
        answer["id"].as_str().unwrap().to_owned()
    }

    pub(super) async fn get(&self, path: &str) -> Value {
        let answer = self.site.call(&self.tenant, "GET", path, None).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.body
    }

    pub(super) async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        let answer = self.site.call(&self.tenant, "POST", path, Some(body)).await;
        (answer.status, answer.body)
    }

    pub(super) async fn claim(&self, body: Value) -> Value {
        let (status, body) = self.post("/v1/consumers/default/claim", body).await;
        assert_eq!(status, 200, "{body}");
        body
    }

    async fn statuses(&self, verb: &str, body: Value) -> Vec<String> {
        let (status, body) = self.post(&format!("/v1/consumers/default/{verb}"), body).await;
        assert_eq!(status, 200, "{body}");
        let results = body["results"].as_array().unwrap();
        results.iter().map(|result| result["status"].as_str().unwrap().to_owned()).collect()
    }
}

pub(super) async fn endpoint(site: &Site, tenant: &TestTenant, extra: Value) -> (String, String) {
    let asked = json!({
        "name": "Sender", "provider": "custom", "secrets": [TOKEN], "options": {"verify": verify(extra)},
    });
    let made = site.call(tenant, "POST", "/v1/endpoints", Some(asked)).await;
    assert_eq!(made.status, 201, "{}", made.body);
    let url = made.body["url"].as_str().unwrap();
    let path = url[url.find("/in/").unwrap()..].to_owned();
    (made.body["id"].as_str().unwrap().to_owned(), path)
}

/// The caller with a key that has these scopes alone.
pub(super) async fn with_scopes(site: &Site, tenant: &TestTenant, scopes: &[&str]) -> TestTenant {
    let made = site.call(tenant, "POST", "/v1/keys", Some(json!({"name": "k", "scopes": scopes}))).await;
    let api_key = Secret::new(made.body["key"].as_str().unwrap().to_owned());
    TestTenant { by: tenant.by.clone(), api_key }
}

both_engines!(an_event_goes_from_its_sender_to_the_ack, |t| async {
    let pull = Pull::new(t).await;
    let body = r#"{"id":"evt_1","type":"invoice.paid","text":"é"}"#;
    let told = pull.send(body).await;
    let claimed = pull.claim(json!({"handler_version": "v7", "max": 10, "lease_seconds": 30})).await;
    assert_eq!(names(&claimed), ["events"]);
    let event = &claimed["events"][0];
    assert_eq!(
        names(event),
        [
            "account",
            "ambiguous",
            "api_version",
            "attempt",
            "body",
            "body_encoding",
            "content_type",
            "decoder",
            "deliveries",
            "diverged",
            "endpoint",
            "event_id",
            "event_key",
            "headers",
            "id",
            "lease",
            "lease_expires_at",
            "livemode",
            "occurred_at",
            "origin",
            "payload_removed_at",
            "payload_state",
            "provider",
            "reason",
            "received_at",
            "repeated_body",
            "replay",
            "sha256",
            "size",
            "type",
            "weak",
        ]
    );
    assert_eq!(event["id"], told["id"]);
    assert_eq!((&event["body"], &event["body_encoding"]), (&json!(body), &json!("utf8")));
    assert_eq!(event["size"], body.len());
    assert_eq!(
        (&event["attempt"], &event["deliveries"], &event["replay"]),
        (&json!(1), &json!(1), &Value::Null)
    );
    assert_eq!((&event["event_id"], &event["type"]), (&json!("evt_1"), &json!("invoice.paid")));
    assert_eq!((&event["origin"], &event["payload_state"]), (&json!("delivery"), &json!("stored")));
    assert_eq!(event["endpoint"], pull.endpoint.as_str());
    assert_eq!(event["received_at"], "2026-11-30T12:00:00.000Z");
    assert_eq!(event["lease_expires_at"], "2026-11-30T12:00:30.001Z");
    let headers = event["headers"].as_array().unwrap();
    assert!(headers.contains(&json!(["x-token", "[removed]"])), "a credential is not handed out");
    assert!(headers.contains(&json!(["x-note", "café"])), "what is no UTF-8 is read as Latin-1");
    assert!(headers.contains(&json!(["content-type", "application/json"])));

    let empty = pull.claim(json!({})).await;
    assert_eq!(
        empty,
        json!({"events": [], "leased": 1, "next_at": "2026-11-30T12:00:30.001Z", "paused": false})
    );
    let ack = json!({"leases": [{"lease": event["lease"], "remote_operation_id": "re_1", "note": "done"}]});
    for _ in 0..2 {
        assert_eq!(pull.statuses("ack", ack.clone()).await, ["acked"]);
    }
    let id = told["id"].as_str().unwrap();
    let shown = pull.get(&format!("/v1/events/{id}")).await;
    assert_eq!(shown["handoffs"][0]["state"], "processed");
    let attempt = &shown["attempts"][0];
    assert_eq!((&attempt["handler_version"], &attempt["outcome"]), (&json!("v7"), &json!("acked")));
    assert_eq!((&attempt["remote_operation_id"], &attempt["note"]), (&json!("re_1"), &json!("done")));
    let stats = pull.get("/v1/stats?window=1h").await;
    assert_eq!(
        stats["consumers"],
        json!([{
            "name": "default", "pending": 0, "leased": 0, "processed": 1, "failed": 0, "uncertain": 0,
            "oldest_pending_seconds": null, "attempts": 1,
        }])
    );
});

both_engines!(each_lease_is_answered_for_itself, |t| async {
    let pull = Pull::new(t).await;
    for n in 0..4 {
        pull.event(&format!("evt_{n}")).await;
    }
    let claimed = pull.claim(json!({})).await;
    let lease = |n: usize| claimed["events"][n]["lease"].clone();
    let asked = json!({"leases": [
        lease(0), "", "rubbish", lease(0), {"lease": lease(1)}, "A".repeat(48), "é".repeat(500), "\u{0}",
    ]});
    assert_eq!(
        pull.statuses("ack", asked).await,
        ["acked", "unknown", "unknown", "acked", "acked", "unknown", "unknown", "unknown"]
    );
    let asked = json!({"leases": [
        {"lease": lease(1), "outcome": "failed"},
        {"lease": lease(2), "outcome": "uncertain", "error": "lost the connection"},
        {"lease": lease(3), "outcome": "retry", "retry_in_seconds": null},
        {"lease": lease(3), "outcome": "retry", "retry_in_seconds": 0},
        "rubbish",
    ]});
    assert_eq!(
        pull.statuses("nack", asked).await,
        ["expired", "uncertain", "retried", "retried", "unknown"],
        "what was acked stays acked"
    );
    let none = json!({"leases": []});
    for verb in ["ack", "nack", "extend"] {
        assert!(pull.statuses(verb, none.clone()).await.is_empty());
    }
});

both_engines!(an_extension_tells_the_new_end, |t| async {
    let pull = Pull::new(t).await;
    pull.event("evt").await;
    let claimed = pull.claim(json!({})).await;
    let lease = claimed["events"][0]["lease"].clone();
    let asked = json!({"leases": [lease, "rubbish"], "lease_seconds": 600});
    let (_, extended) = pull.post("/v1/consumers/default/extend", asked).await;
    assert_eq!(
        extended["results"],
        json!([
            {"lease": lease, "status": "extended", "lease_expires_at": "2026-11-30T12:10:00.001Z"},
            {"lease": "rubbish", "status": "unknown"},
        ])
    );
    pull.site.a.t.clock.advance_seconds(600);
    assert_eq!(pull.statuses("extend", json!({"leases": [lease]})).await, ["expired"]);
});

both_engines!(what_its_author_must_mend_is_refused_with_its_pointer, |t| async {
    let pull = Pull::new(t).await;
    pull.event("evt").await;
    let many: Vec<String> = (0..1_001).map(|n| n.to_string()).collect();
    for (verb, body, pointer) in [
        ("claim", json!({"max": 0}), "/max"),
        ("claim", json!({"max": 501}), "/max"),
        ("claim", json!({"max": -1}), "/max"),
        ("claim", json!({"lease_seconds": 43_201}), "/lease_seconds"),
        ("claim", json!({"wait_seconds": 31}), "/wait_seconds"),
        ("claim", json!({"maximum": 5}), "/maximum"),
        ("ack", json!({"leases": many}), "/leases"),
        ("ack", json!({}), "/leases"),
        ("ack", json!({"leases": ["x", 5]}), "/leases/1"),
        ("ack", json!({"leases": [{"lease": "x", "nota": "y"}]}), "/leases/0/nota"),
        ("ack", json!({"leases": "x"}), "/leases"),
        ("nack", json!({"leases": [{"lease": "x", "outcome": "maybe"}]}), "/leases/0/outcome"),
        (
            "nack",
            json!({"leases": [{"lease": "x", "retry_in_seconds": 604_801}]}),
            "/leases/0/retry_in_seconds",
        ),
        ("nack", json!({"leases": [{"outcome": "retry"}]}), "/leases/0/lease"),
        ("extend", json!({"leases": [], "lease_seconds": 0}), "/lease_seconds"),
    ] {
        let (status, said) = pull.post(&format!("/v1/consumers/default/{verb}"), body.clone()).await;
        assert_eq!((status, &said["errors"][0]["pointer"]), (422, &json!(pointer)), "{verb} {body}: {said}");
    }
    for verb in ["claim", "ack", "nack", "extend"] {
        let body = if verb == "claim" { json!({}) } else { json!({"leases": []}) };
        assert_eq!(pull.post(&format!("/v1/consumers/nobody/{verb}"), body).await.0, 404);
    }
    assert_eq!(pull.claim(json!({})).await["events"].as_array().unwrap().len(), 1, "nothing was leased");
});

both_engines!(leases_of_another_tenant_are_unknown, |t| async {
    let pull = Pull::new(t).await;
    pull.event("evt").await;
    let lease = pull.claim(json!({})).await["events"][0]["lease"].clone();
    let other = pull.site.a.tenant("other").await;
    let body = json!({"leases": [lease]});
    let told = pull.site.call(&other, "POST", "/v1/consumers/default/ack", Some(body.clone())).await;
    assert_eq!(told.body["results"][0]["status"], "unknown");
    assert_eq!(pull.statuses("ack", body).await, ["acked"]);
});

both_engines!(a_waiting_claim_is_woken_by_what_comes, |t| async {
    let pull = Arc::new(Pull::new(t).await);
    let waiting = Arc::clone(&pull);
    let claim = tokio::spawn(async move { waiting.claim(json!({"wait_seconds": 30})).await });
    let began = std::time::Instant::now();
    while !claim.is_finished() && pull.get("/v1/events").await["data"].as_array().unwrap().is_empty() {
        tokio::task::yield_now().await;
        pull.event("evt").await;
    }
    let claimed = claim.await.unwrap();
    assert_eq!(claimed["events"].as_array().unwrap().len(), 1);
    assert!(began.elapsed().as_secs() < 20, "it did not wait to its end");
});

both_engines!(a_waiting_claim_is_woken_by_a_nack_and_by_a_replay, |t| async {
    let pull = Arc::new(Pull::new(t).await);
    let id = pull.event("evt").await;
    let lease = pull.claim(json!({})).await["events"][0]["lease"].clone();
    let waiting = Arc::clone(&pull);
    let claim = tokio::spawn(async move { waiting.claim(json!({"wait_seconds": 30})).await });
    tokio::task::yield_now().await;
    let back = json!({"leases": [{"lease": lease, "outcome": "retry", "retry_in_seconds": 0}]});
    assert_eq!(pull.statuses("nack", back).await, ["retried"]);
    let claimed = claim.await.unwrap();
    assert_eq!(claimed["events"][0]["attempt"], 2);
    pull.statuses("ack", json!({"leases": [claimed["events"][0]["lease"]]})).await;
    let waiting = Arc::clone(&pull);
    let claim = tokio::spawn(async move { waiting.claim(json!({"wait_seconds": 30})).await });
    let (status, told) = pull
        .post(&format!("/v1/events/{id}/replay"), json!({"consumer": "default", "reason": "why not"}))
        .await;
    assert_eq!((status, told), (202, json!({"handoffs": 1})));
    let claimed = claim.await.unwrap();
    assert_eq!(claimed["events"][0]["attempt"], 3);
    assert_eq!(claimed["events"][0]["replay"]["reason"], "why not");
    assert_eq!(names(&claimed["events"][0]["replay"]), ["at", "by", "reason"]);
});

both_engines!(a_waiting_claim_ends_with_401_when_its_key_is_revoked, |t| async {
    let pull = Arc::new(Pull::new(t).await);
    let asked = json!({"name": "worker", "scopes": ["events:consume"]});
    let (status, made) = pull.post("/v1/keys", asked).await;
    assert_eq!(status, 201);
    let api_key = Secret::new(made["key"].as_str().unwrap().to_owned());
    let worker = TestTenant { by: pull.tenant.by.clone(), api_key };
    let waiting = Arc::clone(&pull);
    let claim = tokio::spawn(async move {
        let body = Some(json!({"wait_seconds": 30}));
        waiting.site.call(&worker, "POST", "/v1/consumers/default/claim", body).await
    });
    tokio::task::yield_now().await;
    let key = format!("/v1/keys/{}", made["id"].as_str().unwrap());
    assert_eq!(pull.site.call(&pull.tenant, "DELETE", &key, None).await.status, 204);
    // What comes now is not the revoked key's, however long its claim would still wait.
    pull.event("evt").await;
    let refused = claim.await.unwrap();
    assert_eq!((refused.status, &refused.body["type"]), (401, &json!("/docs/errors/unauthorized")));
    assert_eq!(pull.claim(json!({})).await["events"][0]["attempt"], 1);
});

both_engines!(a_key_that_is_revoked_while_the_body_comes_does_nothing, |t| async {
    let pull = Pull::new(t).await;
    let key = pull.tenant.by.principal.key.unwrap();
    let (app, by) = (pull.site.a.app.clone(), pull.tenant.by.clone());
    // The first byte of the body is asked for after the key was looked at.
    let body = futures_util::stream::once(async move {
        app.delete_api_key(&by, key).await.unwrap();
        Ok::<_, std::convert::Infallible>(r#"{"name": "late"}"#)
    });
    let request = Request::post("/v1/consumers")
        .header("host", "localhost")
        .header("authorization", format!("Bearer {}", pull.tenant.api_key.expose()))
        .header("content-type", "application/json")
        .body(Body::from_stream(body))
        .unwrap();
    let response = pull.site.router.clone().oneshot(request).await.unwrap();
    assert_eq!(response.status(), 401);
    assert!(response.headers().contains_key("www-authenticate"));
    assert_eq!(pull.site.a.t.count("consumers").await, 1);
    assert_eq!(pull.site.a.t.count("api_keys WHERE deleted_at IS NULL").await, 0);
});

both_engines!(a_server_that_stops_lets_nobody_wait, |t| async {
    let pull = Arc::new(Pull::new(t).await);
    let waiting = Arc::clone(&pull);
    let claim = tokio::spawn(async move { waiting.claim(json!({"wait_seconds": 30})).await });
    tokio::task::yield_now().await;
    pull.site.a.app.wakeups.close();
    assert_eq!(claim.await.unwrap()["events"], json!([]));
    assert_eq!(pull.claim(json!({"wait_seconds": 30})).await["events"], json!([]));
});

both_engines!(a_claimer_that_goes_away_holds_nothing, |t| async {
    let pull = Arc::new(Pull::new(t).await);
    for _ in 0..20 {
        let waiting = Arc::clone(&pull);
        let claim = tokio::spawn(async move { waiting.claim(json!({"wait_seconds": 30})).await });
        tokio::task::yield_now().await;
        claim.abort();
    }
    pull.event("evt").await;
    assert_eq!(pull.claim(json!({"wait_seconds": 30})).await["events"].as_array().unwrap().len(), 1);
});

both_engines!(a_paused_consumer_says_so_and_goes_on_where_it_was, |t| async {
    let pull = Pull::new(t).await;
    pull.event("evt").await;
    let path = "/v1/consumers/default";
    let patched = pull.site.call(&pull.tenant, "PATCH", path, Some(json!({"enabled": false}))).await;
    assert_eq!((patched.status, &patched.body["enabled"]), (200, &json!(false)));
    assert_eq!(
        pull.claim(json!({})).await,
        json!({"events": [], "leased": 0, "next_at": null, "paused": true})
    );
    pull.event("evt_2").await;
    pull.site.call(&pull.tenant, "PATCH", path, Some(json!({"enabled": true}))).await;
    assert_eq!(pull.claim(json!({})).await["events"].as_array().unwrap().len(), 2);
});

both_engines!(what_can_not_be_opened_fails_and_is_never_handed_out, |t| async {
    let pull = Pull::new(t).await;
    let damaged = pull.event("evt_1").await;
    let good = pull.event("evt_2").await;
    let first = "(SELECT payload_id FROM receipts WHERE event_id = 'evt_1')";
    pull.site
        .a
        .t
        .execute(&format!(
            "UPDATE payloads SET body_sealed = (SELECT p.body_sealed FROM payloads AS p WHERE p.id <> {first}) WHERE id = {first}"
        ))
        .await;
    let claimed = pull.claim(json!({})).await;
    assert_eq!(claimed["events"].as_array().unwrap().len(), 1);
    assert_eq!(claimed["events"][0]["id"], good.as_str());
    let shown = pull.get(&format!("/v1/events/{damaged}")).await;
    assert_eq!(shown["handoffs"][0]["state"], "failed");
    assert!(shown["attempts"][0]["note"].as_str().unwrap().contains("damaged"));
    assert!(shown.get("body").is_none());
    let payload = pull.site.call(&pull.tenant, "GET", &format!("/v1/events/{damaged}/payload"), None).await;
    assert_eq!(payload.status, 410);
});

both_engines!(a_claim_asks_for_its_scope_alone, |t| async {
    let pull = Pull::new(t).await;
    pull.event("evt").await;
    let worker = with_scopes(&pull.site, &pull.tenant, &["events:consume"]).await;
    let reader = with_scopes(&pull.site, &pull.tenant, &["events:read"]).await;
    let call = |by, method, path| pull.site.call(by, method, path, None);
    assert_eq!(call(&reader, "POST", "/v1/consumers/default/claim").await.status, 403);
    let claimed = call(&worker, "POST", "/v1/consumers/default/claim").await;
    assert_eq!((claimed.status, claimed.body["events"][0]["body_encoding"].as_str()), (200, Some("utf8")));
    assert_eq!(call(&worker, "GET", "/v1/events").await.status, 403);
    assert_eq!(call(&reader, "GET", "/v1/events?include=payload").await.status, 403);
    let listed = call(&reader, "GET", "/v1/events").await;
    assert_eq!(listed.status, 200);
    for field in ["body", "headers", "body_encoding", "lease", "attempt"] {
        assert!(listed.body["data"][0].get(field).is_none(), "{field}");
    }
    let event = format!("/v1/events/{}", listed.body["data"][0]["id"].as_str().unwrap());
    let payload = format!("{event}/payload");
    assert!(call(&reader, "GET", &event).await.body.get("body").is_none());
    assert_eq!(call(&reader, "GET", &payload).await.status, 403);
    let both = with_scopes(&pull.site, &pull.tenant, &["events:read", "payloads:read"]).await;
    let listed = call(&both, "GET", "/v1/events?include=payload").await;
    assert_eq!(listed.body["data"][0]["body"], r#"{"id":"evt","type":"invoice.paid"}"#);
    assert!(call(&both, "GET", &event).await.body.get("body").is_some());
});
