//! The custom provider, word by word: what a description lets pass, and what it must not.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair,
};
use restante_core::request::Request;
use restante_core::verify::{Reason, Slice, Verdict, Weak};
use serde_json::json;

use crate::kit::{
    Bench, NOW, SECRET, base64, hmac_sha1, hmac_sha256, hmac_sha512, post, sender, signed, signed_with,
};

fn passes(bench: &Bench, request: &Request) -> bool {
    matches!(bench.verdict(request), Verdict::Accept(_))
}

#[test]
fn the_two_examples_of_the_contract_work() {
    let one = Bench::new(
        "custom",
        json!({"verify":{"algorithm":"hmac-sha256","header":"X-Signature-256","prefix":"sha256=","event":{"id":{"json":"/id"},"type":{"json":"/type"}}}}),
        &[SECRET],
    );
    let body = r#"{"id":"e1","type":"t"}"#;
    let signature = format!("sha256={}", hex::encode(hmac_sha256(SECRET, body)));
    let item = one.item(&post(&[("X-Signature-256", &signature)], body));
    assert_eq!((item.event_id.as_deref(), item.event_type.as_deref()), (Some("e1"), Some("t")));

    let two = Bench::new(
        "custom",
        json!({"verify":{"algorithm":"hmac-sha256","header":"Acme-Signature","separator":",","prefix":"v1=","timestamp":{"entry":"t=","unit":"s"},"signed":"{timestamp}.{body}","event":{"id":{"json":"/id"},"type":{"json":"/type"},"account":{"json":"/account"}}}}),
        &[SECRET],
    );
    let body = r#"{"id":"e2","type":"t","account":"a"}"#;
    let right = hex::encode(hmac_sha256(SECRET, format!("{NOW}.{body}")));
    let item = two.item(&post(&[("Acme-Signature", &format!("t={NOW}, v0=00 , v1={right}"))], body));
    assert_eq!(item.account.as_deref(), Some("a"));
    let stale = hex::encode(hmac_sha256(SECRET, format!("{}.{body}", NOW - 301)));
    let refused = two.refused(&post(&[("Acme-Signature", &format!("t={},v1={stale}", NOW - 301))], body));
    assert_eq!((refused.reason, refused.age_seconds), (Reason::TimestampOutOfTolerance, Some(301)));
}

#[test]
fn every_hmac_in_both_encodings() {
    let body = "any bytes";
    for (name, digest) in [
        ("hmac-sha1", hmac_sha1(SECRET, body)),
        ("hmac-sha256", hmac_sha256(SECRET, body)),
        ("hmac-sha512", hmac_sha512(SECRET, body)),
    ] {
        let hex_bench = Bench::custom(json!({"algorithm": name, "header": "X-Sig"}));
        let right = hex::encode(&digest);
        assert!(passes(&hex_bench, &post(&[("x-sig", &right)], body)));
        assert!(passes(&hex_bench, &post(&[("x-sig", &right.to_uppercase())], body)));
        let base64_bench = Bench::custom(json!({"algorithm": name, "header": "X-Sig", "encoding": "base64"}));
        assert!(passes(&base64_bench, &post(&[("x-sig", &base64(&digest))], body)));
        assert_eq!(hex_bench.reason(&post(&[("x-sig", &base64(&digest))], body)), Reason::MalformedSignature);
        assert_eq!(base64_bench.reason(&post(&[("x-sig", &right)], body)), Reason::MalformedSignature);
        assert_eq!(hex_bench.reason(&post(&[("x-sig", &right[2..])], body)), Reason::MalformedSignature);
        assert_eq!(hex_bench.reason(&post(&[("x-sig", &right)], "other bytes")), Reason::SignatureMismatch);
        assert_eq!(hex_bench.reason(&post(&[], body)), Reason::MissingSignature);
        assert_eq!(hex_bench.reason(&post(&[("x-sig", "")], body)), Reason::MissingSignature);
    }
}

#[test]
fn a_token_is_the_secret_itself() {
    let bench = Bench::custom(json!({"algorithm": "token", "header": "X-Token", "prefix": "Bearer "}));
    assert!(passes(&bench, &post(&[("x-token", "Bearer made-up-secret")], "x")));
    for wrong in [
        "made-up-secret",
        "Bearer made-up-secre",
        "Bearer made-up-secrets",
        "Bearer ",
        "Bearer MADE-UP-SECRET",
    ] {
        assert_eq!(bench.reason(&post(&[("x-token", wrong)], "x")), Reason::TokenMismatch, "{wrong}");
    }
    let accepted = bench.accepted(&post(&[("x-token", "Bearer made-up-secret")], "x"));
    assert_eq!(accepted.weak, [Weak::Body, Weak::Id, Weak::Time]);
    assert_eq!(bench.scheme.credential_headers(), ["x-token"]);
}

#[test]
fn basic_is_user_and_password_in_authorization() {
    let bench = Bench::new("custom", json!({"verify": {"algorithm": "basic"}}), &["user:pass:word"]);
    let value = |text: &str| format!("Basic {}", base64(text));
    assert!(passes(&bench, &post(&[("authorization", &value("user:pass:word"))], "x")));
    assert!(passes(
        &bench,
        &post(&[("authorization", &value("user:pass:word").replace("Basic", "basic"))], "x")
    ));
    for wrong in
        [value("user:pass"), base64("user:pass:word"), "Basic %".into(), "Bearer user:pass:word".into()]
    {
        assert_eq!(bench.reason(&post(&[("authorization", &wrong)], "x")), Reason::TokenMismatch, "{wrong}");
    }
    assert_eq!(bench.scheme.credential_headers(), ["authorization"]);
    assert!(bench.scheme.check_secret("no colon").is_err());
}

#[test]
fn ed25519_in_every_spelling_of_its_key() {
    let pair = Ed25519KeyPair::generate().unwrap();
    let bare = pair.public_key().as_ref().to_vec();
    let spki = [&hex::decode("302a300506032b6570032100").unwrap()[..], &bare].concat();
    let pem = format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", base64(&spki));
    let body = "{}";
    let signature = hex::encode(pair.sign(body.as_bytes()));
    for (encoding, key) in [
        ("hex", hex::encode(&bare)),
        ("hex", hex::encode(&spki)),
        ("base64", base64(&bare)),
        ("base64", base64(&spki)),
        ("pem", pem.clone()),
        ("hex", pem),
    ] {
        let verify = json!({"algorithm": "ed25519", "header": "X-Sig", "secret_encoding": encoding});
        let bench = Bench::new("custom", json!({ "verify": verify }), &[&key]);
        assert!(passes(&bench, &post(&[("x-sig", &signature)], body)), "{encoding}");
        assert_eq!(bench.reason(&post(&[("x-sig", &signature)], "[]")), Reason::SignatureMismatch);
    }
}

#[test]
fn ecdsa_in_der_and_in_64_bytes() {
    let random = SystemRandom::new();
    let der = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING).unwrap();
    let pkcs8 = der.to_pkcs8v1().unwrap();
    let fixed = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref()).unwrap();
    let head = hex::decode("3059301306072a8648ce3d020106082a8648ce3d030107034200").unwrap();
    let spki = [&head[..], der.public_key().as_ref()].concat();
    let pem = format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----", base64(&spki));
    let verify = json!({"algorithm": "ecdsa-p256", "header": "X-Sig", "encoding": "base64"});
    let bench = Bench::new("custom", json!({ "verify": verify }), &[&pem]);
    for pair in [&der, &fixed] {
        let signature = base64(pair.sign(&random, b"{}").unwrap());
        assert!(passes(&bench, &post(&[("x-sig", &signature)], "{}")));
        assert_eq!(bench.reason(&post(&[("x-sig", &signature)], "[]")), Reason::SignatureMismatch);
    }
    for rubbish in [base64([0; 64]), base64([0x30, 6, 2, 1, 0, 2, 1, 0]), base64(vec![0x30; 200])] {
        assert!(!passes(&bench, &post(&[("x-sig", &rubbish)], "{}")));
    }
}

#[test]
fn a_list_is_split_and_any_entry_may_match() {
    let bench = Bench::custom(
        json!({"algorithm": "hmac-sha256", "header": "X-Sig", "separator": ",", "prefix": "v1="}),
    );
    let right = hex::encode(hmac_sha256(SECRET, "b"));
    let wrong = "0".repeat(64);
    for value in [
        format!("v1={right}"),
        format!("v1={wrong},v1={right}"),
        format!("v0=x, v1={right} ,v2=y"),
        format!(",,v1={right},"),
    ] {
        assert!(passes(&bench, &post(&[("x-sig", &value)], "b")), "{value}");
    }
    for value in
        [right.clone(), format!("v0={right}"), format!("V1={right}"), format!("v1= {right}"), "v1=".into()]
    {
        assert!(!passes(&bench, &post(&[("x-sig", &value)], "b")), "{value}");
    }
    let single = Bench::custom(json!({"algorithm": "hmac-sha256", "header": "X-Sig", "separator": null}));
    assert!(!passes(&single, &post(&[("x-sig", &format!("{wrong},{right}"))], "b")));
}

#[test]
fn only_the_first_few_entries_are_compared() {
    let bench = Bench::custom(json!({"algorithm": "hmac-sha1", "header": "X-Sig", "separator": ","}));
    let right = hex::encode(hmac_sha1(SECRET, "b"));
    let list = |wrong: usize| format!("{}{right}", format!("{},", "0".repeat(40)).repeat(wrong));
    assert!(passes(&bench, &post(&[("x-sig", &list(9))], "b")));
    assert_eq!(bench.reason(&post(&[("x-sig", &list(10))], "b")), Reason::SignatureMismatch);
    assert_eq!(bench.reason(&post(&[("x-sig", &list(25))], "b")), Reason::MalformedSignature);
}

#[test]
fn the_template_covers_what_it_names() {
    let verify = json!({"algorithm": "hmac-sha256", "header": "X-Sig", "signed": "{{{method} {url} {header:X-Id}}} {timestamp}:{body}",
        "timestamp": {"header": "X-Time"}});
    let bench = Bench::custom(verify);
    let text = format!("{{POST https://hooks.example.test/in/abc?a=1&b=%20 i-1}} {NOW}:body");
    let signature = hex::encode(hmac_sha256(SECRET, text));
    let right = || {
        let time = NOW.to_string();
        let mut request = post(&[("x-sig", &signature), ("x-id", "i-1"), ("x-time", &time)], "body");
        request.query = Some("a=1&b=%20".into());
        request
    };
    assert!(passes(&bench, &right()));
    let changes: [fn(&mut Request); 4] = [
        |request| request.query = Some("b=%20&a=1".into()),
        |request| request.query = None,
        |request| request.headers.0[1].1 = "i-2".into(),
        |request| request.body = "Body".into(),
    ];
    for change in changes {
        let mut request = right();
        change(&mut request);
        assert_eq!(bench.reason(&request), Reason::SignatureMismatch);
    }
    let mut request = right();
    request.headers.0.remove(1);
    assert_eq!(bench.reason(&request), Reason::MissingHeader);
    let mut request = right();
    request.headers.0.remove(2);
    assert_eq!(bench.reason(&request), Reason::TimestampMissing);
}

#[test]
fn the_url_is_the_registered_one_and_never_the_host_header() {
    let verify = json!({"algorithm": "hmac-sha256", "header": "X-Sig", "signed": "{url}{body}"});
    let options = json!({"public_url": "https://public.example/hook", "verify": verify});
    let bench = Bench::new("custom", options, &[SECRET]);
    let signature = hex::encode(hmac_sha256(SECRET, "https://public.example/hookb"));
    let hosts =
        [("x-sig", signature.as_str()), ("host", "evil.example"), ("x-forwarded-host", "evil.example")];
    assert!(passes(&bench, &post(&hosts, "b")));
    let other = hex::encode(hmac_sha256(SECRET, "https://evil.example/hookb"));
    assert!(!passes(&bench, &post(&[("x-sig", &other), ("host", "evil.example")], "b")));
}

#[test]
fn a_security_header_twice_counts_once_or_not_at_all() {
    let bench = Bench::custom(sender(
        json!({"event": {"id": {"header": "X-Id"}, "type": {"header": "X-Type"}, "account": {"header": "X-Account"}}}),
    ));
    let twice = |name: &str, a: &str, b: &str| {
        let mut request = signed_with(&[("x-id", "1"), ("x-type", "t"), ("x-account", "a")], "b");
        request.headers.0.retain(|(known, _)| known != name);
        for value in [a, b] {
            request.headers.0.push((name.to_owned(), value.to_owned().into()));
        }
        request
    };
    let right =
        signed("b").headers.first("x-sig").map(|value| String::from_utf8(value.to_vec()).unwrap()).unwrap();
    assert!(passes(&bench, &twice("x-sig", &right, &right)));
    assert!(passes(&bench, &twice("x-id", "1", "1")));
    for (name, a, b) in
        [("x-sig", right.as_str(), "x"), ("x-id", "1", "2"), ("x-type", "t", "u"), ("x-account", "a", "")]
    {
        let refused = bench.refused(&twice(name, a, b));
        assert_eq!((refused.reason, refused.status), (Reason::AmbiguousHeader, 401), "{name}");
    }
}

#[test]
fn another_method_is_a_405() {
    let bench = Bench::custom(sender(json!({"methods": ["POST", "PUT"]})));
    assert_eq!(bench.scheme.methods(), ["POST", "PUT"]);
    let mut request = signed("b");
    request.method = "PUT".into();
    assert!(passes(&bench, &request));
    for method in ["GET", "PATCH", "DELETE", "OPTIONS", "TRACE", "put", ""] {
        request.method = method.into();
        let refused = bench.refused(&request);
        assert_eq!((refused.status, refused.public.as_str()), (405, "method"), "{method}");
    }
    request.method = "HEAD".into();
    let Verdict::Challenge(probe) = bench.verdict(&request) else { panic!("a probe is answered") };
    assert_eq!((probe.reply.status, probe.reply.body.len()), (200, 0));
}

#[test]
fn a_batch_is_one_event_an_element_with_its_own_bytes() {
    let event = json!({"id": {"json": "/id"}, "type": {"json": "/t"}});
    let bench = Bench::custom(sender(json!({"batch": "/events", "event": event})));
    let body = "{\"events\":[{\"id\":1,\"t\":\"a\"},\r\n {\"id\": 2}, 7 ],\"id\":\"outer\"}";
    let accepted = bench.accepted(&signed(body));
    let parts: Vec<(Option<&str>, &str)> = accepted
        .items
        .iter()
        .map(|item| match &item.slice {
            Slice::Body(range) => (item.event_id.as_deref(), &body[range.clone()]),
            Slice::Decoded(_) => panic!("the body was not decoded"),
        })
        .collect();
    assert_eq!(parts, [(Some("1"), "{\"id\":1,\"t\":\"a\"}"), (Some("2"), "{\"id\": 2}"), (None, "7")]);
    assert!(accepted.batch);
    let empty = bench.accepted(&signed(r#"{"events":[]}"#));
    assert!(empty.batch && empty.items.is_empty());
    for unreadable in [r#"{"events":{}}"#, "{}", "[", "x"] {
        let accepted = bench.accepted(&signed(unreadable));
        assert!(!accepted.batch, "{unreadable}");
        assert_eq!(accepted.items.len(), 1);
        assert_eq!(accepted.items[0].event_key, restante_core::verify::EventKey::Envelope);
        assert_eq!(accepted.items[0].slice, Slice::Body(0..unreadable.len()));
    }
}

fn gzip(body: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_compressed_body_is_signed_as_the_description_says() {
    let body = r#"{"id":"z","type":"t"}"#;
    let packed = gzip(body.as_bytes());
    let request = |over: &[u8]| {
        let signature = format!("sha256={}", hex::encode(hmac_sha256(SECRET, over)));
        post(&[("x-sig", &signature), ("content-encoding", "gzip")], packed.clone())
    };
    let event = json!({"id": {"json": "/id"}, "type": {"json": "/type"}});
    for (mode, right, wrong) in
        [("received", &packed[..], body.as_bytes()), ("decoded", body.as_bytes(), &packed[..])]
    {
        let bench = Bench::custom(sender(json!({"compressed_body": mode, "event": event})));
        let item = bench.item(&request(right));
        assert_eq!(item.event_id.as_deref(), Some("z"), "{mode}");
        assert_eq!(item.slice, Slice::Body(0..packed.len()), "kept is what came");
        assert_eq!(bench.reason(&request(wrong)), Reason::SignatureMismatch);
        let small = Bench { body_bytes_max: 20, ..bench };
        assert_eq!(small.refused(&request(right)).status, 413, "{mode}");
    }
    let decoded = Bench::custom(sender(json!({"compressed_body": "decoded", "event": event})));
    let mut broken = request(body.as_bytes());
    broken.body = broken.body.slice(..10);
    assert_eq!(decoded.reason(&broken), Reason::UndecodableBody);
    let mut plain = signed(body);
    assert_eq!(decoded.item(&plain).event_id.as_deref(), Some("z"));
    plain.headers.0.push(("content-encoding".into(), "zstd".into()));
    assert_eq!(decoded.reason(&plain), Reason::UndecodableBody);
    let received = Bench::custom(sender(json!({ "event": event })));
    assert_eq!(received.item(&plain).event_id.as_deref(), Some("z"), "what reads as it came is read");
}

#[test]
fn elements_of_a_compressed_batch_stand_in_the_decoded_bytes() {
    let body = br#"[{"id":"a"},{"id":"b"}]"#;
    let packed = gzip(body);
    let signature = format!("sha256={}", hex::encode(hmac_sha256(SECRET, &packed)));
    let request = post(&[("x-sig", &signature), ("content-encoding", "gzip")], packed);
    let accepted =
        Bench::custom(sender(json!({"batch": "", "event": {"id": {"json": "/id"}}}))).accepted(&request);
    assert_eq!(accepted.decoded.as_deref(), Some(&body[..]));
    let ranges: Vec<_> = accepted.items.iter().map(|item| item.slice.clone()).collect();
    assert_eq!(ranges, [Slice::Decoded(1..11), Slice::Decoded(12..22)]);
}

#[test]
fn the_secret_becomes_the_key_that_the_description_says() {
    let key = [7_u8; 32];
    let mac = |key: &[u8]| {
        use hmac::{Hmac, KeyInit, Mac};
        let mut mac = Hmac::<sha2::Sha256>::new_from_slice(key).unwrap();
        mac.update(b"b");
        hex::encode(mac.finalize().into_bytes())
    };
    for (prefix, encoding, secret, bytes) in [
        ("whsec_", "base64", format!("whsec_{}", base64(key)), key.to_vec()),
        ("whsec_", "base64", base64(key), key.to_vec()),
        ("", "hex", hex::encode(key), key.to_vec()),
        ("k_", "utf8", "k_text".into(), b"text".to_vec()),
        ("", "utf8", "whsec_text".into(), b"whsec_text".to_vec()),
    ] {
        let verify = json!({"algorithm": "hmac-sha256", "header": "X-Sig", "secret_prefix": prefix, "secret_encoding": encoding});
        let bench = Bench::new("custom", json!({ "verify": verify }), &[&secret]);
        assert!(passes(&bench, &post(&[("x-sig", &mac(&bytes))], "b")), "{secret}");
    }
}

#[test]
fn any_of_several_secrets_may_match_and_is_told() {
    let mut bench = Bench::custom(sender(json!({})));
    bench.keys.insert(0, bench.scheme.key("another").unwrap());
    assert_eq!(bench.accepted(&signed("b")).key_index, Some(1));
    bench.keys.truncate(1);
    assert_eq!(bench.reason(&signed("b")), Reason::SignatureMismatch);
    bench.keys.clear();
    assert_eq!(bench.reason(&signed("b")), Reason::NoUsableSecret);
}

#[test]
fn what_is_left_unprotected_follows_from_the_description() {
    let weak = |more| Bench::custom(sender(more)).accepted(&signed_with(&[("x-id", "1")], "b")).weak;
    assert_eq!(weak(json!({})), [Weak::Time]);
    assert_eq!(weak(json!({"event": {"id": {"json": "/id"}}})), [Weak::Time]);
    assert_eq!(weak(json!({"event": {"id": {"header": "X-Id"}}})), [Weak::Id, Weak::Time]);
    assert_eq!(
        weak(json!({"event": {"id": {"first": [{"json": "/id"}, {"header": "X-Id"}]}}})),
        [Weak::Id, Weak::Time]
    );
}
