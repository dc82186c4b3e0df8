//! What makes two deliveries the same event: keys, scopes, and what is there and what is not.

use restante_core::catalogue::DedupScope;
use restante_core::time::Timestamp;
use restante_core::verify::EventKey;
use serde_json::{Value, json};

use crate::kit::{Bench, known, sender, signed, signed_with};

fn bench(event: Value, unique_by: Value) -> Bench {
    Bench::custom(sender(json!({ "event": event, "unique_by": unique_by })))
}

fn key(event: Value, unique_by: Value, body: &str) -> EventKey {
    bench(event, unique_by).item(&signed(body)).event_key
}

#[test]
fn the_key_joins_id_and_type_unless_said_otherwise() {
    let event = json!({"id": {"json": "/id"}, "type": {"json": "/type"}, "account": {"json": "/a"}, "occurred_at": {"json": "/t"}});
    let body = r#"{"id":"i","type":"t","a":"acct","t":1700000000}"#;
    assert_eq!(key(event.clone(), json!(null), body), known("i:t"));
    assert_eq!(key(event.clone(), json!(["id"]), body), known("i"));
    assert_eq!(key(event.clone(), json!(["id", "account"]), body), known("i:acct"));
    assert_eq!(
        key(event.clone(), json!(["account", "id"]), body),
        known("i:acct"),
        "the order of the names says nothing"
    );
    assert_eq!(
        key(event.clone(), json!(["id", "type", "account", "occurred_at"]), body),
        known("i:t:acct:1700000000")
    );
    assert_eq!(
        key(event.clone(), json!(null), r#"{"id":"i"}"#),
        known("i:"),
        "a type that isn't there keeps its place"
    );
    assert_eq!(key(event.clone(), json!(null), r#"{"id":"a:b","type":"c\\d"}"#), known("a\\:b:c\\\\d"));
    let times = json!(["id", "occurred_at"]);
    let unread = |t: &str| key(event.clone(), times.clone(), &format!(r#"{{"id":"i","t":"{t}"}}"#));
    assert_ne!(unread("monday"), unread("tuesday"), "a time that can't be read still sets events apart");
}

#[test]
fn no_ids_means_that_every_delivery_is_an_event_of_its_own() {
    for body in ["", "{}", r#"{"id":"x"}"#, "not json", "\u{0}"] {
        let item = bench(json!({"type": {"json": "/type"}}), json!(["id"])).item(&signed(body));
        assert_eq!((item.event_key, item.event_id), (EventKey::Fresh, None), "{body}");
    }
}

#[test]
fn an_id_that_is_not_there_waits_for_repair() {
    let event = json!({"id": {"json": "/id"}, "type": {"json": "/type"}});
    for body in [
        "",
        "{}",
        "null",
        "42",
        "\"x\"",
        "true",
        "[1]",
        "not json",
        "<id>1</id>",
        r#"{"id":null}"#,
        r#"{"type":"t"}"#,
        r#"{"id":"","type":"t"}"#,
        r#"{"id":""}"#,
        r#"{"id":true}"#,
        r#"{"id":false}"#,
        r#"{"id":{}}"#,
        r#"{"id":[]}"#,
        r#"{"id":["a"]}"#,
        r#"{"id":"a","type":"t","x":"#,
    ] {
        assert_eq!(key(event.clone(), json!(null), body), EventKey::Envelope, "{body}");
    }
    let mut request = signed("");
    request.body = bytes::Bytes::from_static(b"{\"id\":\"caf\xe9\"}");
    let signature =
        format!("sha256={}", hex::encode(crate::kit::hmac_sha256(crate::kit::SECRET, &request.body)));
    request.headers.0[0].1 = signature.into();
    assert_eq!(bench(event, json!(null)).item(&request).event_key, EventKey::Envelope);
}

#[test]
fn a_digest_hands_out_what_has_no_id() {
    let event = json!({"id": {"first": [{"json": "/id"}, {"digest": "body"}]}});
    let sha256 = |body: &str| {
        use sha2::Digest as _;
        hex::encode(sha2::Sha256::digest(body))
    };
    for body in ["", "not json", "{}", r#"{"id":null}"#, "{\"id\":\"x\""] {
        let item = bench(event.clone(), json!(["id"])).item(&signed(body));
        assert_eq!(item.event_key, known(&sha256(body)), "{body}");
        assert_eq!(item.event_id, Some(sha256(body)));
    }
    assert_eq!(key(event.clone(), json!(["id"]), r#"{"id":"x"}"#), known("x"));
    let batch = Bench::custom(sender(json!({"batch": "", "event": event, "unique_by": ["id"]})));
    let accepted = batch.accepted(&signed("[ {\"a\":1} ,{\"id\":\"x\"}]"));
    assert_eq!(accepted.items[0].event_key, known(&sha256("{\"a\":1}")), "of the element's bytes");
    assert_eq!(accepted.items[1].event_key, known("x"));
}

#[test]
fn numbers_count_as_they_are_written() {
    let event = json!({"id": {"json": "/id"}});
    for number in ["9007199254740993", "12345678901234567890123", "1.0", "1", "1e2", "-0", "0.10"] {
        assert_eq!(key(event.clone(), json!(["id"]), &format!(r#"{{"id":{number}}}"#)), known(number));
    }
}

#[test]
fn ids_are_bytes_and_nothing_is_folded() {
    let event = json!({"id": {"json": "/id"}});
    let ids = [
        "evt_Abc",
        "evt_aBC",
        " evt_Abc",
        "evt_Abc ",
        "e\u{301}",
        "\u{e9}",
        "a\u{200b}",
        "a",
        "a\u{feff}",
        "a\\nb",
    ];
    let keys: std::collections::HashSet<EventKey> =
        ids.iter().map(|id| key(event.clone(), json!(["id"]), &format!(r#"{{"id":"{id}"}}"#))).collect();
    assert_eq!(keys.len(), ids.len());
}

#[test]
fn long_ids_and_nul_are_digested_and_half_pairs_kept_apart() {
    let event = json!({"id": {"json": "/id"}});
    let of = |id: &str| bench(event.clone(), json!(["id"])).item(&signed(&format!(r#"{{"id":"{id}"}}"#)));
    let long = "x".repeat(300);
    let item = of(&long);
    assert_eq!(item.event_id.as_deref(), Some(long.as_str()));
    assert!(matches!(&item.event_key, EventKey::Known(key) if key.starts_with("sha256-") && key.len() == 71));
    assert!(matches!(of(&"x".repeat(255)).event_key, EventKey::Known(key) if key.len() == 255));
    let nul = of("a\\u0000b");
    assert_eq!(nul.event_id.as_deref(), Some("a\\u0000b"), "no NUL reaches a column");
    assert!(matches!(&nul.event_key, EventKey::Known(key) if key.starts_with("sha256-")));
    let halves = [
        of("\\ud800").event_key,
        of("\\ud801").event_key,
        of("\\\\ud800").event_key,
        of("\u{fffd}").event_key,
    ];
    assert_eq!(halves.iter().collect::<std::collections::HashSet<_>>().len(), 4);
    assert_eq!(of("cut \\ud83c").event_id.as_deref(), Some("cut \\ud83c"));
}

#[test]
fn joined_ids_need_all_their_parts_and_never_read_alike() {
    let event = json!({"id": {"join": [{"json": "/a"}, {"json": "/b"}]}});
    let of = |body: &str| key(event.clone(), json!(["id"]), body);
    assert_ne!(of(r#"{"a":"x:y","b":"z"}"#), of(r#"{"a":"x","b":"y:z"}"#));
    assert_ne!(of(r#"{"a":"x\\","b":"z"}"#), of(r#"{"a":"x","b":"\\z"}"#));
    assert_eq!(of(r#"{"a":"x"}"#), EventKey::Envelope);
    let item = bench(event.clone(), json!(["id"])).item(&signed(r#"{"a":"x:1","b":"y"}"#));
    assert_eq!(item.event_id.as_deref(), Some("x\\:1:y"));
}

#[test]
fn a_doubled_member_counts_first_and_is_told() {
    let event = json!({"id": {"json": "/id"}, "type": {"json": "/type"}, "occurred_at": {"json": "/t"}});
    let of = |body: &str| bench(event.clone(), json!(null)).item(&signed(body));
    let item = of(r#"{"id":"a","type":"t","id":"b"}"#);
    assert_eq!((item.event_key, item.ambiguous), (known("a:t"), true));
    assert!(of(r#"{"id":"a","type":"t","type":"u"}"#).ambiguous);
    assert!(!of(r#"{"id":"a","t":1,"t":2,"x":1,"x":2}"#).ambiguous, "identity does not depend on these");
}

#[test]
fn headers_name_events_too_whatever_the_body_is() {
    let event = json!({"id": {"header": "X-Id"}, "type": {"header": "X-Type"}});
    let bench = bench(event, json!(["id"]));
    let item = bench.item(&signed_with(&[("x-id", "h-1"), ("x-type", "t")], "not json"));
    assert_eq!((item.event_key, item.event_type.as_deref()), (known("h-1"), Some("t")));
    assert_eq!(bench.item(&signed_with(&[("x-id", "")], "{}")).event_key, EventKey::Envelope);
    let mut odd = signed_with(&[("x-id", "x")], "{}");
    odd.headers.0[1].1 = bytes::Bytes::from_static(b"caf\xe9");
    let mut other = odd.clone();
    other.headers.0[1].1 = bytes::Bytes::from_static(b"caf\xe8");
    let (odd, other) = (bench.item(&odd), bench.item(&other));
    assert_eq!(odd.event_id.as_deref(), Some("caf\\xe9"));
    assert_ne!(odd.event_key, other.event_key);
}

#[test]
fn the_scope_is_the_catalogues_or_the_tenants() {
    let event = json!({"id": {"json": "/id"}, "account": {"json": "/a"}});
    let mut bench = bench(event, json!(["id"]));
    let request = signed(r#"{"id":"i","a":"acct:1"}"#);
    assert_eq!(bench.scheme.default_dedup_scope(), DedupScope::Endpoint);
    for (chosen, wanted) in [
        (None, "ep_1"),
        (Some(DedupScope::Endpoint), "ep_1"),
        (Some(DedupScope::Account), "acct:1"),
        (Some(DedupScope::Provider), ""),
    ] {
        bench.scope = chosen;
        assert_eq!(bench.item(&request).scope, wanted, "{chosen:?}");
    }
    bench.scope = Some(DedupScope::Account);
    assert_eq!(bench.item(&signed(r#"{"id":"i"}"#)).scope, "");
    assert!(
        bench
            .item(&signed(&format!(r#"{{"id":"i","a":"{}"}}"#, "x".repeat(300))))
            .scope
            .starts_with("sha256-")
    );
}

#[test]
fn times_of_events_are_read_in_their_unit() {
    for (source, body, wanted) in [
        (json!({"json": "/t"}), r#"{"t":1700000000}"#, Some(1_700_000_000_000)),
        (json!({"json": "/t", "unit": "s"}), r#"{"t":"1700000000.5"}"#, Some(1_700_000_000_500)),
        (json!({"json": "/t", "unit": "ms"}), r#"{"t":1700000000123}"#, Some(1_700_000_000_123)),
        (
            json!({"json": "/t", "unit": "rfc3339"}),
            r#"{"t":"2023-11-14T22:13:20Z"}"#,
            Some(1_700_000_000_000),
        ),
        (json!({"json": "/t"}), r#"{"t":"soon"}"#, None),
        (json!({"json": "/t"}), r#"{"t":-5}"#, None),
    ] {
        let item = bench(json!({ "occurred_at": source }), json!(null)).item(&signed(body));
        assert_eq!(item.occurred_at.map(Timestamp::millis), wanted, "{body}");
    }
}

#[test]
fn a_repaired_receipt_gets_the_key_that_reading_would_have_made() {
    let event = json!({"id": {"json": "/id"}, "type": {"json": "/type"}});
    let both = bench(event.clone(), json!(null));
    assert_eq!(
        known(&both.scheme.repaired_key("a:b", Some("t"))),
        both.item(&signed(r#"{"id":"a:b","type":"t"}"#)).event_key
    );
    assert_eq!(known(&both.scheme.repaired_key("a", None)), both.item(&signed(r#"{"id":"a"}"#)).event_key);
    let alone = bench(event, json!(["id"]));
    assert_eq!(alone.scheme.repaired_key("a", Some("t")), "a");
    let stripe = Bench::new("stripe", json!({}), &["whsec_x"]);
    assert_eq!(stripe.scheme.repaired_key("evt_1", Some("t")), "evt_1");
}

#[test]
fn the_decoder_follows_the_description_and_nothing_else() {
    let decoder = |options: Value| Bench::new("custom", options, &["s"]).scheme.decoder();
    let verify = json!({"algorithm": "hmac-sha256", "header": "X-Sig"});
    let one = decoder(json!({ "verify": verify }));
    assert_eq!(one, decoder(json!({ "verify": verify, "tolerance_seconds": 5 })));
    assert_ne!(one, decoder(json!({ "verify": {"algorithm": "hmac-sha1", "header": "X-Sig"} })));
    assert!(one.starts_with("custom/") && one.len() == 19, "{one}");
    assert_eq!(Bench::new("stripe", json!({}), &["whsec_x"]).scheme.decoder(), "stripe/1");
}
