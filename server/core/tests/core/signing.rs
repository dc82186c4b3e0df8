//! What Restante signs as a provider, it accepts as that provider's.

use restante_core::catalogue::Catalogue;
use restante_core::time::Timestamp;
use restante_core::verify::{EventKey, SignRequest, Verdict, identify_unverified, sample, sign};
use serde_json::{Value, json};

use crate::kit::{Bench, NOW, SECRET};

const HMAC: [&str; 8] =
    ["github", "shopify", "slack", "standard-webhooks", "stripe", "svix", "twilio", "whatsapp"];

fn secret(provider: &str) -> &'static str {
    match provider {
        "standard-webhooks" | "svix" => "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        _ => SECRET,
    }
}

fn ask<'a>(sample: Option<&'a str>) -> SignRequest<'a> {
    SignRequest {
        body: None,
        sample,
        id: Some("id-\"1\" &+"),
        event_type: None,
        at: Timestamp::from_seconds(NOW),
    }
}

#[test]
fn every_sample_of_every_provider_passes_as_its_own() {
    for name in HMAC {
        let bench = Bench::new(name, json!({}), &[secret(name)]);
        for sample in bench.scheme.provider().sample_names() {
            let request = sign(&bench.endpoint(), &ask(Some(sample))).unwrap().into_request();
            let accepted = match bench.verdict(&request) {
                Verdict::Accept(accepted) => accepted,
                other => panic!("{name}, {sample}: {other:?}"),
            };
            assert!(!accepted.items.is_empty());
            let item = &accepted.items[0];
            assert_eq!(item.event_id.as_deref(), Some("id-\"1\" &+"), "{name}, {sample}");
            assert!(
                matches!(item.event_key, EventKey::Known(_)) && item.event_type.is_some(),
                "{name}, {sample}"
            );
        }
    }
}

#[test]
fn a_body_of_your_own_is_signed_byte_for_byte() {
    for name in HMAC {
        let bench = Bench::new(name, json!({}), &[secret(name)]);
        let body = b"{\"id\" : \"mine\", \"type\":\"t\"}\r\n";
        let request = sign(&bench.endpoint(), &SignRequest { body: Some(body), ..ask(None) }).unwrap();
        assert_eq!(request.body, body);
        assert!(matches!(bench.verdict(&request.into_request()), Verdict::Accept(_)), "{name}");
    }
}

#[test]
fn a_described_sender_gets_a_sample_that_its_sources_read() {
    let event = json!({"id": {"json": "/data/id"}, "type": {"first": [{"header": "X-Type"}, {"json": "/t"}]},
        "account": {"join": [{"json": "/data/a"}, {"json": "/data/b"}]}, "occurred_at": {"json": "/at", "unit": "rfc3339"}});
    for verify in [
        json!({"algorithm": "hmac-sha512", "header": "X-Sig", "event": event}),
        json!({"algorithm": "hmac-sha1", "header": "X-Sig", "encoding": "base64", "prefix": "v=", "separator": ";", "event": event,
            "signed": "{method}{url}{header:X-Nonce}{timestamp}{body}", "timestamp": {"entry": "ts=", "unit": "ms"}}),
        json!({"algorithm": "hmac-sha256", "header": "X-Sig", "event": event, "timestamp": {"json": "/sent_at"}}),
        json!({"algorithm": "hmac-sha256", "header": "X-Sig", "event": event, "batch": "/a/b", "timestamp": {"header": "X-T", "unit": "rfc3339"}, "signed": "{timestamp}{body}"}),
        json!({"algorithm": "token", "header": "X-Token", "prefix": "Bearer ", "event": event}),
        json!({"algorithm": "hmac-sha256", "header": "X-Sig", "methods": ["PUT"], "event": event}),
    ] {
        let bench = Bench::custom(verify.clone());
        let request = sign(&bench.endpoint(), &ask(None)).unwrap().into_request();
        let item = bench.item(&request);
        assert_eq!(item.event_id.as_deref(), Some("id-\"1\" &+"), "{verify}");
        assert!(
            item.event_type.is_some() && item.account.is_some() && item.occurred_at.is_some(),
            "{verify}"
        );
    }
    let basic = Bench::new("custom", json!({"verify": {"algorithm": "basic"}}), &["u:p"]);
    let request = sign(&basic.endpoint(), &ask(None)).unwrap().into_request();
    assert!(matches!(basic.verdict(&request), Verdict::Accept(_)));
}

#[test]
fn an_algorithm_that_the_endpoint_insists_on_is_used() {
    let bench = Bench::new("twilio", json!({"allowed_algorithms": ["HMAC_SHA256"]}), &[SECRET]);
    let request = sign(&bench.endpoint(), &ask(None)).unwrap().into_request();
    assert!(request.headers.first("x-twilio-webhooks-signature-settings").is_some());
    assert!(matches!(bench.verdict(&request), Verdict::Accept(_)));
}

#[test]
fn a_public_key_signs_nothing_and_the_sample_enters_behind_verification() {
    let key = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqaediUlp2MEgQVOEnlcL43/C18Ad9xUh+KLojMtoLfBoTBb/TVGCtkvRXXB54h58ErdJMD66U0o+5F2mSWm+vA==";
    let bench = Bench::new("sendgrid", json!({}), &[key]);
    let refused = sign(&bench.endpoint(), &ask(None)).unwrap_err();
    assert!(refused.contains("public"), "{refused}");
    let request = sample(&bench.endpoint(), &ask(None)).unwrap().into_request();
    assert!(matches!(bench.verdict(&request), Verdict::Reject(_)));
    let accepted = identify_unverified(&bench.endpoint(), &request);
    assert!(accepted.batch && accepted.items.len() == 2);
}

#[test]
fn what_is_missing_is_said() {
    let bench = Bench::new("stripe", json!({}), &[]);
    assert!(sign(&bench.endpoint(), &ask(None)).unwrap_err().contains("no secret"));
    let bench = Bench::new("stripe", json!({}), &[SECRET]);
    assert!(sign(&bench.endpoint(), &ask(Some("nonsense"))).unwrap_err().contains("nonsense"));
}

#[test]
fn the_printed_catalogue_says_what_to_paste_where() {
    for provider in Catalogue::builtin().all() {
        let told: Value = provider.summary();
        for field in
            ["name", "title", "setup", "secret", "verification", "event_id", "windows_source", "certainty"]
        {
            assert!(!told[field].is_null(), "{} {field}", provider.slug);
        }
    }
    let stripe = Catalogue::builtin().get("stripe").unwrap().summary();
    assert_eq!(stripe["event_id"], json!(["body /id"]));
    assert_eq!(stripe["verification"][0]["header"], "stripe-signature");
    assert_eq!(stripe["retry_seconds"], 259_200);
}
