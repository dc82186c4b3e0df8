//! Verification and identification of a request: pure functions of the endpoint, the request and the clock.
//! Nothing here reads or writes anything else, and no input panics.

mod check;
mod credential;
mod entries;
mod explain;
mod handshake;
mod headers;
mod lines;
mod reshape;
mod sample;
mod sign;
mod signed;
mod signing_time;
mod verdict;

pub use crate::identity::key_of_event_id;
pub use lines::verdict_line;
pub use sign::{SignRequest, SignedRequest, sample, sign};
pub use verdict::{
    Accepted, EventKey, Handshake, Item, PublicReason, Reason, Rejection, Reply, Slice, Verdict, Weak,
};

use crate::catalogue::{CompressedBody, DedupScope, Key, Scheme};
use crate::identity::{self, Decoded, Identified, Place};
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

impl Endpoint<'_> {
    /// The URL as it was registered with the sender.
    pub(crate) fn registered_url(&self) -> &str {
        self.scheme.settings.public_url.as_deref().unwrap_or(self.url)
    }
}

/// Says whether a request is what its sender claims, and which events are in it.
pub fn verify(endpoint: &Endpoint<'_>, request: &Request, now: Timestamp) -> Verdict {
    if request.method == "HEAD" {
        // Providers probe with it before they save a URL; no sender delivers with it.
        return Verdict::Challenge(Handshake {
            reply: Reply { status: 200, headers: Vec::new(), body: Vec::new() },
        });
    }
    match handshake::unsigned(endpoint, request) {
        Ok(None) => {}
        Ok(Some(handshake)) => return Verdict::Challenge(handshake),
        Err(rejection) => return Verdict::Reject(rejection),
    }
    match verified(endpoint, request, now) {
        Ok(verdict) => verdict,
        Err(rejection) => Verdict::Reject(rejection),
    }
}

fn verified(endpoint: &Endpoint<'_>, request: &Request, now: Timestamp) -> Result<Verdict, Rejection> {
    let scheme = endpoint.scheme;
    if !scheme.methods().contains(&request.method) {
        return Err(reject(
            endpoint,
            Reason::MethodNotAllowed,
            format!(
                "The request came with the method {}. {} delivers with {}.",
                shorten(&request.method),
                scheme.provider.title,
                scheme.methods().join(" or ")
            ),
        ));
    }
    let check = headers::choose(endpoint, request)?;
    headers::same_when_repeated(endpoint, request, check)?;
    let coding = request.headers.first("content-encoding");
    let mut inflated = None;
    if check.rule.compressed_body == CompressedBody::Decoded && coding.is_some() {
        // The signature is over the decoded form, so it has to be made first; the limit bounds the work.
        inflated = inflate(endpoint, request, coding)?;
    }
    let signed_body = inflated.as_deref().unwrap_or(&request.body);
    let passed = check::pass(endpoint, check, request, signed_body, now)?;
    if check.rule.compressed_body == CompressedBody::Received && coding.is_some() {
        inflated = match identity::decode(coding, &request.body, endpoint.body_bytes_max) {
            Decoded::Bytes(bytes) => Some(bytes),
            Decoded::TooLarge => return Err(too_large(endpoint)),
            // What was signed is what came; whether ids can be read from it, reading will show.
            Decoded::AsReceived | Decoded::Undecodable => None,
        };
    }
    let place = Place { endpoint_id: endpoint.endpoint_id, dedup_scope: endpoint.dedup_scope };
    let family = check.rule.family;
    Ok(match identity::identify(&scheme.events, family, &place, request, inflated.as_deref()) {
        Identified::Greeting { number, echo } => match scheme.handshakes.get(number) {
            Some(found) => Verdict::Challenge(handshake::answer(found, echo)),
            None => return Err(reject(endpoint, Reason::MethodNotAllowed, String::new())),
        },
        Identified::Events { items, decoded, batch } => Verdict::Accept(Accepted {
            items,
            signed_at: passed.signed_at,
            weak: check.rule.weak.clone(),
            key_index: passed.key_index,
            decoded,
            batch,
        }),
    })
}

/// Reads the events of a request that came by another road than the sender's: a sample that can't be
/// signed because only a public key is held, or what reconciliation has fetched. Nothing is verified.
pub fn identify_unverified(endpoint: &Endpoint<'_>, request: &Request) -> Accepted {
    let check = endpoint.scheme.checks.first();
    let family = check.and_then(|check| check.rule.family);
    let place = Place { endpoint_id: endpoint.endpoint_id, dedup_scope: endpoint.dedup_scope };
    let found = identity::identify(&endpoint.scheme.events, family, &place, request, None);
    let (items, decoded, batch) = match found {
        Identified::Events { items, decoded, batch } => (items, decoded, batch),
        Identified::Greeting { .. } => (Vec::new(), None, false),
    };
    let weak = check.map_or_else(Vec::new, |check| check.rule.weak.clone());
    Accepted { items, signed_at: None, weak, key_index: None, decoded, batch }
}

fn inflate(
    endpoint: &Endpoint<'_>,
    request: &Request,
    coding: Option<&[u8]>,
) -> Result<Option<Vec<u8>>, Rejection> {
    match identity::decode(coding, &request.body, endpoint.body_bytes_max) {
        Decoded::AsReceived => Ok(None),
        Decoded::Bytes(bytes) => Ok(Some(bytes)),
        Decoded::TooLarge => Err(too_large(endpoint)),
        Decoded::Undecodable => Err(reject(
            endpoint,
            Reason::UndecodableBody,
            format!(
                "The signature is over the decoded body (compressed_body: decoded), and the body can't be decoded as Content-Encoding “{}” says. Known are gzip and deflate.",
                shorten(&String::from_utf8_lossy(coding.unwrap_or_default()))
            ),
        )),
    }
}

fn too_large(endpoint: &Endpoint<'_>) -> Rejection {
    reject(
        endpoint,
        Reason::DecodedTooLarge,
        format!(
            "The body, decoded, is larger than the endpoint's limit of {} bytes.",
            endpoint.body_bytes_max
        ),
    )
}

/// A refusal with the status and the general word that belong to its reason.
pub(crate) fn reject(endpoint: &Endpoint<'_>, reason: Reason, explanation: String) -> Rejection {
    let reply = endpoint.scheme.reply();
    let (public, status) = match reason {
        Reason::MethodNotAllowed => (PublicReason::Method, 405),
        Reason::DecodedTooLarge => (PublicReason::Size, 413),
        Reason::TimestampMissing | Reason::MalformedTimestamp | Reason::TimestampOutOfTolerance => {
            (PublicReason::Timestamp, reply.timestamp_status)
        }
        _ => (PublicReason::Signature, reply.signature_status),
    };
    Rejection { reason, explanation, public, status, age_seconds: None }
}

/// What a sender wrote, short enough for a sentence and without control characters.
pub(crate) fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(60).flat_map(char::escape_debug).collect();
    if text.chars().nth(60).is_some() {
        short.push('…');
    }
    short
}
