//! Events as they are looked at: lists, one with its history, and the sealed bytes. Nothing here
//! changes anything, and nothing counts rows.

mod history;
mod list;
mod payloads;
mod record;
mod source;
mod sql;
#[cfg(test)]
mod tests;

pub use history::{DeliveryRecord, VariantRecord, deliveries_of_receipt, variants_of_receipt};
pub use list::{EventPage, EventQuery, list};
pub use payloads::{PayloadRecord, payloads};
pub use record::{PayloadState, Receipt, Slice, by_id, by_ids, ids_between, ids_newest};
#[cfg(test)]
pub(crate) use sql::ALL;
