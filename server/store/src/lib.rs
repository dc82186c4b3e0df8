//! The only crate that knows a database. Every function takes the tenant first; every statement is
//! registered, so that tests can prepare it on both engines and look for the tenant in it.

pub mod control;
mod deliveries;
mod engine;
mod failpoint;
mod group;
mod rollups;
mod store;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use control::receiving::{EndpointRecord, EndpointSecret};
pub use deliveries::{Committed, CommittedReceipt, Delivery, NewReceipt, SealedPayload};
pub use engine::{Conn, Engine, Options, StoreError, Url};
pub use store::{BoxFuture, Store};

#[cfg(test)]
mod tests {
    use crate::both_engines;

    both_engines!(a_new_database_is_empty_and_answers, |t| async {
        assert_eq!(t.count("receipts").await, 0);
        t.execute("INSERT INTO instance (name, value) VALUES ('a', 'canary-in-clear')").await;
        assert_eq!(t.number("SELECT COUNT(*) FROM instance").await, 1);
        assert!(t.holds("canary-in-clear").await);
        assert!(!t.holds("canary-that-is-not-there").await);
    });
}
