//! Whether the server is alive, whether it can commit, and its figures. None of it tells a stranger
//! anything of versions, errors or tenants.

use std::sync::atomic::{AtomicBool, Ordering};

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use restante_core::problem::{Code, Problem};

use crate::problem::Refused;
use crate::state::Api;

/// What `/readyz` remembers.
#[derive(Debug, Default)]
pub(crate) struct Readiness {
    draining: AtomicBool,
}

impl Readiness {
    pub(crate) fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }
}

/// Says that the process lives.
#[utoipa::path(
    get,
    path = "/healthz",
    tag = "health",
    responses((status = 200, description = "The process lives.", content_type = "text/plain"))
)]
pub(crate) async fn healthz() -> &'static str {
    "alive\n"
}

/// Says whether the server can commit, so whether deliveries should be sent to it.
#[utoipa::path(
    get,
    path = "/readyz",
    tag = "health",
    responses(
        (status = 200, description = "It can commit.", content_type = "text/plain"),
        (status = 503, description = "It can't commit now, or is about to stop.")
    )
)]
pub(crate) async fn readyz(State(api): State<Api>) -> Response {
    if api.readiness.is_draining() {
        return Refused(Problem::new(Code::Unavailable, "This server is about to stop.")).into_response();
    }
    "ready\n".into_response()
}

/// The figures in Prometheus' text format.
pub(crate) async fn metrics(State(api): State<Api>) -> Response {
    let text = api.figures.as_ref().map(|figures| figures()).unwrap_or_default();
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}
