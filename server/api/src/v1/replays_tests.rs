//! Replays of many, and refused requests that are verified again, over HTTP on both engines.

use restante_core::id::EndpointId;
use restante_store::both_engines;
use serde_json::{Value, json};

use super::pull_tests::{Pull, with_scopes};
use super::tests::names;

/// Works off what was asked for, as the sweep does.
async fn work_off(pull: &Pull) {
    while pull.site.a.app.sweep().await.is_ok() {
        let list = pull.get("/v1/replays").await;
        if list["data"].as_array().unwrap().iter().all(|replay| replay["state"] != "running") {
            return;
        }
    }
}

both_engines!(a_replay_of_many_is_counted_then_begun_once_and_followed, |t| async {
    let pull = Pull::new(t).await;
    for id in ["evt_1", "evt_2", "evt_3"] {
        pull.event(id).await;
    }
    pull.site.a.fail_all(&pull.tenant.by, "default", "no paper").await;
    let filter = json!({ "state": "failed", "type": "invoice.*" });
    let (status, counted) = pull.post("/v1/replays", json!({ "filter": filter })).await;
    assert_eq!((status, counted), (200, json!({ "count": 3, "complete": true, "id": null })));

    let asked =
        json!({ "filter": filter, "consumer": "default", "reason": "there is paper", "dry_run": false });
    let begin = async || {
        pull.site.call_with(&pull.tenant, "POST", "/v1/replays", Some(asked.clone()), Some("once")).await
    };
    let (first, again) = (begin().await, begin().await);
    assert_eq!((first.status, first.body["count"].as_u64()), (202, Some(3)), "{}", first.body);
    assert_eq!((again.status, again.replayed, &again.body), (202, true, &first.body));
    let path = format!("/v1/replays/{}", first.body["id"].as_str().unwrap());
    let replay = pull.get(&path).await;
    assert_eq!(
        names(&replay),
        [
            "by",
            "complete",
            "consumer",
            "count",
            "created_at",
            "error",
            "events",
            "filter",
            "finished_at",
            "handoffs",
            "id",
            "picked",
            "reason",
            "refused",
            "state"
        ]
    );
    assert_eq!(
        (&replay["state"], &replay["filter"], &replay["count"]),
        (&json!("running"), &filter, &json!(3))
    );
    work_off(&pull).await;
    let replay = pull.get(&path).await;
    assert_eq!(
        (&replay["state"], &replay["events"], &replay["handoffs"]),
        (&json!("done"), &json!(3), &json!(3))
    );
    assert_eq!(pull.get("/v1/replays").await["data"], json!([replay]));
    assert_eq!(pull.claim(json!({})).await["events"].as_array().unwrap().len(), 3);
    assert_eq!(pull.post(&format!("{path}/cancel"), json!({})).await.0, 409);
});

both_engines!(picked_events_are_replayed_and_a_replay_can_be_stopped, |t| async {
    let pull = Pull::new(t).await;
    let (one, two) = (pull.event("evt_1").await, pull.event("evt_2").await);
    pull.event("evt_3").await;
    let (status, begun) = pull.post("/v1/replays", json!({ "events": [one, two], "dry_run": false })).await;
    assert_eq!((status, &begun["count"]), (202, &json!(2)), "{begun}");
    let path = format!("/v1/replays/{}", begun["id"].as_str().unwrap());
    let (status, stopped) = pull.post(&format!("{path}/cancel"), json!({})).await;
    assert_eq!((status, &stopped["state"], &stopped["picked"]), (200, &json!("cancelled"), &json!(2)));
    pull.site.a.t.clock.advance_seconds(1);
    pull.post("/v1/replays", json!({ "events": [one, two], "dry_run": false })).await;
    work_off(&pull).await;
    assert_eq!(pull.site.a.t.count("replays").await, 2);
    // Two pages of one.
    let page = pull.get("/v1/replays?limit=1").await;
    let next = page["next_cursor"].as_str().unwrap();
    let rest = pull.get(&format!("/v1/replays?limit=1&cursor={next}")).await;
    assert_eq!((&rest["data"][0]["id"], &rest["next_cursor"]), (&begun["id"], &Value::Null));
});

both_engines!(a_replay_says_which_events_it_is_of_or_is_refused_at_the_field, |t| async {
    let pull = Pull::new(t).await;
    let event = pull.event("evt_1").await;
    for (body, pointer) in [
        (json!({ "dry_run": false }), "/filter"),
        (json!({ "filter": {}, "events": [event], "dry_run": false }), "/events"),
        (json!({ "events": [], "dry_run": false }), "/events"),
        (json!({ "events": ["evt_1"] }), "/events/0"),
        (json!({ "filter": { "state": "lost" } }), "/filter/state"),
        (json!({ "filter": { "nobody": 1 } }), "/filter/nobody"),
        (json!({ "filter": {}, "reason": "x".repeat(2_001), "dry_run": false }), "/reason"),
    ] {
        let (status, said) = pull.post("/v1/replays", body.clone()).await;
        assert_eq!((status, &said["errors"][0]["pointer"]), (422, &json!(pointer)), "{body}: {said}");
    }
    let (status, _) = pull.post("/v1/replays", json!({ "filter": {}, "consumer": "nobody" })).await;
    assert_eq!(status, 404);
    assert_eq!(pull.site.a.t.count("replay_jobs").await, 0);
    // Who may only read counts nothing and begins nothing.
    let reader = with_scopes(&pull.site, &pull.tenant, &["events:read"]).await;
    let refused = pull.site.call(&reader, "POST", "/v1/replays", Some(json!({ "filter": {} }))).await;
    assert_eq!(refused.status, 403);
    assert_eq!(pull.site.call(&reader, "GET", "/v1/replays", None).await.status, 200);
});

both_engines!(a_refused_request_is_listed_and_verified_again, |t| async {
    let pull = Pull::new(t).await;
    let by = &pull.tenant.by;
    let endpoint = pull.site.a.endpoint(by, "Payments").await;
    let secret = "whsec_dGhlLW90aGVyLXNlY3JldA";
    let request = pull.site.a.signed(by, endpoint, secret, None).await;
    pull.site.a.receive(by, endpoint, request, "req_refused").await;
    pull.site.a.app.flush_refusals().await;
    let refusals = format!("/v1/endpoints/{endpoint}/refusals");
    let list = pull.get(&refusals).await;
    let refusal = &list["data"][0];
    assert_eq!(
        names(refusal),
        ["entered_at", "event", "explanation", "id", "reason", "received_at", "request_id"]
    );
    assert_eq!((&refusal["reason"], &refusal["event"]), (&json!("signature_mismatch"), &Value::Null));
    let verify = format!("{refusals}/{}/verify", refusal["id"].as_str().unwrap());
    let (status, still) = pull.post(&verify, json!({})).await;
    assert_eq!(
        (status, &still["status"], &still["reason"]),
        (200, &json!("rejected"), &json!("signature_mismatch"))
    );
    assert!(still["explanation"].as_str().unwrap().len() > 20);

    let add = json!({ "secret": secret, "retire_others_in_seconds": null });
    assert_eq!(pull.post(&format!("/v1/endpoints/{endpoint}/secrets"), add).await.0, 201);
    let (status, entered) = pull.post(&verify, json!({})).await;
    assert_eq!((status, &entered["status"], &entered["reason"]), (200, &json!("accepted"), &Value::Null));
    let event = entered["receipts"][0]["id"].as_str().unwrap();
    assert_eq!(pull.get(&format!("/v1/events/{event}")).await["received_at"], refusal["received_at"]);
    let (_, again) = pull.post(&verify, json!({})).await;
    assert_eq!(again["receipts"], json!([{ "id": event, "status": "duplicate" }]));
    assert_eq!(pull.get(&refusals).await["data"][0]["event"], event);
    let absent = EndpointId(uuid::Uuid::nil());
    let elsewhere = verify.replace(&endpoint.to_string(), &absent.to_string());
    assert_eq!(pull.post(&elsewhere, json!({})).await.0, 404);
    let other = pull.site.a.tenant("beta").await;
    assert_eq!(pull.site.call(&other, "POST", &verify, None).await.status, 404);
});
