//! Replaying many events, those that were picked or all that a filter matches: asked for once, worked off in steps by the sweep, watched and
//! stopped by a person. What comes in after it was asked for is not part of it. A stop of the server in
//! between costs nothing: the next step goes on where the last one ended.

mod cancel;
mod create;
mod filter;
mod read;
mod run;
#[cfg(test)]
mod tests;

pub use create::{NewReplays, ReplaysAsked};
pub use read::Replays;

use restante_core::id::ReceiptId;
use restante_core::problem::Problem;
pub use restante_store::replay_jobs::ReplayJobRow;

use crate::events::EventFilter;

/// Which events are replayed.
#[derive(Debug, Clone)]
pub enum ReplayOf {
    /// All that match, of those that are here when it is asked for.
    Matching(EventFilter),
    /// These, at most 250.
    Events(Vec<ReceiptId>),
}

/// How a job ended, in storage.
const DONE: &str = "done";
const CANCELLED: &str = "cancelled";

fn not_found() -> Problem {
    Problem::not_found("replay")
}
