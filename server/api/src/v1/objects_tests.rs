//! A list where an object belongs, in every place of every request that the description names. serde
//! would take it by position, so that `[[],[],["x"]]` were a filter.

use restante_store::both_engines;
use serde_json::{Map, Value, json};

use super::pull_tests::Pull;
use super::tests::names;

/// What the description says of the requests: a body for each route that takes one.
fn described() -> Vec<(String, String, Value)> {
    let document = serde_json::to_value(crate::openapi::document()).unwrap();
    let mut found = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            if let Some(body) = operation.get("requestBody") {
                let schema = &body["content"]["application/json"]["schema"];
                assert!(schema.is_object(), "{method} {path} takes a body that is not described");
                found.push((method.to_uppercase(), path.clone(), schema.clone()));
            }
        }
    }
    found
}

/// A request that is right in all but the place under test, and without which a fault at that place
/// would not be the first one found.
fn body_of(method: &str, path: &str) -> Value {
    match (method, path) {
        ("POST", "/v1/keys") => json!({"name": "k", "scopes": ["events:read"]}),
        ("POST", "/v1/endpoints") => {
            json!({"name": "e", "provider": "github", "secrets": ["a-long-random-secret"]})
        }
        ("POST", "/v1/endpoints/{id}/secrets") => json!({"secret": "another-long-secret"}),
        ("POST", "/v1/consumers") => json!({"name": "c"}),
        ("POST", "/v1/events/{id}/repair") => json!({"event_id": "evt"}),
        ("POST", "/v1/events/{id}/settle") => json!({"consumer": "default", "state": "failed"}),
        ("POST", "/v1/events/{id}/erase" | "/v1/retention/holds") => json!({"reason": "r"}),
        ("POST", "/v1/retention/erase") => json!({"confirm": "acme", "reason": "r"}),
        ("PUT", "/v1/retention" | "/v1/retention/providers/{name}" | "/v1/endpoints/{id}/reconciliation")
        | ("POST", "/v1/retention/preview" | "/v1/endpoints/{id}/reconciliation/runs")
        | ("PATCH", "/v1/endpoints/{id}" | "/v1/consumers/{name}")
        | ("POST", "/v1/endpoints/{id}/test" | "/v1/events/{id}/replay" | "/v1/replays")
        | (
            "POST",
            "/v1/consumers/{name}/claim"
            | "/v1/consumers/{name}/ack"
            | "/v1/consumers/{name}/nack"
            | "/v1/consumers/{name}/extend",
        ) => json!({}),
        _ => panic!("say here what a right request of {method} {path} looks like"),
    }
}

/// The schema itself, and each that it allows instead.
fn alternatives<'d>(document: &'d Value, schema: &'d Value, into: &mut Vec<&'d Value>) {
    if let Some(name) = schema["$ref"].as_str() {
        let named = document.pointer(name.trim_start_matches('#')).unwrap_or_else(|| panic!("{name}"));
        return alternatives(document, named, into);
    }
    into.push(schema);
    for word in ["oneOf", "anyOf", "allOf"] {
        for other in schema[word].as_array().into_iter().flatten() {
            alternatives(document, other, into);
        }
    }
}

fn is_of_type(schema: &Value, kind: &str) -> bool {
    schema["type"] == kind || schema["type"].as_array().is_some_and(|kinds| kinds.contains(&json!(kind)))
}

/// The pointers at which an object may stand. Of lists it is the first element.
fn places(document: &Value, schema: &Value, at: &str, into: &mut Vec<String>) {
    let mut all = Vec::new();
    alternatives(document, schema, &mut all);
    if all.iter().any(|schema| is_of_type(schema, "object")) {
        into.push(at.to_owned());
    }
    for schema in all {
        for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
            places(document, inner, &format!("{at}/{name}"), into);
        }
        if is_of_type(schema, "array") {
            places(document, &schema["items"], &format!("{at}/0"), into);
        }
    }
}

/// The body with a value at a place, with whatever has to stand around it.
fn with(body: Value, pointer: &str, value: Value) -> Value {
    let Some((step, rest)) = pointer.strip_prefix('/').map(|steps| match steps.find('/') {
        Some(end) => steps.split_at(end),
        None => (steps, ""),
    }) else {
        return value;
    };
    if step == "0" {
        return json!([with(Value::Null, rest, value)]);
    }
    let mut members = match body {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    let inner = members.remove(step).unwrap_or_default();
    members.insert(step.to_owned(), with(inner, rest, value));
    Value::Object(members)
}

both_engines!(a_list_is_no_object_in_any_place_of_any_request, |t| async {
    let pull = Pull::new(t).await;
    let event = pull.event("evt").await;
    let document = serde_json::to_value(crate::openapi::document()).unwrap();
    let mut tried = Vec::new();
    for (method, path, schema) in described() {
        let filled = path.replace("{name}", "default");
        let filled = match path.starts_with("/v1/events") {
            true => filled.replace("{id}", &event),
            false => filled.replace("{id}", &pull.endpoint),
        };
        let mut found = Vec::new();
        places(&document, &schema, "", &mut found);
        found.sort();
        found.dedup();
        assert!(found.contains(&String::new()), "{method} {path} takes an object");
        for place in found {
            // What serde would take for a type whose fields may all be left out, and for one of three lists.
            for list in [json!([]), json!([[], [], ["x"]]), json!(["x", null, null, null, null])] {
                let body = with(body_of(&method, &path), &place, list);
                let answer = pull.site.call(&pull.tenant, &method, &filled, Some(body.clone())).await;
                let told = |answer: &Value| {
                    let errors = answer["errors"].as_array().cloned().unwrap_or_default();
                    errors.into_iter().find(|error| error["pointer"] == json!(place))
                };
                let said = told(&answer.body);
                let said = said.unwrap_or_else(|| panic!("{method} {path} {body}: {}", answer.body));
                assert_eq!(answer.status, 422, "{method} {path} {body}");
                let sentence = said["detail"].as_str().unwrap();
                // These are refused whatever they are, since what they describe is not built yet.
                let later = place == "/push";
                assert!(later || sentence.ends_with("an object, and is a list."), "{place}: {sentence}");
            }
            tried.push(format!("{method} {path} {place}"));
        }
    }
    // So that the walk can't come to nothing in silence.
    for known in [
        "PATCH /v1/consumers/{name} /filter",
        "PATCH /v1/endpoints/{id} /options",
        "POST /v1/consumers /filter",
        "POST /v1/consumers /push",
        "POST /v1/consumers/{name}/ack /leases/0",
        "POST /v1/consumers/{name}/nack /leases/0",
        "POST /v1/consumers/{name}/extend /leases/0",
        "POST /v1/endpoints /options",
        "POST /v1/endpoints /retention",
        "POST /v1/endpoints/{id}/test ",
        "POST /v1/replays /filter",
        "POST /v1/keys ",
    ] {
        assert!(tried.contains(&known.to_owned()), "{known} is not among {tried:#?}");
    }
    let t = &pull.site.a.t;
    assert_eq!(
        (t.count("endpoints").await, t.count("consumers").await, t.count("api_keys").await),
        (1, 1, 1)
    );
    let consumer = pull.get("/v1/consumers/default").await;
    assert_eq!(consumer["filter"], json!({"endpoints": [], "providers": [], "types": []}));
    assert_eq!(t.count("receipts").await, 1);
});

both_engines!(a_body_may_be_left_out_where_the_description_says_so, |t| async {
    let pull = Pull::new(t).await;
    let event = pull.event("evt").await;
    let document = serde_json::to_value(crate::openapi::document()).unwrap();
    let mut optional = Vec::new();
    for (method, path, schema) in described() {
        let body = &document["paths"][&path][method.to_lowercase()]["requestBody"];
        let required = body["required"] == json!(true);
        let id = if path.starts_with("/v1/events") { &event } else { &pull.endpoint };
        let filled = path.replace("{name}", "default").replace("{id}", id);
        let answer = pull.site.call(&pull.tenant, &method, &filled, None).await;
        // Without a body there is no content type either.
        assert_eq!(answer.status == 415, required, "{method} {path}: {}", answer.body);
        let null = pull.site.call(&pull.tenant, &method, &filled, Some(Value::Null)).await;
        assert_eq!(null.status, 422, "{method} {path} is never null, and so it is described: {schema}");
        assert!(schema["$ref"].is_string(), "{method} {path}: {schema}");
        if !required {
            optional.push(path);
        }
    }
    let may_be_empty = [
        "/v1/consumers/{name}/claim",
        "/v1/endpoints/{id}/reconciliation/runs",
        "/v1/endpoints/{id}/test",
        "/v1/events/{id}/replay",
    ];
    assert_eq!(optional, may_be_empty);
});

// The options of a custom sender are described in words, and read by other code.
both_engines!(a_list_is_no_object_within_the_options_of_a_custom_sender, |t| async {
    let pull = Pull::new(t).await;
    let before = pull.get(&format!("/v1/endpoints/{}", pull.endpoint)).await;
    for place in [
        "/options/verify",
        "/options/verify/timestamp",
        "/options/verify/event",
        "/options/verify/event/id",
        "/options/verify/event/type",
        "/options/verify/event/account",
        "/options/verify/event/occurred_at",
        "/options/verify/event/id/first/0",
        "/options/verify/event/id/first/0/join/0",
    ] {
        for list in [json!([]), json!([["X-Time"]]), json!(["X-Time", "s", 300])] {
            // In a merge a list replaces what is there.
            let patch = with(json!({}), place, list.clone());
            // The one of a merge into what stands there: without what would be another kind of source.
            let patch = match place.contains("/id/first") {
                true => with(patch, "/options/verify/event/id/json", Value::Null),
                false => patch,
            };
            let path = format!("/v1/endpoints/{}", pull.endpoint);
            let answer = pull.site.call(&pull.tenant, "PATCH", &path, Some(patch.clone())).await;
            let errors = answer.body["errors"].as_array().cloned().unwrap_or_default();
            let found = errors.iter().any(|error| error["pointer"] == json!(place));
            assert!(answer.status == 422 && found, "{patch}: {} {}", answer.status, answer.body);
        }
    }
    assert_eq!(pull.get(&format!("/v1/endpoints/{}", pull.endpoint)).await, before);
    assert!(names(&before["options"]).contains(&"verify"));
});
