//! The only crate that knows a database. Every function takes the tenant first; every statement is
//! registered, so that tests can prepare it on both engines and look for the tenant in it.

mod deliveries;
mod engine;
mod group;
mod rollups;
mod store;

pub use deliveries::{Committed, CommittedReceipt, Delivery, NewReceipt, SealedPayload};
pub use engine::{Engine, Options, StoreError, Url};
pub use store::Store;
