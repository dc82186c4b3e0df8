//! The only crate that knows a database. Every function takes the tenant first; every statement is
//! registered, so that tests can prepare it on both engines and look for the tenant in it.

mod announce;
mod benching;
#[cfg(test)]
mod conformance;
pub mod consumers;
pub mod control;
mod deliveries;
mod engine;
pub mod events;
mod failpoint;
#[cfg(feature = "bench")]
pub mod filling;
mod group;
pub mod handoffs;
pub mod nodes;
mod probe;
pub mod refusals;
pub mod replay_jobs;
pub mod retention;
mod rollups;
pub mod stats;
mod store;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use control::receiving::{EndpointRecord, EndpointSecret};
pub use deliveries::{Committed, CommittedReceipt, Delivery, NewReceipt, SealedPayload, SeenEndpoint};
pub use engine::{Conn, Engine, Options, StoreError, Url};
pub use store::{BoxFuture, Store};
