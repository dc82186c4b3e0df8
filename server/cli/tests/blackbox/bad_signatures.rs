//! Deliveries that are not authentic, and endpoints that take nothing: a general word is the answer,
//! and nothing of them becomes an event.

use bytes::Bytes;
use http::{HeaderValue, Request};
use http_body_util::Full;
use serde_json::json;

use crate::support::raw::{exchange, statuses};
use crate::support::{Answer, Api, Place, Sender, Server, send};

struct Bench {
    server: Server,
    api: Api,
}

impl Bench {
    async fn on(place: &Place) -> Self {
        let server = Server::start(place).await;
        let api = server.tenant(place, "acme");
        Self { server, api }
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Answer {
        send(self.server.address(), request).await.expect("an answer")
    }

    /// Sends a signed event with another value in a header.
    async fn with(&self, sender: &Sender, header: &str, value: &str) -> Answer {
        let mut request = sender.request(&sender.signed("evt_1", None));
        request.headers_mut().insert(
            http::HeaderName::try_from(header).expect("a name"),
            HeaderValue::from_str(value).expect("a value"),
        );
        self.send(request).await
    }

    async fn holds_nothing_and_is_well(&self, sender: &Sender) {
        assert!(self.api.events().await.is_empty());
        let answer =
            sender.send(self.server.address(), &sender.signed("evt_well", None)).await.expect("an answer");
        assert_eq!(answer.expect(200)["status"], "accepted");
    }
}

both_databases!(a_signature_that_is_none_is_401_and_never_a_fault, |place| async {
    let bench = Bench::on(&place).await;
    let sender = bench.api.endpoint("github").await;
    let right = sender.signed("evt_1", None);
    let name = "x-hub-signature-256";
    let value =
        right.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name)).expect("a signature");
    let digits = value.1.strip_prefix("sha256=").expect("a prefix");
    let mut answers = Vec::new();
    for wrong in [
        format!("sha256={}", &digits[..63]),
        format!("sha256={digits}0"),
        format!("sha256={}", "zz".repeat(32)),
        "sha256=".to_owned(),
        "sha256".to_owned(),
        String::new(),
        digits.to_owned(),
        format!("sha1={digits}"),
        format!("sha256={}", "0".repeat(64)),
        format!("sha256={}", digits.repeat(16)),
    ] {
        answers.push(bench.with(&sender, name, &wrong).await);
    }
    let mut missing = sender.request(&right);
    missing.headers_mut().remove(name);
    answers.push(bench.send(missing).await);
    // One word for all of them: a sender learns nothing of what was expected.
    for answer in answers {
        assert_eq!(answer.expect(401)["reason"], "signature");
        let said = String::from_utf8_lossy(&answer.body);
        assert!(!said.contains(digits) && said.len() < 400, "{said}");
    }
    bench.holds_nothing_and_is_well(&sender).await;
});

both_databases!(a_stripe_header_is_read_strictly, |place| async {
    let bench = Bench::on(&place).await;
    let sender = bench.api.endpoint("stripe").await;
    let right = sender.signed("evt_1", None);
    let value =
        &right.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("stripe-signature")).expect("one").1;
    let (time, signature) = value.split_once(",v1=").expect("a time and a signature");
    let seconds: i64 = time.strip_prefix("t=").expect("a time").parse().expect("a number");
    for wrong in [
        format!("{time},v0={signature},v1={}", "0".repeat(64)),
        format!("{time},t={},v1={signature}", seconds - 1_000),
        format!("t={},{time},v1={signature}", seconds - 1_000),
        format!("v1={signature}"),
        format!("{time}{}", ",v1=00".repeat(150)),
        format!("{time}{},v1={signature}", format!(",v1={}", "0".repeat(64)).repeat(20)),
    ] {
        let answer = bench.with(&sender, "stripe-signature", &wrong).await;
        assert_eq!(answer.status, 401, "{wrong}: {answer:?}");
    }
    // Five thousand signatures are more than any head may hold.
    let mut endless = format!("POST {} HTTP/1.1\r\nHost: a\r\nStripe-Signature: {time}", sender.path());
    endless.push_str(&",v1=00000000".repeat(5_000));
    endless.push_str("\r\nContent-Length: 2\r\n\r\n{}");
    assert_eq!(statuses(&exchange(bench.server.address(), endless.as_bytes()).await), [431]);
    bench.holds_nothing_and_is_well(&sender).await;
});

both_databases!(what_leads_to_no_endpoint_is_404_and_stores_nothing, |place| async {
    let bench = Bench::on(&place).await;
    let sender = bench.api.endpoint("github").await;
    let signed = sender.signed("evt_1", None);
    let (path, token) = (sender.path(), sender.path().rsplit('/').next().expect("a token"));
    let swapped: String = token
        .chars()
        .map(|c| if c.is_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() })
        .collect();
    for other in [
        format!("/in/{}", "A".repeat(token.len())),
        format!("/in/{swapped}"),
        format!("{path}x"),
        format!("{path}%00"),
        format!("{path}/../../healthz"),
        format!("{path}/."),
        format!("/{path}"),
        format!("{path}//"),
        format!("/in/%2e/{token}"),
        format!("/v1/../in/{token}"),
        "/in/".to_owned(),
        "/in".to_owned(),
    ] {
        let text = String::from_utf8(sender.bytes(&signed)).expect("text");
        let text = text.replacen(path, &other, 1).replacen("\r\n", "\r\nConnection: close\r\n", 1);
        let said = exchange(bench.server.address(), text.as_bytes()).await;
        assert_eq!(statuses(&said), [404], "{other}: {said}");
        assert!(!said.contains(token) && !said.to_lowercase().contains("location:"), "{other}: {said}");
    }
    assert!(bench.api.events().await.is_empty());
    // With a slash behind it, it is the same endpoint.
    let text = String::from_utf8(sender.bytes(&signed)).expect("text");
    let text = text.replacen(path, &format!("{path}/"), 1).replacen("\r\n", "\r\nConnection: close\r\n", 1);
    assert_eq!(statuses(&exchange(bench.server.address(), text.as_bytes()).await), [200]);
});

both_databases!(another_method_is_405_and_stores_nothing, |place| async {
    let bench = Bench::on(&place).await;
    let sender = bench.api.endpoint("github").await;
    for method in ["GET", "PUT", "DELETE", "PATCH", "TRACE", "OPTIONS", "CONNECT", "BREW"] {
        let text = String::from_utf8(sender.bytes(&sender.signed("evt_1", None))).expect("text");
        let text = text.replacen("POST", method, 1).replacen(
            "\r\n",
            "\r\nConnection: close\r\nX-Echo: echoed\r\n",
            1,
        );
        let said = exchange(bench.server.address(), text.as_bytes()).await;
        // A proxy alone knows what to do with CONNECT and a path.
        let wanted: &[u16] = if method == "CONNECT" { &[400, 404, 405] } else { &[405] };
        assert!(statuses(&said).iter().all(|status| wanted.contains(status)), "{method}: {said}");
        assert!(!said.contains("echoed"), "{method}: {said}");
        assert!(
            method == "CONNECT" || said.to_lowercase().contains("\r\nallow: post\r\n"),
            "{method}: {said}"
        );
    }
    let probe = Request::head(sender.path()).body(Full::default()).expect("a request");
    let probe = bench.send(probe).await;
    assert_eq!((probe.status, probe.body.len()), (200, 0));
    bench.holds_nothing_and_is_well(&sender).await;
});

both_databases!(a_disabled_endpoint_is_503_and_a_deleted_one_404, |place| async {
    let bench = Bench::on(&place).await;
    let sender = bench.api.endpoint("github").await;
    let path = format!("/v1/endpoints/{}", sender.endpoint);
    let deliver = async || bench.send(sender.request(&sender.signed("evt_1", None))).await;
    bench.api.ask("PATCH", &path, Some(&json!({ "enabled": false }))).await.expect(200);
    let answer = deliver().await;
    assert!(answer.headers.contains_key("retry-after"), "{answer:?}");
    assert_eq!(answer.expect(503)["reason"], "unavailable");
    bench.api.ask("PATCH", &path, Some(&json!({ "enabled": true }))).await.expect(200);
    deliver().await.expect(200);
    bench.api.ask("DELETE", &path, None).await.expect(204);
    // Never 410, at which some senders give up for good.
    assert_eq!(deliver().await.expect(404)["reason"], "unknown");
});

both_databases!(a_captured_request_under_the_id_of_a_coming_event_hides_nothing, |place| async {
    let bench = Bench::on(&place).await;
    let sender = bench.api.endpoint("github").await;
    let deliver = async |id: &str, body: &[u8]| {
        let answer = bench.send(sender.request(&sender.signed(id, Some(body)))).await.expect(200);
        (answer["id"].clone(), answer["status"].clone())
    };
    let (captured, real) = (br#"{"action":"opened"}"#, br#"{"action":"closed"}"#);
    let (first, _) = deliver("id-1", captured).await;
    // GitHub's id is a header that the signature does not cover, so whoever captured the request chooses it.
    let (replayed, status) = deliver("id-2", captured).await;
    assert_eq!(status, "accepted");
    assert_eq!(bench.api.event(&replayed).await["repeated_body"], true);
    assert_eq!(bench.api.event(&first).await["repeated_body"], false);
    // The real event with that id comes after all.
    let (known, _) = deliver("id-2", real).await;
    assert_eq!(known, replayed);
    let event = bench.api.event(&replayed).await;
    assert_eq!((&event["diverged"], &event["deliveries"]), (&json!(true), &json!(2)));
    assert_eq!(event["variants"].as_array().expect("variants").len(), 1, "its bytes are kept: {event}");
});
