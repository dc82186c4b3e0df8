//! `/v1/endpoints/{id}/reconciliation`: asking an endpoint's provider what it sent, and the runs that did.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use restante_app::App;
use restante_app::reconcile::{AskedRun, Found, Reconciliation, ReconciliationAsked, Run};
use restante_core::id::{EndpointId, ReconciliationRunId};
use restante_core::secret::Secret;
use restante_core::time::Timestamp;
use restante_core::token::FiltersDigest;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::answer::answered;
use super::page::{Page, PageQuery};
use crate::extract::{Caller, Creating, CreatingOrEmpty, Json, Path, Query};
use crate::problem::Result;
use crate::state::Api;

pub(super) fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new().routes(routes!(get, put, delete)).routes(routes!(runs, ask)).routes(routes!(run))
}

/// How an endpoint's provider is to be asked.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReconciliationRequest {
    /// Whether runs begin by themselves; true when it is left out.
    #[serde(default)]
    #[schema(default = true)]
    enabled: Option<bool>,
    /// By the names that `GET /v1/providers/{name}` gives, such as `api_key` for Stripe. They are tried, sealed and never
    /// returned. Left out, those that are there stay.
    #[serde(default)]
    credentials: Option<BTreeMap<String, String>>,
    /// In place of the provider's host: a test system or a regional host. Null is the provider's own.
    #[serde(default)]
    base_url: Option<String>,
    /// Between two runs, 60 to 604,800; an hour when it is left out.
    #[serde(default)]
    #[schema(default = 3600)]
    interval_seconds: Option<u32>,
    /// How far a run looks back before the end of the last one, up to 604,800; an hour when it is left out. A run looks back
    /// 15 minutes at least.
    #[serde(default)]
    #[schema(default = 3600)]
    overlap_seconds: Option<u32>,
    /// The other values, by the names that `GET /v1/providers/{name}` gives; `recipe` where the catalogue has none.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    options: Option<Map<String, Value>>,
}

/// How an endpoint's provider is asked.
#[derive(Serialize, ToSchema)]
#[schema(as = Reconciliation)]
pub(crate) struct ReconciliationAnswer {
    /// Whether runs begin by themselves.
    enabled: bool,
    /// The names of the credentials, each with its last characters.
    credentials: BTreeMap<String, Hint>,
    base_url: Option<String>,
    interval_seconds: u32,
    overlap_seconds: u32,
    #[schema(value_type = Object)]
    options: Map<String, Value>,
    /// Everything up to here has been looked at.
    #[schema(value_type = Option<String>, format = DateTime)]
    checkpoint_at: Option<Timestamp>,
    /// When the next run is due; null while none begins by itself.
    #[schema(value_type = Option<String>, format = DateTime)]
    next_run_at: Option<Timestamp>,
    /// Why no run begins by itself any more, such as credentials that the provider refuses.
    stopped: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    /// What is unusual about what was just saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

/// What a credential is known by.
#[derive(Serialize, ToSchema)]
#[schema(as = CredentialHint)]
pub(crate) struct Hint {
    /// Its last characters.
    #[schema(example = "…4242")]
    hint: String,
}

impl From<Reconciliation> for ReconciliationAnswer {
    fn from(set: Reconciliation) -> Self {
        Self {
            enabled: set.enabled,
            credentials: set.credentials.into_iter().map(|(name, hint)| (name, Hint { hint })).collect(),
            base_url: set.base_url,
            interval_seconds: set.interval_seconds,
            overlap_seconds: set.overlap_seconds,
            options: set.options,
            checkpoint_at: set.checkpoint_at,
            next_run_at: set.next_at,
            stopped: set.stopped,
            created_at: set.created_at,
            updated_at: set.updated_at,
            notice: set.notice,
        }
    }
}

/// A run to be made; may be left out whole.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunRequest {
    /// From where on; by default where the last run ended, and the last two days at least.
    #[serde(default)]
    #[schema(value_type = Option<String>, format = DateTime)]
    from: Option<Timestamp>,
    /// Up to where, together with `from`; by default the time at which the run begins.
    #[serde(default)]
    #[schema(value_type = Option<String>, format = DateTime)]
    to: Option<Timestamp>,
    /// Whether it may find that everything is missing. Otherwise such a run ends, since the credentials may be another
    /// account's.
    #[serde(default)]
    trusting: Option<bool>,
}

/// A run.
#[derive(Serialize, ToSchema)]
#[schema(as = ReconciliationRun)]
pub(crate) struct RunAnswer {
    #[schema(value_type = String, example = "rcr_01kbrs6q2j8a1q3f5z0ry4t7wd")]
    id: ReconciliationRunId,
    /// `due`, `wide` (the daily look further back) or `asked`.
    cause: String,
    #[schema(value_type = String, format = DateTime)]
    asked_at: Timestamp,
    /// Null while it waits.
    #[schema(value_type = Option<String>, format = DateTime)]
    started_at: Option<Timestamp>,
    /// Null until it ends.
    #[schema(value_type = Option<String>, format = DateTime)]
    finished_at: Option<Timestamp>,
    /// `done`, `failed` or `refused`; null until it ends.
    outcome: Option<String>,
    /// The stretch of time that it looks at.
    #[schema(value_type = Option<String>, format = DateTime)]
    from: Option<Timestamp>,
    #[schema(value_type = Option<String>, format = DateTime)]
    to: Option<Timestamp>,
    /// Where the stretch would begin if retention had not removed the ids of older events, which could come in a second
    /// time otherwise; null where it was not shortened.
    #[schema(value_type = Option<String>, format = DateTime)]
    wanted_from: Option<Timestamp>,
    /// Pages that were read.
    pages: u64,
    /// Entries that the provider listed.
    listed: u64,
    /// Events that were here already.
    known: u64,
    /// Events that never arrived and are here now.
    inserted: u64,
    /// Events that the provider was asked to send again.
    redelivered: u64,
    /// Objects that no event told of, where a provider lists objects alone.
    missing: u64,
    /// Types of events that it listed and of which none ever came by webhook.
    never_by_webhook: Vec<String>,
    /// Events that are here with another type than the provider lists.
    mismatched: u64,
    /// Entries that could not be read.
    failed: u64,
    /// Events that are not here and are older than the ids that Restante still holds. They may have been here, and are
    /// not inserted.
    too_old: u64,
    /// Events that were missing, at most 200.
    #[schema(value_type = Vec<Object>)]
    found: Vec<Found>,
    /// Events that were here and not processed, by consumer.
    unprocessed: BTreeMap<String, u64>,
    /// What went wrong, or what it waits for.
    error: Option<String>,
}

impl From<Run> for RunAnswer {
    fn from(run: Run) -> Self {
        let row = run.row;
        Self {
            id: row.id,
            cause: row.cause,
            asked_at: row.asked_at,
            started_at: row.started_at,
            finished_at: row.finished_at,
            outcome: row.outcome,
            from: row.from,
            to: row.to,
            wanted_from: row.wanted_from,
            pages: row.pages,
            listed: row.listed,
            known: row.known,
            inserted: row.inserted,
            redelivered: row.redelivered,
            missing: row.missing,
            never_by_webhook: run.never_by_webhook,
            mismatched: row.mismatched,
            failed: row.failed,
            too_old: row.too_old,
            found: run.found,
            unprocessed: run.unprocessed,
            error: row.error,
        }
    }
}

/// Gives how an endpoint's provider is asked.
#[utoipa::path(
    get,
    path = "/v1/endpoints/{id}/reconciliation",
    tag = "reconciliation",
    params(("id" = String, Path, description = "`ep_…`")),
    responses((status = 200, description = "What is set.", body = ReconciliationAnswer))
)]
pub(crate) async fn get(
    State(app): State<App>,
    Caller(by): Caller,
    Path(id): Path<EndpointId>,
) -> Result<Json<ReconciliationAnswer>> {
    Ok(Json(app.reconciliation(&by, id).await?.into()))
}

/// Sets how an endpoint's provider is asked. The credentials are tried first.
#[utoipa::path(
    put,
    path = "/v1/endpoints/{id}/reconciliation",
    tag = "reconciliation",
    params(("id" = String, Path, description = "`ep_…`")),
    request_body = ReconciliationRequest,
    responses((status = 200, description = "What is set now.", body = ReconciliationAnswer))
)]
pub(crate) async fn put(
    State(app): State<App>,
    Caller(by): Caller,
    Path(id): Path<EndpointId>,
    Json(asked): Json<ReconciliationRequest>,
) -> Result<Json<ReconciliationAnswer>> {
    let ReconciliationRequest { enabled, credentials, base_url, interval_seconds, overlap_seconds, options } =
        asked;
    let credentials = credentials.unwrap_or_default();
    let asked = ReconciliationAsked {
        enabled,
        credentials: credentials.into_iter().map(|(name, value)| (name, Secret::new(value))).collect(),
        base_url,
        interval_seconds,
        overlap_seconds,
        options: options.unwrap_or_default(),
    };
    Ok(Json(app.set_reconciliation(&by, id, asked).await?.into()))
}

/// Forgets how an endpoint's provider is asked, with the credentials. The record of its runs stays.
#[utoipa::path(
    delete,
    path = "/v1/endpoints/{id}/reconciliation",
    tag = "reconciliation",
    params(("id" = String, Path, description = "`ep_…`")),
    responses((status = 204, description = "It is forgotten."))
)]
pub(crate) async fn delete(
    State(app): State<App>,
    Caller(by): Caller,
    Path(id): Path<EndpointId>,
) -> Result<StatusCode> {
    app.delete_reconciliation(&by, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Lists the runs of an endpoint, the newest first.
#[utoipa::path(
    get,
    path = "/v1/endpoints/{id}/reconciliation/runs",
    tag = "reconciliation",
    params(("id" = String, Path, description = "`ep_…`"), PageQuery),
    responses((status = 200, description = "A page of runs.", body = Page<RunAnswer>))
)]
pub(crate) async fn runs(
    State(app): State<App>,
    Caller(by): Caller,
    Path(id): Path<EndpointId>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<RunAnswer>>> {
    let of = id.to_string();
    let asked = query.check(FiltersDigest::new(by.tenant(), "reconciliation_runs", &[("endpoint", &of)]))?;
    let found = app.reconciliation_runs(&by, id, asked.after, asked.fetch()).await?;
    Ok(Json(asked.page(found, |run| run.row.id.0)))
}

/// Has the provider be asked now, behind a run that is under way.
#[utoipa::path(
    post,
    path = "/v1/endpoints/{id}/reconciliation/runs",
    tag = "reconciliation",
    params(
        ("id" = String, Path, description = "`ep_…`"),
        ("Idempotency-Key" = Option<String>, Header, description = "Asks for nothing twice within 24 hours.")
    ),
    request_body(content = Option<RunRequest>),
    responses(
        (status = 202, description = "The run, which begins soon.", body = RunAnswer),
        (status = 409, description = "Several runs wait already."),
        (status = 422, description = "The stretch makes no sense.")
    )
)]
pub(crate) async fn ask(
    State(app): State<App>,
    Caller(by): Caller,
    Path(id): Path<EndpointId>,
    CreatingOrEmpty(Creating { value: asked, repeat }): CreatingOrEmpty<RunRequest>,
) -> Result<Response> {
    let asked = AskedRun { from: asked.from, to: asked.to, trusting: asked.trusting.unwrap_or(false) };
    let made = app.ask_reconciliation(&by, id, asked, repeat).await?;
    let run = app.reconciliation_run(&by, id, made.value).await?;
    Ok(answered(StatusCode::ACCEPTED, RunAnswer::from(run), made.repeated))
}

/// Gives a run.
#[utoipa::path(
    get,
    path = "/v1/endpoints/{id}/reconciliation/runs/{run}",
    tag = "reconciliation",
    params(
        ("id" = String, Path, description = "`ep_…`"),
        ("run" = String, Path, description = "`rcr_…`")
    ),
    responses((status = 200, description = "The run.", body = RunAnswer))
)]
pub(crate) async fn run(
    State(app): State<App>,
    Caller(by): Caller,
    Path((id, run)): Path<(EndpointId, ReconciliationRunId)>,
) -> Result<Json<RunAnswer>> {
    Ok(Json(app.reconciliation_run(&by, id, run).await?.into()))
}
