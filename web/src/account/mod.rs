//! Accounts: coming in, going out, and what belongs to the person alone. A file an action.

mod code;
mod dead_link;
mod enter;
mod links;
mod overview;
mod second_factor;
mod sessions;
mod set_up;
mod sign_in;
mod sign_out;
mod sign_up;
#[cfg(test)]
mod tests;

use axum::Router;
use axum::routing::{get, post};

use crate::state::Web;

/// The routes of accounts.
pub(crate) fn routes() -> Router<Web> {
    Router::new()
        .route("/set-up/{link}", get(set_up::show).post(set_up::submit))
        .route("/links/{link}", get(links::show).post(links::submit))
        .route("/sign-up", get(sign_up::show).post(sign_up::submit))
        .route("/sign-in", get(sign_in::show).post(sign_in::submit))
        .route("/sign-in/code", get(code::show).post(code::submit))
        .route("/sign-out", post(sign_out::submit))
        .route("/account", get(overview::show))
        .route("/account/password", post(overview::change_password))
        .route("/account/second-factor", get(second_factor::show).post(second_factor::begin))
        .route("/account/second-factor/enable", post(second_factor::enable))
        .route("/account/second-factor/remove", post(second_factor::remove))
        .route("/account/second-factor/recovery-codes", post(second_factor::new_codes))
        .route("/account/sessions/end-others", post(sessions::end_others))
        .route("/account/sessions/{id}/end", post(sessions::end))
}
