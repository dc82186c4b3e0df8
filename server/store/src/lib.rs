//! The only crate that knows a database. Every function takes the tenant first; every statement is
//! registered, so that tests can prepare it on both engines and look for the tenant in it.

mod announce;
pub mod backup;
mod benching;
pub mod check;
#[cfg(test)]
mod conformance;
pub mod consumers;
pub mod control;
pub mod copy;
mod deliveries;
mod engine;
pub mod events;
mod failpoint;
#[cfg(feature = "bench")]
pub mod filling;
mod group;
pub mod handoffs;
pub mod high_water;
pub mod holdings;
pub mod jobs;
pub mod nodes;
mod probe;
pub mod reconciliation;
pub mod refusals;
pub mod replay_jobs;
pub mod retention;
mod rollups;
pub mod stats;
mod store;
pub mod tenant_removal;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod vitals;

pub use control::receiving::{EndpointRecord, EndpointSecret};
pub use deliveries::{Committed, CommittedReceipt, Delivery, NewReceipt, SealedPayload, SeenEndpoint};
pub use engine::{Conn, Engine, Options, StoreError, Url};
pub use store::{BoxFuture, Store};
