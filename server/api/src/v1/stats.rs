//! `/v1/stats`: the tenant's figures.

use std::collections::BTreeMap;

use axum::extract::State;
use restante_app::App;
use restante_app::stats::{ConsumerStats, EndpointStats, Window};
use restante_core::id::EndpointId;
use restante_core::problem::Problem;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::{Caller, Json, Query};
use crate::problem::Result;
use crate::state::Api;

pub(super) fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new().routes(routes!(get))
}

/// How far to look back.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct StatsQuery {
    /// `1h`, `24h` (the default) or `7d`.
    window: Option<String>,
}

/// The figures.
#[derive(Serialize, ToSchema)]
#[schema(as = Stats)]
pub(crate) struct StatsAnswer {
    /// How far they look back.
    #[schema(example = "24h")]
    window: &'static str,
    endpoints: Vec<EndpointFigures>,
    consumers: Vec<ConsumerFigures>,
}

/// What came in by an endpoint within the window.
#[derive(Serialize, ToSchema)]
#[schema(as = EndpointStats)]
pub(crate) struct EndpointFigures {
    #[schema(value_type = String, example = "ep_01kbrs6q2j8a1q3f5z0ry4t7wd")]
    id: EndpointId,
    provider: String,
    /// Requests that were authentic and kept.
    deliveries: u64,
    /// Events that were new.
    accepted: u64,
    /// Events that had come before.
    duplicates: u64,
    /// The share of duplicates among both, from 0 to 1.
    duplicate_rate: f64,
    /// Requests that could not be kept; their senders were told to come again.
    failed: u64,
    /// Requests that were refused, by reason.
    #[schema(value_type = Object, example = json!({"signature_mismatch": 3}))]
    rejected: BTreeMap<String, u64>,
}

/// What a consumer has. States are as of now; attempts are those of the window.
#[derive(Serialize, ToSchema)]
#[schema(as = ConsumerStats)]
pub(crate) struct ConsumerFigures {
    name: String,
    pending: u64,
    leased: u64,
    processed: u64,
    failed: u64,
    uncertain: u64,
    /// The age of the oldest pending event since it was received; null when nothing is pending.
    oldest_pending_seconds: Option<u64>,
    attempts: u64,
}

impl From<EndpointStats> for EndpointFigures {
    fn from(stats: EndpointStats) -> Self {
        let EndpointStats {
            id,
            provider,
            deliveries,
            accepted,
            duplicates,
            duplicate_rate,
            failed,
            rejected,
        } = stats;
        Self { id, provider, deliveries, accepted, duplicates, duplicate_rate, failed, rejected }
    }
}

impl From<ConsumerStats> for ConsumerFigures {
    fn from(stats: ConsumerStats) -> Self {
        Self {
            name: stats.name,
            pending: stats.pending,
            leased: stats.leased,
            processed: stats.processed,
            failed: stats.failed,
            uncertain: stats.uncertain,
            oldest_pending_seconds: stats.oldest_pending_seconds,
            attempts: stats.attempts,
        }
    }
}

/// Gives the figures of every endpoint and consumer.
#[utoipa::path(
    get,
    path = "/v1/stats",
    tag = "stats",
    params(StatsQuery),
    responses((status = 200, description = "The figures.", body = StatsAnswer))
)]
pub(crate) async fn get(
    State(app): State<App>,
    Caller(by): Caller,
    Query(query): Query<StatsQuery>,
) -> Result<Json<StatsAnswer>> {
    let window = match query.window.as_deref() {
        None => Window::Day,
        Some(word) => {
            Window::from_word(word).ok_or_else(|| Problem::field("window", "The window is 1h, 24h or 7d."))?
        }
    };
    let stats = app.stats(&by, window).await?;
    Ok(Json(StatsAnswer {
        window: window.as_str(),
        endpoints: stats.endpoints.into_iter().map(EndpointFigures::from).collect(),
        consumers: stats.consumers.into_iter().map(ConsumerFigures::from).collect(),
    }))
}
