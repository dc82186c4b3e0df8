//! Erasing now: one event, or every payload of the tenant.

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_core::id::ReceiptId;
use restante_store::StoreError;
use serde::Deserialize;

use super::show;
use crate::fault::Fault;
use crate::page::missing;
use crate::parts::form::{Faults, first_step};
use crate::parts::form_body::Form;
use crate::session::Member;
use crate::state::Web;
use crate::tenant::events;
use crate::tenant::frame::Said;

/// What was typed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Typed {
    confirm: String,
    reason: String,
    whole_request: Option<String>,
}

pub(crate) async fn tenant(
    State(web): State<Web>,
    member: Member,
    Path(slug): Path<String>,
    Form(typed): Form<Typed>,
) -> Result<Response, Fault> {
    match web.app.erase_payloads(&member.by, typed.confirm.trim(), &typed.reason).await {
        Ok(done) => {
            let said = if done.complete { "erased-all" } else { "erased-some" };
            let to = format!("/t/{slug}/retention?said={said}&n={}", done.erased.events);
            Ok(Redirect::to(&to).into_response())
        }
        Err(StoreError::Problem(problem)) => {
            let faults = Faults::of(&problem, first_step);
            show::page(&web, &member, &Said::default(), None, faults).await
        }
        Err(failure) => Err(failure.into()),
    }
}

pub(crate) async fn event(
    State(web): State<Web>,
    member: Member,
    Path((slug, id)): Path<(String, String)>,
    Form(typed): Form<Typed>,
) -> Result<Response, Fault> {
    let Ok(id) = id.parse::<ReceiptId>() else { return Ok(missing()) };
    let whole = typed.whole_request.is_some();
    match web.app.erase_event(&member.by, id, whole, &typed.reason).await {
        Ok(_) => Ok(Redirect::to(&format!("/t/{slug}/events/{id}?said=erased")).into_response()),
        Err(StoreError::Problem(problem)) => {
            let faults = Faults::of(&problem, first_step);
            events::detail_page(&web, &member, id, faults).await
        }
        Err(failure) => Err(failure.into()),
    }
}
