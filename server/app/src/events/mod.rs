//! Events as they are looked at. A file an action; the way from sealed rows to bytes stands in
//! `content.rs`.

mod content;
mod detail;
mod list;
mod payload;
mod reveal;
mod standings;

use bytes::Bytes;
use restante_core::problem::Problem;
use restante_core::request::HeaderList;

pub use detail::{EventDetail, Variant};
pub use list::{EventFilter, EventPage};
pub use payload::{Payload, PayloadPart};
pub use restante_store::events::{DeliveryRecord, PayloadState, Receipt};
pub use restante_store::handoffs::{AttemptRecord, HandoffRecord, ReplayRecord, SettlementRecord, Standing};

/// An event, with its bytes where they were asked for and are there.
#[derive(Debug, Clone)]
pub struct Event {
    /// What is known of it.
    pub receipt: Receipt,
    /// The SHA-256 of its bytes; `None` when it can't be opened any more.
    pub sha256: Option<[u8; 32]>,
    /// Its headers and bytes.
    pub content: Option<Content>,
    /// The last replay, and for a claim the one that made it pending.
    pub replay: Option<ReplayRecord>,
}

/// What the sender sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// The headers of the request, in order.
    pub headers: HeaderList,
    /// The bytes of the event, exactly.
    pub body: Bytes,
}

pub(crate) fn not_found() -> Problem {
    Problem::not_found("event")
}
