//! HTTP for people: pages. What stands on them comes from the verbs of `app`; how machines are
//! answered is `api`'s business, of which this crate knows the description alone.

mod api_reference;
mod assets;
mod docs;
mod error_texts;
mod front;
mod page;
mod parts;

use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use serde_json::Value;

use api_reference::Reference;

/// The router for people. `description` is the API's, in OpenAPI. What is not its own gets a page
/// that says so.
pub fn router(description: Value) -> Router {
    Router::new()
        .route("/", get(front::front))
        .route("/docs/api", get(docs::api))
        .route("/docs/errors", get(docs::errors))
        .route("/docs/errors/{slug}", get(docs::error))
        .route("/assets/{name}", get(assets::serve))
        .fallback(page::not_found)
        .with_state(Arc::new(Reference::read(&description)))
}

#[cfg(test)]
mod tests;
