//! Retention: what is in force and why, what a run would remove, the run itself, holds, and erasing now.
//! The rules are `core::retention`'s; a file an action.

mod clock;
mod counters;
mod erase;
mod holds;
mod instance;
mod job;
mod plan;
mod policies;
mod preview;
mod report;
mod run;
#[cfg(test)]
mod tests;

pub(crate) use clock::doubt as clock_doubt;
pub(crate) use counters::age_counters;
pub use erase::{ErasedMany, NOT_REACHED};
pub use holds::{Held, Hold};
pub(crate) use job::keep;
pub use plan::{EndpointPlan, InstanceRetention};
pub use policies::TenantRetention;
pub(crate) use policies::write as write_policy;
pub use preview::PREVIEW_LOOK_MAX;
pub use report::{EndpointReport, Report};
pub use restante_store::retention::{
    Cutoffs, Erased, HoldRow, Kept, LineCounts, OverrideRow, PolicyLevel, RunLine, RunRow,
};
pub use run::{Cause, Options, run};
