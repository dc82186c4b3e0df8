//! Refused requests: a few of each endpoint are kept, each with the reason in a sentence and, for whoever
//! may see payloads, with the request itself.

mod detail;
mod list;
#[cfg(test)]
mod tests;
mod verify;

use axum::Router;
use axum::routing::{get, post};

use crate::state::Web;

pub(crate) use list::RefusalRow;

pub(crate) fn routes() -> Router<Web> {
    Router::new()
        .route("/t/{slug}/refusals", get(list::show))
        .route("/t/{slug}/refusals/{endpoint}/{id}", get(detail::show))
        .route("/t/{slug}/refusals/{endpoint}/{id}/verify", post(verify::submit))
}
