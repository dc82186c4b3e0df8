//! Reconciliation: asking an endpoint's provider what it sent, and inserting what never arrived, by the same
//! road as a delivery. `settings.rs` is what a tenant sets; `runs.rs` what they see and ask for, `by_hand.rs`
//! what the operator does at the command line; `run.rs`
//! claims a run and leaves it; `turn.rs` does a page of it with `call.rs`, `page.rs` (which looks it up) and `write.rs`.

mod by_hand;
mod call;
mod compare;
mod job;
mod page;
mod prepare;
mod run;
mod runs;
mod settings;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_faults;
#[cfg(test)]
mod tests_keys;
#[cfg(test)]
mod tests_others;
#[cfg(test)]
mod tests_provider;
mod turn;
mod turn_to_try;
mod write;

pub(crate) use job::reconcile_due;
pub use runs::{AskedRun, Found, Run};
pub use settings::{Reconciliation, ReconciliationAsked, ReconciliationOffer};

use restante_core::problem::Problem;

/// The name of the job that does the runs.
pub(crate) const JOB: &str = "reconciliation";
/// A run looks back at least so far before the end of the last one, whatever was asked for: clocks differ,
/// and providers list some events late.
const OVERLAP_SECONDS_MIN: u32 = 15 * 60;
/// How far back the daily wider sweep looks, and one that a person asks for.
const WIDE_SECONDS: i64 = 48 * 60 * 60;
/// Between two wider sweeps.
const WIDE_EVERY_SECONDS: i64 = 24 * 60 * 60;

fn not_set() -> Problem {
    Problem::not_found("reconciliation")
}
