//! What waits for a person, in groups of the same error, and the word that ends it.

mod list;
mod settle;

use axum::Router;
use axum::routing::{get, post};

use crate::state::Web;

pub(crate) fn routes() -> Router<Web> {
    Router::new()
        .route("/t/{slug}/failures", get(list::show))
        .route("/t/{slug}/failures/settle", get(settle::show))
        .route("/t/{slug}/failures/settle/confirmed", post(settle::submit))
}
