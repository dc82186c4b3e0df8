//! The pages of a tenant. A folder an area; their paths begin with the tenant's name.

mod actors;
mod audit;
mod choices;
mod consumers;
mod endpoints;
mod enter;
mod events;
mod failures;
mod frame;
mod keys;
mod members;
mod overview;
mod reconciliation;
mod refusals;
mod replays;
pub(crate) mod retention;
mod search;
mod settings;

use axum::Router;
use axum::routing::{get, post};

use crate::state::Web;

/// The routes of a tenant.
pub(crate) fn routes() -> Router<Web> {
    Router::new()
        .route("/t/{slug}", get(overview::show))
        .route("/t/{slug}/enter", post(enter::submit))
        .merge(consumers::routes())
        .merge(endpoints::routes())
        .route("/t/{slug}/audit", get(audit::show))
        .merge(members::routes())
        .merge(events::routes())
        .merge(failures::routes())
        .merge(keys::routes())
        .merge(reconciliation::routes())
        .merge(refusals::routes())
        .merge(replays::routes())
        .merge(retention::routes())
        .merge(search::routes())
        .merge(settings::routes())
}
