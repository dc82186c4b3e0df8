//! A verified request on its way into the database: its receipts, its payload, its handoffs.
//!
//! Everything here is decided already but who is first: that the unique key in the database decides.

mod keys;
mod record;
mod repeats;
mod sql;
#[cfg(test)]
pub(crate) mod tests;
mod write;

pub use record::{Committed, CommittedReceipt, Delivery, NewReceipt, SealedPayload, SeenEndpoint};
pub(crate) use sql::HANDOFFS_INSERT;
#[cfg(test)]
pub(crate) use sql::{ALL, RECEIPTS_CLAIM};
pub(crate) use write::Writer;
