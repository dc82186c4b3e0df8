//! Events: the list with its filters, and one event with its history and payload. A file an action.

mod detail;
pub(crate) mod filter;
mod list;
mod newer;
mod payload;
mod repair;
pub(crate) mod row;
mod settle;
#[cfg(test)]
mod tests;
mod timeline;

use axum::Router;
use axum::response::Response;
use axum::routing::{get, post};
use restante_core::id::ReceiptId;

use crate::fault::Fault;
use crate::parts::form::Faults;
use crate::session::Member;
use crate::state::Web;
use crate::tenant::frame::Said;

pub(crate) use list::named;
pub(crate) use payload::headers;

/// The page of an event, with what is wrong with a form on it.
pub(crate) async fn detail_page(
    web: &Web,
    member: &Member,
    id: ReceiptId,
    faults: Faults,
) -> Result<Response, Fault> {
    detail::page(web, member, id, &Said::default(), faults, None).await
}

pub(crate) fn routes() -> Router<Web> {
    Router::new()
        .route("/t/{slug}/events", get(list::show))
        .route("/t/{slug}/events/newer", get(newer::show))
        .route("/t/{slug}/events/{id}", get(detail::show))
        .route("/t/{slug}/events/{id}/payload", get(payload::show))
        .route("/t/{slug}/events/{id}/payload/download", get(payload::download))
        .route("/t/{slug}/events/{id}/settle", post(settle::submit))
        .route("/t/{slug}/events/{id}/repair", post(repair::submit))
}
