//! Whether the server is alive, whether it can commit, and its figures. None of it tells a stranger
//! anything of versions, errors or tenants.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use restante_app::figures;
use restante_core::problem::{Code, Problem};
use restante_store::Store;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::problem::Refused;
use crate::state::Api;

/// How long a commit may take before the server counts as not ready.
const COMMIT_WITHIN_MAX: Duration = Duration::from_secs(2);
/// For how long an answer holds, so that nobody can make the disk busy by asking.
const ANSWER_HOLDS: Duration = Duration::from_secs(1);

/// What `/readyz` remembers.
#[derive(Debug, Default)]
pub(crate) struct Readiness {
    draining: AtomicBool,
    last: Mutex<Option<(Instant, bool)>>,
}

impl Readiness {
    pub(crate) fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    /// Whether a commit went through within the last second; tries one if nothing is known. Whoever
    /// asks meanwhile waits for that one.
    async fn can_commit(&self, store: &Store) -> bool {
        let mut last = self.last.lock().await;
        if let Some((at, can)) = *last
            && at.elapsed() < ANSWER_HOLDS
        {
            return can;
        }
        let can = match tokio::time::timeout(COMMIT_WITHIN_MAX, store.check_commit()).await {
            Ok(Ok(_)) => true,
            Ok(Err(error)) => {
                tracing::warn!(%error, "not ready: a commit failed");
                false
            }
            Err(_) => {
                tracing::warn!("not ready: a commit took too long");
                false
            }
        };
        *last = Some((Instant::now(), can));
        can
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
    let problem = if api.readiness.draining.load(Ordering::Relaxed) {
        "This server is about to stop."
    } else if !api.readiness.can_commit(&api.app.store).await {
        "This server can't commit now."
    } else {
        return "ready\n".into_response();
    };
    Refused(Problem::new(Code::Unavailable, problem)).into_response()
}

/// The figures in Prometheus' text format.
pub(crate) async fn metrics(State(api): State<Api>) -> Response {
    figures::queue_depth(api.app.store.queue_depth());
    let text = api.figures.as_ref().map(|figures| figures()).unwrap_or_default();
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}
