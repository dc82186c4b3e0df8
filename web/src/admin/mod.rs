//! The administration of the instance. A file an action; each is for administrators.

mod audit;
mod health;
mod keys;
mod people;
mod person;
mod retention;
mod schedule;
mod start;
mod tenants;
#[cfg(test)]
mod tests;

use axum::Router;
use axum::routing::{get, post};

use crate::state::Web;

/// The routes of the administration.
pub(crate) fn routes() -> Router<Web> {
    Router::new()
        .route("/admin", get(start::show))
        .route("/admin/sign-up", post(start::sign_up))
        .route("/admin/people", get(people::show))
        .route("/admin/people/{id}", get(person::show))
        .route("/admin/people/{id}/administrator", post(person::administrator))
        .route("/admin/people/{id}/disabled", post(person::disabled))
        .route("/admin/people/{id}/end-sessions", post(person::end_sessions))
        .route("/admin/people/{id}/reset-link", post(person::reset_link))
        .route("/admin/retention", get(retention::show).post(retention::save))
        .route("/admin/retention/clock", post(retention::clock))
        .route("/admin/retention/override", post(retention::override_windows))
        .route("/admin/retention/lift", post(retention::lift))
        .route("/admin/keys", get(keys::show))
        .route("/admin/keys/rotate", post(keys::rotate))
        .route("/admin/health", get(health::show))
        .route("/admin/schedule", get(schedule::list))
        .route("/admin/schedule/{name}", get(schedule::show))
        .route("/admin/schedule/{name}/run", post(schedule::run))
        .route("/admin/schedule/{name}/pause", post(schedule::pause))
        .route("/admin/audit", get(audit::show))
        .merge(tenants::routes())
}
