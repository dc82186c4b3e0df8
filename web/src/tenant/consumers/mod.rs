//! Consumers: the list with what waits at each, a new one, and one with its worker in four languages, its
//! filter, and the ways to pause and delete it. A file an action.

mod create;
mod delete;
mod detail;
mod edit;
mod fields;
mod list;
mod switch;
#[cfg(test)]
mod tests;
mod worker;

use axum::Router;
use axum::routing::{get, post};

use crate::state::Web;

pub(crate) fn routes() -> Router<Web> {
    Router::new()
        .route("/t/{slug}/consumers", get(list::show))
        .route("/t/{slug}/consumers/new", get(create::show).post(create::submit))
        .route("/t/{slug}/consumers/{name}", get(detail::show))
        .route("/t/{slug}/consumers/{name}/edit", get(edit::show).post(edit::submit))
        .route("/t/{slug}/consumers/{name}/pause", post(switch::pause))
        .route("/t/{slug}/consumers/{name}/resume", post(switch::resume))
        .route("/t/{slug}/consumers/{name}/delete", post(delete::submit))
}
