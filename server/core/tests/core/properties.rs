//! What no input may do: make verification, identification, signing or a description panic, or pass unsigned.

use std::sync::LazyLock;

use bytes::Bytes;
use proptest::prelude::*;
use restante_core::catalogue::{Catalogue, Scheme};
use restante_core::request::{HeaderList, Request};
use restante_core::time::Timestamp;
use restante_core::verify::{SignRequest, Slice, Verdict, sign, verdict_line};
use serde_json::{Value, json};

use crate::kit::{Bench, SECRET, hmac_sha256, post, sender};

/// An endpoint of every provider, and some that people described.
static BENCHES: LazyLock<Vec<Bench>> = LazyLock::new(|| {
    let public = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqaediUlp2MEgQVOEnlcL43/C18Ad9xUh+KLojMtoLfBoTBb/TVGCtkvRXXB54h58ErdJMD66U0o+5F2mSWm+vA==";
    let mut benches: Vec<Bench> = Catalogue::builtin()
        .all()
        .filter(|provider| provider.slug != "custom")
        .map(|provider| {
            let secret = match provider.slug.as_str() {
                "standard-webhooks" | "svix" => "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                "sendgrid" => public,
                _ => SECRET,
            };
            Bench::new(&provider.slug, json!({}), &[secret])
        })
        .collect();
    let event = json!({"id": {"first": [{"json": "/id"}, {"header": "x-id"}]}, "type": {"json": "/a/0/b"}, "occurred_at": {"json": "/t", "unit": "rfc3339"}});
    for more in [
        json!({"event": event, "batch": ""}),
        json!({"event": event, "batch": "/a", "compressed_body": "decoded"}),
        json!({"event": event, "separator": " ", "timestamp": {"entry": "t="}, "signed": "{timestamp}{method}{url}{body}"}),
        json!({"event": event, "timestamp": {"json": "/t", "unit": "ms"}}),
    ] {
        benches.push(Bench::custom(sender(more)));
    }
    benches.push(Bench::custom(
        json!({"algorithm": "token", "header": "Authorization", "prefix": "Bearer ", "separator": ","}),
    ));
    benches.push(Bench::new("custom", json!({"verify": {"algorithm": "basic"}}), &["u:p"]));
    benches
});

/// Every header that some scheme reads.
fn header_names() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "x-sig",
        "x-id",
        "authorization",
        "content-encoding",
        "content-type",
        "stripe-signature",
        "x-hub-signature-256",
        "x-github-delivery",
        "x-github-event",
        "x-shopify-hmac-sha256",
        "shopify-hmac-sha256",
        "x-shopify-event-id",
        "x-slack-signature",
        "x-slack-request-timestamp",
        "webhook-id",
        "webhook-timestamp",
        "webhook-signature",
        "svix-id",
        "svix-timestamp",
        "svix-signature",
        "x-twilio-signature",
        "x-twilio-webhooks-signature-settings",
        "x-twilio-email-event-webhook-signature",
        "x-twilio-email-event-webhook-timestamp",
    ])
    .prop_map(str::to_owned)
}

fn header_values() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..80),
        prop::string::string_regex(
            "(t=[0-9+-]{0,14},)?(v1|v1a|v0|sha256)[=,][0-9a-fA-F+/=]{0,90}( v1,[A-Za-z0-9+/=]{44})?"
        )
        .unwrap()
        .prop_map(String::into_bytes),
        prop::string::string_regex("[0-9]{0,16}").unwrap().prop_map(String::into_bytes),
        prop::sample::select(vec![
            "gzip",
            "deflate",
            "identity",
            "br",
            "Basic dTpw",
            "Bearer x",
            "key=a,algorithm=HMAC_SHA256"
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
    ]
}

/// Bytes that are often nearly JSON or nearly a form.
fn bodies() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        prop::string::string_regex(r#"[\[\]{}":,0-9a-f\\ute\. \-+\n]{0,120}"#)
            .unwrap()
            .prop_map(String::into_bytes),
        prop::string::string_regex(
            "([a-zA-Z]{0,8}(=[%+0-9a-zA-Z]{0,9})?&){0,9}payload=[%+0-9a-zA-Z{}]{0,20}"
        )
        .unwrap()
        .prop_map(String::into_bytes),
        documents().prop_map(|value| value.to_string().into_bytes()),
    ]
}

fn documents() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        let names = prop::sample::select(vec![
            "id", "a", "b", "t", "type", "entry", "changes", "value", "messages", "object", "0",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((names, inner), 0..5).prop_map(|members| members
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect()),
        ]
    })
}

prop_compose! {
    fn requests()(
        method in prop::sample::select(vec!["POST", "GET", "HEAD", "PUT", "", "\u{e9}"]),
        query in prop::option::of("[a-zA-Z0-9.=&%+_]{0,60}"),
        headers in prop::collection::vec((header_names(), header_values()), 0..8),
        body in bodies(),
    ) -> Request {
        let headers = headers.into_iter().map(|(name, value)| (name, Bytes::from(value))).collect();
        Request { method: method.into(), query, headers: HeaderList(headers), body: body.into() }
    }
}

/// Whether every slice lies within its bytes.
fn slices_fit(bench: &Bench, request: &Request) -> bool {
    let Verdict::Accept(accepted) = bench.verdict(request) else { return true };
    let decoded = accepted.decoded.as_deref().unwrap_or_default();
    accepted.items.iter().all(|item| match &item.slice {
        Slice::Body(range) => request.body.get(range.clone()).is_some(),
        Slice::Decoded(range) => decoded.get(range.clone()).is_some(),
    })
}

proptest! {
    // More with PROPTEST_CASES. A failing case is printed, so no file of seeds is kept.
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(400), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_request_panics_and_none_passes_by_chance(request in requests(), now in any::<i64>()) {
        for bench in BENCHES.iter() {
            let verdict = bench.verdict_at(&request, now);
            if let Verdict::Reject(rejection) = &verdict {
                prop_assert!(!rejection.explanation.contains(SECRET));
                prop_assert!((400..500).contains(&rejection.status));
            }
            // Nothing here was signed, so only a token or basic credential that was guessed could pass.
            let credential = !bench.scheme.credential_headers().is_empty();
            prop_assert!(credential || !matches!(verdict, Verdict::Accept(_)));
        }
    }

    #[test]
    fn no_signed_body_panics_and_every_slice_fits(body in bodies()) {
        let signature = format!("sha256={}", hex::encode(hmac_sha256(SECRET, &body)));
        let request = post(
            &[("x-sig", &signature), ("x-hub-signature-256", &signature), ("x-github-delivery", "d")],
            body,
        );
        for bench in BENCHES.iter() {
            prop_assert!(slices_fit(bench, &request));
        }
    }

    #[test]
    fn an_id_reads_as_it_was_written(id in any::<String>(), number in any::<i128>()) {
        prop_assume!(!id.is_empty());
        let bench = Bench::custom(sender(json!({"event": {"id": {"json": "/x/1"}}})));
        let body = json!({"x": [0, id.as_str()]}).to_string();
        let item = bench.item(&crate::kit::signed(&body));
        prop_assert_eq!(item.event_id, Some(id.replace('\0', "\\u0000")));
        let body = format!(r#"{{"x":[0,{number}]}}"#);
        let item = bench.item(&crate::kit::signed(&body));
        prop_assert_eq!(item.event_id, Some(number.to_string()));
    }

    #[test]
    fn no_description_panics_and_what_compiles_can_sign_itself(verify in descriptions()) {
        let provider = Catalogue::builtin().get("custom").unwrap();
        let options = json!({ "verify": verify });
        if let Ok(scheme) = Scheme::compile(provider, options.as_object().unwrap()) {
            let _ = scheme.check_secret("user:password");
            let keys = scheme.key("user:password").into_iter().collect();
            let bench = Bench { scheme, keys, scope: None, endpoint_id: "ep_1", body_bytes_max: 1 << 20 };
            let at = Timestamp::from_seconds(crate::kit::NOW);
            let asked = SignRequest { body: None, sample: None, id: Some("i"), event_type: Some("t"), at };
            if let Ok(made) = sign(&bench.endpoint(), &asked) {
                let request = made.into_request();
                let verdict = bench.verdict(&request);
                prop_assert!(matches!(verdict, Verdict::Accept(_)), "{} {:?}", options, verdict);
            }
        }
    }

    #[test]
    fn no_options_panic(options in documents(), secret in any::<String>()) {
        for provider in Catalogue::builtin().all() {
            let Value::Object(map) = &options else { continue };
            if let Ok(scheme) = Scheme::compile(provider, map) {
                let _ = scheme.check_secret(&secret);
                let _ = scheme.key(&secret);
            }
        }
    }

    #[test]
    fn no_line_panics_and_each_has_an_answer(line in any::<String>(), document in documents()) {
        for input in [line, document.to_string(), json!({"provider": "stripe", "at": 1, "extra": document}).to_string()] {
            let answer: Value = serde_json::from_str(&verdict_line(&input)).unwrap();
            prop_assert!(answer["verdict"].is_string());
        }
    }
}

fn sources() -> impl Strategy<Value = Value> {
    let leaf = prop::sample::select(vec![
        json!({"json": "/id"}),
        json!({"json": "/a/b"}),
        json!({"json": ""}),
        json!({"header": "X-Id"}),
        json!({"digest": "body"}),
        json!({"json": "x"}),
        json!({"header": "a b"}),
        json!(null),
        json!(7),
    ]);
    leaf.prop_recursive(3, 10, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(|parts| json!({ "join": parts })),
            prop::collection::vec(inner, 0..3).prop_map(|parts| json!({ "first": parts })),
        ]
    })
}

/// Descriptions, most of them right.
fn descriptions() -> impl Strategy<Value = Value> {
    let pick = |values: Vec<Value>| prop::sample::select(values);
    (
        pick(vec![json!("hmac-sha1"), json!("hmac-sha256"), json!("hmac-sha512"), json!("token"), json!("basic"), json!("x")]),
        pick(vec![json!(null), json!(","), json!(" "), json!("; ")]),
        pick(vec![json!(""), json!("v1="), json!("v1,"), json!("Bearer ")]),
        pick(vec![json!("hex"), json!("base64")]),
        pick(vec![json!("{body}"), json!("{timestamp}.{body}"), json!("{url}{body}{method}"), json!("{header:X-N}{timestamp}"), json!("{")]),
        pick(vec![json!(null), json!({"header": "X-T"}), json!({"entry": "t="}), json!({"json": "/t", "unit": "ms"})]),
        (sources(), sources(), pick(vec![json!(null), json!(""), json!("/a"), json!("/a/b")])),
        pick(vec![json!("utf8"), json!("hex"), json!("base64"), json!("pem")]),
    )
        .prop_map(|(algorithm, separator, prefix, encoding, signed, timestamp, (id, kind, batch), secret)| {
            json!({"algorithm": algorithm, "header": "X-Sig", "separator": separator, "prefix": prefix, "encoding": encoding,
                "signed": signed, "timestamp": timestamp, "event": {"id": id, "type": kind}, "batch": batch, "secret_encoding": secret})
        })
}
