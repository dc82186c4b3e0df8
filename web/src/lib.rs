//! HTTP for people: pages. What stands on them comes from the verbs of `app`; how machines are
//! answered is `api`'s business, of which this crate knows the description alone. Which page is for whom
//! stands in `restante_core::access`, and `session` holds everybody to it.

mod account;
mod admin;
mod api_reference;
mod assets;
mod docs;
mod error_texts;
mod fault;
mod front;
mod page;
mod parts;
mod session;
mod state;
mod tenant;
#[cfg(test)]
mod testing;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use restante_app::App;
use serde_json::Value;

use api_reference::Reference;
use state::Web;

/// The router for people. `description` is the API's, in OpenAPI. What is not its own gets a page
/// that says so.
pub fn router(app: App, description: &Value) -> Router {
    let web = Web::new(app, Reference::read(description));
    Router::new()
        .route("/", get(front::front))
        .route("/docs/api", get(docs::api))
        .route("/docs/errors", get(docs::errors))
        .route("/docs/errors/{slug}", get(docs::error))
        .route("/assets/{name}", get(assets::serve))
        .merge(account::routes())
        .merge(admin::routes())
        .merge(tenant::routes())
        .route_layer(from_fn_with_state(web.clone(), session::guard))
        .route_layer(session::layer(&web))
        .layer(DefaultBodyLimit::max(session::FORM_BYTES_MAX))
        .fallback(page::not_found)
        .with_state(web)
}

#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod tests;
