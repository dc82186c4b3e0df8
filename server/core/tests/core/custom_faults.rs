//! Descriptions that can't be right: each is refused when it is saved, with the place of the fault.

use restante_core::catalogue::{Catalogue, Scheme};
use serde_json::{Value, json};

fn faults(provider: &str, options: &Value) -> Vec<(String, String)> {
    let provider = Catalogue::builtin().get(provider).unwrap();
    match Scheme::compile(provider, options.as_object().unwrap()) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.into_iter().map(|error| (error.pointer, error.detail)).collect(),
    }
}

fn pointers(verify: Value) -> Vec<String> {
    faults("custom", &json!({ "verify": verify })).into_iter().map(|(pointer, _)| pointer).collect()
}

/// A description that is right, with one field changed.
fn with(field: &str, value: Value) -> Value {
    let mut verify = json!({"algorithm": "hmac-sha256", "header": "X-Sig", "separator": ","});
    verify[field] = value;
    verify
}

#[test]
fn each_fault_has_its_place() {
    for (field, value, place) in [
        ("algorithm", json!("hmac-md5"), "/verify/algorithm"),
        ("algorithm", json!(null), "/verify/algorithm"),
        ("algorithm", json!(5), "/verify/algorithm"),
        ("header", json!("X Sig"), "/verify/header"),
        ("header", json!(""), "/verify/header"),
        ("header", json!(["X-Sig"]), "/verify/header"),
        ("header", json!(null), "/verify/header"),
        ("separator", json!(""), "/verify/separator"),
        ("separator", json!("123456789"), "/verify/separator"),
        ("prefix", json!(1), "/verify/prefix"),
        ("prefix", json!("v1,"), "/verify/prefix"),
        ("prefix", json!(" v1="), "/verify/prefix"),
        ("timestamp", json!({"entry": "t,"}), "/verify/timestamp/entry"),
        ("encoding", json!("base32"), "/verify/encoding"),
        ("signed", json!("{body"), "/verify/signed"),
        ("signed", json!("{payload}"), "/verify/signed"),
        ("signed", json!("{form}"), "/verify/signed"),
        ("signed", json!("fixed"), "/verify/signed"),
        ("signed", json!("{header:X Y}.{body}"), "/verify/signed"),
        ("signed", json!("{timestamp}.{body}"), "/verify/signed"),
        ("compressed_body", json!("gzip"), "/verify/compressed_body"),
        ("secret_prefix", json!(true), "/verify/secret_prefix"),
        ("secret_encoding", json!("base58"), "/verify/secret_encoding"),
        ("secret_encoding", json!("pem"), "/verify/secret_encoding"),
        ("methods", json!([]), "/verify/methods"),
        ("methods", json!("POST"), "/verify/methods"),
        ("methods", json!(["post"]), "/verify/methods"),
        ("methods", json!(["HEAD"]), "/verify/methods"),
        ("timestamp", json!("X-Time"), "/verify/timestamp"),
        ("timestamp", json!({}), "/verify/timestamp"),
        ("timestamp", json!({"header": "X-Time"}), "/verify/timestamp"),
        ("timestamp", json!({"entry": "t="}), "/verify/timestamp"),
        ("timestamp", json!({"header": "X-Time", "entry": "t="}), "/verify/timestamp"),
        ("timestamp", json!({"header": "X Time"}), "/verify/timestamp/header"),
        ("timestamp", json!({"entry": ""}), "/verify/timestamp/entry"),
        ("timestamp", json!({"json": "sent_at"}), "/verify/timestamp/json"),
        ("timestamp", json!({"json": "/t", "unit": "us"}), "/verify/timestamp/unit"),
        ("timestamp", json!({"json": "/t", "tolerance_seconds": 0}), "/verify/timestamp/tolerance_seconds"),
        ("timestamp", json!({"json": "/t", "tolerance_seconds": -5}), "/verify/timestamp/tolerance_seconds"),
        ("timestamp", json!({"json": "/t", "tolerance_seconds": 1.5}), "/verify/timestamp/tolerance_seconds"),
        (
            "timestamp",
            json!({"json": "/t", "tolerance_seconds": 99_999_999}),
            "/verify/timestamp/tolerance_seconds",
        ),
        ("timestamp", json!({"json": "/t", "zone": "UTC"}), "/verify/timestamp/zone"),
        ("event", json!([]), "/verify/event"),
        ("event", json!({"ident": null}), "/verify/event/ident"),
        ("event", json!({"id": "/id"}), "/verify/event/id"),
        ("event", json!({"id": {}}), "/verify/event/id"),
        ("event", json!({"id": {"json": "/a", "header": "X"}}), "/verify/event/id"),
        ("event", json!({"id": {"json": "id"}}), "/verify/event/id/json"),
        ("event", json!({"id": {"json": 1}}), "/verify/event/id/json"),
        ("event", json!({"id": {"xml": "/a"}}), "/verify/event/id/xml"),
        ("event", json!({"id": {"form": "a"}}), "/verify/event/id/form"),
        ("event", json!({"id": {"digest": "head"}}), "/verify/event/id/digest"),
        ("event", json!({"id": {"join": []}}), "/verify/event/id/join"),
        ("event", json!({"id": {"first": {"json": "/a"}}}), "/verify/event/id/first"),
        ("event", json!({"id": {"join": [{"json": "/a"}, {"json": "b"}]}}), "/verify/event/id/join/1/json"),
        ("event", json!({"type": {"header": "a b"}}), "/verify/event/type/header"),
        ("event", json!({"occurred_at": {"json": "/t", "unit": "m"}}), "/verify/event/occurred_at/unit"),
        ("event", json!({"id": {"json": "/t", "unit": "s"}}), "/verify/event/id"),
        ("unique_by", json!([]), "/verify/unique_by"),
        ("unique_by", json!("id"), "/verify/unique_by"),
        ("unique_by", json!(["type"]), "/verify/unique_by"),
        ("unique_by", json!(["id", "id"]), "/verify/unique_by"),
        ("unique_by", json!(["id", "time"]), "/verify/unique_by"),
        ("batch", json!("events"), "/verify/batch"),
        ("batch", json!(true), "/verify/batch"),
        ("a/b~c", json!(1), "/verify/a~1b~0c"),
    ] {
        let found = pointers(with(field, value.clone()));
        assert!(found.contains(&place.to_owned()), "{field} {value}: {found:?}");
    }
}

#[test]
fn null_is_the_default_of_every_field_that_has_one() {
    for field in [
        "methods",
        "separator",
        "prefix",
        "encoding",
        "signed",
        "compressed_body",
        "secret_prefix",
        "secret_encoding",
        "timestamp",
        "event",
        "unique_by",
        "batch",
    ] {
        assert_eq!(pointers(with(field, json!(null))), [] as [&str; 0], "{field}");
    }
    let event = json!({"id": null, "type": null, "account": null, "occurred_at": null});
    assert_eq!(pointers(with("event", event)), [] as [&str; 0]);
}

#[test]
fn where_nothing_is_signed_nothing_is_said_to_be() {
    for algorithm in ["token", "basic"] {
        let verify = |more: Value| {
            let mut verify = json!({"algorithm": algorithm, "header": "X-Token"});
            verify.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            pointers(verify)
        };
        assert_eq!(verify(json!({"signed": "{body}", "encoding": "hex"})), [] as [&str; 0]);
        assert_eq!(verify(json!({"signed": "{method}{body}"})), ["/verify/signed"]);
        assert_eq!(verify(json!({"timestamp": {"header": "X-Time"}})), ["/verify/timestamp"]);
        assert_eq!(verify(json!({"secret_encoding": "base64"})), ["/verify/secret_encoding"]);
    }
    assert_eq!(
        pointers(json!({"algorithm": "ed25519", "header": "X", "secret_encoding": "utf8"})),
        ["/verify/secret_encoding"]
    );
    assert_eq!(pointers(json!({"algorithm": "basic"})), [] as [&str; 0]);
}

#[test]
fn every_fault_is_told_at_once() {
    let found =
        pointers(json!({"algorithm": "x", "header": "a b", "signed": "{", "colour": "red", "batch": 1}));
    assert_eq!(found.len(), 5, "{found:?}");
}

#[test]
fn nesting_and_number_of_sources_are_bounded() {
    let deep = |levels| (0..levels).fold(json!({"json": "/a"}), |inner, _| json!({ "first": [inner] }));
    assert!(pointers(with("event", json!({"id": deep(8)}))).is_empty());
    assert!(!pointers(with("event", json!({"id": deep(9)}))).is_empty());
    let wide = |many: usize| json!({"join": vec![json!({"json": "/a"}); many]});
    assert!(pointers(with("event", json!({"id": wide(59)}))).is_empty());
    assert!(!pointers(with("event", json!({"id": wide(60)}))).is_empty());
}

#[test]
fn options_of_every_provider_are_checked() {
    for (options, place) in [
        (json!({"verify": {}}), "/verify"),
        (json!({"colour": "red"}), "/colour"),
        (json!({"public_url": "hooks.example.com"}), "/public_url"),
        (json!({"public_url": "ftp://hooks.example.com"}), "/public_url"),
        (json!({"public_url": "https://hooks.example.com/in#x"}), "/public_url"),
        (json!({"public_url": "https://hooks.example.com/a b"}), "/public_url"),
        (json!({"public_url": 5}), "/public_url"),
        (json!({"tolerance_seconds": "300"}), "/tolerance_seconds"),
        (json!({"tolerance_seconds": 0}), "/tolerance_seconds"),
    ] {
        let found = faults("github", &options);
        assert_eq!(found.len(), 1, "{options}");
        assert_eq!(found[0].0, place, "{options}");
        assert!(found[0].1.ends_with('.'), "a sentence: {}", found[0].1);
    }
    assert!(
        faults("github", &json!({"public_url": "http://10.0.0.1:8080/x?y=1", "tolerance_seconds": 60}))
            .is_empty()
    );
    assert!(faults("stripe", &json!({"tolerance_seconds": null})).is_empty());
    assert_eq!(faults("custom", &json!({}))[0].0, "/verify");
    assert_eq!(faults("custom", &json!({"verify": "hmac"}))[0].0, "/verify");
    assert_eq!(faults("twilio", &json!({"allowed_algorithms": ["HMAC_MD5"]}))[0].0, "/allowed_algorithms");
    assert_eq!(faults("twilio", &json!({"allowed_algorithms": []}))[0].0, "/allowed_algorithms");
    assert_eq!(faults("whatsapp", &json!({"verify_token": " "}))[0].0, "/verify_token");
}
