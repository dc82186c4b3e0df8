//! An event as JSON, wherever it is shown: claimed, listed, or alone. Bytes are written straight from
//! where they are held, as text when they are UTF-8 and in base64 when they are not.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use restante_app::claim::ClaimedEvent;
use restante_app::events::{Content, Event};
use restante_core::id::{EndpointId, ReceiptId};
use restante_core::request::HeaderList;
use restante_core::time::Timestamp;
use restante_store::handoffs::ReplayRecord;
use serde::ser::SerializeSeq as _;
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

/// An event.
#[derive(Serialize, ToSchema)]
#[schema(as = Event)]
pub(crate) struct EventAnswer {
    /// The receipt's id: the same for every attempt of the sender and every claim.
    #[schema(value_type = String, example = "rcp_01kbrs6q2j8a1q3f5z0ry4t7wd")]
    id: ReceiptId,
    provider: String,
    /// The provider's id of the event; null where it sends none or it could not be read.
    event_id: Option<String>,
    /// What makes two deliveries the same event.
    event_key: String,
    #[serde(rename = "type")]
    event_type: Option<String>,
    account: Option<String>,
    api_version: Option<String>,
    /// Live (true) or test (false), where the provider tells.
    livemode: Option<bool>,
    #[schema(value_type = String, example = "ep_01kbrs6q2j8a1q3f5z0ry4t7wd")]
    endpoint: EndpointId,
    /// `delivery`, `reconciliation` or `test`.
    origin: String,
    #[schema(value_type = String, format = DateTime)]
    received_at: Timestamp,
    /// When it happened, by the provider.
    #[schema(value_type = Option<String>, format = DateTime)]
    occurred_at: Option<Timestamp>,
    /// The sender's attempts seen so far.
    deliveries: u64,
    /// A later delivery of the same event carried other bytes.
    diverged: bool,
    /// The same signed bytes came before under another id that the signature doesn't cover.
    repeated_body: bool,
    /// A key that identity depends on stands twice in the body; the first counts.
    ambiguous: bool,
    /// What the sender's scheme does not protect: `body`, `id`, `time`.
    weak: Vec<String>,
    /// `envelope` while the event waits for a repair, because its id could not be read.
    reason: Option<String>,
    /// The revision of the rules that read it.
    decoder: String,
    /// `stored`, `removed` or `erased`.
    payload_state: &'static str,
    /// When the payload was removed or erased; null while it is stored. From then on the event is a tombstone: a repeat is
    /// a duplicate that nobody is handed, and it can't be replayed.
    #[schema(value_type = Option<String>, format = DateTime)]
    payload_removed_at: Option<Timestamp>,
    /// Bytes of `body`.
    size: usize,
    content_type: Option<String>,
    /// SHA-256 of `body`, in hex.
    sha256: Option<String>,
    /// The last replay.
    replay: Option<ReplayAnswer>,
    /// The headers in order. A value that is no UTF-8 is read as Latin-1; a credential is `[removed]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Vec<String>>>, example = json!([["content-type", "application/json"]]))]
    headers: Option<Headers>,
    /// The bytes exactly as they came.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    body: Option<Body>,
    /// `utf8` or `base64`.
    #[serde(skip_serializing_if = "Option::is_none")]
    body_encoding: Option<&'static str>,
    /// The number of this claim, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt: Option<u32>,
    /// What to ack, nack or extend with.
    #[serde(skip_serializing_if = "Option::is_none")]
    lease: Option<String>,
    /// When the lease runs out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    lease_expires_at: Option<Timestamp>,
}

/// Who made an event pending again.
#[derive(Serialize, ToSchema)]
#[schema(as = Replay)]
pub(crate) struct ReplayAnswer {
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// `key_…` or `usr_…`.
    by: String,
    reason: Option<String>,
}

impl From<ReplayRecord> for ReplayAnswer {
    fn from(replay: ReplayRecord) -> Self {
        Self { at: replay.at, by: replay.actor, reason: replay.reason }
    }
}

/// The headers of a request.
pub(crate) struct Headers(HeaderList);

impl Serialize for Headers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.0.len()))?;
        for (name, value) in &self.0.0 {
            list.serialize_element(&(name, header_text(value)))?;
        }
        list.end()
    }
}

/// A header's value as text. What is no UTF-8 is read as Latin-1, the older reading of headers, in
/// which every byte is a character and none is lost.
fn header_text(value: &[u8]) -> String {
    std::str::from_utf8(value).map_or_else(|_| value.iter().copied().map(char::from).collect(), str::to_owned)
}

/// Bytes as JSON holds them.
pub(crate) struct Body(Bytes);

impl Body {
    fn encoding(&self) -> &'static str {
        if std::str::from_utf8(&self.0).is_ok() { "utf8" } else { "base64" }
    }
}

impl Serialize for Body {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => serializer.serialize_str(&STANDARD.encode(&self.0)),
        }
    }
}

/// Headers, body and the body's encoding, of what was sent.
pub(crate) fn parts(content: Option<Content>) -> (Option<Headers>, Option<Body>, Option<&'static str>) {
    match content {
        None => (None, None, None),
        Some(content) => {
            let body = Body(content.body);
            let encoding = body.encoding();
            (Some(Headers(content.headers)), Some(body), Some(encoding))
        }
    }
}

impl EventAnswer {
    pub(crate) fn new(event: Event) -> Self {
        let Event { receipt, sha256, content, replay } = event;
        let (headers, body, body_encoding) = parts(content);
        Self {
            id: receipt.id,
            provider: receipt.provider,
            event_id: receipt.event_id,
            event_key: receipt.event_key,
            event_type: receipt.event_type,
            account: receipt.account,
            api_version: receipt.api_version,
            livemode: receipt.livemode,
            endpoint: receipt.endpoint,
            origin: receipt.origin,
            received_at: receipt.received_at,
            occurred_at: receipt.occurred_at,
            deliveries: receipt.deliveries,
            diverged: receipt.diverged,
            repeated_body: receipt.repeated_body,
            ambiguous: receipt.ambiguous,
            weak: receipt.weak.split_whitespace().map(str::to_owned).collect(),
            reason: receipt.reason,
            decoder: receipt.decoder,
            payload_state: receipt.payload_state.as_str(),
            payload_removed_at: receipt.payload_removed_at,
            size: receipt.slice.length,
            content_type: receipt.content_type,
            sha256: sha256.map(hex::encode),
            replay: replay.map(ReplayAnswer::from),
            headers,
            body,
            body_encoding,
            attempt: None,
            lease: None,
            lease_expires_at: None,
        }
    }

    pub(crate) fn claimed(claimed: ClaimedEvent) -> Self {
        let lease = claimed.token.expose();
        Self {
            attempt: Some(claimed.attempt),
            lease: Some(lease),
            lease_expires_at: Some(claimed.expires_at),
            ..Self::new(claimed.event)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_that_is_no_utf8_keeps_every_byte() {
        assert_eq!(header_text("é".as_bytes()), "é");
        assert_eq!(header_text(b"caf\xe9"), "café");
        let all: Vec<u8> = (0..=255).collect();
        let back: Vec<u8> = header_text(&all).chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
        assert_eq!(back, all);
    }

    #[test]
    fn bytes_are_text_or_base64() {
        let written = |bytes: &'static [u8]| {
            let body = Body(Bytes::from_static(bytes));
            (body.encoding(), serde_json::to_value(&body).unwrap())
        };
        assert_eq!(written(b"{\"a\":\"\xc3\xa9\"}"), ("utf8", "{\"a\":\"é\"}".into()));
        assert_eq!(written(b""), ("utf8", "".into()));
        assert_eq!(written(b"\0\xff"), ("base64", "AP8=".into()));
    }
}
