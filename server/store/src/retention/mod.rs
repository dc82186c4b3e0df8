//! Retention: what is said about it (policies, overrides, holds), what is due, its removal in batches, and
//! the record of what was done. When something is due, `core::retention` decides; the functions here run inside
//! the caller's transaction and lock what they remove.

mod due;
mod erase;
mod facts;
mod held;
mod holds;
mod keys;
mod lives;
mod payloads;
mod policies;
mod removed;
mod runs;
mod seen;
mod space;
mod sql;
#[cfg(test)]
mod tests;

pub use due::{Cutoffs, Due, Judged, Kept, Request, due_payloads, judge, sizes};
pub use erase::{Erased, erase, erase_refusals, erase_some};
pub use facts::{ConsumerFacts, EndpointFacts, TenantFacts, facts, hold_still, tenants_after};
pub use held::HoldFacts;
pub use holds::{HOLDS_MAX, HoldRow, NewHold, active_holds, hold, holds, refuse_while_held, release};
pub use keys::{KeyRule, KeysRemoved, due_keys, remove_keys};
pub use lives::{OldRows, remove_old_counters, remove_old_instance_log, remove_old_of_tenant};
pub use payloads::{Removed, remove_payloads};
pub use policies::{
    OverrideRow, PolicyLevel, PolicyRow, delete_override, delete_policy, policies, policy, put_override,
    put_policy,
};
pub use removed::{newest_removed, newest_removed_in};
pub use runs::{
    LineCounts, NewRun, RunLine, RunRow, add_to_line, close_cut_off, finish, forget_old,
    insert as insert_run, keep_reasons, lines_of_run, newest as newest_runs, of_tenant as runs_of_tenant,
};
pub use seen::{note_seen, seen};
pub use space::{Pages, give_back, pages};
pub(crate) use sql::RETENTION_OPEN_LOCKED;

/// Every statement here.
#[cfg(test)]
pub(crate) fn all_statements() -> impl Iterator<Item = &'static crate::engine::Sql> {
    [
        sql::ALL,
        held::ALL,
        holds::ALL,
        lives::ALL,
        policies::ALL,
        removed::ALL,
        runs::ALL,
        seen::ALL,
        space::ALL,
    ]
    .into_iter()
    .flatten()
    .copied()
}
