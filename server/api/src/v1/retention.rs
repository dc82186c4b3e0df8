//! `/v1/retention`: how long things are kept, what a run would remove, holds, and erasing now.

use axum::extract::State;
use axum::response::IntoResponse;
use http::StatusCode;
use restante_app::App;
use restante_app::retention::{Held, PolicyLevel};
use restante_core::id::{EndpointId, HoldId, ReceiptId};
use restante_core::problem::Problem;
use restante_core::retention::Policy;
use restante_core::token::FiltersDigest;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::answer::Created;
use super::page::{Page, PageQuery};
use super::retention_view::{
    EndpointRetentionAnswer, ErasedAnswer, HoldAnswer, PreviewAnswer, RetentionAnswer, RunAnswer, RunsAnswer,
};
use crate::extract::{Caller, Creating, Json, Path, Query};
use crate::problem::Result;
use crate::state::Api;

pub(super) fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(get, put))
        .routes(routes!(put_provider))
        .routes(routes!(preview, preview_draft))
        .routes(routes!(runs))
        .routes(routes!(holds, hold))
        .routes(routes!(release))
        .routes(routes!(erase_all))
        .routes(routes!(of_endpoint))
        .routes(routes!(erase_event))
}

/// What a level says. What is left out or null, a wider level says.
#[derive(Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(as = RetentionPolicy, value_type = Object, example = json!({"payload_days": 30, "receipt_days": 400}))]
pub(crate) struct PolicyRequest(Policy);

/// What the tenant keeps how long, and where each value comes from.
#[utoipa::path(
    get,
    path = "/v1/retention",
    tag = "retention",
    responses((status = 200, description = "What is in force.", body = RetentionAnswer))
)]
pub(crate) async fn get(State(app): State<App>, Caller(by): Caller) -> Result<Json<RetentionAnswer>> {
    Ok(Json(app.retention(&by).await?.into()))
}

/// Says how long the tenant keeps things, as a whole: what is left out, the instance says.
#[utoipa::path(
    put,
    path = "/v1/retention",
    tag = "retention",
    request_body = PolicyRequest,
    responses((status = 200, description = "What is in force now.", body = RetentionAnswer))
)]
pub(crate) async fn put(
    State(app): State<App>,
    Caller(by): Caller,
    Json(PolicyRequest(policy)): Json<PolicyRequest>,
) -> Result<Json<RetentionAnswer>> {
    Ok(Json(app.set_retention(&by, policy).await?.into()))
}

/// Says how long the things of a provider's endpoints are kept, as a whole; `{}` says nothing.
#[utoipa::path(
    put,
    path = "/v1/retention/providers/{name}",
    tag = "retention",
    params(("name" = String, Path, description = "A name from `GET /v1/providers`.")),
    request_body = PolicyRequest,
    responses((status = 200, description = "What is in force now.", body = RetentionAnswer))
)]
pub(crate) async fn put_provider(
    State(app): State<App>,
    Caller(by): Caller,
    Path(provider): Path<String>,
    Json(PolicyRequest(policy)): Json<PolicyRequest>,
) -> Result<Json<RetentionAnswer>> {
    Ok(Json(app.set_provider_retention(&by, &provider, policy).await?.into()))
}

/// What holds for an endpoint, and why.
#[utoipa::path(
    get,
    path = "/v1/endpoints/{id}/retention",
    tag = "retention",
    params(("id" = String, Path, description = "`ep_…`")),
    responses((status = 200, description = "What is in force.", body = EndpointRetentionAnswer))
)]
pub(crate) async fn of_endpoint(
    State(app): State<App>,
    Caller(by): Caller,
    Path(id): Path<EndpointId>,
) -> Result<Json<EndpointRetentionAnswer>> {
    Ok(Json(app.endpoint_retention(&by, id).await?.into()))
}

/// What a run would remove now.
#[utoipa::path(
    get,
    path = "/v1/retention/preview",
    tag = "retention",
    responses((status = 200, description = "By endpoint.", body = PreviewAnswer))
)]
pub(crate) async fn preview(State(app): State<App>, Caller(by): Caller) -> Result<Json<PreviewAnswer>> {
    Ok(Json(app.retention_preview(&by, None).await?.into()))
}

/// What a run would remove now if the tenant said this. Nothing is saved.
#[utoipa::path(
    post,
    path = "/v1/retention/preview",
    tag = "retention",
    request_body = PolicyRequest,
    responses((status = 200, description = "By endpoint.", body = PreviewAnswer))
)]
pub(crate) async fn preview_draft(
    State(app): State<App>,
    Caller(by): Caller,
    Json(PolicyRequest(policy)): Json<PolicyRequest>,
) -> Result<Json<PreviewAnswer>> {
    Ok(Json(app.retention_preview(&by, Some((PolicyLevel::Tenant, policy))).await?.into()))
}

/// The newest runs that found something of the tenant's.
#[utoipa::path(
    get,
    path = "/v1/retention/runs",
    tag = "retention",
    responses((status = 200, description = "The newest 25, newest first.", body = RunsAnswer))
)]
pub(crate) async fn runs(State(app): State<App>, Caller(by): Caller) -> Result<Json<RunsAnswer>> {
    let data = app.retention_runs(&by, None).await?.into_iter().map(RunAnswer::from).collect();
    Ok(Json(RunsAnswer { data }))
}

/// Lists holds, released ones too, newest first.
#[utoipa::path(
    get,
    path = "/v1/retention/holds",
    tag = "retention",
    params(PageQuery),
    responses((status = 200, description = "A page of holds.", body = Page<HoldAnswer>))
)]
pub(crate) async fn holds(
    State(app): State<App>,
    Caller(by): Caller,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<HoldAnswer>>> {
    let asked = query.check(FiltersDigest::new(by.tenant(), "holds", &[]))?;
    let found = app.holds(&by, asked.after, asked.fetch()).await?;
    Ok(Json(asked.page(found, |hold| hold.id)))
}

/// What is to be held: an endpoint's events, one event, or with neither everything of the tenant.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewHold)]
pub(crate) struct HoldRequest {
    #[schema(value_type = Option<String>)]
    endpoint: Option<EndpointId>,
    #[schema(value_type = Option<String>)]
    event: Option<ReceiptId>,
    /// Why, for those who look at it later.
    reason: String,
}

/// Holds something: neither retention nor an erasure touches it until it is released.
#[utoipa::path(
    post,
    path = "/v1/retention/holds",
    tag = "retention",
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes nothing twice within 24 hours.")),
    request_body = HoldRequest,
    responses((status = 201, description = "The hold.", body = HoldAnswer))
)]
pub(crate) async fn hold(
    State(app): State<App>,
    Caller(by): Caller,
    Creating { value: asked, repeat }: Creating<HoldRequest>,
) -> Result<impl IntoResponse> {
    let held = match (asked.endpoint, asked.event) {
        (None, None) => Held::Tenant,
        (Some(endpoint), None) => Held::Endpoint(endpoint),
        (None, Some(event)) => Held::Event(event),
        (Some(_), Some(_)) => {
            return Err(Problem::field("/event", "Name an endpoint or an event, not both.").into());
        }
    };
    let made = app.hold(&by, held, &asked.reason, repeat).await?;
    Ok(Created { answer: HoldAnswer::from(made.value), repeated: made.repeated })
}

/// Releases a hold. What is due goes with the next run.
#[utoipa::path(
    delete,
    path = "/v1/retention/holds/{id}",
    tag = "retention",
    params(("id" = String, Path, description = "`hld_…`")),
    responses((status = 204, description = "It is released."))
)]
pub(crate) async fn release(
    State(app): State<App>,
    Caller(by): Caller,
    Path(id): Path<HoldId>,
) -> Result<StatusCode> {
    app.release_hold(&by, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Why an event is erased.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EraseRequest {
    /// Why, for those who look at it later.
    reason: String,
    /// Whether the other events of its request may go with it.
    #[serde(default)]
    whole_request: bool,
}

/// Erases the payload of an event now, and ends what was still to be done about it. Its key stays.
#[utoipa::path(
    post,
    path = "/v1/events/{id}/erase",
    tag = "retention",
    params(("id" = String, Path, description = "`rcp_…`")),
    request_body = EraseRequest,
    responses((status = 200, description = "What was erased, and what that does not reach.", body = ErasedAnswer))
)]
pub(crate) async fn erase_event(
    State(app): State<App>,
    Caller(by): Caller,
    Path(id): Path<ReceiptId>,
    Json(asked): Json<EraseRequest>,
) -> Result<Json<ErasedAnswer>> {
    let erased = app.erase_event(&by, id, asked.whole_request, &asked.reason).await?;
    Ok(Json(ErasedAnswer::new(erased, true)))
}

/// Why every payload of the tenant is erased.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EraseAllRequest {
    /// The tenant's short name, typed once more.
    confirm: String,
    /// Why, for those who look at it later.
    reason: String,
}

/// Erases every payload of the tenant that is not held, for up to 20 seconds; while `complete` is false, call again.
#[utoipa::path(
    post,
    path = "/v1/retention/erase",
    tag = "retention",
    request_body = EraseAllRequest,
    responses((status = 200, description = "What was erased, and what that does not reach.", body = ErasedAnswer))
)]
pub(crate) async fn erase_all(
    State(app): State<App>,
    Caller(by): Caller,
    Json(asked): Json<EraseAllRequest>,
) -> Result<Json<ErasedAnswer>> {
    let done = app.erase_payloads(&by, &asked.confirm, &asked.reason).await?;
    Ok(Json(ErasedAnswer::new(done.erased, done.complete)))
}
