//! Replays: first how many events it would be and what it does to whom, then, on a confirmation, the
//! replay itself with who and why.

mod create;
mod new;
mod progress;

use axum::Router;
use axum::routing::{get, post};

use crate::state::Web;

pub(crate) fn routes() -> Router<Web> {
    Router::new()
        .route("/t/{slug}/replays/new", get(new::show))
        .route("/t/{slug}/replays", post(create::submit))
        .route("/t/{slug}/replays/{id}", get(progress::show))
        .route("/t/{slug}/replays/{id}/cancel", post(progress::cancel))
}
