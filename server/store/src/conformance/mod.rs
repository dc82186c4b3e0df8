//! What holds for all statements and for both schemas. A new file with `statements!` joins the list
//! here; a test finds those that were forgotten.

mod schemas;
mod statements;

use crate::engine::Sql;

/// Every statement of the store.
fn all_statements() -> Vec<&'static Sql> {
    let alone = [
        crate::check::ALL,
        crate::consumers::ALL,
        crate::deliveries::ALL,
        crate::engine::ALL,
        crate::events::ALL,
        crate::handoffs::ALL,
        crate::high_water::ALL,
        crate::nodes::ALL,
        crate::holdings::ALL,
        crate::jobs::ALL,
        crate::probe::ALL,
        crate::reconciliation::ALL,
        crate::replay_jobs::ALL,
        crate::rollups::ALL,
        crate::vitals::ALL,
    ];
    alone
        .into_iter()
        .flatten()
        .copied()
        .chain(crate::control::all_statements())
        .chain(crate::refusals::all_statements())
        .chain(crate::retention::all_statements())
        .chain(crate::stats::all_statements())
        .chain(crate::tenant_removal::all_statements())
        .collect()
}
