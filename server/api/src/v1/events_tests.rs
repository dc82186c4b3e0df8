//! Consumers, events and figures over HTTP on both engines.

use axum::body::Body;
use http::Request;
use restante_store::both_engines;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::pull_tests::{Pull, endpoint};
use super::tests::names;

async fn bytes(pull: &Pull, path: &str) -> (http::response::Parts, Vec<u8>) {
    let request = Request::get(path)
        .header("host", "localhost")
        .header("authorization", format!("Bearer {}", pull.tenant.api_key.expose()))
        .body(Body::empty())
        .unwrap();
    let (parts, body) = pull.site.router.clone().oneshot(request).await.unwrap().into_parts();
    (parts, axum::body::to_bytes(body, 1 << 20).await.unwrap().to_vec())
}

fn ids(page: &Value) -> Vec<&str> {
    page["data"].as_array().unwrap().iter().map(|event| event["id"].as_str().unwrap()).collect()
}

both_engines!(a_consumer_looks_as_the_contract_says, |t| async {
    let pull = Pull::new(t).await;
    let asked = json!({
        "name": "billing", "mode": "pull", "max_attempts": 3, "ordering": "none", "start": "now",
        "filter": {"endpoints": [pull.endpoint], "providers": ["custom"], "types": ["invoice.*"]},
    });
    let answer =
        pull.site.call_with(&pull.tenant, "POST", "/v1/consumers", Some(asked.clone()), Some("once")).await;
    assert_eq!(answer.status, 201, "{}", answer.body);
    let made = answer.body;
    assert_eq!(
        names(&made),
        [
            "backfilling",
            "created_at",
            "enabled",
            "filter",
            "id",
            "idle",
            "last_claim_at",
            "max_attempts",
            "mode",
            "name",
            "ordering",
            "start",
            "updated_at",
        ]
    );
    assert_eq!((&made["filter"], &made["max_attempts"]), (&asked["filter"], &json!(3)));
    assert_eq!((&made["idle"], &made["backfilling"]), (&json!(false), &json!(false)));
    let again =
        pull.site.call_with(&pull.tenant, "POST", "/v1/consumers", Some(asked.clone()), Some("once")).await;
    assert_eq!((again.status, again.replayed, &again.body), (201, true, &made));
    let (status, said) = pull.post("/v1/consumers", asked).await;
    assert_eq!(status, 409, "{said}");
    assert_eq!(pull.get("/v1/consumers/billing").await, made);
    let listed = pull.get("/v1/consumers?limit=1").await;
    let next = format!("/v1/consumers?limit=1&cursor={}", listed["next_cursor"].as_str().unwrap());
    let mut found = vec![listed["data"][0]["name"].clone(), pull.get(&next).await["data"][0]["name"].clone()];
    found.sort_by_key(ToString::to_string);
    assert_eq!(found, [json!("billing"), json!("default")]);

    let patch = json!({"filter": null, "max_attempts": null});
    let patched = pull.site.call(&pull.tenant, "PATCH", "/v1/consumers/billing", Some(patch)).await.body;
    assert_eq!(patched["filter"], json!({"endpoints": [], "providers": [], "types": []}));
    assert_eq!((&patched["max_attempts"], &patched["enabled"]), (&json!(12), &json!(true)));
    pull.site.a.t.clock.advance_seconds(7 * 24 * 60 * 60);
    assert_eq!(pull.get("/v1/consumers/billing").await["idle"], true);

    pull.event("evt").await;
    let gone = pull.site.call(&pull.tenant, "DELETE", "/v1/consumers/billing", None).await;
    assert_eq!((gone.status, gone.body), (200, json!({"cancelled": 1})));
    assert_eq!(pull.site.call(&pull.tenant, "DELETE", "/v1/consumers/billing", None).await.status, 404);
    assert_eq!(pull.post("/v1/consumers/billing/claim", json!({})).await.0, 404);
});

both_engines!(what_a_consumer_can_not_be_is_refused_with_its_pointer, |t| async {
    let pull = Pull::new(t).await;
    let other = pull.site.a.tenant("other").await;
    let (foreign, _) = endpoint(&pull.site, &other, json!({})).await;
    let with = |field: &str, value: Value| json!({"name": "billing", field: value});
    for (body, pointer) in [
        (json!({}), "/name"),
        (json!({"name": ""}), "/name"),
        (json!({"name": "Billing"}), "/name"),
        (json!({"name": "a".repeat(65)}), "/name"),
        (json!({"name": "a/b"}), "/name"),
        (with("mode", json!("push")), "/mode"),
        (with("mode", json!("pall")), "/mode"),
        (with("push", json!({"url": "https://example.com"})), "/push"),
        (with("ordering", json!({"key": "/data/object/id"})), "/ordering"),
        (with("ordering", json!("fifo")), "/ordering"),
        (with("start", json!("yesterday")), "/start"),
        (with("start", json!("2030-01-01T00:00:00Z")), "/start"),
        (with("max_attempts", json!(0)), "/max_attempts"),
        (with("max_attempts", json!(1_001)), "/max_attempts"),
        (with("filter", json!({"endpoints": ["ep_1"]})), "/filter/endpoints/0"),
        (with("filter", json!({"endpoints": [foreign]})), "/filter/endpoints/0"),
        (with("filter", json!({"providers": ["nobody"]})), "/filter/providers/0"),
        (with("filter", json!({"types": [""]})), "/filter/types/0"),
        (with("filter", json!({"type": ["a"]})), "/filter/type"),
        (with("retention", json!(null)), "/retention"),
    ] {
        let (status, said) = pull.post("/v1/consumers", body.clone()).await;
        assert_eq!((status, &said["errors"][0]["pointer"]), (422, &json!(pointer)), "{body}: {said}");
    }
    for (body, pointer) in [
        (json!({"name": "other"}), "/name"),
        (json!({"start": "beginning"}), "/start"),
        (json!({"mode": "push"}), "/mode"),
        (json!({"filter": {"endpoints": [foreign]}}), "/filter/endpoints/0"),
        (json!({"max_attempts": 0}), "/max_attempts"),
        (json!({"paused": true}), "/paused"),
    ] {
        let told = pull.site.call(&pull.tenant, "PATCH", "/v1/consumers/default", Some(body.clone())).await;
        assert_eq!((told.status, &told.body["errors"][0]["pointer"]), (422, &json!(pointer)), "{body}");
    }
    for method in ["GET", "DELETE"] {
        assert_eq!(pull.site.call(&other, method, "/v1/consumers/billing", None).await.status, 404);
    }
    let (_, said) = pull.post("/v1/consumers", with("mode", json!("push"))).await;
    assert!(said["detail"].as_str().unwrap().contains("not built yet"));
});

both_engines!(a_consumer_from_the_beginning_gets_what_was_there, |t| async {
    let pull = Pull::new(t).await;
    for n in 0..3 {
        pull.event(&format!("evt_{n}")).await;
    }
    let (status, made) = pull.post("/v1/consumers", json!({"name": "late", "start": "beginning"})).await;
    assert_eq!((status, &made["backfilling"]), (201, &json!(false)));
    let claimed = pull.post("/v1/consumers/late/claim", json!({})).await.1;
    let order: Vec<_> = claimed["events"].as_array().unwrap().iter().map(|e| e["event_id"].clone()).collect();
    assert_eq!(order, [json!("evt_0"), json!("evt_1"), json!("evt_2")]);
    let since = json!({"name": "since", "start": "2026-11-30T12:00:00.001Z"});
    pull.post("/v1/consumers", since).await;
    let claimed = pull.post("/v1/consumers/since/claim", json!({})).await.1;
    assert_eq!(claimed["events"].as_array().unwrap().len(), 2);
});

both_engines!(events_are_listed_newest_first_and_narrowed, |t| async {
    let pull = Pull::new(t).await;
    let mut made = Vec::new();
    for n in 0..5 {
        made.push(pull.event(&format!("evt_{n}")).await);
    }
    pull.send(r#"{"id":"evt_9","type":"charge.failed"}"#).await;
    pull.event("evt_0").await;
    let lease = pull.claim(json!({"max": 1})).await["events"][0]["lease"].clone();
    pull.post("/v1/consumers/default/ack", json!({"leases": [lease]})).await;
    let newest: Vec<&str> = made.iter().rev().map(String::as_str).collect();
    let endpoint = &pull.endpoint;
    for (query, expected) in [
        ("type=invoice.*", newest.clone()),
        ("type=*.paid&provider=custom", newest.clone()),
        ("type=charge.*&provider=stripe", vec![]),
        ("event_id=evt_3", vec![newest[1]]),
        ("event_id=evt_0%3Ainvoice.paid", vec![]),
        ("state=processed", vec![newest[4]]),
        ("state=pending&consumer=default&type=invoice.*", newest[..4].to_vec()),
        ("state=failed", vec![]),
        ("received_after=2026-11-30T12:00:00.003Z&type=invoice.*", newest[..2].to_vec()),
        ("received_before=2026-11-30T12:00:00.002Z", newest[3..].to_vec()),
    ] {
        let page = pull.get(&format!("/v1/events?endpoint={endpoint}&{query}")).await;
        assert_eq!(ids(&page), expected, "{query}");
        assert_eq!(page["next_cursor"], Value::Null, "{query}");
    }
    let listed = pull.get("/v1/events?event_id=evt_0").await;
    assert_eq!(listed["data"][0]["deliveries"], 2);
    let first = pull.get("/v1/events?type=invoice.*&limit=2").await;
    assert_eq!(ids(&first), newest[..2]);
    let cursor = first["next_cursor"].as_str().unwrap();
    // The last character stands for two bits, so it is one of A, Q, g and w.
    let other = if cursor.ends_with('A') { 'Q' } else { 'A' };
    let second = pull.get(&format!("/v1/events?type=invoice.*&limit=3&cursor={cursor}")).await;
    assert_eq!(ids(&second), newest[2..]);
    for query in [
        format!("cursor={cursor}"),
        format!("type=charge.*&cursor={cursor}"),
        "cursor=nonsense".to_owned(),
        format!("type=invoice.*&cursor={}{other}", &cursor[..cursor.len() - 1]),
    ] {
        let told = pull.site.call(&pull.tenant, "GET", &format!("/v1/events?{query}"), None).await;
        assert_eq!(told.status, 400, "{query}");
    }
    for (query, pointer) in [
        ("tipe=a", "tipe"),
        ("state=done", "state"),
        ("endpoint=rcp_1", "endpoint"),
        ("type=", "type"),
        ("consumer=nobody", "consumer"),
        ("received_after=now", "received_after"),
        ("include=everything", "include"),
        ("limit=251", "limit"),
        ("limit=0", "limit"),
    ] {
        let told = pull.site.call(&pull.tenant, "GET", &format!("/v1/events?{query}"), None).await;
        assert_eq!((told.status, &told.body["errors"][0]["pointer"]), (422, &json!(pointer)), "{query}");
    }
});

both_engines!(an_event_is_shown_with_its_history, |t| async {
    let pull = Pull::new(t).await;
    let id = pull.event("evt").await;
    pull.event("evt").await;
    pull.send(r#"{"id":"evt","type":"invoice.paid","changed":true}"#).await;
    let shown = pull.get(&format!("/v1/events/{id}")).await;
    assert_eq!((&shown["deliveries"], &shown["diverged"]), (&json!(3), &json!(true)));
    let log = shown["delivery_log"].as_array().unwrap();
    let outcomes: Vec<_> = log.iter().map(|d| (&d["outcome"], &d["same_body"])).collect();
    let (yes, no) = (json!(true), json!(false));
    let (accepted, duplicate) = (json!("accepted"), json!("duplicate"));
    assert_eq!(outcomes, [(&accepted, &yes), (&duplicate, &yes), (&duplicate, &no)]);
    assert!(log.iter().all(|d| d["secret"].as_str().unwrap().starts_with("sec_")));
    let variant = &shown["variants"][0];
    assert_eq!(variant["body"], r#"{"id":"evt","type":"invoice.paid","changed":true}"#);
    assert_eq!(variant["id"], log[2]["id"]);
    assert_eq!(shown["body"], r#"{"id":"evt","type":"invoice.paid"}"#);
    let other = format!("/v1/events/{id}/payload?variant={}", variant["id"].as_str().unwrap());
    assert_eq!(bytes(&pull, &other).await.1, variant["body"].as_str().unwrap().as_bytes());
    let stranger = pull.site.a.tenant("other").await;
    for path in ["", "/payload"] {
        let told = pull.site.call(&stranger, "GET", &format!("/v1/events/{id}{path}"), None).await;
        assert_eq!(told.status, 404);
    }
    for verb in ["replay", "repair", "settle"] {
        let body = match verb {
            "replay" => json!({}),
            "repair" => json!({"event_id": "x"}),
            _ => json!({"consumer": "default", "state": "failed"}),
        };
        let path = format!("/v1/events/{id}/{verb}");
        assert_eq!(pull.site.call(&stranger, "POST", &path, Some(body)).await.status, 404, "{verb}");
    }
});

both_engines!(bytes_come_back_as_they_came, |t| async {
    let pull = Pull::with(t, json!({"event": {"id": null}})).await;
    let body = b"\0\xff not JSON \xe2\x80\xa8".to_vec();
    let told = pull.send(body.clone()).await;
    let event = pull.claim(json!({})).await["events"][0].clone();
    assert_eq!((&event["body_encoding"], &event["event_id"]), (&json!("base64"), &Value::Null));
    assert_eq!(event["body"], "AP8gbm90IEpTT04g4oCo");
    let (parts, got) = bytes(&pull, &format!("/v1/events/{}/payload", told["id"].as_str().unwrap())).await;
    assert_eq!(got, body);
    assert_eq!(parts.headers["content-type"], "application/octet-stream");
    assert!(parts.headers["content-disposition"].to_str().unwrap().starts_with("attachment"));
    assert_eq!(parts.headers["x-original-content-type"], "application/json");
    let empty = pull.send("").await;
    let (parts, got) = bytes(&pull, &format!("/v1/events/{}/payload", empty["id"].as_str().unwrap())).await;
    assert_eq!((parts.status.as_u16(), got), (200, vec![]));
    pull.site.a.t.execute("UPDATE receipts SET payload_state = 'removed'").await;
    pull.site.a.t.execute("DELETE FROM payloads").await;
    let path = format!("/v1/events/{}", told["id"].as_str().unwrap());
    assert_eq!(pull.site.call(&pull.tenant, "GET", &format!("{path}/payload"), None).await.status, 410);
    assert_eq!(pull.post(&format!("{path}/replay"), json!({})).await.0, 410);
    let shown = pull.get(&path).await;
    assert_eq!((&shown["payload_state"], shown.get("body")), (&json!("removed"), None));
    assert_eq!((&shown["size"], shown["sha256"].as_str().map(str::len)), (&json!(body.len()), Some(64)));
    assert_eq!(ids(&pull.get("/v1/events").await).len(), 2, "tombstones stay listed");
});

both_engines!(an_element_of_a_batch_is_its_own_bytes, |t| async {
    let pull = Pull::with(t, json!({"batch": ""})).await;
    let body = r#"[ {"id":"a","type":"t", "n":1.0} ,{"id":"b","type":"t"}]"#;
    let told = pull.send(body).await;
    assert_eq!(told["receipts"].as_array().unwrap().len(), 2);
    let claimed = pull.claim(json!({})).await;
    let mut bodies: Vec<_> =
        claimed["events"].as_array().unwrap().iter().map(|e| e["body"].clone()).collect();
    bodies.sort_by_key(ToString::to_string);
    assert_eq!(bodies, [json!(r#"{"id":"a","type":"t", "n":1.0}"#), json!(r#"{"id":"b","type":"t"}"#)]);
    let id = told["receipts"][0]["id"].as_str().unwrap();
    assert_eq!(bytes(&pull, &format!("/v1/events/{id}/payload?whole=true")).await.1, body.as_bytes());
});

both_engines!(an_unreadable_event_waits_for_its_repair, |t| async {
    let pull = Pull::new(t).await;
    let id = pull.send(r#"{"no_id":1}"#).await["id"].as_str().unwrap().to_owned();
    assert_eq!(pull.claim(json!({})).await["events"], json!([]));
    let shown = pull.get(&format!("/v1/events/{id}")).await;
    assert_eq!((&shown["reason"], &shown["handoffs"][0]["state"]), (&json!("envelope"), &json!("failed")));
    let path = format!("/v1/events/{id}");
    let (status, said) = pull.post(&format!("{path}/replay"), json!({"consumer": null})).await;
    assert_eq!(status, 409);
    assert!(said["detail"].as_str().unwrap().contains("repair"));
    for (body, pointer) in
        [(json!({"event_id": ""}), "/event_id"), (json!({"event_id": "a", "type": "\u{0}"}), "/type")]
    {
        let (status, said) = pull.post(&format!("{path}/repair"), body).await;
        assert_eq!((status, &said["errors"][0]["pointer"]), (422, &json!(pointer)));
    }
    let holder = pull.event("evt_1").await;
    let taken = json!({"event_id": "evt_1", "type": "invoice.paid"});
    let (status, said) = pull.post(&format!("{path}/repair"), taken).await;
    assert_eq!(status, 409);
    assert!(said["detail"].as_str().unwrap().contains(&holder));
    let repair = json!({"event_id": "evt:2", "type": "invoice.paid"});
    assert_eq!(pull.post(&format!("{path}/repair"), repair.clone()).await, (200, json!({"handoffs": 1})));
    assert_eq!(pull.post(&format!("{path}/repair"), repair).await.0, 409, "there is nothing left to repair");
    let claimed = pull.claim(json!({})).await;
    let repaired = claimed["events"].as_array().unwrap().iter().find(|e| e["id"] == id.as_str()).unwrap();
    assert_eq!((&repaired["event_id"], &repaired["reason"]), (&json!("evt:2"), &Value::Null));
    assert_eq!(repaired["sha256"].as_str().map(str::len), Some(64), "the digest opens beside its new key");
    // The sender's own delivery of that event is a repeat from now on.
    let again = pull.send(r#"{"id":"evt:2","type":"invoice.paid"}"#).await;
    assert_eq!((&again["status"], &again["id"]), (&json!("duplicate"), &json!(id)));
    let audited = "SELECT COUNT(*) FROM audit_log WHERE action = 'event.repair'";
    assert_eq!(pull.site.a.t.number(audited).await, 1);
});

both_engines!(a_person_settles_or_replays_what_failed, |t| async {
    let pull = Pull::new(t).await;
    let id = pull.event("evt").await;
    let lease = pull.claim(json!({})).await["events"][0]["lease"].clone();
    let path = format!("/v1/events/{id}");
    let settle = json!({"consumer": "default", "state": "processed", "note": "paid by hand"});
    assert_eq!(pull.post(&format!("{path}/settle"), settle.clone()).await.0, 409, "somebody works on it");
    pull.post("/v1/consumers/default/nack", json!({"leases": [{"lease": lease, "outcome": "uncertain"}]}))
        .await;
    assert_eq!(
        pull.post(&format!("{path}/settle"), settle).await,
        (200, json!({"consumer": "default", "state": "processed"}))
    );
    let shown = pull.get(&path).await;
    assert_eq!(shown["settlements"][0]["note"], "paid by hand");
    assert!(shown["handoffs"][0]["settled_at"].is_string());
    assert_eq!(pull.post(&format!("{path}/replay"), json!({"consumer": "nobody"})).await.0, 404);
    assert_eq!(pull.post(&format!("{path}/replay"), json!({"reason": "a".repeat(2_001)})).await.0, 422);
    assert_eq!(pull.post(&format!("{path}/replay"), json!({})).await, (202, json!({"handoffs": 1})));
    assert_eq!(pull.get(&path).await["handoffs"][0]["settled_at"], Value::Null);
});

both_engines!(figures_count_what_came_and_what_waits, |t| async {
    let pull = Pull::new(t).await;
    pull.event("evt_1").await;
    pull.event("evt_1").await;
    pull.event("evt_2").await;
    let forged = Request::post(&pull.path)
        .header("host", "localhost")
        .header("x-token", "wrong")
        .body(Body::from("{}"))
        .unwrap();
    assert_eq!(pull.site.router.clone().oneshot(forged).await.unwrap().status(), 401);
    pull.site.a.app.flush_refusals().await;
    pull.site.a.t.clock.advance_seconds(90);
    let stats = pull.get("/v1/stats").await;
    assert_eq!(names(&stats), ["consumers", "endpoints", "window"]);
    assert_eq!(stats["window"], "24h");
    let figures = &stats["endpoints"][0];
    assert_eq!(
        names(figures),
        ["accepted", "deliveries", "duplicate_rate", "duplicates", "failed", "id", "provider", "rejected"]
    );
    assert_eq!((&figures["accepted"], &figures["duplicates"]), (&json!(2), &json!(1)));
    assert_eq!(figures["id"], pull.endpoint.as_str());
    assert!((figures["duplicate_rate"].as_f64().unwrap() - 1.0 / 3.0).abs() < 1e-9);
    assert_eq!(figures["rejected"], json!({"token_mismatch": 1}));
    assert_eq!(
        (&stats["consumers"][0]["pending"], &stats["consumers"][0]["oldest_pending_seconds"]),
        (&json!(2), &json!(90))
    );
    let told = pull.site.call(&pull.tenant, "GET", "/v1/stats?window=1y", None).await;
    assert_eq!((told.status, &told.body["errors"][0]["pointer"]), (422, &json!("window")));
});
