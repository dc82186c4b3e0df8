//! `/v1/endpoints/{id}/secrets`: a change of secrets without a gap.

use axum::extract::State;
use axum::response::IntoResponse;
use http::StatusCode;
use restante_app::App;
use restante_app::endpoints::{NewSecret, Retire};
use restante_core::id::{EndpointId, SecretId};
use restante_core::secret::Secret;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::answer::Created;
use super::endpoints::NotedSecretAnswer;
use super::patch::sent;
use crate::extract::{Caller, Creating, Path};
use crate::problem::Result;
use crate::state::Api;

/// How long the other secrets go on when nothing is said: a day.
const RETIRE_OTHERS_SECONDS_DEFAULT: u32 = 24 * 60 * 60;

pub(super) fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new().routes(routes!(add)).routes(routes!(delete))
}

/// A secret to be added.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SecretRequest {
    /// The secret as the provider shows it.
    secret: String,
    /// For how long the present secrets go on verifying, at most a year; a day when it is left out.
    /// Null lets them stay.
    #[serde(default, deserialize_with = "sent")]
    #[schema(value_type = Option<u32>, default = 86_400)]
    retire_others_in_seconds: Option<Option<u32>>,
}

/// Adds a secret; the present ones stay valid for a while.
#[utoipa::path(
    post,
    path = "/v1/endpoints/{id}/secrets",
    tag = "endpoints",
    params(
        ("id" = String, Path, description = "`ep_…`"),
        ("Idempotency-Key" = Option<String>, Header, description = "Adds nothing twice within 24 hours.")
    ),
    request_body = SecretRequest,
    responses((status = 201, description = "The secret, without its value.", body = NotedSecretAnswer))
)]
pub(crate) async fn add(
    State(app): State<App>,
    Caller(by): Caller,
    Path(id): Path<EndpointId>,
    Creating { value: asked, repeat }: Creating<SecretRequest>,
) -> Result<impl IntoResponse> {
    let retire_others = match asked.retire_others_in_seconds {
        None => Retire::AfterSeconds(RETIRE_OTHERS_SECONDS_DEFAULT),
        Some(None) => Retire::Never,
        Some(Some(seconds)) => Retire::AfterSeconds(seconds),
    };
    let asked = NewSecret { secret: Secret::new(asked.secret), retire_others };
    let made = app.add_secret(&by, id, asked, repeat).await?;
    let answer = NotedSecretAnswer::new(made.value.secret, made.value.notices);
    Ok(Created { answer, repeated: made.repeated })
}

/// Deletes a secret. What is signed with it is refused from then on.
#[utoipa::path(
    delete,
    path = "/v1/endpoints/{id}/secrets/{secret}",
    tag = "endpoints",
    params(
        ("id" = String, Path, description = "`ep_…`"),
        ("secret" = String, Path, description = "`sec_…`")
    ),
    responses((status = 204, description = "It is deleted."))
)]
pub(crate) async fn delete(
    State(app): State<App>,
    Caller(by): Caller,
    Path((id, secret)): Path<(EndpointId, SecretId)>,
) -> Result<StatusCode> {
    app.delete_secret(&by, id, secret).await?;
    Ok(StatusCode::NO_CONTENT)
}
