//! Settling a handoff that waits for a person.

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_app::replay::Settle;
use restante_core::handoff::Settlement;
use restante_core::id::ReceiptId;
use restante_store::StoreError;
use serde::Deserialize;

use super::detail;
use crate::fault::Fault;
use crate::page::missing;
use crate::parts::form::{Faults, first_step};
use crate::parts::form_body::Form;
use crate::session::Member;
use crate::state::Web;
use crate::tenant::frame::Said;

/// What was typed.
#[derive(Debug, Deserialize)]
pub(crate) struct Typed {
    #[serde(default)]
    consumer: String,
    #[serde(default)]
    settlement: String,
    #[serde(default)]
    note: String,
}

pub(crate) async fn submit(
    State(web): State<Web>,
    member: Member,
    Path((slug, id)): Path<(String, String)>,
    Form(typed): Form<Typed>,
) -> Result<Response, Fault> {
    let Ok(id) = id.parse::<ReceiptId>() else { return Ok(missing()) };
    let settlement = match typed.settlement.as_str() {
        "processed" => Settlement::Processed,
        "failed" => Settlement::Failed,
        _ => {
            let mut faults = Faults::default();
            faults.add("settlement", "Say whether it was done after all, or will not be done.");
            return detail::page(&web, &member, id, &Said::default(), faults, None).await;
        }
    };
    let note = Some(typed.note.trim().to_owned()).filter(|note| !note.is_empty());
    let asked = Settle { consumer: typed.consumer, settlement, note };
    match web.app.settle_event(&member.by, id, asked).await {
        Ok(_) => Ok(Redirect::to(&format!("/t/{slug}/events/{id}?said=settled")).into_response()),
        Err(StoreError::Problem(problem)) => {
            detail::page(&web, &member, id, &Said::default(), Faults::of(&problem, first_step), None).await
        }
        Err(failure) => Err(failure.into()),
    }
}
