//! The counters and gauges of an instance, each with one function that records it. Labels hold only
//! words of ours: never a tenant, an endpoint, or anything that a sender chose. Without a recorder
//! (in tests, in commands that end) all of it does nothing.

mod clocks;
mod commits;
mod watch;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use restante_store::stats::Waiting;

pub use clocks::{Clocks, SignedAge, clocks};
pub use commits::{Latency, commit_latency};
pub use watch::watch;

/// How a delivery can end, in the words of the log.
const OUTCOMES: [&str; 5] = ["accepted", "duplicate", "rejected", "failed", "handshake"];

/// What a clock is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Against {
    /// The database's time.
    Database,
    /// The times that senders signed, in the median.
    SignedTimes,
}

impl Against {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Database => "database",
            Self::SignedTimes => "signed_times",
        }
    }
}

/// A delivery ended, this long after its last byte came.
pub fn delivery(outcome: &'static str, took: Duration) {
    counter!("restante_deliveries_total", "outcome" => outcome).increment(1);
    histogram!("restante_receive_seconds").record(took);
}

/// How old the signed time of an authentic delivery was, in milliseconds; negative for the future.
/// `provider` is a name of the catalogue.
pub fn signed_age(provider: &'static str, age_ms: i64) {
    histogram!("restante_signed_age_seconds", "provider" => provider).record(age_ms as f64 / 1_000.0);
    clocks::note(provider, age_ms);
}

/// Events became receipts; some of their deliveries were new, some had come before.
pub fn events(accepted: u64, duplicates: u64) {
    counter!("restante_accepted_total").increment(accepted);
    counter!("restante_duplicates_total").increment(duplicates);
}

/// A delivery was refused. `reason` is one of our words: a `Reason` of verification, or `too_large`
/// and the like from before it.
pub fn rejected(reason: &'static str) {
    counter!("restante_rejected_total", "reason" => reason).increment(1);
}

/// A delivery was committed, this long after it was given to the committer.
pub fn commit(took: Duration) {
    histogram!("restante_commit_seconds").record(took);
    commits::note(took);
}

/// A delivery could not be committed, or nobody knows whether it was.
pub fn commit_failed() {
    counter!("restante_commit_failures_total").increment(1);
}

/// A connection of a client, for as long as this lives.
#[derive(Debug)]
pub struct OpenConnection(());

/// Connections of clients that are open in this process.
static OPEN_CONNECTIONS: AtomicU64 = AtomicU64::new(0);

/// A client has connected.
pub fn connected() -> OpenConnection {
    let before = OPEN_CONNECTIONS.fetch_add(1, Ordering::Relaxed);
    gauge!("restante_connections").set(exact(before + 1));
    OpenConnection(())
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let before = OPEN_CONNECTIONS.fetch_sub(1, Ordering::Relaxed);
        gauge!("restante_connections").set(exact(before.saturating_sub(1)));
    }
}

/// Connections of clients that are open in this process.
pub fn open_connections() -> u64 {
    OPEN_CONNECTIONS.load(Ordering::Relaxed)
}

/// Records that wait for the committer.
pub fn queue_depth(records: usize) {
    gauge!("restante_queue_depth").set(exact(records as u64));
}

/// The age of the oldest handoff that is due and not leased, over all tenants; 0 when there is none.
fn oldest_pending(seconds: u64) {
    gauge!("restante_oldest_pending_seconds").set(exact(seconds));
}

/// What waits in the whole instance, by state.
fn waiting(found: &Waiting) {
    for (state, count) in [
        ("pending", found.pending),
        ("leased", found.leased),
        ("failed", found.failed),
        ("uncertain", found.uncertain),
    ] {
        gauge!("restante_handoffs", "state" => state).set(exact(count));
    }
}

/// Handoffs went back to pending: given back by their application, or their lease ran out.
pub fn handoffs_retried(count: u64) {
    counter!("restante_handoff_retries_total").increment(count);
}

/// Handoffs failed for good.
pub fn handoffs_failed(count: u64) {
    counter!("restante_handoff_permanent_failures_total").increment(count);
}

/// A reconciliation found events whose kept bytes differ from the provider's.
pub fn reconciliation_mismatches(count: u64) {
    counter!("restante_reconciliation_mismatches_total").increment(count);
}

/// How far this machine's clock is ahead.
fn clock_offset(against: Against, seconds: f64) {
    gauge!("restante_clock_offset_seconds", "against" => against.as_str()).set(seconds);
}

/// Counts stay far below 2^53, from where a float would round.
fn exact(count: u64) -> f64 {
    count as f64
}

/// Tells the recorder what each figure is, and makes those that have no labels of their own show
/// as 0 before anything happened: a figure that is not there can't raise an alarm.
pub fn describe() {
    describe_counter!("restante_deliveries_total", "Requests of senders, by how they ended.");
    describe_counter!("restante_accepted_total", "Events that were new.");
    describe_counter!("restante_duplicates_total", "Events that had come before.");
    describe_counter!("restante_rejected_total", "Requests of senders that were refused, by reason.");
    describe_counter!("restante_commit_failures_total", "Deliveries that could not be committed.");
    describe_histogram!("restante_receive_seconds", "From the last byte of a delivery to its answer.");
    describe_histogram!(
        "restante_signed_age_seconds",
        "How old the signed time of authentic deliveries was."
    );
    describe_histogram!("restante_commit_seconds", "From the queue of the committer to the disk.");
    describe_gauge!("restante_connections", "Connections of clients that are open.");
    describe_gauge!("restante_queue_depth", "Records that wait for the committer.");
    describe_gauge!("restante_oldest_pending_seconds", "Age of the oldest handoff that waits to be claimed.");
    describe_gauge!("restante_handoffs", "Handoffs that are not done, by state.");
    describe_counter!("restante_handoff_retries_total", "Handoffs that went back to pending.");
    describe_counter!("restante_handoff_permanent_failures_total", "Handoffs that failed for good.");
    describe_counter!(
        "restante_reconciliation_mismatches_total",
        "Events whose bytes differ from what the provider lists."
    );
    describe_gauge!(
        "restante_clock_offset_seconds",
        "How far this machine's clock is ahead of the database's, and of the median of the times that senders signed."
    );
    for outcome in OUTCOMES {
        counter!("restante_deliveries_total", "outcome" => outcome).absolute(0);
    }
    events(0, 0);
    counter!("restante_commit_failures_total").absolute(0);
    handoffs_retried(0);
    handoffs_failed(0);
    reconciliation_mismatches(0);
    queue_depth(0);
    gauge!("restante_connections").set(exact(open_connections()));
    oldest_pending(0);
    waiting(&Waiting::default());
}
