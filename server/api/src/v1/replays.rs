//! `/v1/replays`: replays of many, counted first, then worked off in the background.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use restante_app::App;
use restante_app::events::EventFilter;
use restante_app::replay_jobs::{NewReplays, ReplayOf, Replays};
use restante_core::id::{ReceiptId, ReplayJobId};
use restante_core::problem::Problem;
use restante_core::time::Timestamp;
use restante_core::token::FiltersDigest;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::answer::answered;
use super::events::Filters;
use super::page::{Page, PageQuery};
use crate::extract::{Caller, Creating, Json, Path, Query};
use crate::problem::Result;
use crate::state::Api;

pub(super) fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new().routes(routes!(list, create)).routes(routes!(get)).routes(routes!(cancel))
}

/// Which events, and to whom.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReplaysRequest {
    /// The filters of `GET /v1/events`: every event that matches when it is asked for. `{}` is all of them.
    #[serde(default)]
    filter: Option<ReplayFilter>,
    /// Instead of a filter: these events, 1 to 250. One that is not there is counted as refused.
    #[serde(default)]
    #[schema(value_type = Option<Vec<String>>, example = json!(["rcp_01kbrs6q2j8a1q3f5z0ry4t7wd"]))]
    events: Option<Vec<ReceiptId>>,
    /// The consumer, also one that never had the events. Null is every consumer that had them or whose filter
    /// matches them.
    #[serde(default)]
    consumer: Option<String>,
    /// Why, for those who look at the events later.
    #[serde(default)]
    reason: Option<String>,
    /// True: only count. False: replay them.
    #[serde(default = "yes")]
    #[schema(default = true)]
    dry_run: bool,
}

const fn yes() -> bool {
    true
}

/// The filters of a list of events.
#[derive(Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ReplayFilter {
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    endpoint: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    event_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    consumer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    received_after: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    received_before: Option<Timestamp>,
}

impl ReplayFilter {
    fn check(self) -> std::result::Result<EventFilter, Problem> {
        Filters {
            provider: self.provider,
            endpoint: self.endpoint,
            event_type: self.event_type,
            state: self.state,
            consumer: self.consumer,
            event_id: self.event_id,
            received_after: self.received_after,
            received_before: self.received_before,
        }
        .check("/filter/")
    }
}

impl From<EventFilter> for ReplayFilter {
    fn from(filter: EventFilter) -> Self {
        Self {
            provider: filter.provider,
            endpoint: filter.endpoint.map(|id| id.to_string()),
            event_type: filter.event_type.map(|glob| glob.as_str().to_owned()),
            state: filter.state.map(|state| state.as_str().to_owned()),
            consumer: filter.consumer,
            event_id: filter.event_id,
            received_after: filter.received_after,
            received_before: filter.received_before,
        }
    }
}

impl ReplaysRequest {
    /// Which events. A body that names none can only count, since "all" has to be said.
    fn of(filter: Option<ReplayFilter>, events: Option<Vec<ReceiptId>>, dry_run: bool) -> Result<ReplayOf> {
        match (filter, events) {
            (Some(_), Some(_)) => {
                Err(Problem::field("/events", "Send a filter or events, and not both.").into())
            }
            (None, Some(events)) => Ok(ReplayOf::Events(events)),
            (None, None) if !dry_run => {
                let detail = "Say which events: send a filter, {} for all of them, or events.";
                Err(Problem::field("/filter", detail).into())
            }
            (filter, None) => Ok(ReplayOf::Matching(filter.unwrap_or_default().check()?)),
        }
    }
}

/// How many events would be replayed, and the replay of them if there is one.
#[derive(Serialize, ToSchema)]
#[schema(as = ReplayCount)]
pub(crate) struct CountAnswer {
    /// Events that are meant.
    count: u64,
    /// Whether these are all; a count looks at a bounded number of events.
    complete: bool,
    /// The replay that was begun; null of a count alone.
    #[schema(value_type = Option<String>, example = "rpj_01kbrs6q2j8a1q3f5z0ry4t7wd")]
    id: Option<ReplayJobId>,
}

/// A replay of many.
#[derive(Serialize, ToSchema)]
#[schema(as = Replay)]
pub(crate) struct ReplayAnswer {
    #[schema(value_type = String, example = "rpj_01kbrs6q2j8a1q3f5z0ry4t7wd")]
    id: ReplayJobId,
    /// `running`, `done`, `cancelled`, or `failed`, when it could not go on.
    state: &'static str,
    /// Why it could not go on.
    error: Option<String>,
    /// The filters of a replay of all that match.
    filter: Option<ReplayFilter>,
    /// Of a replay of picked events, how many were picked.
    picked: Option<usize>,
    /// The consumer; null is every one that had them or whose filter matches. A deleted one has no name any more.
    consumer: Option<String>,
    /// Who asked: `key_…` or `usr_…`.
    by: String,
    reason: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    finished_at: Option<Timestamp>,
    /// Events that were counted when it was asked for; null of one that an older version began.
    count: Option<u64>,
    /// Whether those are all.
    complete: bool,
    /// Events of which at least one handoff was made pending.
    events: u64,
    /// Handoffs that were made pending.
    handoffs: u64,
    /// Events that could not be replayed: their payload is gone, they wait for a repair, or they are not there.
    refused: u64,
}

impl From<Replays> for ReplayAnswer {
    fn from(replays: Replays) -> Self {
        let Replays { row, of } = replays;
        let (state, error) = match row.outcome.as_deref() {
            None => ("running", None),
            Some("done") => ("done", None),
            Some("cancelled") => ("cancelled", None),
            Some(why) => ("failed", Some(why.to_owned())),
        };
        let (filter, picked) = match of {
            ReplayOf::Matching(filter) => (Some(ReplayFilter::from(filter)), None),
            ReplayOf::Events(ids) => (None, Some(ids.len())),
        };
        Self {
            id: row.id,
            state,
            error,
            filter,
            picked,
            consumer: row.consumer_name,
            by: row.actor,
            reason: row.reason,
            created_at: row.created_at,
            finished_at: row.finished_at,
            count: row.matched,
            complete: row.matched_all,
            events: row.events,
            handoffs: row.handoffs,
            refused: row.refused,
        }
    }
}

/// Counts the events that a replay of many would take, or begins it.
#[utoipa::path(
    post,
    path = "/v1/replays",
    tag = "events",
    params(("Idempotency-Key" = Option<String>, Header, description = "Begins nothing twice within 24 hours.")),
    request_body = ReplaysRequest,
    responses(
        (status = 200, description = "The count.", body = CountAnswer),
        (status = 202, description = "The replay is under way.", body = CountAnswer)
    )
)]
pub(crate) async fn create(
    State(app): State<App>,
    Caller(by): Caller,
    Creating { value: asked, repeat }: Creating<ReplaysRequest>,
) -> Result<Response> {
    let ReplaysRequest { filter, events, consumer, reason, dry_run } = asked;
    if let Some(name) = &consumer {
        app.consumer(&by, name).await?;
    }
    let of = ReplaysRequest::of(filter, events, dry_run)?;
    if dry_run {
        let (count, complete) = app.count_replays(&by, &of).await?;
        return Ok(Json(CountAnswer { count, complete, id: None }).into_response());
    }
    let made = app.create_replay_job(&by, NewReplays { of, consumer, reason }, repeat).await?;
    let answer =
        CountAnswer { count: made.value.count, complete: made.value.complete, id: Some(made.value.id) };
    Ok(answered(StatusCode::ACCEPTED, answer, made.repeated))
}

/// Lists the replays of many, the newest first.
#[utoipa::path(
    get,
    path = "/v1/replays",
    tag = "events",
    params(PageQuery),
    responses((status = 200, description = "A page of replays.", body = Page<ReplayAnswer>))
)]
pub(crate) async fn list(
    State(app): State<App>,
    Caller(by): Caller,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<ReplayAnswer>>> {
    let asked = query.check(FiltersDigest::new(by.tenant(), "replays", &[]))?;
    let found = app.replay_jobs(&by, asked.after, asked.fetch()).await?;
    Ok(Json(asked.page(found, |replays| replays.row.id.0)))
}

/// Shows how far a replay of many is.
#[utoipa::path(
    get,
    path = "/v1/replays/{id}",
    tag = "events",
    params(("id" = String, Path, description = "`rpj_…`")),
    responses((status = 200, description = "The replay.", body = ReplayAnswer))
)]
pub(crate) async fn get(
    State(app): State<App>,
    Caller(by): Caller,
    Path(id): Path<ReplayJobId>,
) -> Result<Json<ReplayAnswer>> {
    Ok(Json(app.replay_job(&by, id).await?.into()))
}

/// Stops a replay of many. What is replayed by then stays replayed.
#[utoipa::path(
    post,
    path = "/v1/replays/{id}/cancel",
    tag = "events",
    params(("id" = String, Path, description = "`rpj_…`")),
    responses(
        (status = 200, description = "It is stopped.", body = ReplayAnswer),
        (status = 409, description = "It is over already.", content_type = "application/problem+json")
    )
)]
pub(crate) async fn cancel(
    State(app): State<App>,
    Caller(by): Caller,
    Path(id): Path<ReplayJobId>,
) -> Result<Json<ReplayAnswer>> {
    app.cancel_replay_job(&by, id).await?;
    Ok(Json(app.replay_job(&by, id).await?.into()))
}
