//! Accounts: coming in, going out, and what belongs to the person alone. A file an action.

mod sign_in;
mod sign_out;

use axum::Router;
use axum::routing::{get, post};

use crate::state::Web;

/// The routes of accounts.
pub(crate) fn routes() -> Router<Web> {
    Router::new()
        .route("/sign-in", get(sign_in::show).post(sign_in::submit))
        .route("/sign-out", post(sign_out::submit))
}
