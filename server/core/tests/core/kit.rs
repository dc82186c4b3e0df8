//! Endpoints and requests in a few words, and the signatures of senders that are made for a test.

use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use restante_core::catalogue::{Catalogue, DedupScope, Key, Scheme};
use restante_core::request::{HeaderList, Request};
use restante_core::time::Timestamp;
use restante_core::verify::{Accepted, Endpoint, EventKey, Item, Reason, Rejection, Verdict, verify};
use serde_json::Value;
use sha1::Sha1;
use sha2::{Sha256, Sha512};

/// The clock of the tests.
pub(crate) const NOW: i64 = 1_780_000_000;
/// The secret of most tests.
pub(crate) const SECRET: &str = "made-up-secret";

/// An endpoint with everything that it owns.
pub(crate) struct Bench {
    pub(crate) scheme: Scheme,
    pub(crate) keys: Vec<Key>,
    pub(crate) scope: Option<DedupScope>,
    pub(crate) endpoint_id: &'static str,
    pub(crate) body_bytes_max: u64,
}

impl Bench {
    /// An endpoint of a provider with these options and secrets.
    pub(crate) fn new(provider: &str, options: Value, secrets: &[&str]) -> Self {
        let provider = Catalogue::builtin().get(provider).unwrap();
        let scheme = Scheme::compile(provider, options.as_object().unwrap()).unwrap();
        let keys = secrets.iter().map(|secret| scheme.key(secret).unwrap()).collect();
        Self { scheme, keys, scope: None, endpoint_id: "ep_1", body_bytes_max: 1 << 20 }
    }

    /// A sender that a person described, with the usual secret.
    pub(crate) fn custom(verify: Value) -> Self {
        Self::new("custom", serde_json::json!({ "verify": verify }), &[SECRET])
    }

    pub(crate) fn endpoint(&self) -> Endpoint<'_> {
        Endpoint {
            scheme: &self.scheme,
            keys: &self.keys,
            url: "https://hooks.example.test/in/abc",
            endpoint_id: self.endpoint_id,
            dedup_scope: self.scope,
            body_bytes_max: self.body_bytes_max,
        }
    }

    pub(crate) fn verdict(&self, request: &Request) -> Verdict {
        self.verdict_at(request, NOW)
    }

    pub(crate) fn verdict_at(&self, request: &Request, now: i64) -> Verdict {
        verify(&self.endpoint(), request, Timestamp::from_seconds(now))
    }

    /// The events of a request that has to pass.
    pub(crate) fn accepted(&self, request: &Request) -> Accepted {
        match self.verdict(request) {
            Verdict::Accept(accepted) => accepted,
            other => panic!("accepted expected, came {other:?}"),
        }
    }

    /// The only event of a request that has to pass.
    pub(crate) fn item(&self, request: &Request) -> Item {
        let mut accepted = self.accepted(request);
        assert_eq!(accepted.items.len(), 1);
        accepted.items.remove(0)
    }

    /// The refusal of a request that must not pass.
    pub(crate) fn refused(&self, request: &Request) -> Rejection {
        match self.verdict(request) {
            Verdict::Reject(rejection) => rejection,
            other => panic!("a refusal expected, came {other:?}"),
        }
    }

    pub(crate) fn reason(&self, request: &Request) -> Reason {
        self.refused(request).reason
    }
}

/// A POST with these headers.
pub(crate) fn post(headers: &[(&str, &str)], body: impl Into<Bytes>) -> Request {
    let list = headers.iter().map(|(name, value)| (name.to_lowercase(), Bytes::from((*value).to_owned())));
    Request { method: "POST".into(), query: None, headers: HeaderList(list.collect()), body: body.into() }
}

/// A POST whose header `X-Sig` holds `sha256=` and the HMAC of the body in hex under the usual secret.
pub(crate) fn signed(body: &str) -> Request {
    signed_with(&[], body)
}

/// The same with further headers.
pub(crate) fn signed_with(headers: &[(&str, &str)], body: &str) -> Request {
    let signature = format!("sha256={}", hex::encode(hmac_sha256(SECRET, body)));
    let mut all = vec![("x-sig", signature.as_str())];
    all.extend(headers);
    post(&all, body.to_owned())
}

/// The description of the sender that `signed` plays.
pub(crate) fn sender(more: Value) -> Value {
    let mut verify =
        serde_json::json!({ "algorithm": "hmac-sha256", "header": "X-Sig", "prefix": "sha256=" });
    verify.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    verify
}

pub(crate) fn known(key: &str) -> EventKey {
    EventKey::Known(key.into())
}

pub(crate) fn hmac_sha256(key: &str, text: impl AsRef<[u8]>) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).unwrap();
    mac.update(text.as_ref());
    mac.finalize().into_bytes().to_vec()
}

pub(crate) fn hmac_sha1(key: &str, text: impl AsRef<[u8]>) -> Vec<u8> {
    let mut mac = Hmac::<Sha1>::new_from_slice(key.as_bytes()).unwrap();
    mac.update(text.as_ref());
    mac.finalize().into_bytes().to_vec()
}

pub(crate) fn hmac_sha512(key: &str, text: impl AsRef<[u8]>) -> Vec<u8> {
    let mut mac = Hmac::<Sha512>::new_from_slice(key.as_bytes()).unwrap();
    mac.update(text.as_ref());
    mac.finalize().into_bytes().to_vec()
}

pub(crate) fn base64(bytes: impl AsRef<[u8]>) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
