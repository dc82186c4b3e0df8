//! Asking providers what they sent: what a tenant has set for an endpoint, the runs, and the one transaction
//! in which a page's receipts, its counters and the place of the next page are written together. A crash in
//! between leaves all of a page or nothing of it.
//!
//! One run of an endpoint is under way at a time, over all nodes: its holder has a lease in the database's
//! time, and each of its writes demands that it still is the holder.

mod page;
mod runs;
mod settings;
mod sql;

pub use page::{Asked, Hold, KnownEvent, PageDone, PageWrite, known_events, received_between, write_page};
pub use runs::{
    ClaimedRun, NewRun, RunEnd, RunRow, ask, claim, due, end, get, newest, release, restart, retry, types,
};
pub use settings::{ReconciliationRow, delete, of_tenant, put, settings, stop};
#[cfg(test)]
pub(crate) use sql::ALL;
