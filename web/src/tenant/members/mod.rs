//! The members of a tenant, the invitations that are open, and what administrators of the instance may
//! see. All of it is for owners. A file an action.

mod change;
mod grants;
mod invite;
mod page;
#[cfg(test)]
mod tests;

use axum::Router;
use axum::routing::{get, post};

use crate::state::Web;

/// The routes of members.
pub(super) fn routes() -> Router<Web> {
    Router::new()
        .route("/t/{slug}/members", get(page::show))
        .route("/t/{slug}/members/invites", post(invite::submit))
        .route("/t/{slug}/members/invites/{id}/revoke", post(invite::revoke))
        .route("/t/{slug}/members/{id}/role", post(change::role))
        .route("/t/{slug}/members/{id}/remove", post(change::remove))
        .route("/t/{slug}/members/{id}/reset-link", post(change::reset_link))
        .route("/t/{slug}/grants", post(grants::submit))
        .route("/t/{slug}/grants/{id}/end", post(grants::end))
}
