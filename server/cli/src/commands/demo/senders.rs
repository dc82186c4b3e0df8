//! The demo's providers: each with an endpoint made over the API, and with what its requests look
//! like.

use std::net::SocketAddr;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{Method, Request};
use http_body_util::Full;
use restante_app::clock::SystemClock;
use restante_core::catalogue::{Catalogue, Scheme};
use restante_core::limits::BODY_BYTES_CEILING_DEFAULT;
use restante_core::time::Clock as _;
use restante_core::verify::{Endpoint, SignRequest, SignedRequest, sign};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::traffic::random_hex;
use crate::client::{self, Answer};
use crate::failure::Failure;

/// What kind of sender it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    provider: &'static str,
    name: &'static str,
    /// What the secrets of this provider begin with.
    secret_prefix: &'static str,
    /// The types of its events.
    types: &'static [&'static str],
}

/// A provider with signed times, one whose ids are headers, and one that the tenant described.
pub(super) const KINDS: [Kind; 3] = [
    Kind {
        provider: "stripe",
        name: "Stripe, demo",
        secret_prefix: "whsec_",
        types: &["invoice.paid", "charge.succeeded", "customer.created"],
    },
    Kind {
        provider: "github",
        name: "GitHub, demo",
        secret_prefix: "",
        types: &["push", "issues", "release"],
    },
    Kind {
        provider: "custom",
        name: "Acme's own system, demo",
        secret_prefix: "",
        types: &["order.placed", "order.shipped"],
    },
];

/// One sender with its endpoint.
pub(super) struct Sender {
    kind: Kind,
    scheme: Scheme,
    pub(super) secret: String,
    pub(super) url: String,
    path: String,
}

#[derive(Deserialize)]
struct Made {
    url: String,
}

impl Sender {
    /// Makes the endpoint.
    pub(super) async fn set_up(address: SocketAddr, key: &str, kind: Kind) -> Result<Self, Failure> {
        let provider = Catalogue::builtin()
            .get(kind.provider)
            .ok_or_else(|| Failure::new(format!("The catalogue lacks {}.", kind.provider)))?;
        let options = options(kind.provider);
        let scheme = Scheme::compile(provider, &options)
            .map_err(|_| Failure::new(format!("The demo's options for {} are wrong.", kind.provider)))?;
        let secret = format!("{}{}", kind.secret_prefix, random_hex::<16>()?);
        let body =
            json!({ "name": kind.name, "provider": kind.provider, "secrets": [secret], "options": options });
        let request = Request::post("/v1/endpoints")
            .header(AUTHORIZATION, format!("Bearer {key}"))
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(body.to_string())))
            .map_err(|error| Failure::new(error.to_string()))?;
        let answer = client::send(address, request).await?;
        let made: Made = serde_json::from_slice(&answer.body).map_err(|_| {
            let said = String::from_utf8_lossy(&answer.body);
            Failure::new(format!("The endpoint for {} could not be made: {said}", kind.provider))
        })?;
        let path = made.url.find("/in/").and_then(|at| made.url.get(at..)).unwrap_or_default().to_owned();
        Ok(Self { kind, scheme, secret, url: made.url, path })
    }

    pub(super) const fn provider(&self) -> &'static str {
        self.kind.provider
    }

    /// An event as the provider would sign it.
    pub(super) fn event(&self, id: &str) -> Result<SignedRequest, Failure> {
        self.signed(id, &self.secret)
    }

    /// An event as somebody would sign it who does not know the secret.
    pub(super) fn forged(&self, id: &str) -> Result<SignedRequest, Failure> {
        self.signed(id, &format!("{}{}", self.kind.secret_prefix, random_hex::<16>()?))
    }

    fn signed(&self, id: &str, secret: &str) -> Result<SignedRequest, Failure> {
        let key = self.scheme.key(secret).map_err(Failure::new)?;
        let endpoint = Endpoint {
            scheme: &self.scheme,
            keys: &[key],
            url: &self.url,
            endpoint_id: "",
            dedup_scope: None,
            body_bytes_max: BODY_BYTES_CEILING_DEFAULT,
        };
        // The same id is always of the same type, as with a real provider.
        let place = id.bytes().map(usize::from).sum::<usize>() % self.kind.types.len();
        let request = SignRequest {
            body: None,
            sample: None,
            id: Some(id),
            event_type: self.kind.types.get(place).copied(),
            at: SystemClock.now(),
        };
        sign(&endpoint, &request).map_err(Failure::new)
    }

    /// Sends a request, and gives the answer in two words: its status, and what it says.
    pub(super) async fn send(&self, address: SocketAddr, signed: &SignedRequest) -> Result<String, Failure> {
        let method = signed.method.parse().unwrap_or(Method::POST);
        let mut request = Request::builder().method(method).uri(&self.path);
        for (name, value) in &signed.headers {
            request = request.header(name, value);
        }
        let request = request
            .body(Full::new(Bytes::from(signed.body.clone())))
            .map_err(|error| Failure::new(error.to_string()))?;
        let Answer { status, body } = client::send(address, request).await?;
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let word = body["reason"].as_str().or_else(|| body["status"].as_str()).unwrap_or_default();
        Ok(format!("{} {word}", status.as_u16()))
    }
}

fn options(provider: &str) -> Map<String, Value> {
    let mut options = Map::new();
    if provider == "custom" {
        options.insert(
            "verify".to_owned(),
            json!({
                "algorithm": "hmac-sha256",
                "header": "X-Acme-Signature",
                "prefix": "sha256=",
                "event": { "id": { "json": "/id" }, "type": { "json": "/type" } }
            }),
        );
    }
    options
}
