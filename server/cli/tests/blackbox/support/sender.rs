//! A provider with one endpoint: signs as the real one does, and sends.

use std::net::SocketAddr;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use restante_app::clock::SystemClock;
use restante_core::catalogue::{Catalogue, Scheme};
use restante_core::limits::BODY_BYTES_CEILING_DEFAULT;
use restante_core::time::Clock as _;
use restante_core::verify::{Endpoint, SignRequest, SignedRequest, sign};
use serde_json::{Map, Value, json};

use super::{Answer, NoAnswer, send};

/// A sender that knows the endpoint's secret.
pub(crate) struct Sender {
    scheme: Scheme,
    secret: String,
    /// The endpoint's id.
    pub(crate) endpoint: String,
    /// The endpoint's URL.
    pub(crate) url: String,
}

impl Sender {
    /// One for an endpoint that was made with these options and this secret.
    pub(crate) fn new(provider: &str, options: &Map<String, Value>, secret: String, made: &Value) -> Self {
        let provider = Catalogue::builtin().get(provider).expect("a provider of the catalogue");
        let scheme = Scheme::compile(provider, options).expect("options that fit");
        let text = |name: &str| made[name].as_str().expect(name).to_owned();
        Self { scheme, secret, endpoint: text("id"), url: text("url") }
    }

    /// The path of the endpoint, which is its credential.
    pub(crate) fn path(&self) -> &str {
        self.url.strip_prefix(super::server::PUBLIC_URL).expect("the URL begins with the public one")
    }

    /// An event, signed now. In a body of the test's own the id has to stand where the provider writes
    /// it; `body` `None` is the provider's sample with the id.
    pub(crate) fn signed(&self, id: &str, body: Option<&[u8]>) -> SignedRequest {
        self.signed_by(&self.secret, id, body)
    }

    /// The same, signed with another secret.
    pub(crate) fn signed_by(&self, secret: &str, id: &str, body: Option<&[u8]>) -> SignedRequest {
        let endpoint = Endpoint {
            scheme: &self.scheme,
            keys: &[self.scheme.key(secret).expect("a secret of this provider")],
            url: &self.url,
            endpoint_id: "",
            dedup_scope: None,
            body_bytes_max: BODY_BYTES_CEILING_DEFAULT,
        };
        let at = SystemClock.now();
        let request = SignRequest { body, sample: None, id: Some(id), event_type: None, at };
        sign(&endpoint, &request).expect("a provider that can be signed for")
    }

    /// A signed event as a request.
    pub(crate) fn request(&self, signed: &SignedRequest) -> Request<Full<Bytes>> {
        let mut request = Request::builder().method(signed.method.as_str()).uri(self.path());
        for (name, value) in &signed.headers {
            request = request.header(name, value);
        }
        request.body(Full::new(Bytes::from(signed.body.clone()))).expect("a request")
    }

    /// A signed event as the bytes of a connection.
    pub(crate) fn bytes(&self, signed: &SignedRequest) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\nHost: localhost\r\n", signed.method, self.path());
        for (name, value) in &signed.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", signed.body.len()));
        [head.as_bytes(), &signed.body].concat()
    }

    /// Sends a signed event over a connection of its own.
    pub(crate) async fn send(&self, to: SocketAddr, signed: &SignedRequest) -> Result<Answer, NoAnswer> {
        send(to, self.request(signed)).await
    }
}

/// The body of an event as Stripe writes it, with `text` in it.
pub(crate) fn stripe_body(id: &str, text: &str) -> Vec<u8> {
    json!({ "id": id, "object": "event", "type": "invoice.paid", "data": { "object": { "memo": text } } })
        .to_string()
        .into_bytes()
}
