//! Deliveries that are authentic and odd. None is thrown away: each is stored byte for byte, under the
//! id that stands in it or waiting for a person, and the server takes the next one.

use bytes::Bytes;
use http::{HeaderValue, Request};
use http_body_util::Full;
use serde_json::{Map, Value, json};

use crate::support::{Answer, Api, Place, Sender, Server, send};

/// The header that carries the signature.
const SIGNATURE: &str = "x-signature";

struct Bench {
    server: Server,
    api: Api,
    sender: Sender,
}

/// A sender whose ids stand in the body, and which has none where they don't.
fn described() -> Map<String, Value> {
    let verify = json!({
        "algorithm": "hmac-sha256",
        "header": SIGNATURE,
        "event": { "id": { "json": "/id" }, "type": { "json": "/type" } },
        "unique_by": ["id"],
    });
    let options = json!({ "verify": verify });
    options.as_object().expect("an object").clone()
}

impl Bench {
    async fn on(place: &Place) -> Self {
        let server = Server::start(place).await;
        let api = server.tenant(place, "acme");
        let sender = api.endpoint_with("custom", &described()).await;
        Self { server, api, sender }
    }

    fn request(&self, body: &[u8]) -> Request<Full<Bytes>> {
        self.sender.request(&self.sender.signed("", Some(body)))
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Answer {
        send(self.server.address(), request).await.expect("an answer")
    }

    /// Delivers a body, which has to be taken as a new event; gives the event.
    async fn kept(&self, body: &[u8]) -> Value {
        let answer = self.send(self.request(body)).await.expect(200);
        assert_eq!(answer["status"], "accepted");
        assert_eq!(self.api.payload(&answer["id"]).await, body, "byte for byte");
        self.api.event(&answer["id"]).await
    }
}

both_databases!(a_header_that_is_no_utf8_is_kept_byte_for_byte, |place| async {
    let bench = Bench::on(&place).await;
    let mut request = bench.request(br#"{"id":"a"}"#);
    let odd = HeaderValue::from_bytes(b"caf\xe9\x80").expect("a header may hold it");
    request.headers_mut().insert("x-odd", odd);
    let id = bench.send(request).await.expect(200)["id"].clone();
    let event = bench.api.event(&id).await;
    let headers = event["headers"].as_array().expect("headers");
    let kept = headers.iter().find(|header| header[0] == "x-odd").expect("it is there");
    assert_eq!(kept[1], "caf\u{e9}\u{80}", "each byte is a letter of Latin-1");
    // In the signature it is a refusal like any other.
    let mut request = bench.request(br#"{"id":"b"}"#);
    request
        .headers_mut()
        .insert(SIGNATURE, HeaderValue::from_bytes(b"caf\xe9").expect("a header may hold it"));
    assert_eq!(bench.send(request).await.expect(401)["reason"], "signature");
    assert_eq!(bench.api.events().await.len(), 1);
});

both_databases!(equal_signature_headers_count_once_and_different_ones_not_at_all, |place| async {
    let bench = Bench::on(&place).await;
    let mut request = bench.request(br#"{"id":"a"}"#);
    let right = request.headers()[SIGNATURE].clone();
    request.headers_mut().append(SIGNATURE, right);
    bench.send(request).await.expect(200);
    for is_first in [true, false] {
        let mut request = bench.request(br#"{"id":"b"}"#);
        let right = request.headers_mut().remove(SIGNATURE).expect("a signature");
        let wrong = HeaderValue::from_str(&"0".repeat(64)).expect("a header may hold it");
        for value in if is_first { [right, wrong] } else { [wrong, right] } {
            request.headers_mut().append(SIGNATURE, value);
        }
        assert_eq!(bench.send(request).await.expect(401)["reason"], "signature");
    }
    assert_eq!(bench.api.events().await.len(), 1);
});

both_databases!(bytes_that_are_no_text_are_kept_and_wait_for_a_person, |place| async {
    let bench = Bench::on(&place).await;
    let utf16: Vec<u8> = "\u{feff}{\"id\":\"a\"}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let deep = "[".repeat(100_000);
    let bodies: [&[u8]; 9] = [
        b"",
        b"\0",
        b"{\"id\":\"a\"\0}",
        b"\xff\xfe\x00",
        &utf16,
        b"{\"id\":\"caf\xe9\"}",
        b"not json",
        deep.as_bytes(),
        br#"{"id":{"a":1}}"#,
    ];
    for body in bodies {
        let event = bench.kept(body).await;
        assert_eq!((&event["reason"], &event["event_id"]), (&json!("envelope"), &Value::Null), "{body:?}");
        assert_eq!(event["handoffs"][0]["state"], "failed");
    }
    assert!(
        bench.api.claim("default", &json!({})).await.is_empty(),
        "nobody gets them before they are repaired"
    );
    // The same bytes again are the same event.
    assert_eq!(bench.send(bench.request(b"\0")).await.expect(200)["status"], "duplicate");
    assert_eq!(bench.api.events().await.len(), bodies.len());
});

both_databases!(odd_json_is_kept_under_the_id_that_stands_in_it, |place| async {
    let bench = Bench::on(&place).await;
    let deep = format!(r#"{{"id":"deep","a":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    let mut wide = String::from(r#"{"id":"wide""#);
    for number in 0..200_000 {
        wide.push_str(&format!(r#","k{number}":0"#));
    }
    wide.push('}');
    for (body, id) in [
        (deep, "deep"),
        (wide, "wide"),
        (r#"{"id":9007199254740993}"#.to_owned(), "9007199254740993"),
        (r#"{"id":9007199254740992}"#.to_owned(), "9007199254740992"),
        (r#"{"id":12345678901234567890123}"#.to_owned(), "12345678901234567890123"),
        (r#"{"id":"number","a":1e400,"b":-0}"#.to_owned(), "number"),
        ("{\"id\":\"e\u{301}\"}".to_owned(), "e\u{301}"),
        ("{\"id\":\"\u{e9}\"}".to_owned(), "\u{e9}"),
        ("{\"id\":\"a\u{202e}\u{200b}\u{feff}b\"}".to_owned(), "a\u{202e}\u{200b}\u{feff}b"),
        (r#"{"id":"a\r\nb\u001b[31m"}"#.to_owned(), "a\r\nb\u{1b}[31m"),
        (r#"{"id":"nul\u0000byte"}"#.to_owned(), "nul\\u0000byte"),
        (format!(r#"{{"id":"{}"}}"#, "i".repeat(300)), &"i".repeat(300)),
        (r#"{"id":"first","id":"second"}"#.to_owned(), "first"),
    ] {
        let event = bench.kept(body.as_bytes()).await;
        assert_eq!(event["event_id"], id);
        assert_eq!(event["ambiguous"], id == "first");
        let again = bench.send(bench.request(body.as_bytes())).await.expect(200);
        assert_eq!((&again["status"], &again["id"]), (&json!("duplicate"), &event["id"]), "{id}");
    }
    // Each record of the log is one line, whatever stands in an id.
    let log = bench.server.log();
    let records: Vec<Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert!(records.iter().any(|record| record["event.id"] == "a\r\nb\u{1b}[31m"));
    assert!(!log.contains('\u{1b}'), "no control character reaches a terminal");
});

both_databases!(a_long_id_and_its_neighbours_are_events_of_their_own, |place| async {
    let bench = Bench::on(&place).await;
    // The first kilobyte is the same, and so is what is shown of them.
    let id = |end: &str| format!("{}{end}", "x".repeat(3_000));
    let first = bench.kept(format!(r#"{{"id":"{}"}}"#, id("a")).as_bytes()).await;
    let second = bench.kept(format!(r#"{{"id":"{}"}}"#, id("b")).as_bytes()).await;
    for event in [&first, &second] {
        assert!(event["event_key"].as_str().expect("a key").starts_with("sha256-"), "{event}");
    }
    assert_ne!(first["event_key"], second["event_key"]);
    assert_ne!(first["id"], second["id"]);
});
