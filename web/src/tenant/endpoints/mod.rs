//! Endpoints: the list, a new one by its provider, the guided first event, and one endpoint with what is
//! known of it and what can be done. A file an action.

mod choose;
mod create;
mod delete;
mod detail;
mod edit;
mod fields;
mod first;
mod list;
mod secrets;
mod sender;
mod switch;
mod test_event;
#[cfg(test)]
mod tests;
mod try_out;

use axum::Router;
use axum::routing::{get, post};

use crate::state::Web;

#[cfg(test)]
pub(crate) use detail::samples;

pub(crate) fn routes() -> Router<Web> {
    Router::new()
        .route("/t/{slug}/endpoints", get(list::show))
        .route("/t/{slug}/endpoints/new", get(choose::show))
        .route("/t/{slug}/endpoints/new/{provider}", get(create::show).post(create::submit))
        .route("/t/{slug}/endpoints/{id}", get(detail::show))
        .route("/t/{slug}/endpoints/{id}/edit", get(edit::show).post(edit::submit))
        .route("/t/{slug}/endpoints/{id}/first", get(first::show))
        .route("/t/{slug}/endpoints/{id}/first/state", get(first::state))
        .route("/t/{slug}/endpoints/{id}/first/secret", post(first::submit))
        .route("/t/{slug}/endpoints/{id}/secrets", post(secrets::add))
        .route("/t/{slug}/endpoints/{id}/secrets/{secret}/delete", post(secrets::delete))
        .route("/t/{slug}/endpoints/{id}/test", post(test_event::submit))
        .route("/t/{slug}/endpoints/{id}/enable", post(switch::enable))
        .route("/t/{slug}/endpoints/{id}/disable", post(switch::disable))
        .route("/t/{slug}/endpoints/{id}/delete", post(delete::submit))
}
