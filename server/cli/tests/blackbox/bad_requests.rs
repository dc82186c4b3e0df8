//! Requests to the API that can't be right: each is refused with its status, the field at fault and a
//! sentence, and changes nothing.

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use serde_json::{Value, json};

use crate::support::{Answer, Api, Place, Server, send};

async fn begin(place: &Place) -> (Server, Api) {
    let server = Server::start(place).await;
    let api = server.tenant(place, "acme");
    (server, api)
}

/// A request with these headers and this body, as they are.
async fn raw(server: &Server, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::new(Bytes::from(body.to_owned()))).expect("a request");
    send(server.address(), request).await.expect("an answer")
}

/// What a refusal has to look like, whatever is wrong.
fn is_problem(answer: &Answer, status: u16, kind: &str) -> Value {
    let said = answer.expect(status);
    assert_eq!(answer.headers["content-type"], "application/problem+json", "{said}");
    assert_eq!(said["type"], format!("/docs/errors/{kind}"), "{said}");
    assert!(said["title"].is_string() && said["detail"].is_string() && said["status"] == status, "{said}");
    said
}

both_databases!(a_key_that_is_none_opens_nothing_whatever_it_looks_like, |place| async {
    let (server, api) = begin(&place).await;
    let key = api.key();
    let changed = |at: usize| {
        let mut key = key.as_bytes().to_vec();
        key[at] = if key[at] == b'a' { b'b' } else { b'a' };
        format!("Bearer {}", String::from_utf8(key).expect("text"))
    };
    let mut all: Vec<Vec<(&str, String)>> = vec![
        vec![],
        vec![("authorization", String::new())],
        vec![("authorization", "Bearer".to_owned())],
        vec![("authorization", key.to_owned())],
        vec![("authorization", format!("Token {key}"))],
        vec![("authorization", format!("Bearer {key}x"))],
        vec![("authorization", format!("Bearer {}", &key[..key.len() - 1]))],
        vec![("authorization", format!("Bearer {} ", key.to_uppercase()))],
        vec![("authorization", format!("Bearer rst_{}", "a".repeat(10_000)))],
        vec![("authorization", format!("Bearer {key}")), ("authorization", format!("Bearer {key}"))],
        vec![("cookie", format!("restante={key}"))],
        vec![("x-api-key", key.to_owned())],
    ];
    all.extend(("rst_".len()..key.len()).map(|at| vec![("authorization", changed(at))]));
    let mut told = std::collections::BTreeSet::new();
    for headers in &all {
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let answer = raw(&server, "GET", "/v1/endpoints", &headers, "").await;
        let said = is_problem(&answer, 401, "unauthorized");
        assert!(answer.headers.contains_key("www-authenticate"), "{headers:?}");
        assert!(!said.to_string().contains(key), "{said}");
        if headers.iter().any(|(_, value)| value.starts_with("Bearer rst_")) && headers.len() == 1 {
            told.insert(said["detail"].to_string());
        }
    }
    assert_eq!(told.len(), 1, "what looks like a key is told the same, however near it comes: {told:#?}");
    // In the address a key is none either: addresses end in logs.
    let answer = raw(&server, "GET", &format!("/v1/endpoints?key={key}&access_token={key}"), &[], "").await;
    is_problem(&answer, 401, "unauthorized");
    assert_eq!(api.get("/v1/endpoints").await["data"], json!([]));
});

postgres_alone!(what_is_stored_of_a_key_is_no_key, |place| async {
    let (server, _api) = begin(&place).await;
    let columns = "encode(secret_hash, 'hex'), encode(secret_hash, 'base64'), encode(lookup_hash, 'hex'), encode(lookup_hash, 'base64'), hint";
    let database = place.database().expect("a database");
    let rows = database.rows(&format!("SELECT {columns} FROM api_keys"));
    assert_eq!(rows.len(), 1);
    for text in &rows[0] {
        for shape in [text.clone(), format!("rst_{text}"), format!("rst_{}", text.trim_end_matches('='))] {
            let Ok(value) = http::HeaderValue::from_str(&format!("Bearer {shape}")) else { continue };
            let request = Request::get("/v1/keys").header("authorization", value).body(Full::default());
            let answer = send(server.address(), request.expect("a request")).await.expect("an answer");
            assert_eq!(answer.status, 401, "{shape}");
        }
    }
});

both_databases!(a_body_that_can_not_be_read_is_named_as_what_it_is, |place| async {
    let (server, api) = begin(&place).await;
    let bearer = format!("Bearer {}", api.key());
    let key = ("authorization", bearer.as_str());
    let json_type = ("content-type", "application/json");
    let right = r#"{"name":"a","provider":"github","secrets":["a long secret"]}"#;
    let create = async |headers: &[(&str, &str)], body: &str| {
        raw(&server, "POST", "/v1/endpoints", headers, body).await
    };
    for body in
        ["", "{", "[1,", "nonsense", "{\"name\":\"\u{0}\"}", &"[".repeat(100_000), &format!("{right}x")]
    {
        is_problem(&create(&[key, json_type], body).await, 400, "malformed");
    }
    for other in ["text/plain", "application/x-www-form-urlencoded", "application/xml", ""] {
        is_problem(&create(&[key, ("content-type", other)], right).await, 415, "unsupported-media-type");
    }
    is_problem(&create(&[key], right).await, 415, "unsupported-media-type");
    let large = format!(r#"{{"name":"{}"}}"#, "x".repeat(1 << 20));
    is_problem(&create(&[key, json_type], &large).await, 413, "too-large");
    for body in ["[]", "5", "\"text\"", "null"] {
        let status = create(&[key, json_type], body).await.status;
        assert!([400, 422].contains(&status), "{body}: {status}");
    }
    assert_eq!(api.get("/v1/endpoints").await["data"], json!([]));
    create(&[key, json_type], right).await.expect(201);
});

both_databases!(a_field_at_fault_is_named_by_its_pointer_and_nothing_is_made, |place| async {
    let (_server, api) = begin(&place).await;
    let endpoint = |name: &str, value: Value| {
        let mut body = json!({ "name": "a", "provider": "github", "secrets": ["a long secret"] });
        body[name] = value;
        ("/v1/endpoints", body)
    };
    let custom = |verify: Value| {
        endpoint("provider", json!("custom"))
            .1
            .as_object()
            .map(|body| {
                let mut body = body.clone();
                body.insert("options".to_owned(), json!({ "verify": verify }));
                ("/v1/endpoints", Value::Object(body))
            })
            .expect("an object")
    };
    let secret_of = |provider: &str, secret: &str| {
        let mut body = endpoint("secrets", json!([secret])).1;
        body["provider"] = json!(provider);
        ("/v1/endpoints", body)
    };
    let key = json!({ "name": "k", "scopes": ["events:read"] });
    let with = |base: &Value, name: &str, value: Value| {
        let mut body = base.clone();
        body[name] = value;
        body
    };
    let consumer = json!({ "name": "billing" });
    let long = "x".repeat(121);
    for ((path, body), pointer) in [
        (endpoint("nonsense", json!(1)), "/nonsense"),
        (endpoint("tenant_id", json!("tn_other")), "/tenant_id"),
        (endpoint("name", json!(long)), "/name"),
        (endpoint("name", json!("two\nlines")), "/name"),
        (endpoint("name", json!("")), "/name"),
        (endpoint("provider", json!("githup")), "/provider"),
        (endpoint("secrets", json!([])), "/secrets"),
        (endpoint("secrets", json!([""])), "/secrets/0"),
        (endpoint("secrets", json!(["   "])), "/secrets/0"),
        (endpoint("secrets", json!(["a long secret", ""])), "/secrets/1"),
        (endpoint("secrets", json!(["s".repeat(9_000)])), "/secrets/0"),
        (
            endpoint("secrets", json!((0..11).map(|n| format!("a long secret {n}")).collect::<Vec<_>>())),
            "/secrets",
        ),
        (secret_of("standard-webhooks", "whsec_no!base64"), "/secrets/0"),
        (secret_of("sendgrid", "not a public key"), "/secrets/0"),
        (endpoint("max_body_bytes", json!(1_u64 << 40)), "/max_body_bytes"),
        (endpoint("options", json!({ "nonsense": 1 })), "/options/nonsense"),
        (custom(json!({ "algorithm": "rot13", "header": "X" })), "/options/verify/algorithm"),
        (custom(json!({ "algorithm": "hmac-sha256", "header": "a b" })), "/options/verify/header"),
        (
            custom(json!({ "algorithm": "hmac-sha256", "header": "X", "signed": "{nobody}" })),
            "/options/verify/signed",
        ),
        (("/v1/keys", with(&key, "scopes", json!(["events:all"]))), "/scopes/0"),
        (("/v1/keys", with(&key, "name", json!(long))), "/name"),
        (("/v1/keys", with(&key, "tenant", json!("other"))), "/tenant"),
        (("/v1/consumers", with(&consumer, "name", json!("Big Names"))), "/name"),
        (("/v1/consumers", with(&consumer, "name", json!("n".repeat(65)))), "/name"),
        (("/v1/consumers", with(&consumer, "max_attempts", json!(0))), "/max_attempts"),
        (("/v1/consumers", with(&consumer, "start", json!("yesterday"))), "/start"),
        (("/v1/consumers", with(&consumer, "filter", json!({ "types": [5] }))), "/filter/types/0"),
        (("/v1/consumers", with(&consumer, "filter", json!({ "colour": [] }))), "/filter/colour"),
    ] {
        let answer = api.ask("POST", path, Some(&body)).await;
        let said = is_problem(&answer, 422, "invalid");
        assert_eq!(said["errors"][0]["pointer"], pointer, "{body}: {said}");
        assert!(!said.to_string().contains("a long secret"), "{said}");
    }
    assert_eq!(api.get("/v1/endpoints").await["data"], json!([]));
    assert_eq!(api.get("/v1/keys").await["data"].as_array().expect("keys").len(), 1);
    assert_eq!(api.get("/v1/consumers").await["data"].as_array().expect("consumers").len(), 1);
});

both_databases!(a_cursor_is_taken_as_it_was_given_or_refused, |place| async {
    let (_server, api) = begin(&place).await;
    for name in ["one", "two", "three"] {
        api.post("/v1/consumers", &json!({ "name": name })).await;
    }
    let page = api.get("/v1/consumers?limit=1").await;
    let cursor = page["next_cursor"].as_str().expect("there is more").to_owned();
    assert_eq!(
        api.get(&format!("/v1/consumers?limit=1&cursor={cursor}")).await["data"]
            .as_array()
            .expect("a page")
            .len(),
        1
    );
    let changed: String = cursor.chars().map(|c| if c == 'A' { 'B' } else { 'A' }).collect();
    let long = "A".repeat(5_000);
    for bad in [&changed, &cursor[1..], &format!("{cursor}A"), "rubbish", "%00", "é", &long] {
        let answer =
            api.ask("GET", &format!("/v1/consumers?cursor={}", bad.replace('é', "%C3%A9")), None).await;
        is_problem(&answer, 400, "bad-cursor");
    }
    // Of another list.
    is_problem(&api.ask("GET", &format!("/v1/events?cursor={cursor}"), None).await, 400, "bad-cursor");
    for bad in ["limit=0", "limit=251", "limit=-1", "limit=many", "limits=5"] {
        is_problem(&api.ask("GET", &format!("/v1/consumers?{bad}"), None).await, 422, "invalid");
    }
});

both_databases!(a_list_of_leases_is_answered_lease_by_lease_or_not_at_all, |place| async {
    let (server, api) = begin(&place).await;
    let sender = api.endpoint("github").await;
    sender.send(server.address(), &sender.signed("id-1", None)).await.expect("an answer").expect(200);
    let lease = api.claim("default", &json!({ "lease_seconds": 600 })).await[0]["lease"].clone();
    let mut other = lease.as_str().expect("text").to_owned();
    let last = if other.pop() == Some('A') { 'B' } else { 'A' };
    other.push(last);
    let path = |verb: &str| format!("/v1/consumers/default/{verb}");
    let many = vec![json!("x"); 1_001];
    for verb in ["ack", "nack", "extend"] {
        let said =
            is_problem(&api.ask("POST", &path(verb), Some(&json!({ "leases": many }))).await, 422, "invalid");
        assert_eq!(said["errors"][0]["pointer"], "/leases");
    }
    let rubbish = json!(["", "x", other, "A".repeat(500_000), "\u{0}", "é", lease, lease]);
    let said = api.post(&path("extend"), &json!({ "leases": rubbish, "lease_seconds": 600 })).await;
    let statuses: Vec<&str> = said["results"]
        .as_array()
        .expect("results")
        .iter()
        .map(|one| one["status"].as_str().expect("a status"))
        .collect();
    assert_eq!(statuses[..6], ["unknown"; 6]);
    assert_eq!(statuses[6..], ["extended"; 2]);
    let full = vec![lease.clone(); 1_000];
    let said = api.post(&path("ack"), &json!({ "leases": full })).await;
    assert!(said["results"].as_array().expect("results").iter().all(|one| one["status"] == "acked"));
    // What is acked stays acked.
    for verb in ["nack", "extend"] {
        let said = api.post(&path(verb), &json!({ "leases": [lease] })).await;
        assert!(
            ["expired", "unknown"].contains(&said["results"][0]["status"].as_str().expect("a status")),
            "{said}"
        );
    }
    assert!(api.claim("default", &json!({})).await.is_empty());
});

both_databases!(a_tenant_is_named_by_its_key_and_by_nothing_else, |place| async {
    let (server, api) = begin(&place).await;
    let other = server.tenant(&place, "other");
    let sender = other.endpoint("github").await;
    sender.send(server.address(), &sender.signed("id-1", None)).await.expect("an answer").expect(200);
    let bearer = format!("Bearer {}", api.key());
    let headers = [("authorization", bearer.as_str()), ("x-tenant-id", "other"), ("x-tenant", "other")];
    let answer = raw(&server, "GET", "/v1/events", &headers, "").await;
    assert_eq!(answer.expect(200)["data"], json!([]));
    is_problem(&raw(&server, "GET", "/v1/events?tenant=other", &headers, "").await, 422, "invalid");
});

both_databases!(other_sites_in_a_browser_are_told_nothing, |place| async {
    let (server, api) = begin(&place).await;
    let bearer = format!("Bearer {}", api.key());
    let origin = ("origin", "https://evil.example");
    let asked = [
        origin,
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "authorization"),
    ];
    let answers = [
        raw(&server, "OPTIONS", "/v1/endpoints", &asked, "").await,
        raw(&server, "GET", "/v1/endpoints", &[origin, ("authorization", &bearer)], "").await,
        raw(&server, "GET", "/", &[origin], "").await,
    ];
    assert_eq!(answers[0].status, 405);
    for answer in answers {
        assert!(
            answer.headers.keys().all(|name| !name.as_str().starts_with("access-control-")),
            "{answer:?}"
        );
        assert!(!answer.headers.contains_key("set-cookie"), "{answer:?}");
    }
});
