//! Asking providers what they sent, as a tenant sees it: every endpoint at a glance, one endpoint with its
//! settings and runs, and a run as a report that somebody can read who knows nothing of webhooks.

mod form;
mod list;
mod report;
#[cfg(test)]
mod samples;
mod show;
#[cfg(test)]
mod tests;
mod words;

use axum::Router;
use axum::routing::{get, post};

use crate::state::Web;

/// The routes.
pub(crate) fn routes() -> Router<Web> {
    Router::new()
        .route("/t/{slug}/reconciliation", get(list::show))
        .route("/t/{slug}/endpoints/{id}/reconciliation", get(show::show).post(show::save))
        .route("/t/{slug}/endpoints/{id}/reconciliation/run", post(show::run))
        .route("/t/{slug}/endpoints/{id}/reconciliation/remove", post(show::remove))
        .route("/t/{slug}/endpoints/{id}/reconciliation/runs/{run}", get(report::show))
}
