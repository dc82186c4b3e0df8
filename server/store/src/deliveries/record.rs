//! The records that the committer takes and gives.

use restante_core::id::{ConsumerId, EndpointId, PayloadId, ReceiptId, SecretId, TenantId};
use restante_core::time::Timestamp;

/// One verified request with all that will be stored of it. Secrets and bytes are sealed already.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// Whose it is.
    pub tenant: TenantId,
    /// Where it came in.
    pub endpoint: EndpointId,
    /// As what the endpoint was known when the request was verified by its rules and secrets. When it has
    /// changed since, nothing is stored. `None` only where no rule of an endpoint was applied.
    pub seen: Option<SeenEndpoint>,
    /// The endpoint's provider.
    pub provider: String,
    /// When its last byte came, by this node's clock.
    pub received_at: Timestamp,
    /// `delivery`, `reconciliation` or `test`.
    pub origin: &'static str,
    /// Whether other bytes under a known key make a receipt diverge. A listed event may be rendered
    /// differently from a delivered one, so for reconciliation they don't.
    pub compares_bodies: bool,
    /// The id of the request, for the log of deliveries.
    pub request_id: Option<String>,
    /// Which secret verified it.
    pub secret: Option<SecretId>,
    /// The request itself.
    pub payload: SealedPayload,
    /// The events in it. Several share the payload.
    pub receipts: Vec<NewReceipt>,
}

/// An endpoint as it was known at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenEndpoint {
    /// The version of its tenant's configuration. While it is the same, nothing at all has changed.
    pub config_version: i64,
    /// Its own revision, which each change of it and of its secrets raises.
    pub revision: i64,
}

/// A request as it is kept: sealed.
#[derive(Debug, Clone)]
pub struct SealedPayload {
    /// Its id; of a request with one event, the receipt's own.
    pub id: PayloadId,
    /// The headers in order.
    pub headers_sealed: Vec<u8>,
    /// The body as received.
    pub body_sealed: Vec<u8>,
    /// The elements that are no plain slices of the body, one after another.
    pub decoded_sealed: Option<Vec<u8>>,
}

impl SealedPayload {
    /// Its bytes in the database.
    pub(crate) fn stored_bytes(&self) -> i64 {
        let decoded = self.decoded_sealed.as_ref().map_or(0, Vec::len);
        i64::try_from(self.headers_sealed.len() + self.body_sealed.len() + decoded).unwrap_or(i64::MAX)
    }
}

/// An event that asks for its receipt.
#[derive(Debug, Clone)]
pub struct NewReceipt {
    /// The id that it gets if it is the first of its key.
    pub id: ReceiptId,
    /// Within what the event key is unique.
    pub scope: String,
    /// What makes two deliveries the same event; at most 255 bytes, no NUL.
    pub event_key: String,
    /// The provider's id, for people.
    pub event_id: Option<String>,
    /// The event's type.
    pub event_type: Option<String>,
    /// The provider's account.
    pub account: Option<String>,
    /// The provider's API version.
    pub api_version: Option<String>,
    /// Live or test, where the provider tells.
    pub livemode: Option<bool>,
    /// When it happened, by the provider.
    pub occurred_at: Option<Timestamp>,
    /// The revision of the catalogue entry or of the custom verifier that read it.
    pub decoder: String,
    /// Whether the slice is of the decoded elements instead of the body.
    pub slice_decoded: bool,
    /// Where the event's bytes begin.
    pub slice_offset: u32,
    /// How many they are.
    pub slice_length: u32,
    /// The request's content type.
    pub content_type: Option<String>,
    /// The keyed digest of the event's bytes, with its key's version.
    pub body_mac: Vec<u8>,
    /// The sealed SHA-256 of the event's bytes.
    pub sha256_sealed: Vec<u8>,
    /// A key that identity depends on stood twice.
    pub ambiguous: bool,
    /// The signature does not cover the id, so the same bytes under another id are worth a mark.
    pub id_unsigned: bool,
    /// What the scheme doesn't protect, in words separated by spaces.
    pub weak: String,
    /// `envelope` for an event that can't be read; its handoffs wait for a repair.
    pub reason: Option<&'static str>,
}

impl Delivery {
    /// Its weight in a group.
    pub(crate) fn bytes(&self) -> usize {
        usize::try_from(self.payload.stored_bytes()).unwrap_or(usize::MAX) + self.receipts.len() * 512
    }
}

/// What became of a request. It is durable when this is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// One entry an event, in order.
    pub receipts: Vec<CommittedReceipt>,
    /// Consumers that have something new to claim.
    pub wake: Vec<ConsumerId>,
}

impl Committed {
    /// The answer of a benchmark that leaves the commit out.
    pub(crate) fn as_if(delivery: &Delivery) -> Self {
        let first =
            |receipt: &NewReceipt| CommittedReceipt { id: receipt.id, duplicate: false, diverged: false };
        Self { receipts: delivery.receipts.iter().map(first).collect(), wake: Vec::new() }
    }
}

/// What became of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommittedReceipt {
    /// The receipt that holds the key: the one made now, or the earlier one.
    pub id: ReceiptId,
    /// Whether it was there before.
    pub duplicate: bool,
    /// Whether other bytes came under the key.
    pub diverged: bool,
}
