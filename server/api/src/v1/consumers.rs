//! `/v1/consumers`: the applications of a tenant that events are handed off to.

use axum::extract::State;
use axum::response::IntoResponse;
use restante_app::App;
use restante_app::consumers::{Consumer, ConsumerChange, NewConsumer};
use restante_core::filter::{Filter, FilterInput};
use restante_core::id::ConsumerId;
use restante_core::time::Timestamp;
use restante_core::token::FiltersDigest;
use serde::{Deserialize, Serialize};
use serde_json::Value;
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

/// Which events a consumer wants. An empty list wants any.
#[derive(Serialize, ToSchema)]
#[schema(as = Filter)]
pub(crate) struct FilterShape {
    /// Ids of endpoints.
    #[schema(example = json!([]))]
    endpoints: Vec<String>,
    /// Names of providers.
    #[schema(example = json!(["stripe"]))]
    providers: Vec<String>,
    /// Types, where `*` is any run of characters. An event without a type matches none.
    #[schema(example = json!(["invoice.*"]))]
    types: Vec<String>,
}

/// A consumer to be made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConsumerRequest {
    /// Unique in the tenant: 1 to 64 characters of a-z, 0-9 and -.
    #[schema(example = "billing")]
    name: String,
    /// `pull`.
    #[serde(default)]
    #[schema(default = "pull")]
    mode: Option<String>,
    /// Which events it wants; all when it is left out.
    #[serde(default)]
    #[schema(value_type = Option<FilterShape>)]
    filter: Option<FilterInput>,
    /// Claims of an event before it is given up: 1 to 1,000.
    #[serde(default)]
    #[schema(default = 12)]
    max_attempts: Option<u32>,
    /// `none`.
    #[serde(default)]
    #[schema(value_type = Option<String>, default = "none")]
    ordering: Option<Value>,
    /// What of the events that are here already is handed off: none (`now`), all (`beginning`), or
    /// those received since a time.
    #[serde(default)]
    #[schema(default = "now", example = "beginning")]
    start: Option<String>,
    /// Not built yet.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    push: Option<Value>,
    /// Whether claims give events.
    #[serde(default)]
    #[schema(default = true)]
    enabled: Option<bool>,
}

/// What to change of a consumer, as a JSON merge (RFC 7396).
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConsumerPatch {
    /// Can't change.
    #[serde(default, deserialize_with = "sent")]
    name: Option<String>,
    /// Can't change.
    #[serde(default, deserialize_with = "sent")]
    #[schema(value_type = Option<String>)]
    mode: Option<Option<String>>,
    /// Which events it wants, from the next event on; null wants all.
    #[serde(default, deserialize_with = "sent")]
    #[schema(value_type = Option<FilterShape>)]
    filter: Option<Option<FilterInput>>,
    /// Claims of an event before it is given up; null is 12.
    #[serde(default, deserialize_with = "sent")]
    #[schema(value_type = Option<u32>)]
    max_attempts: Option<Option<u32>>,
    /// `none`.
    #[serde(default, deserialize_with = "sent")]
    #[schema(value_type = Option<String>)]
    ordering: Option<Option<Value>>,
    /// Can't change.
    #[serde(default, deserialize_with = "sent")]
    #[schema(value_type = Option<String>)]
    start: Option<Option<String>>,
    /// Not built yet.
    #[serde(default, deserialize_with = "sent")]
    #[schema(value_type = Option<Object>)]
    push: Option<Option<Value>>,
    /// False pauses the hand-off and loses nothing.
    #[serde(default, deserialize_with = "sent")]
    #[schema(value_type = Option<bool>)]
    enabled: Option<Option<bool>>,
}

/// A consumer.
#[derive(Serialize, ToSchema)]
#[schema(as = Consumer)]
pub(crate) struct ConsumerAnswer {
    #[schema(value_type = String, example = "con_01kbrs6q2j8a1q3f5z0ry4t7wd")]
    id: ConsumerId,
    name: String,
    /// `pull`.
    mode: &'static str,
    #[schema(value_type = FilterShape)]
    filter: Filter,
    max_attempts: u32,
    /// `none`.
    ordering: &'static str,
    start: String,
    enabled: bool,
    /// What was here before it is still being handed off.
    backfilling: bool,
    /// It has not claimed for seven days, and what it leaves pending is kept.
    idle: bool,
    /// To the minute.
    #[schema(value_type = Option<String>, format = DateTime)]
    last_claim_at: Option<Timestamp>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

/// What went with a consumer.
#[derive(Serialize, ToSchema)]
#[schema(as = DeletedConsumer)]
pub(crate) struct DeletedAnswer {
    /// Handoffs that were pending or leased, and are cancelled.
    cancelled: u64,
}

impl From<Consumer> for ConsumerAnswer {
    fn from(consumer: Consumer) -> Self {
        Self {
            id: consumer.id,
            name: consumer.name,
            mode: "pull",
            filter: consumer.filter,
            max_attempts: consumer.max_attempts,
            ordering: "none",
            start: consumer.start,
            enabled: consumer.enabled,
            backfilling: consumer.backfilling,
            idle: consumer.idle,
            last_claim_at: consumer.last_claim_at,
            created_at: consumer.created_at,
            updated_at: consumer.updated_at,
        }
    }
}

/// Lists the consumers, the newest first.
#[utoipa::path(
    get,
    path = "/v1/consumers",
    tag = "consumers",
    params(PageQuery),
    responses((status = 200, description = "A page of consumers.", body = Page<ConsumerAnswer>))
)]
pub(crate) async fn list(
    State(app): State<App>,
    Caller(by): Caller,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<ConsumerAnswer>>> {
    let asked = query.check(FiltersDigest::new(by.tenant(), "consumers", &[]))?;
    let found = app.consumers(&by, asked.after, asked.fetch()).await?;
    Ok(Json(asked.page(found, |consumer| consumer.id.0)))
}

/// Makes a consumer. Each event from now on is handed off to it once, if its filter matches.
#[utoipa::path(
    post,
    path = "/v1/consumers",
    tag = "consumers",
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes nothing twice within 24 hours.")),
    request_body = ConsumerRequest,
    responses((status = 201, description = "The consumer.", body = ConsumerAnswer))
)]
pub(crate) async fn create(
    State(app): State<App>,
    Caller(by): Caller,
    Creating { value: asked, repeat }: Creating<ConsumerRequest>,
) -> Result<impl IntoResponse> {
    let ConsumerRequest { name, mode, filter, max_attempts, ordering, start, push, enabled } = asked;
    let asked = NewConsumer { name, mode, filter, max_attempts, ordering, start, push, enabled };
    let made = app.create_consumer(&by, asked, repeat).await?;
    Ok(Created { answer: ConsumerAnswer::from(made.value), repeated: made.repeated })
}

/// Gives a consumer.
#[utoipa::path(
    get,
    path = "/v1/consumers/{name}",
    tag = "consumers",
    params(("name" = String, Path)),
    responses((status = 200, description = "The consumer.", body = ConsumerAnswer))
)]
pub(crate) async fn get(
    State(app): State<App>,
    Caller(by): Caller,
    Path(name): Path<String>,
) -> Result<Json<ConsumerAnswer>> {
    Ok(Json(app.consumer(&by, &name).await?.into()))
}

/// Changes a consumer.
#[utoipa::path(
    patch,
    path = "/v1/consumers/{name}",
    tag = "consumers",
    params(("name" = String, Path)),
    request_body = ConsumerPatch,
    responses((status = 200, description = "The consumer as it is now.", body = ConsumerAnswer))
)]
pub(crate) async fn update(
    State(app): State<App>,
    Caller(by): Caller,
    Path(name): Path<String>,
    Json(asked): Json<ConsumerPatch>,
) -> Result<Json<ConsumerAnswer>> {
    let change = ConsumerChange {
        name: asked.name,
        mode: asked.mode,
        filter: asked.filter,
        max_attempts: asked.max_attempts,
        ordering: asked.ordering,
        start: asked.start,
        push: asked.push,
        enabled: asked.enabled,
    };
    Ok(Json(app.update_consumer(&by, &name, change).await?.into()))
}

/// Deletes a consumer. What was on its way to it is cancelled; its history stays.
#[utoipa::path(
    delete,
    path = "/v1/consumers/{name}",
    tag = "consumers",
    params(("name" = String, Path)),
    responses((status = 200, description = "What was cancelled with it.", body = DeletedAnswer))
)]
pub(crate) async fn delete(
    State(app): State<App>,
    Caller(by): Caller,
    Path(name): Path<String>,
) -> Result<Json<DeletedAnswer>> {
    Ok(Json(DeletedAnswer { cancelled: app.delete_consumer(&by, &name).await? }))
}
