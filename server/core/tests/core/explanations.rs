//! The sentences for the tenant: the likely cause is named when trying it fits, and never what was expected.

use restante_core::request::Request;
use restante_core::verify::Reason;
use serde_json::json;

use crate::kit::{Bench, SECRET, base64, hmac_sha1, hmac_sha256, post, sender};

/// The explanation of a request whose signature was made over other bytes than it carries.
fn over(signed: &[u8], body: &str) -> String {
    let signature = format!("sha256={}", hex::encode(hmac_sha256(SECRET, signed)));
    explained(&Bench::custom(sender(json!({}))), &post(&[("x-sig", &signature)], body.to_owned()))
}

fn explained(bench: &Bench, request: &Request) -> String {
    let refused = bench.refused(request);
    assert!(refused.explanation.ends_with('.'), "a sentence: {}", refused.explanation);
    assert!(!refused.explanation.contains(SECRET));
    refused.explanation
}

#[test]
fn what_happened_to_the_body_is_found_by_trying() {
    let pretty = "{\n  \"a\": 1,\n  \"b\": [\n    true\n  ]\n}";
    for (signed, body, told) in [
        ("{}\n", "{}", "line break is added"),
        ("{}\r\n", "{}", "CR LF is added"),
        ("{}", "{}\n", "without the white space at the end"),
        ("", "{}", "an empty body"),
        ("{\n}", "{\r\n}", "CR LF in the body is LF"),
        (pretty, r#"{"a":1,"b":[true]}"#, "other white space"),
        (r#"{"a":1,"b":[true]}"#, pretty, "other white space"),
        (r#"{"a": 1, "b": [true]}"#, r#"{"a":1,"b":[true]}"#, "other white space"),
    ] {
        let text = over(signed.as_bytes(), body);
        assert!(text.contains(told), "{signed} {body}: {text}");
    }
    assert!(over(b"something else", "{}").contains("No usual cause fits"));
}

#[test]
fn the_secret_of_another_scheme_is_recognised() {
    let whsec = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let standard = Bench::new("standard-webhooks", json!({}), &[whsec]);
    let request = |key: &str| {
        let signature = format!("v1,{}", base64(hmac_sha256(key, "m.1780000000.{}")));
        post(
            &[("webhook-id", "m"), ("webhook-timestamp", "1780000000"), ("webhook-signature", &signature)],
            "{}",
        )
    };
    assert!(explained(&standard, &request(whsec)).contains("used whole, as text"));
    assert!(explained(&standard, &request(&whsec[6..])).contains("without its prefix"));
    let github = Bench::new("github", json!({}), &["6d7920736563726574"]);
    let signature = format!("sha256={}", hex::encode(hmac_sha256("my secret", "{}")));
    let text = explained(&github, &post(&[("x-hub-signature-256", &signature)], "{}"));
    assert!(text.contains("decoded from hex"), "{text}");
}

#[test]
fn an_url_that_differs_is_named() {
    let verify = json!({"algorithm": "hmac-sha256", "header": "X-Sig", "signed": "{url}{body}"});
    let bench = Bench::custom(verify);
    for (signed, told) in [
        ("http://hooks.example.test/in/abc?b=1&a=2", "http for https"),
        ("https://hooks.example.test/in/abc/?b=1&a=2", "slash at the end"),
        ("https://hooks.example.test/in/abc?a=2&b=1", "another order"),
        ("https://hooks.example.test/in/abc", "without its query"),
        ("https://hooks.example.test:443/in/abc?b=1&a=2", "port"),
        ("https://elsewhere.example/", "to the letter"),
    ] {
        let signature = hex::encode(hmac_sha256(SECRET, format!("{signed}b")));
        let mut request = post(&[("x-sig", &signature)], "b");
        request.query = Some("b=1&a=2".into());
        let text = explained(&bench, &request);
        assert!(text.contains(told), "{signed}: {text}");
        assert!(
            text.contains("https://hooks.example.test/in/abc?b=1&a=2"),
            "the URL that was used is named: {text}"
        );
    }
}

#[test]
fn another_signed_text_is_recognised() {
    let verify = json!({"algorithm": "hmac-sha256", "header": "X-Sig", "signed": "{timestamp}.{body}", "timestamp": {"header": "X-Time"}});
    let bench = Bench::custom(verify);
    for (signed, told) in [
        ("b", "signed text is {body}"),
        ("1780000000b", "{timestamp}{body}"),
        ("1780000000:b", "{timestamp}:{body}"),
    ] {
        let signature = hex::encode(hmac_sha256(SECRET, signed));
        let text = explained(&bench, &post(&[("x-sig", &signature), ("x-time", "1780000000")], "b"));
        assert!(text.contains(told), "{signed}: {text}");
    }
}

#[test]
fn a_malformed_signature_is_told_by_what_it_is() {
    let bench = Bench::custom(sender(json!({})));
    let right = hmac_sha256(SECRET, "b");
    for (value, told) in [
        (format!("sha256={}", base64(&right)), "written in base64"),
        (format!("sha256={}", hex::encode(hmac_sha1(SECRET, "b"))), "hmac-sha1"),
        (format!("sha256={}", &hex::encode(&right)[..40]), "hmac-sha1"),
        (format!("sha256={}", &hex::encode(&right)[..50]), "25 bytes"),
        ("sha256=zz".into(), "is not hex"),
        ("sha256=".into(), "0 bytes"),
        (hex::encode(&right), "begins with sha256="),
    ] {
        let refused = bench.refused(&post(&[("x-sig", &value)], "b"));
        assert_eq!(refused.reason, Reason::MalformedSignature, "{value}");
        assert!(refused.explanation.contains(told), "{value}: {}", refused.explanation);
    }
}

#[test]
fn odd_headers_are_refused_and_never_shown_raw() {
    let bench = Bench::custom(sender(json!({})));
    for value in [&b"sha256=\xe9"[..], &[b'a'; 1_025], b"\x01\x02", "sha256=é".as_bytes()] {
        let mut request = post(&[("x-sig", "")], "b");
        request.headers.0[0].1 = bytes::Bytes::from(value.to_vec());
        let refused = bench.refused(&request);
        assert_eq!(refused.reason, Reason::MalformedSignature);
        assert!(refused.explanation.chars().all(|c| !c.is_control()) && refused.explanation.len() < 400);
    }
}

#[test]
fn no_sentence_holds_the_expected_signature() {
    let right = hmac_sha256(SECRET, "b");
    let wrong = format!("sha256={}", "0".repeat(64));
    for secret in [SECRET, "other"] {
        let bench = Bench::new("custom", json!({"verify": sender(json!({}))}), &[secret]);
        let text = explained(&bench, &post(&[("x-sig", &wrong)], "b"));
        assert!(!text.contains(&hex::encode(&right)) && !text.contains(&base64(&right)));
    }
}

#[test]
fn a_large_body_costs_no_search() {
    let body = "x".repeat(8 << 20);
    let bench = Bench { body_bytes_max: 16 << 20, ..Bench::custom(sender(json!({}))) };
    let text = explained(&bench, &post(&[("x-sig", &format!("sha256={}", "0".repeat(64)))], body));
    assert!(text.contains("No usual cause fits"));
}
