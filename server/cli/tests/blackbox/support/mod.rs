//! What the tests stand on: a place for the data, the program as a process, a client, senders that
//! sign, and a gate at which the program can be held. Nothing here knows what is right.

mod api;
mod cluster;
mod gate;
mod http;
mod ledger;
mod load;
mod place;
pub(crate) mod power;
pub(crate) mod proxy;
pub(crate) mod raw;
pub(crate) mod sender;
mod server;
mod small_disk;
pub(crate) mod stripe;

pub(crate) use api::Api;
pub(crate) use cluster::Cluster;
pub(crate) use gate::{Gate, Held};
pub(crate) use http::{Answer, Connection, NoAnswer, get, send};
pub(crate) use load::{Load, Traffic};
pub(crate) use place::{PASSWORD, Place};
pub(crate) use sender::Sender;
pub(crate) use server::Server;
pub(crate) use small_disk::SmallDisk;

use std::io::Write as _;
use std::time::Duration;

use tokio::time::Instant;

/// How long a test waits for anything. Whoever waits that long has met a fault, not a slow machine.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(60);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// Looks until there is something to see.
///
/// # Panics
/// When it does not come within [`WAIT_MAX`].
pub(crate) async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + WAIT_MAX;
    loop {
        if let Some(seen) = look().await {
            return seen;
        }
        assert!(Instant::now() < deadline, "this did not come: {what}");
        tokio::time::sleep(PAUSE).await;
    }
}

/// Says past the test harness, which would keep it to itself, that a test could not run here. `.ci/test`
/// counts these lines.
pub(crate) fn say_skipped(test: &str, reason: &str) {
    let _ = writeln!(std::io::stderr().lock(), "\nskipped  {test}: {reason}");
}

/// A number from 0 to below `end`.
pub(crate) fn random_below(end: usize) -> usize {
    let mut random = [0; 8];
    getrandom::fill(&mut random).expect("randomness");
    usize::try_from(u64::from_le_bytes(random)).unwrap_or_default() % end.max(1)
}

/// Defines one test for both databases: `name::sqlite` and `name::postgres`. The second one ends at
/// once where there is no test server. What stands before the name stands before both.
///
/// ```ignore
/// both_databases!(an_event_is_there, |place| async {
///     let server = Server::start(&place).await;
/// });
/// ```
macro_rules! both_databases {
    ($(#[$meta:meta])* $name:ident, |$place:ident| async $body:block) => {
        mod $name {
            use super::*;

            async fn on($place: Place) $body

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            $(#[$meta])*
            async fn sqlite() {
                on(Place::sqlite()).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            $(#[$meta])*
            async fn postgres() {
                if let Some(place) = Place::postgres() {
                    on(place).await;
                }
            }
        }
    };
}

/// Defines one test on PostgreSQL, as [`both_databases`] does for both: `name::postgres`.
macro_rules! postgres_alone {
    ($(#[$meta:meta])* $name:ident, |$place:ident| async $body:block) => {
        mod $name {
            use super::*;

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            $(#[$meta])*
            async fn postgres() {
                if let Some($place) = Place::postgres() $body
            }
        }
    };
}
