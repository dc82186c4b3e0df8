//! Provider by provider: what their entries let pass beside the vectors, and what they must not.

use restante_core::catalogue::DedupScope;
use restante_core::request::Request;
use restante_core::verify::{EventKey, Reason, Slice, Verdict, Weak};
use serde_json::json;
use sha2::Digest as _;

use crate::kit::{Bench, NOW, SECRET, base64, hmac_sha1, hmac_sha256, known, post};

fn github(headers: &[(&str, &str)], body: &str) -> Request {
    let signature = format!("sha256={}", hex::encode(hmac_sha256(SECRET, body)));
    let mut all = vec![("x-hub-signature-256", signature.as_str())];
    all.extend(headers);
    post(&all, body.to_owned())
}

#[test]
fn github_keys_by_its_delivery_within_the_endpoint() {
    let bench = Bench::new("github", json!({}), &[SECRET]);
    let item = bench.item(&github(&[("x-github-delivery", "d-1"), ("x-github-event", "push")], "{\"n\":1}"));
    assert_eq!((item.event_key, item.scope.as_str()), (known("d-1"), "ep_1"));
    assert_eq!(bench.scheme.default_dedup_scope(), DedupScope::Endpoint);
    assert_eq!(bench.scheme.body_bytes_max(), Some(26_214_400));
    assert_eq!(bench.item(&github(&[], "{}")).event_key, EventKey::Envelope);
    let accepted = bench.accepted(&github(&[("x-github-delivery", "d-1")], "{}"));
    assert_eq!(accepted.weak, [Weak::Id, Weak::Time]);
}

#[test]
fn github_reads_the_json_in_a_form_and_keeps_the_form() {
    let bench = Bench::new("github", json!({}), &[SECRET]);
    let body = "payload=%7B%22installation%22%3A%7B%22id%22%3A9007199254740993%7D%7D";
    let item = bench.item(&github(
        &[("x-github-delivery", "d"), ("content-type", "application/x-www-form-urlencoded")],
        body,
    ));
    assert_eq!(item.account.as_deref(), Some("9007199254740993"));
    assert_eq!(item.slice, Slice::Body(0..body.len()));
}

#[test]
fn shopify_falls_back_to_the_webhook_id_and_scopes_by_shop_and_topic() {
    let bench = Bench::new("shopify", json!({}), &[SECRET]);
    let signature = base64(hmac_sha256(SECRET, "{}"));
    let request = |more: &[(&str, &str)]| {
        let mut all = vec![
            ("x-shopify-hmac-sha256", signature.as_str()),
            ("x-shopify-shop-domain", "s.example"),
            ("x-shopify-topic", "orders/create"),
        ];
        all.extend(more);
        post(&all, "{}")
    };
    let both = bench.item(&request(&[("x-shopify-event-id", "e"), ("x-shopify-webhook-id", "w")]));
    let retry = bench.item(&request(&[("x-shopify-event-id", "e"), ("x-shopify-webhook-id", "w2")]));
    assert_eq!((&both.event_key, &both.scope), (&retry.event_key, &retry.scope));
    assert_eq!(bench.item(&request(&[("x-shopify-webhook-id", "w")])).event_key, known("w"));
    let mut other_topic = request(&[("x-shopify-event-id", "e")]);
    other_topic.headers.0[2].1 = "orders/paid".into();
    assert_ne!(bench.item(&other_topic).scope, both.scope);
    assert_eq!(bench.scheme.default_dedup_scope(), DedupScope::Account);
}

#[test]
fn a_family_of_headers_is_read_as_a_whole() {
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let key = {
        use base64::Engine as _;
        base64::engine::general_purpose::STANDARD.decode(&secret[6..]).unwrap()
    };
    let sign = |id: &str| {
        use hmac::{Hmac, KeyInit, Mac};
        let mut mac = Hmac::<sha2::Sha256>::new_from_slice(&key).unwrap();
        mac.update(format!("{id}.{NOW}.{{}}").as_bytes());
        format!("v1,{}", base64(mac.finalize().into_bytes()))
    };
    let time = NOW.to_string();
    let id_of = |provider: &str, headers: &[(&str, &str)]| match Bench::new(provider, json!({}), &[secret])
        .verdict(&post(headers, "{}"))
    {
        Verdict::Accept(accepted) => accepted.items[0].event_id.clone(),
        _ => None,
    };
    let (a, b) = (sign("a"), sign("b"));
    let both = [
        ("svix-id", "a"),
        ("svix-timestamp", &time),
        ("svix-signature", &a),
        ("webhook-id", "b"),
        ("webhook-timestamp", &time),
        ("webhook-signature", &b),
    ];
    assert_eq!(id_of("svix", &both).as_deref(), Some("a"));
    assert_eq!(id_of("standard-webhooks", &both).as_deref(), Some("b"));
    for provider in ["svix", "standard-webhooks"] {
        assert_eq!(id_of(provider, &both[..3]).as_deref(), Some("a"));
        assert_eq!(id_of(provider, &both[3..]).as_deref(), Some("b"));
        // The signature of one family with the id of the other says nothing.
        let mixed = [("svix-id", "a"), ("svix-timestamp", &*time), ("webhook-signature", &*a)];
        assert_eq!(id_of(provider, &mixed), None);
        let wrong_first = [
            ("webhook-id", "x"),
            ("webhook-timestamp", &*time),
            ("svix-signature", &*a),
            ("svix-id", "a"),
            ("svix-timestamp", &*time),
        ];
        let half_first = [
            ("webhook-signature", "v1,AAAA"),
            ("svix-signature", &*a),
            ("svix-id", "a"),
            ("svix-timestamp", &*time),
        ];
        assert_eq!(id_of(provider, &half_first).as_deref(), Some("a"), "the family that is all there");
        assert_eq!(id_of(provider, &wrong_first).as_deref(), Some("a"));
    }
}

fn slack(body: &str) -> Request {
    let signature = format!("v0={}", hex::encode(hmac_sha256(SECRET, format!("v0:{NOW}:{body}"))));
    post(
        &[("x-slack-signature", &signature), ("x-slack-request-timestamp", &NOW.to_string())],
        body.to_owned(),
    )
}

#[test]
fn slack_tells_its_kinds_of_requests_apart() {
    let bench = Bench::new("slack", json!({}), &[SECRET]);
    let button = "payload=%7B%22type%22%3A%22block_actions%22%2C%22trigger_id%22%3A%22t1%22%2C%22team%22%3A%7B%22id%22%3A%22T1%22%7D%7D";
    let item = bench.item(&slack(button));
    assert_eq!(
        (item.event_type.as_deref(), item.account.as_deref(), item.event_key),
        (Some("block_actions"), Some("T1"), known("t1"))
    );
    let command = bench.item(&slack("command=%2Fx&team_id=T1&trigger_id=t2"));
    assert_eq!((command.event_type.as_deref(), command.event_key), (Some("slash_command"), known("t2")));
    let limited = bench.item(&slack(
        r#"{"type":"app_rate_limited","team_id":"T1","api_app_id":"A1","minute_rate_limited":1518467820}"#,
    ));
    assert_eq!(limited.event_key, known("app_rate_limited\\:T1\\:A1\\:1518467820"));
    // What a person types into a message can't pass for a form field.
    let typed = bench.item(&slack(r#"{"type":"event_callback","event_id":"Ev1","event":{"type":"message","text":"&payload={}&command=x"}}"#));
    assert_eq!(
        (typed.event_key, typed.event_type.as_deref()),
        (known("Ev1"), Some("event_callback.message"))
    );
}

#[test]
fn slack_is_answered_only_when_it_signed() {
    let bench = Bench::new("slack", json!({}), &[SECRET]);
    let body = r#"{"type":"url_verification","challenge":"c-1"}"#;
    let Verdict::Challenge(answer) = bench.verdict(&slack(body)) else { panic!("a challenge") };
    assert_eq!((answer.reply.status, answer.reply.body.as_slice()), (200, &b"c-1"[..]));
    let mut forged = slack(body);
    forged.headers.0.remove(0);
    assert_eq!(bench.reason(&forged), Reason::MissingSignature);
    let Verdict::Challenge(look) = bench.verdict(&slack("ssl_check=1&token=x")) else { panic!("a look") };
    assert_eq!((look.reply.status, look.reply.body.len()), (200, 0));
    let long = format!(r#"{{"type":"url_verification","challenge":"{}"}}"#, "x".repeat(5_000));
    assert!(matches!(bench.verdict(&slack(&long)), Verdict::Accept(_)), "kept, never echoed");
    // Another provider's endpoint does not know the handshake.
    let github = Bench::new("github", json!({}), &[SECRET]);
    assert!(matches!(github.verdict(&self::github(&[("x-github-delivery", "d")], body)), Verdict::Accept(_)));
}

fn twilio(url: &str, query: Option<&str>, body: &str, fields: &str) -> Request {
    let signature = base64(hmac_sha1(SECRET, format!("{url}{fields}")));
    let mut request = post(&[("x-twilio-signature", &signature)], body.to_owned());
    request.query = query.map(str::to_owned);
    request
}

const URL: &str = "https://hooks.example.test/in/abc";

#[test]
fn twilio_signs_json_by_a_digest_in_the_url() {
    let bench = Bench::new("twilio", json!({}), &[SECRET]);
    let body = r#"{"MessageSid":"SM1","MessageStatus":"sent"}"#;
    let query = format!("bodySHA256={}", hex::encode(sha2::Sha256::digest(body)));
    let url = format!("{URL}?{query}");
    let right = twilio(&url, Some(&query), body, "");
    assert_eq!(bench.item(&right).event_id.as_deref(), Some("SM1"));
    let mut tampered = right.clone();
    tampered.body = r#"{"MessageSid":"SM2"}"#.into();
    assert_eq!(bench.reason(&tampered), Reason::BodyHashMismatch);
    // The content type is not signed, so it can't turn the digest off.
    tampered.headers.0.push(("content-type".into(), "application/x-www-form-urlencoded".into()));
    assert_eq!(bench.reason(&tampered), Reason::BodyHashMismatch);
    let unsigned_json = twilio(URL, None, body, "");
    assert_eq!(bench.reason(&unsigned_json), Reason::SignatureMismatch);
    assert_eq!(bench.reason(&twilio(URL, None, "&&", "")), Reason::SignatureMismatch);
}

#[test]
fn twilio_keys_messages_by_status_and_calls_by_more() {
    let bench = Bench::new("twilio", json!({}), &[SECRET]);
    let key = |body: &str| {
        let mut pairs: Vec<&str> = body.split('&').collect();
        pairs.sort_unstable();
        bench.item(&twilio(URL, None, body, &pairs.concat().replace('=', ""))).event_key
    };
    assert_eq!(key("MessageSid=SM1&MessageStatus=sent"), known("SM1:sent"));
    assert_ne!(key("MessageSid=SM1&MessageStatus=delivered"), key("MessageSid=SM1&MessageStatus=sent"));
    assert_eq!(key("MessageSid=SM1&SmsStatus=received"), known("SM1:received"));
    assert_ne!(
        key("CallSid=CA1&CallStatus=in-progress&Digits=1"),
        key("CallSid=CA1&CallStatus=in-progress&Digits=2")
    );
    assert_eq!(key("CallSid=CA1&CallStatus=ringing&SequenceNumber=0"), known("CA1:ringing:CA1:0"));
    assert_ne!(
        key("ConferenceSid=CF1&StatusCallbackEvent=participant-join&CallSid=CA1&SequenceNumber=1"),
        key("ConferenceSid=CF1&StatusCallbackEvent=participant-join&CallSid=CA2&SequenceNumber=1")
    );
}

#[test]
fn twilio_may_call_by_get() {
    let bench = Bench::new("twilio", json!({}), &[SECRET]);
    let query = "MessageSid=SM1&MessageStatus=sent&AccountSid=AC1";
    let mut request = twilio(&format!("{URL}?{query}"), Some(query), "", "");
    request.method = "GET".into();
    let item = bench.item(&request);
    assert_eq!((item.event_key, item.account.as_deref()), (known("SM1:sent"), Some("AC1")));
}

#[test]
fn twilio_algorithms_are_pinned_by_the_endpoint() {
    let name = "x-twilio-webhooks-signature-settings";
    let request = |settings: Option<&str>, sha256: bool| {
        let text = format!("{URL}A1");
        let signature =
            if sha256 { base64(hmac_sha256(SECRET, text)) } else { base64(hmac_sha1(SECRET, text)) };
        let mut headers = vec![("x-twilio-signature", signature.as_str())];
        headers.extend(settings.map(|value| (name, value)));
        post(&headers, "A=1")
    };
    let free = Bench::new("twilio", json!({}), &[SECRET]);
    let pinned = Bench::new("twilio", json!({"allowed_algorithms": ["HMAC_SHA256"]}), &[SECRET]);
    let sha256 = Some("key=k,algorithm=HMAC_SHA256");
    for bench in [&free, &pinned] {
        assert!(matches!(bench.verdict(&request(sha256, true)), Verdict::Accept(_)));
        assert!(!matches!(bench.verdict(&request(sha256, false)), Verdict::Accept(_)));
        for unknown in ["key=k,algorithm=HMAC_MD5", "key=k", "algorithm="] {
            assert_eq!(bench.reason(&request(Some(unknown), true)), Reason::AlgorithmNotAllowed, "{unknown}");
        }
    }
    assert!(matches!(free.verdict(&request(None, false)), Verdict::Accept(_)));
    assert_eq!(
        pinned.reason(&request(None, false)),
        Reason::AlgorithmNotAllowed,
        "leaving the header out is no way around"
    );
}

fn whatsapp(body: &str) -> Request {
    let signature = format!("sha256={}", hex::encode(hmac_sha256(SECRET, body)));
    post(&[("x-hub-signature-256", &signature)], body.to_owned())
}

#[test]
fn whatsapp_makes_an_event_of_each_message_status_and_other_change() {
    let bench = Bench::new("whatsapp", json!({}), &[SECRET]);
    let body = r#"{"entry":[{"changes":[
        {"value":{"messages":[{"id":"m1"}],"statuses":[{"id":"m0","status":"sent"},{"id":"m0","status":"read"}]},"field":"messages"},
        {"value":{"event":"APPROVED"},"field":"message_template_status_update"}],"id":"W1","time":5},
        {"id":"W2","changes":[]}],"object":"whatsapp_business_account"}"#;
    let accepted = bench.accepted(&whatsapp(body));
    let found: Vec<(Option<&str>, Option<&str>, Option<&str>)> = accepted
        .items
        .iter()
        .map(|item| (item.event_id.as_deref(), item.event_type.as_deref(), item.account.as_deref()))
        .collect();
    assert_eq!(
        found,
        [
            (Some("m1"), Some("messages"), Some("W1")),
            (Some("m0"), Some("messages"), Some("W1")),
            (Some("m0"), Some("messages"), Some("W1")),
            (None, Some("message_template_status_update"), Some("W1")),
            (None, None, Some("W2")),
        ]
    );
    assert_eq!(accepted.items[1].event_key, known("m0:sent"));
    assert_eq!(accepted.items[2].event_key, known("m0:read"));
    assert!(accepted.items.iter().all(|item| matches!(item.event_key, EventKey::Known(_))));
    let Slice::Body(range) = &accepted.items[3].slice else { panic!("a slice of the body") };
    assert!(body[range.clone()].starts_with("{\"value\":{\"event\"") && body[range.clone()].ends_with('}'));
    let empty = bench.accepted(&whatsapp(r#"{"object":"whatsapp_business_account","entry":[]}"#));
    assert!(empty.batch && empty.items.is_empty());
}

#[test]
fn whatsapp_keeps_what_else_the_app_is_sent() {
    let bench = Bench::new("whatsapp", json!({}), &[SECRET]);
    let body = r#"{"object":"page","entry":[{"id":"1","changes":[]}]}"#;
    let item = bench.item(&whatsapp(body));
    assert_eq!((item.event_type.as_deref(), item.slice), (Some("page"), Slice::Body(0..body.len())));
    assert!(matches!(item.event_key, EventKey::Known(_)));
    assert_eq!(
        bench.item(&whatsapp("broken")).event_key,
        known(&hex::encode(sha2::Sha256::digest("broken")))
    );
}

#[test]
fn whatsapp_is_answered_for_its_token_alone() {
    let ask = |options: serde_json::Value, query: &str| {
        let bench = Bench::new("whatsapp", options, &[SECRET]);
        let request = Request { method: "GET".into(), query: Some(query.into()), ..Request::default() };
        bench.verdict(&request)
    };
    let set = json!({"verify_token": "t+1"});
    let right = "hub.mode=subscribe&hub.verify_token=t%2B1&hub.challenge=42";
    let Verdict::Challenge(answer) = ask(set.clone(), right) else { panic!("a challenge") };
    assert_eq!(answer.reply.body, b"42");
    assert!(answer.reply.headers.contains(&("content-type".into(), "text/plain".into())));
    for query in [
        "hub.mode=subscribe&hub.verify_token=other&hub.challenge=42",
        "hub.mode=subscribe&hub.challenge=42",
        "hub.mode=subscribe&hub.verify_token=t%2B1&hub.verify_token=x&hub.challenge=42",
    ] {
        let Verdict::Reject(refused) = ask(set.clone(), query) else { panic!("{query}") };
        assert_eq!((refused.reason, refused.status), (Reason::VerifyTokenMismatch, 403), "{query}");
    }
    let Verdict::Reject(refused) = ask(json!({}), right) else { panic!("no token is set") };
    assert_eq!(refused.reason, Reason::VerifyTokenMismatch);
    for query in [
        "",
        "hub.mode=unsubscribe&hub.verify_token=t%2B1&hub.challenge=42",
        "hub.mode=subscribe&hub.verify_token=t%2B1",
    ] {
        let Verdict::Reject(refused) = ask(set.clone(), query) else { panic!("{query}") };
        assert_eq!(refused.status, 405, "{query}");
    }
    assert_eq!(Bench::new("whatsapp", set, &[SECRET]).scheme.provider().secret_options, ["verify_token"]);
}

#[test]
fn stripe_never_falls_back_to_v0_and_keeps_the_facts_of_both_kinds() {
    let bench = Bench::new("stripe", json!({}), &["whsec_x"]);
    let body = r#"{"id":"evt_1","type":"t","created":1700000000,"livemode":true,"api_version":"v","account":"acct_1"}"#;
    let right = hex::encode(hmac_sha256("whsec_x", format!("{NOW}.{body}")));
    let request = |value: String| post(&[("stripe-signature", &value)], body);
    let item = bench.item(&request(format!("t={NOW},v1={right}")));
    assert_eq!(
        (item.livemode, item.api_version.as_deref(), item.scope.as_str()),
        (Some(true), Some("v"), "")
    );
    assert_eq!(item.occurred_at.map(|at| at.seconds()), Some(1_700_000_000));
    assert_eq!(bench.reason(&request(format!("t={NOW},v0={right}"))), Reason::SignatureMismatch);
    assert_eq!(bench.reason(&request(format!("v1={right}"))), Reason::TimestampMissing);
    assert_eq!(bench.reason(&request(String::new())), Reason::MissingSignature);
}
