//! Verification and identification of a request: pure functions of the endpoint, the request and the clock.
//! Nothing here reads or writes anything else, and no input panics.

mod verdict;

pub use verdict::{
    Accepted, EventKey, Handshake, Item, PublicReason, Reason, Rejection, Reply, Slice, Verdict, Weak,
};

use crate::catalogue::{DedupScope, Key, Scheme};
use crate::request::Request;
use crate::time::Timestamp;

/// What verification needs to know of an endpoint. Everything in it is prepared once and borrowed.
pub struct Endpoint<'a> {
    /// The provider with the endpoint's options.
    pub scheme: &'a Scheme,
    /// The keys that are valid now. A request passes when any of them matches.
    pub keys: &'a [Key],
    /// The endpoint's own public URL, without a query. `options.public_url` takes its place where it is set.
    pub url: &'a str,
    /// The endpoint's id: the scope of providers whose ids are unique within it alone.
    pub endpoint_id: &'a str,
    /// The tenant's choice; `None` is what the catalogue knows.
    pub dedup_scope: Option<DedupScope>,
    /// The largest body that this endpoint takes, in bytes; it also bounds a decoded body.
    pub body_bytes_max: u64,
}

/// Says whether a request is what its sender claims, and which events are in it.
pub fn verify(_endpoint: &Endpoint<'_>, _request: &Request, _now: Timestamp) -> Verdict {
    Verdict::Reject(Rejection {
        reason: Reason::NoUsableSecret,
        explanation: "Verification is not built yet.".into(),
        public: PublicReason::Signature,
        status: 401,
        age_seconds: None,
    })
}

/// What to sign, for a test event.
#[derive(Debug, Clone)]
pub struct SignRequest<'a> {
    /// The body; `None` takes the provider's first sample.
    pub body: Option<&'a [u8]>,
    /// The event id, where it stands in a header; `None` keeps the sample's.
    pub id: Option<&'a str>,
    /// The event type, where it stands in a header; `None` keeps the sample's.
    pub event_type: Option<&'a str>,
    /// The time of signing.
    pub at: Timestamp,
}

/// A request as the provider would send it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedRequest {
    /// The method.
    pub method: String,
    /// Headers, the content type and the signature among them.
    pub headers: Vec<(String, String)>,
    /// The body, exactly.
    pub body: Vec<u8>,
    /// The query string, where the signature stands on one.
    pub query: Option<String>,
}

/// Makes a request as the provider would sign it with the endpoint's first key.
///
/// # Errors
/// A sentence for the person, where only a public key is held or the body can't be signed.
pub fn sign(_endpoint: &Endpoint<'_>, _request: &SignRequest<'_>) -> Result<SignedRequest, String> {
    Err("Signing is not built yet.".into())
}

/// The pure core of `restante verify --json-lines`: one line of requests in, one verdict line out.
pub fn verdict_line(_input: &str) -> String {
    String::new()
}
