//! `POST /v1/endpoints/{id}/test`: a sample event through the path that deliveries take.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use restante_app::App;
use restante_app::endpoints::{TestEvent, TestEventSent};
use restante_core::id::{EndpointId, ReceiptId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::answer::answered;
use crate::extract::{Caller, Creating, CreatingOrEmpty, Path};
use crate::problem::Result;
use crate::state::Api;

pub(super) fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new().routes(routes!(send))
}

/// What to send; may be left out whole.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TestEventRequest {
    /// One of the provider's samples by its name; null is the first.
    sample: Option<String>,
    /// The event's type; null keeps the sample's.
    r#type: Option<String>,
}

/// What became of the test event.
#[derive(Serialize, ToSchema)]
#[schema(as = TestEvent)]
pub(crate) struct TestEventAnswer {
    /// The events it became, each with `origin` `test`.
    #[schema(value_type = Vec<String>, example = json!(["rcp_01kbrs6q2j8a1q3f5z0ry4t7wd"]))]
    receipts: Vec<ReceiptId>,
    /// Whether it was signed with the endpoint's secret and verified.
    verified: bool,
    /// Why it was not; null when it was.
    note: Option<String>,
}

/// Signs a sample event with the endpoint's own secret and receives it.
#[utoipa::path(
    post,
    path = "/v1/endpoints/{id}/test",
    tag = "endpoints",
    params(
        ("id" = String, Path, description = "`ep_…`"),
        ("Idempotency-Key" = Option<String>, Header, description = "Sends nothing twice within 24 hours.")
    ),
    request_body(content = Option<TestEventRequest>),
    responses(
        (status = 200, description = "It is committed.", body = TestEventAnswer),
        (status = 409, description = "The endpoint is disabled, or refused its own signature.")
    )
)]
pub(crate) async fn send(
    State(app): State<App>,
    Caller(by): Caller,
    Path(id): Path<EndpointId>,
    CreatingOrEmpty(Creating { value: asked, repeat }): CreatingOrEmpty<TestEventRequest>,
) -> Result<Response> {
    let asked = TestEvent { sample: asked.sample, event_type: asked.r#type };
    let made = app.send_test_event(&by, id, asked, repeat).await?;
    let TestEventSent { receipts, verified, note } = made.value;
    Ok(answered(StatusCode::OK, TestEventAnswer { receipts, verified, note }, made.repeated))
}
