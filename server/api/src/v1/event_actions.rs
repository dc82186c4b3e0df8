//! What is done about one event: replay, repair, settlement.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use restante_app::App;
use restante_app::replay::Settle;
use restante_core::handoff::{Settlement, State as HandoffState};
use restante_core::id::ReceiptId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::answer::answered;
use crate::extract::{Caller, Creating, CreatingOrEmpty, Json, Path};
use crate::problem::Result;
use crate::state::Api;

pub(super) fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new().routes(routes!(replay)).routes(routes!(repair)).routes(routes!(settle))
}

/// To whom, and why.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ReplayRequest {
    /// The consumer, also one that never had the event. Null is every consumer that had it or whose
    /// filter matches it.
    consumer: Option<String>,
    /// Why, for those who look at the event later.
    reason: Option<String>,
}

/// What a replay or a repair did.
#[derive(Serialize, ToSchema)]
#[schema(as = HandedOff)]
pub(crate) struct HandedOffAnswer {
    /// Handoffs that are pending now. One that is leased stays as it is and isn't counted.
    handoffs: usize,
}

/// Makes an event pending again.
#[utoipa::path(
    post,
    path = "/v1/events/{id}/replay",
    tag = "events",
    params(
        ("id" = String, Path, description = "`rcp_…`"),
        ("Idempotency-Key" = Option<String>, Header, description = "Replays nothing twice within 24 hours.")
    ),
    request_body(content = Option<ReplayRequest>),
    responses((status = 202, description = "It can be claimed.", body = HandedOffAnswer))
)]
pub(crate) async fn replay(
    State(app): State<App>,
    Caller(by): Caller,
    Path(id): Path<ReceiptId>,
    CreatingOrEmpty(Creating { value: asked, repeat }): CreatingOrEmpty<ReplayRequest>,
) -> Result<Response> {
    let made = app.replay_event(&by, id, asked.consumer, asked.reason, repeat).await?;
    Ok(answered(StatusCode::ACCEPTED, HandedOffAnswer { handoffs: made.value }, made.repeated))
}

/// What a person read in an event that could not be read.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RepairRequest {
    /// The provider's id of the event.
    event_id: String,
    /// Its type, if it has one.
    #[serde(default, rename = "type")]
    event_type: Option<String>,
}

/// Gives an event that failed with `envelope` its id, and hands it off.
#[utoipa::path(
    post,
    path = "/v1/events/{id}/repair",
    tag = "events",
    params(("id" = String, Path, description = "`rcp_…`")),
    request_body = RepairRequest,
    responses(
        (status = 200, description = "It can be claimed.", body = HandedOffAnswer),
        (
            status = 409,
            description = "Nothing is to be repaired, or another receipt, which is named, holds the id.",
            content_type = "application/problem+json"
        )
    )
)]
pub(crate) async fn repair(
    State(app): State<App>,
    Caller(by): Caller,
    Path(id): Path<ReceiptId>,
    Json(asked): Json<RepairRequest>,
) -> Result<Json<HandedOffAnswer>> {
    let handoffs = app.repair_event(&by, id, asked.event_id, asked.event_type).await?;
    Ok(Json(HandedOffAnswer { handoffs }))
}

/// What is decided about a handoff that waits for a person.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SettleRequest {
    consumer: String,
    /// `processed`: it was done after all. `failed`: it never will be, and that is known.
    state: SettleState,
    /// Why, for those who look at the event later.
    #[serde(default)]
    note: Option<String>,
}

/// As what a handoff is settled.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SettleState {
    /// It was done after all.
    Processed,
    /// It never will be.
    Failed,
}

/// A settled handoff.
#[derive(Serialize, ToSchema)]
#[schema(as = Settled)]
pub(crate) struct SettledAnswer {
    consumer: String,
    #[schema(value_type = String, example = "processed")]
    state: HandoffState,
}

/// Settles a failed or uncertain handoff.
#[utoipa::path(
    post,
    path = "/v1/events/{id}/settle",
    tag = "events",
    params(("id" = String, Path, description = "`rcp_…`")),
    request_body = SettleRequest,
    responses(
        (status = 200, description = "It is settled.", body = SettledAnswer),
        (status = 409, description = "It waits for nobody.", content_type = "application/problem+json")
    )
)]
pub(crate) async fn settle(
    State(app): State<App>,
    Caller(by): Caller,
    Path(id): Path<ReceiptId>,
    Json(asked): Json<SettleRequest>,
) -> Result<Json<SettledAnswer>> {
    let settlement = match asked.state {
        SettleState::Processed => Settlement::Processed,
        SettleState::Failed => Settlement::Failed,
    };
    let settle = Settle { consumer: asked.consumer.clone(), settlement, note: asked.note };
    let state = app.settle_event(&by, id, settle).await?;
    Ok(Json(SettledAnswer { consumer: asked.consumer, state }))
}
