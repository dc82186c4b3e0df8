//! API keys: the list, a new one that is shown this once, and revoking one.

mod create;
mod list;
mod revoke;
#[cfg(test)]
mod tests;

use axum::Router;
use axum::routing::{get, post};

use crate::state::Web;

pub(crate) fn routes() -> Router<Web> {
    Router::new()
        .route("/t/{slug}/keys", get(list::show))
        .route("/t/{slug}/keys/new", get(create::show).post(create::submit))
        .route("/t/{slug}/keys/{id}/revoke", post(revoke::submit))
}
