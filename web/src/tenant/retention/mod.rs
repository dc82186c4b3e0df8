//! Retention: what is kept how long and why, what the next run would remove, holds, runs, and erasing now. A file an
//! action.

mod endpoint;
mod erase;
mod fields;
mod holds;
mod save;
mod show;
#[cfg(test)]
mod tests;
pub(crate) mod words;

pub(crate) use fields::{Group, Typed};
#[cfg(test)]
pub(crate) use show::samples;

use axum::Router;
use axum::routing::{get, post};

use crate::state::Web;

pub(crate) fn routes() -> Router<Web> {
    Router::new()
        .route("/t/{slug}/retention", get(show::show).post(save::submit))
        .route("/t/{slug}/retention/preview", post(save::preview))
        .route("/t/{slug}/retention/holds", post(holds::submit))
        .route("/t/{slug}/retention/holds/{id}/release", post(holds::release))
        .route("/t/{slug}/retention/erase", post(erase::tenant))
        .route("/t/{slug}/endpoints/{id}/retention", get(endpoint::show).post(endpoint::submit))
        .route("/t/{slug}/endpoints/{id}/retention/preview", post(endpoint::preview))
        .route("/t/{slug}/events/{id}/erase", post(erase::event))
}
