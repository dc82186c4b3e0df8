//! `/v1/keys`: the API keys of a tenant.

use axum::extract::State;
use axum::response::IntoResponse;
use http::StatusCode;
use restante_app::App;
use restante_app::api_keys::{ApiKeyRow, NewApiKey};
use restante_core::access::Scopes;
use restante_core::id::KeyId;
use restante_core::problem::Problem;
use restante_core::time::Timestamp;
use restante_core::token::FiltersDigest;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::answer::Created;
use super::page::{Page, PageQuery};
use crate::extract::{Caller, Creating, Json, Path, Query};
use crate::problem::Result;
use crate::state::Api;

pub(super) fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new().routes(routes!(list, create)).routes(routes!(delete))
}

/// An API key to be made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyRequest {
    /// A name for people: 1 to 120 characters.
    #[schema(example = "billing, production")]
    name: String,
    /// What it may do: `events:read`, `payloads:read`, `events:consume`, `events:replay`, `config:read`,
    /// `config:write`; only what the calling key may.
    #[schema(example = json!(["events:consume"]))]
    scopes: Vec<String>,
    /// From when on it opens nothing; null: until it is deleted.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
}

/// An API key without what makes it one.
#[derive(Serialize, ToSchema)]
#[schema(as = Key)]
pub(crate) struct KeyAnswer {
    #[schema(value_type = String, example = "key_01kbrs6q2j8a1q3f5z0ry4t7wd")]
    id: KeyId,
    name: String,
    /// How the key begins.
    #[schema(example = "rst_4Kd82mXq…")]
    hint: String,
    #[schema(value_type = Vec<String>)]
    scopes: Scopes,
    /// Who made it: `key_…`, `usr_…` or `operator`.
    created_by: String,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
    /// When it was used last, to the minute.
    #[schema(value_type = Option<String>, format = DateTime)]
    last_used_at: Option<Timestamp>,
}

/// A key that was just made, with the key itself, which is shown this once.
#[derive(Serialize, ToSchema)]
#[schema(as = NewKey)]
pub(crate) struct NewKeyAnswer {
    /// The key. Keep it now: it can't be shown again.
    key: String,
    #[serde(flatten)]
    about: KeyAnswer,
}

impl From<ApiKeyRow> for KeyAnswer {
    fn from(row: ApiKeyRow) -> Self {
        let ApiKeyRow { id, name, hint, scopes, created_by, created_at, expires_at, last_used_at } = row;
        Self { id, name, hint, scopes, created_by, created_at, expires_at, last_used_at }
    }
}

/// Lists the API keys, the newest first.
#[utoipa::path(
    get,
    path = "/v1/keys",
    tag = "keys",
    params(PageQuery),
    responses((status = 200, description = "A page of keys.", body = Page<KeyAnswer>))
)]
pub(crate) async fn list(
    State(app): State<App>,
    Caller(by): Caller,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<KeyAnswer>>> {
    let asked = query.check(FiltersDigest::new(by.tenant(), "keys", &[]))?;
    let found = app.api_keys(&by, asked.after, asked.fetch()).await?;
    Ok(Json(asked.page(found, |key| key.id.0)))
}

/// Makes an API key and shows it once.
#[utoipa::path(
    post,
    path = "/v1/keys",
    tag = "keys",
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes nothing twice within 24 hours.")),
    request_body = KeyRequest,
    responses((status = 201, description = "The key.", body = NewKeyAnswer))
)]
pub(crate) async fn create(
    State(app): State<App>,
    Caller(by): Caller,
    Creating { value: asked, repeat }: Creating<KeyRequest>,
) -> Result<impl IntoResponse> {
    let scopes = Scopes::parse(&asked.scopes, "/scopes").map_err(Problem::fields)?;
    let asked = NewApiKey { name: asked.name, scopes, expires_at: asked.expires_at };
    let made = app.create_api_key(&by, asked, repeat).await?;
    let answer = NewKeyAnswer { key: made.value.key.expose().clone(), about: made.value.row.into() };
    Ok(Created { answer, repeated: made.repeated })
}

/// Revokes an API key. It stops at once, on other nodes within five seconds.
#[utoipa::path(
    delete,
    path = "/v1/keys/{id}",
    tag = "keys",
    params(("id" = String, Path, description = "`key_…`")),
    responses((status = 204, description = "It is revoked."))
)]
pub(crate) async fn delete(
    State(app): State<App>,
    Caller(by): Caller,
    Path(id): Path<KeyId>,
) -> Result<StatusCode> {
    app.delete_api_key(&by, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
