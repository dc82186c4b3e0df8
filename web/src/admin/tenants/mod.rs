//! Tenants in the administration: listed, made, changed, deleted. A file an action.

mod change;
mod delete;
mod detail;
mod list;
mod new;
mod removal;
#[cfg(test)]
mod tests;

use axum::Router;
use axum::routing::{get, post};
use restante_core::id::TenantId;
use restante_core::problem::{Code, Problem};

use crate::state::Web;

pub(super) fn routes() -> Router<Web> {
    Router::new()
        .route("/admin/tenants", get(list::show))
        .route("/admin/tenants/new", get(new::show).post(new::submit))
        .route("/admin/tenants/{id}", get(detail::show))
        .route("/admin/tenants/{id}/names", post(change::names))
        .route("/admin/tenants/{id}/limits", post(change::limits))
        .route("/admin/tenants/{id}/suspend", post(change::suspend))
        .route("/admin/tenants/{id}/resume", post(change::resume))
        .route("/admin/tenants/{id}/delete", post(delete::submit))
        .route("/admin/tenants/{id}/removal", get(removal::show))
}

fn tenant(id: &str) -> Result<TenantId, Problem> {
    id.parse().map_err(|_| Problem::new(Code::NotFound, "There is no such tenant."))
}
