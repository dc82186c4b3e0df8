//! `/v1/endpoints`: a tenant's receiving URLs.

use axum::extract::State;
use axum::response::IntoResponse;
use http::StatusCode;
use restante_app::App;
use restante_app::endpoints::{Endpoint, EndpointChange, EndpointSecret, NewEndpoint, Noted, Notice};
use restante_core::catalogue::DedupScope;
use restante_core::id::{EndpointId, SecretId};
use restante_core::problem::Problem;
use restante_core::retention::Policy;
use restante_core::secret::Secret;
use restante_core::time::Timestamp;
use restante_core::token::FiltersDigest;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::answer::Created;
use super::page::{Page, PageQuery};
use super::patch::sent;
use crate::extract::{Caller, Creating, Json, Path, Query};
use crate::problem::Result;
use crate::state::Api;

pub(super) fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new().routes(routes!(list, create)).routes(routes!(get, update, delete))
}

/// An endpoint to be made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EndpointRequest {
    /// A name for people: 1 to 120 characters.
    #[schema(example = "Stripe live")]
    name: String,
    /// Who sends: a name from `GET /v1/providers`, or `custom`.
    #[schema(example = "stripe")]
    provider: String,
    /// The secrets as the provider shows them, at most ten. A request passes when any of them matches.
    #[serde(default)]
    secrets: Vec<String>,
    /// The provider's options, `public_url` and `tolerance_seconds`; for `custom` also `verify`.
    #[serde(default)]
    #[schema(value_type = Object)]
    options: Option<Map<String, Value>>,
    /// Within what the provider's event ids are unique; null is what the catalogue knows.
    #[schema(value_type = Option<String>, example = json!(null))]
    dedup_scope: Option<DedupScope>,
    /// The largest body in bytes; null is what the provider documents, else 10 MiB.
    max_body_bytes: Option<u64>,
    /// How long things are kept, `{"payload_days","receipt_days",…}`; null is what the tenant says.
    #[schema(value_type = Option<Object>)]
    retention: Option<Policy>,
    /// Whether it takes deliveries; a disabled one answers 503.
    #[serde(default = "yes")]
    #[schema(default = true)]
    enabled: bool,
}

const fn yes() -> bool {
    true
}

/// What to change of an endpoint, as a JSON merge (RFC 7396).
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EndpointPatch {
    /// A name for people: 1 to 120 characters.
    #[serde(default, deserialize_with = "sent")]
    name: Option<String>,
    /// Can't change.
    #[serde(default, deserialize_with = "sent")]
    provider: Option<String>,
    /// Merged into the present options.
    #[serde(default, deserialize_with = "sent")]
    #[schema(value_type = Option<Object>)]
    options: Option<Option<Map<String, Value>>>,
    /// Can't change once the endpoint holds an event.
    #[serde(default, deserialize_with = "sent")]
    #[schema(value_type = Option<String>)]
    dedup_scope: Option<Option<DedupScope>>,
    /// The largest body in bytes; null is what the provider documents.
    #[serde(default, deserialize_with = "sent")]
    #[schema(value_type = Option<u64>)]
    max_body_bytes: Option<Option<u64>>,
    /// How long things are kept, as a whole; null is what the tenant says.
    #[serde(default, deserialize_with = "sent")]
    #[schema(value_type = Option<Object>)]
    retention: Option<Option<Policy>>,
    /// Whether it takes deliveries; a disabled one answers 503.
    #[serde(default, deserialize_with = "sent")]
    enabled: Option<bool>,
    /// Not here: secrets are added and deleted one by one, so that the change has an overlap.
    #[serde(default, deserialize_with = "sent")]
    #[schema(ignore)]
    secrets: Option<IgnoredAny>,
}

/// An endpoint.
#[derive(Serialize, ToSchema)]
#[schema(as = Endpoint)]
pub(crate) struct EndpointAnswer {
    #[schema(value_type = String, example = "ep_01kbrs6q2j8a1q3f5z0ry4t7wd")]
    id: EndpointId,
    name: String,
    provider: String,
    /// What to register with the sender. Whoever knows it can send to it, so treat it as a secret.
    #[schema(example = "https://hooks.example.com/in/7k2m9x4q8t1v5w3z6y0ra2bc4de6fg8h")]
    url: String,
    /// A secret option is shown as `{"hint":"…last4"}`.
    #[schema(value_type = Object)]
    options: Map<String, Value>,
    #[schema(value_type = Option<String>)]
    dedup_scope: Option<DedupScope>,
    max_body_bytes: Option<u64>,
    /// What it says itself; null: what the tenant says. `GET …/retention` tells what is in force.
    #[schema(value_type = Option<Object>)]
    retention: Option<Policy>,
    secrets: Vec<SecretAnswer>,
    enabled: bool,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

/// A secret of an endpoint. The secret itself is never given out.
#[derive(Serialize, ToSchema)]
#[schema(as = EndpointSecret)]
pub(crate) struct SecretAnswer {
    #[schema(value_type = String, example = "sec_01kbrs6q2j8a1q3f5z0ry4t7wd")]
    id: SecretId,
    /// Its last four characters; nothing of one with fewer than twelve.
    #[schema(example = "…x7Qa")]
    hint: String,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// From when on it verifies nothing; null while it isn't retired.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
}

/// Something unusual that was accepted all the same.
#[derive(Serialize, ToSchema)]
#[schema(as = Notice)]
pub(crate) struct NoticeAnswer {
    /// Where in the request.
    #[schema(example = "/secrets/0")]
    pointer: String,
    /// What to look at again.
    detail: String,
}

/// An endpoint as it was made or changed, with what a person should look at again.
#[derive(Serialize, ToSchema)]
#[schema(as = NotedEndpoint)]
pub(crate) struct NotedAnswer {
    #[serde(flatten)]
    endpoint: EndpointAnswer,
    notices: Vec<NoticeAnswer>,
}

impl From<EndpointSecret> for SecretAnswer {
    fn from(secret: EndpointSecret) -> Self {
        let EndpointSecret { id, hint, created_at, expires_at } = secret;
        Self { id, hint, created_at, expires_at }
    }
}

impl From<Notice> for NoticeAnswer {
    fn from(notice: Notice) -> Self {
        Self { pointer: notice.pointer, detail: notice.detail }
    }
}

impl From<Endpoint> for EndpointAnswer {
    fn from(endpoint: Endpoint) -> Self {
        Self {
            id: endpoint.id,
            name: endpoint.name,
            provider: endpoint.provider,
            url: endpoint.url,
            options: endpoint.options,
            dedup_scope: endpoint.dedup_scope,
            max_body_bytes: endpoint.max_body_bytes,
            retention: endpoint.retention,
            secrets: endpoint.secrets.into_iter().map(SecretAnswer::from).collect(),
            enabled: endpoint.enabled,
            created_at: endpoint.created_at,
            updated_at: endpoint.updated_at,
        }
    }
}

impl From<Noted> for NotedAnswer {
    fn from(noted: Noted) -> Self {
        Self {
            endpoint: noted.endpoint.into(),
            notices: noted.notices.into_iter().map(NoticeAnswer::from).collect(),
        }
    }
}

/// Lists the endpoints, the newest first.
#[utoipa::path(
    get,
    path = "/v1/endpoints",
    tag = "endpoints",
    params(PageQuery),
    responses((status = 200, description = "A page of endpoints.", body = Page<EndpointAnswer>))
)]
pub(crate) async fn list(
    State(app): State<App>,
    Caller(by): Caller,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<EndpointAnswer>>> {
    let asked = query.check(FiltersDigest::new(by.tenant(), "endpoints", &[]))?;
    let found = app.endpoints(&by, asked.after, asked.fetch()).await?;
    Ok(Json(asked.page(found, |endpoint| endpoint.id.0)))
}

/// Makes an endpoint. Register its `url` with the sender.
#[utoipa::path(
    post,
    path = "/v1/endpoints",
    tag = "endpoints",
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes nothing twice within 24 hours.")),
    request_body = EndpointRequest,
    responses((status = 201, description = "The endpoint.", body = NotedAnswer))
)]
pub(crate) async fn create(
    State(app): State<App>,
    Caller(by): Caller,
    Creating { value: asked, repeat }: Creating<EndpointRequest>,
) -> Result<impl IntoResponse> {
    let asked = NewEndpoint {
        name: asked.name,
        provider: asked.provider,
        secrets: asked.secrets.into_iter().map(Secret::new).collect(),
        options: asked.options.unwrap_or_default(),
        dedup_scope: asked.dedup_scope,
        max_body_bytes: asked.max_body_bytes,
        retention: asked.retention,
        enabled: asked.enabled,
    };
    let made = app.create_endpoint(&by, asked, repeat).await?;
    Ok(Created { answer: NotedAnswer::from(made.value), repeated: made.repeated })
}

/// Gives an endpoint.
#[utoipa::path(
    get,
    path = "/v1/endpoints/{id}",
    tag = "endpoints",
    params(("id" = String, Path, description = "`ep_…`")),
    responses((status = 200, description = "The endpoint.", body = EndpointAnswer))
)]
pub(crate) async fn get(
    State(app): State<App>,
    Caller(by): Caller,
    Path(id): Path<EndpointId>,
) -> Result<Json<EndpointAnswer>> {
    Ok(Json(app.endpoint(&by, id).await?.into()))
}

/// Changes an endpoint.
#[utoipa::path(
    patch,
    path = "/v1/endpoints/{id}",
    tag = "endpoints",
    params(("id" = String, Path, description = "`ep_…`")),
    request_body = EndpointPatch,
    responses((status = 200, description = "The endpoint as it is now.", body = NotedAnswer))
)]
pub(crate) async fn update(
    State(app): State<App>,
    Caller(by): Caller,
    Path(id): Path<EndpointId>,
    Json(patch): Json<EndpointPatch>,
) -> Result<Json<NotedAnswer>> {
    if patch.secrets.is_some() {
        return Err(Problem::field(
            "/secrets",
            "Secrets are added with POST /v1/endpoints/{id}/secrets and deleted one by one.",
        )
        .into());
    }
    let change = EndpointChange {
        name: patch.name,
        provider: patch.provider,
        options: patch.options,
        dedup_scope: patch.dedup_scope,
        max_body_bytes: patch.max_body_bytes,
        retention: patch.retention,
        enabled: patch.enabled,
    };
    Ok(Json(app.update_endpoint(&by, id, change).await?.into()))
}

/// Deletes an endpoint. Its URL answers 404 from then on; its events stay.
#[utoipa::path(
    delete,
    path = "/v1/endpoints/{id}",
    tag = "endpoints",
    params(("id" = String, Path, description = "`ep_…`")),
    responses((status = 204, description = "It is deleted."))
)]
pub(crate) async fn delete(
    State(app): State<App>,
    Caller(by): Caller,
    Path(id): Path<EndpointId>,
) -> Result<StatusCode> {
    app.delete_endpoint(&by, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A secret with what a person should look at again.
#[derive(Serialize, ToSchema)]
#[schema(as = NotedSecret)]
pub(crate) struct NotedSecretAnswer {
    #[serde(flatten)]
    secret: SecretAnswer,
    notices: Vec<NoticeAnswer>,
}

impl NotedSecretAnswer {
    pub(super) fn new(secret: EndpointSecret, notices: Vec<Notice>) -> Self {
        Self { secret: secret.into(), notices: notices.into_iter().map(NoticeAnswer::from).collect() }
    }
}
