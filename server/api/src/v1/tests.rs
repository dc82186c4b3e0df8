//! The management interface over HTTP on both engines: the shapes of the contract, refusals with
//! their pointers, pages, repeats, and what another tenant sees.

use axum::body::Body;
use axum::{Router, body};
use http::{Request, StatusCode};
use restante_app::testing::{TestApp, TestTenant};
use restante_store::both_engines;
use restante_store::testing::TestStore;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::state::Api;

pub(super) struct Site {
    pub(super) a: TestApp,
    pub(super) router: Router,
}

pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Value,
    pub(super) replayed: bool,
}

impl Site {
    pub(super) fn new(t: TestStore) -> Self {
        let a = TestApp::new(t);
        let api = Api::new(a.app.clone(), None, Vec::new());
        let router = crate::with_layers(&api, crate::router(&api), Router::new());
        Self { a, router }
    }

    pub(super) async fn call(
        &self,
        tenant: &TestTenant,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> Answer {
        self.call_with(tenant, method, path, body, None).await
    }

    pub(super) async fn call_with(
        &self,
        tenant: &TestTenant,
        method: &str,
        path: &str,
        body: Option<Value>,
        repeat: Option<&str>,
    ) -> Answer {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "localhost")
            .header("authorization", format!("Bearer {}", tenant.api_key.expose()));
        if let Some(repeat) = repeat {
            request = request.header("idempotency-key", repeat);
        }
        let body = match body {
            None => Body::empty(),
            Some(body) => {
                request = request.header("content-type", "application/json");
                Body::from(body.to_string())
            }
        };
        let response = self.router.clone().oneshot(request.body(body).unwrap()).await.unwrap();
        let status = response.status().as_u16();
        let replayed = response.headers().contains_key("idempotent-replayed");
        let bytes = body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        Answer { status, body, replayed }
    }

    async fn endpoint(&self, tenant: &TestTenant) -> Value {
        let made = self.call(tenant, "POST", "/v1/endpoints", Some(github())).await;
        assert_eq!(made.status, 201, "{}", made.body);
        made.body
    }
}

fn github() -> Value {
    json!({"name": "Repositories", "provider": "github", "secrets": ["a-long-random-secret"]})
}

pub(super) fn names(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

both_engines!(an_endpoint_looks_as_the_contract_says, |t| async {
    let site = Site::new(t);
    let tenant = site.a.tenant("acme").await;
    let mut made = site.endpoint(&tenant).await;
    assert_eq!(made["notices"].take(), json!([]));
    made.as_object_mut().unwrap().remove("notices");
    assert_eq!(
        names(&made),
        [
            "created_at",
            "dedup_scope",
            "enabled",
            "id",
            "max_body_bytes",
            "name",
            "options",
            "provider",
            "retention",
            "secrets",
            "updated_at",
            "url"
        ]
    );
    assert_eq!(made["created_at"], "2026-11-30T12:00:00.000Z");
    assert_eq!(names(&made["secrets"][0]), ["created_at", "expires_at", "hint", "id"]);
    assert_eq!(made["secrets"][0]["hint"], "…cret");
    let id = made["id"].as_str().unwrap();
    assert!(id.starts_with("ep_"));
    let path = format!("/v1/endpoints/{id}");
    assert_eq!(site.call(&tenant, "GET", &path, None).await.body, made);
    let list = site.call(&tenant, "GET", "/v1/endpoints", None).await.body;
    assert_eq!(list, json!({"data": [made], "next_cursor": null}));

    let patch = json!({"enabled": false, "max_body_bytes": 1000});
    let patched = site.call(&tenant, "PATCH", &path, Some(patch)).await;
    assert_eq!((patched.status, &patched.body["enabled"]), (200, &json!(false)));
    assert_eq!(patched.body["name"], "Repositories");
    let gone = site.call(&tenant, "DELETE", &path, None).await;
    assert_eq!((gone.status, gone.body), (204, Value::Null));
    assert_eq!(site.call(&tenant, "GET", &path, None).await.status, 404);
});

both_engines!(a_secret_is_added_with_a_day_of_overlap_and_deleted, |t| async {
    let site = Site::new(t);
    let tenant = site.a.tenant("acme").await;
    let made = site.endpoint(&tenant).await;
    let path = format!("/v1/endpoints/{}/secrets", made["id"].as_str().unwrap());
    site.a.t.clock.advance_seconds(1);
    let added = site.call(&tenant, "POST", &path, Some(json!({"secret": "the-next-secret-9876"}))).await;
    assert_eq!(added.status, 201);
    assert_eq!(names(&added.body), ["created_at", "expires_at", "hint", "id", "notices"]);
    assert_eq!(added.body["hint"], "…9876");
    let now = site.call(&tenant, "GET", path.trim_end_matches("/secrets"), None).await.body;
    assert_eq!(now["secrets"][0]["expires_at"], "2026-12-01T12:00:01.000Z");
    assert_eq!(now["secrets"][1]["expires_at"], Value::Null);
    assert_eq!(now["updated_at"], "2026-11-30T12:00:01.000Z");

    let stay = json!({"secret": "a-third-secret-5555", "retire_others_in_seconds": null});
    assert_eq!(site.call(&tenant, "POST", &path, Some(stay)).await.status, 201);
    let now = site.call(&tenant, "GET", path.trim_end_matches("/secrets"), None).await.body;
    assert_eq!(now["secrets"].as_array().unwrap().iter().filter(|s| s["expires_at"].is_null()).count(), 2);

    let first = format!("{path}/{}", made["secrets"][0]["id"].as_str().unwrap());
    assert_eq!(site.call(&tenant, "DELETE", &first, None).await.status, 204);
    assert_eq!(site.call(&tenant, "DELETE", &first, None).await.status, 404);
});

both_engines!(what_is_wrong_is_named_with_its_pointer, |t| async {
    let site = Site::new(t);
    let tenant = site.a.tenant("acme").await;
    let with = |name: &str, value: Value| {
        let mut body = github();
        body[name] = value;
        body
    };
    for (body, pointer) in [
        (with("secret", json!("x")), "/secret"),
        (with("name", Value::Null), "/name"),
        (with("name", json!("")), "/name"),
        (with("provider", json!("githup")), "/provider"),
        (with("secrets", json!([""])), "/secrets/0"),
        (with("secrets", json!([1])), "/secrets/0"),
        (with("secrets", json!([])), "/secrets"),
        (with("options", json!({"nonsense": 1})), "/options/nonsense"),
        (with("options", json!({"tolerance_seconds": -1})), "/options/tolerance_seconds"),
        (with("dedup_scope", json!("world")), "/dedup_scope"),
        (with("max_body_bytes", json!(0)), "/max_body_bytes"),
        (with("max_body_bytes", json!(-1)), "/max_body_bytes"),
        (with("retention", json!({"payload_days": 7, "receipt_days": 30})), "/retention/receipt_days"),
        (with("retention", json!({"payload_day": 7})), "/retention/payload_day"),
        (with("enabled", json!("yes")), "/enabled"),
    ] {
        let refused = site.call(&tenant, "POST", "/v1/endpoints", Some(body.clone())).await;
        assert_eq!((refused.status, &refused.body["errors"][0]["pointer"]), (422, &json!(pointer)), "{body}");
        assert!(!refused.body.to_string().contains("a-long-random-secret"));
    }
    assert_eq!(site.a.t.count("endpoints").await, 0);

    let made = site.endpoint(&tenant).await;
    let path = format!("/v1/endpoints/{}", made["id"].as_str().unwrap());
    for (body, pointer) in [
        (json!({"name": null}), "/name"),
        (json!({"enabled": null}), "/enabled"),
        (json!({"secrets": ["x"]}), "/secrets"),
        (json!({"provider": "stripe"}), "/provider"),
        (json!({"url": "https://example.com"}), "/url"),
        (json!({"options": {"nonsense": 1}}), "/options/nonsense"),
    ] {
        let refused = site.call(&tenant, "PATCH", &path, Some(body.clone())).await;
        assert_eq!((refused.status, &refused.body["errors"][0]["pointer"]), (422, &json!(pointer)), "{body}");
    }
    for (body, pointer) in [
        (json!({}), "/secret"),
        (json!({"secret": ""}), "/secret"),
        (
            json!({"secret": "a-good-secret-1234", "retire_others_in_seconds": -1}),
            "/retire_others_in_seconds",
        ),
        (json!({"secret": "a-good-secret-1234", "retire": 1}), "/retire"),
    ] {
        let refused = site.call(&tenant, "POST", &format!("{path}/secrets"), Some(body.clone())).await;
        assert_eq!((refused.status, &refused.body["errors"][0]["pointer"]), (422, &json!(pointer)), "{body}");
    }
    for (body, pointer) in [
        (json!({"name": "k"}), "/scopes"),
        (json!({"name": "k", "scopes": []}), "/scopes"),
        (json!({"name": "k", "scopes": ["events:all"]}), "/scopes/0"),
        (json!({"name": "k", "scopes": ["events:read"], "expires_at": "tomorrow"}), "/expires_at"),
        (
            json!({"name": "k", "scopes": ["events:read"], "expires_at": "2020-01-01T00:00:00Z"}),
            "/expires_at",
        ),
    ] {
        let refused = site.call(&tenant, "POST", "/v1/keys", Some(body.clone())).await;
        assert_eq!((refused.status, &refused.body["errors"][0]["pointer"]), (422, &json!(pointer)), "{body}");
    }
    assert_eq!(site.call(&tenant, "GET", &path, None).await.body["updated_at"], made["updated_at"]);
});

both_engines!(another_tenant_finds_nothing, |t| async {
    let site = Site::new(t);
    let (owner, other) = (site.a.tenant("owner").await, site.a.tenant("other").await);
    let made = site.endpoint(&owner).await;
    let id = made["id"].as_str().unwrap();
    let secret = made["secrets"][0]["id"].as_str().unwrap();
    let key = owner.by.principal.key.unwrap();
    let new = json!({"secret": "a-secret-of-a-stranger"});
    for (method, path, body) in [
        ("GET", format!("/v1/endpoints/{id}"), None),
        ("PATCH", format!("/v1/endpoints/{id}"), Some(json!({"enabled": false}))),
        ("DELETE", format!("/v1/endpoints/{id}"), None),
        ("POST", format!("/v1/endpoints/{id}/secrets"), Some(new)),
        ("DELETE", format!("/v1/endpoints/{id}/secrets/{secret}"), None),
        ("DELETE", format!("/v1/keys/{key}"), None),
    ] {
        let foreign = site.call(&other, method, &path, body.clone()).await;
        assert_eq!(foreign.status, 404, "{method} {path}");
        // An id that nobody has is answered in the same words.
        let nobody = path
            .replace(id, "ep_00000000000000000000000001")
            .replace(&key.to_string(), "key_00000000000000000000000001");
        let mut absent = site.call(&other, method, &nobody, body).await;
        absent.body["request_id"] = foreign.body["request_id"].clone();
        assert_eq!(absent.body, foreign.body, "{method} {path}");
    }
    assert_eq!(site.call(&other, "GET", "/v1/endpoints", None).await.body["data"], json!([]));
    let cursor_of_owner = {
        site.endpoint(&owner).await;
        site.call(&owner, "GET", "/v1/endpoints?limit=1", None).await.body["next_cursor"].clone()
    };
    let path = format!("/v1/endpoints?cursor={}", cursor_of_owner.as_str().unwrap());
    assert_eq!(site.call(&other, "GET", &path, None).await.status, 400);
    let mut still = site.call(&owner, "GET", &format!("/v1/endpoints/{id}"), None).await.body;
    still["notices"] = json!([]);
    assert_eq!(still, made);
});

both_engines!(a_list_is_read_page_by_page, |t| async {
    let site = Site::new(t);
    let tenant = site.a.tenant("acme").await;
    let mut all = Vec::new();
    for _ in 0..5 {
        all.insert(0, site.endpoint(&tenant).await["id"].clone());
        site.a.t.clock.advance_seconds(1);
    }
    let (mut seen, mut path) = (Vec::new(), "/v1/endpoints?limit=2".to_owned());
    loop {
        let page = site.call(&tenant, "GET", &path, None).await.body;
        seen.extend(page["data"].as_array().unwrap().iter().map(|endpoint| endpoint["id"].clone()));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("/v1/endpoints?limit=2&cursor={cursor}");
    }
    assert_eq!(seen, all);
    for (query, status) in [("limit=0", 422), ("limit=251", 422), ("cursor=x", 400), ("page=2", 422)] {
        let refused = site.call(&tenant, "GET", &format!("/v1/endpoints?{query}"), None).await;
        assert_eq!(refused.status, status, "{query}");
    }
});

both_engines!(a_repeated_post_answers_as_the_first_and_says_so, |t| async {
    let site = Site::new(t);
    let tenant = site.a.tenant("acme").await;
    let post = async |path: &str, body: Value| {
        site.call_with(&tenant, "POST", path, Some(body), Some("order 17")).await
    };
    let first = post("/v1/endpoints", github()).await;
    let second = post("/v1/endpoints", github()).await;
    assert_eq!((first.status, second.status), (201, 201));
    assert_eq!((first.replayed, second.replayed), (false, true));
    assert_eq!(first.body, second.body);
    let mut other = github();
    other["name"] = json!("Other");
    assert_eq!(post("/v1/endpoints", other).await.status, 422);
    assert_eq!(post("/v1/keys", json!({"name": "k", "scopes": ["events:read"]})).await.status, 422);
    assert_eq!(site.a.t.count("endpoints").await, 1);

    let key = json!({"name": "k", "scopes": ["events:read"]});
    let first = site.call_with(&tenant, "POST", "/v1/keys", Some(key.clone()), Some("k")).await;
    let second = site.call_with(&tenant, "POST", "/v1/keys", Some(key), Some("k")).await;
    assert!(second.replayed && first.body["key"].as_str().unwrap().starts_with("rst_"));
    assert_eq!(first.body, second.body);
});

both_engines!(a_test_event_and_a_replay_that_are_repeated_answer_as_the_first, |t| async {
    let site = Site::new(t);
    let tenant = site.a.tenant("acme").await;
    let made = site.endpoint(&tenant).await;
    let test = format!("/v1/endpoints/{}/test", made["id"].as_str().unwrap());
    let first = site.call_with(&tenant, "POST", &test, None, Some("once")).await;
    let second = site.call_with(&tenant, "POST", &test, None, Some("once")).await;
    assert_eq!((first.status, first.replayed), (200, false));
    assert_eq!((second.status, second.replayed, &second.body), (200, true, &first.body));
    assert_eq!(site.a.t.count("receipts").await, 1);
    let other = site.call_with(&tenant, "POST", &test, Some(json!({"type": "other"})), Some("once")).await;
    assert_eq!(other.status, 422);
    assert_eq!(site.call(&tenant, "POST", &test, None).await.status, 200, "without a key it is another one");
    assert_eq!(site.a.t.count("receipts").await, 2);

    let replay = format!("/v1/events/{}/replay", first.body["receipts"][0].as_str().unwrap());
    let asked = || Some(json!({"consumer": "default", "reason": "why not"}));
    site.a.t.execute("UPDATE handoffs SET state = 2").await;
    let first = site.call_with(&tenant, "POST", &replay, asked(), Some("again")).await;
    assert_eq!((first.status, &first.body, first.replayed), (202, &json!({"handoffs": 1}), false));
    // It was processed since; whoever lost the answer did not ask for another attempt.
    site.a.t.execute("UPDATE handoffs SET state = 2").await;
    let second = site.call_with(&tenant, "POST", &replay, asked(), Some("again")).await;
    assert_eq!((second.status, &second.body, second.replayed), (202, &first.body, true));
    assert_eq!((site.a.t.count("handoffs WHERE state = 0").await, site.a.t.count("replays").await), (0, 1));
    let (new, none) = (Some("another"), None);
    for (key, replays) in [(new, 2), (none, 3)] {
        let answer = site.call_with(&tenant, "POST", &replay, asked(), key).await;
        assert_eq!((answer.status, answer.replayed), (202, false));
        assert_eq!(site.a.t.count("replays").await, replays);
        site.a.t.execute("UPDATE handoffs SET state = 2").await;
    }
});

/// Which calls take an `Idempotency-Key` stands in the description; a call that makes something and
/// doesn't would make it twice.
#[test]
fn every_call_that_makes_something_takes_an_idempotency_key() {
    let document = serde_json::to_value(crate::openapi::document()).unwrap();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let Some(operation) = methods.get("post") else { continue };
        let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
        let takes_a_key = parameters.iter().any(|parameter| parameter["name"] == "Idempotency-Key");
        // These make nothing: what they change, they change once, whoever repeats them.
        let changes_once = [
            "/claim", "/ack", "/nack", "/extend", "/repair", "/settle", "/verify", "/cancel", "/erase",
            "/preview",
        ];
        assert_eq!(takes_a_key, !changes_once.iter().any(|end| path.ends_with(end)), "{path}");
    }
}

both_engines!(a_key_is_shown_once_and_listed_without, |t| async {
    let site = Site::new(t);
    let tenant = site.a.tenant("acme").await;
    let asked = json!({"name": "billing", "scopes": ["events:consume", "events:read"]});
    let made = site.call(&tenant, "POST", "/v1/keys", Some(asked)).await;
    assert_eq!(made.status, 201);
    assert_eq!(made.body["scopes"], json!(["events:read", "events:consume"]));
    let key = made.body["key"].as_str().unwrap().to_owned();
    let list = site.call(&tenant, "GET", "/v1/keys", None).await.body;
    assert_eq!(list["data"].as_array().unwrap().len(), 2);
    assert!(!list.to_string().contains(&key[13..]));
    let limited = TestTenant { by: tenant.by.clone(), api_key: restante_core::secret::Secret::new(key) };
    assert_eq!(site.call(&limited, "GET", "/v1/endpoints", None).await.status, 403);
    let more = json!({"name": "more", "scopes": ["config:write"]});
    assert_eq!(site.call(&limited, "POST", "/v1/keys", Some(more)).await.status, 403);
    let path = format!("/v1/keys/{}", made.body["id"].as_str().unwrap());
    assert_eq!(site.call(&tenant, "DELETE", &path, None).await.status, 204);
    assert_eq!(site.call(&limited, "GET", "/v1/endpoints", None).await.status, 401);
});

both_engines!(the_catalogue_is_printed, |t| async {
    let site = Site::new(t);
    let tenant = site.a.tenant("acme").await;
    let all = site.call(&tenant, "GET", "/v1/providers?limit=250", None).await.body;
    let all: Vec<&str> =
        all["data"].as_array().unwrap().iter().map(|provider| provider["name"].as_str().unwrap()).collect();
    assert!(all.contains(&"stripe") && all.contains(&"custom") && all.is_sorted());
    let (mut seen, mut path) = (Vec::new(), "/v1/providers?limit=3".to_owned());
    loop {
        let page = site.call(&tenant, "GET", &path, None).await.body;
        for provider in page["data"].as_array().unwrap() {
            seen.push(provider["name"].as_str().unwrap().to_owned());
        }
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("/v1/providers?limit=3&cursor={cursor}");
    }
    assert_eq!(seen, all);
    let stripe = site.call(&tenant, "GET", "/v1/providers/stripe", None).await;
    assert_eq!((stripe.status, &stripe.body["name"]), (StatusCode::OK.as_u16(), &json!("stripe")));
    assert_eq!(site.call(&tenant, "GET", "/v1/providers/nobody", None).await.status, 404);
});

both_engines!(a_test_event_comes_in_through_the_endpoint, |t| async {
    let site = Site::new(t);
    let (tenant, other) = (site.a.tenant("acme").await, site.a.tenant("other").await);
    let made = site.endpoint(&tenant).await;
    let path = format!("/v1/endpoints/{}/test", made["id"].as_str().unwrap());
    let sent = site.call(&tenant, "POST", &path, None).await;
    assert_eq!((sent.status, &sent.body["verified"], &sent.body["note"]), (200, &json!(true), &Value::Null));
    assert!(sent.body["receipts"][0].as_str().unwrap().starts_with("rcp_"));
    let named = json!({"type": "canary.type"});
    assert_eq!(site.call(&tenant, "POST", &path, Some(named)).await.status, 200);
    assert_eq!(site.a.t.count("receipts WHERE origin = 'test'").await, 2);
    assert_eq!(site.a.t.count("receipts WHERE type = 'canary.type'").await, 1);
    assert_eq!(site.call(&tenant, "POST", &path, Some(json!({"nonsense": 1}))).await.status, 422);
    assert_eq!(site.call(&other, "POST", &path, None).await.status, 404);
});
