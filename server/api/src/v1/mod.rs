//! The management and pull interface, `/v1`. A file a resource; what lists and creations have in
//! common stands in `page.rs` and `answer.rs`.

mod answer;
mod consumers;
mod endpoints;
mod event_actions;
mod event_answer;
mod event_detail;
mod events;
#[cfg(test)]
mod events_tests;
#[cfg(test)]
mod hang_up_tests;
mod keys;
#[cfg(test)]
mod objects_tests;
mod page;
mod patch;
mod providers;
mod pull;
#[cfg(test)]
mod pull_tests;
mod reconciliation;
mod refusals;
mod replays;
#[cfg(test)]
mod replays_tests;
mod retention;
mod retention_view;
mod secrets;
mod stats;
mod test_event;
#[cfg(test)]
mod tests;

use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

/// Every route of the interface.
pub(crate) fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .merge(keys::routes())
        .merge(providers::routes())
        .merge(endpoints::routes())
        .merge(secrets::routes())
        .merge(test_event::routes())
        .merge(refusals::routes())
        .merge(reconciliation::routes())
        .merge(consumers::routes())
        .merge(pull::routes())
        .merge(events::routes())
        .merge(event_actions::routes())
        .merge(replays::routes())
        .merge(retention::routes())
        .merge(stats::routes())
}
