//! `/v1/endpoints/{id}/refusals`: refused requests with the reason, and another look at one of them.

use axum::extract::State;
use restante_app::App;
use restante_app::refusals::{Entered, RefusalRecord, VerifiedAgain};
use restante_core::id::{EndpointId, ReceiptId, RefusalId};
use restante_core::time::Timestamp;
use restante_core::token::FiltersDigest;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::page::{Page, PageQuery};
use crate::extract::{Caller, Json, Path, Query};
use crate::problem::Result;
use crate::state::Api;

pub(super) fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(verify))
}

/// A refused request that is kept, without its bytes.
#[derive(Serialize, ToSchema)]
#[schema(as = Refusal)]
pub(crate) struct RefusalAnswer {
    #[schema(value_type = String, example = "rfs_01kbrs6q2j8a1q3f5z0ry4t7wd")]
    id: RefusalId,
    #[schema(value_type = String, format = DateTime)]
    received_at: Timestamp,
    #[schema(example = "signature_mismatch")]
    reason: String,
    /// What was wrong, and the likely cause.
    explanation: String,
    /// The id of the request, as the sender was told it.
    request_id: Option<String>,
    /// When it was verified again and entered as an event, if it was.
    #[schema(value_type = Option<String>, format = DateTime)]
    entered_at: Option<Timestamp>,
    /// That event, or the first of several.
    #[schema(value_type = Option<String>)]
    event: Option<ReceiptId>,
}

impl From<RefusalRecord> for RefusalAnswer {
    fn from(record: RefusalRecord) -> Self {
        let RefusalRecord { id, endpoint: _, received_at, reason, explanation, request_id, entered } = record;
        let entered_at = entered.map(|entered| entered.at);
        let event = entered.and_then(|entered| entered.receipt);
        Self { id, received_at, reason, explanation, request_id, entered_at, event }
    }
}

/// Lists the refused requests of an endpoint that are kept, the newest first: at most twenty.
#[utoipa::path(
    get,
    path = "/v1/endpoints/{id}/refusals",
    tag = "endpoints",
    params(("id" = String, Path, description = "`ep_…`"), PageQuery),
    responses((status = 200, description = "A page of refusals.", body = Page<RefusalAnswer>))
)]
pub(crate) async fn list(
    State(app): State<App>,
    Caller(by): Caller,
    Path(id): Path<EndpointId>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<RefusalAnswer>>> {
    let filters = [("endpoint", &*id.to_string())];
    let asked = query.check(FiltersDigest::new(by.tenant(), "refusals", &filters))?;
    app.endpoint(&by, id).await?;
    // So few are kept that all of them are read.
    let mut found = app.refusals(&by, Some(id)).await?;
    found.retain(|refusal| asked.after.is_none_or(|after| refusal.id.0 < after));
    Ok(Json(asked.page(found, |refusal| refusal.id.0)))
}

/// What came of it.
#[derive(Serialize, ToSchema)]
#[schema(as = VerifiedAgain)]
pub(crate) struct VerifiedAgainAnswer {
    /// `accepted`: it entered, and at least one event of it is new. `duplicate`: its events were here before.
    /// `rejected`: it is refused, as `reason` and `explanation` say. `handshake`: it is none of an event.
    status: &'static str,
    /// Its events, those included that were here before.
    receipts: Vec<EnteredAnswer>,
    /// Why it is refused.
    #[schema(example = "signature_mismatch")]
    reason: Option<&'static str>,
    /// The same in sentences.
    explanation: Option<String>,
}

/// An event of a refused request that entered.
#[derive(Serialize, ToSchema)]
#[schema(as = EnteredEvent)]
pub(crate) struct EnteredAnswer {
    #[schema(value_type = String, example = "rcp_01kbrs6q2j8a1q3f5z0ry4t7wd")]
    id: ReceiptId,
    /// `accepted`, or `duplicate` when it was here before.
    status: &'static str,
}

impl From<VerifiedAgain> for VerifiedAgainAnswer {
    fn from(again: VerifiedAgain) -> Self {
        let entered = |id: ReceiptId, duplicate: bool| EnteredAnswer {
            id,
            status: if duplicate { "duplicate" } else { "accepted" },
        };
        let receipts: Vec<EnteredAnswer> = match &again {
            VerifiedAgain::Entered(all) => all.iter().map(|one| entered(one.id, one.duplicate)).collect(),
            VerifiedAgain::WasEntered(Entered { receipt, .. }) => {
                receipt.iter().map(|id| entered(*id, true)).collect()
            }
            VerifiedAgain::Refused { .. } | VerifiedAgain::Handshake => Vec::new(),
        };
        let (status, reason, explanation) = match again {
            VerifiedAgain::Entered(_) if receipts.iter().any(|one| one.status == "accepted") => {
                ("accepted", None, None)
            }
            VerifiedAgain::Entered(_) | VerifiedAgain::WasEntered(_) => ("duplicate", None, None),
            VerifiedAgain::Refused { reason, explanation } => ("rejected", Some(reason), Some(explanation)),
            VerifiedAgain::Handshake => ("handshake", None, None),
        };
        Self { status, receipts, reason, explanation }
    }
}

/// Verifies a refused request again, under the secrets and options that the endpoint has today, as if it were
/// the time at which it came. If it is authentic after all, it enters as a delivery would have.
#[utoipa::path(
    post,
    path = "/v1/endpoints/{id}/refusals/{refusal}/verify",
    tag = "endpoints",
    params(
        ("id" = String, Path, description = "`ep_…`"),
        ("refusal" = String, Path, description = "`rfs_…`")
    ),
    responses(
        (status = 200, description = "What came of it; asking again changes nothing more.", body = VerifiedAgainAnswer),
        (
            status = 409,
            description = "Not all of the request is kept, or the endpoint takes nothing now.",
            content_type = "application/problem+json"
        )
    )
)]
pub(crate) async fn verify(
    State(app): State<App>,
    Caller(by): Caller,
    Path((id, refusal)): Path<(EndpointId, RefusalId)>,
) -> Result<Json<VerifiedAgainAnswer>> {
    Ok(Json(app.verify_refusal_again(&by, id, refusal).await?.into()))
}
