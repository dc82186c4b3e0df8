//! The management and pull interface, `/v1`. A file a resource; what lists and creations have in
//! common stands in `page.rs` and `answer.rs`.

mod answer;
mod endpoints;
mod keys;
mod page;
mod patch;
mod providers;
mod secrets;
mod test_event;
#[cfg(test)]
mod tests;

use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

/// Every route of the interface.
pub(crate) fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .merge(keys::routes())
        .merge(providers::routes())
        .merge(endpoints::routes())
        .merge(secrets::routes())
        .merge(test_event::routes())
}
