//! Repairing an event whose id could not be read.

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_core::id::ReceiptId;
use restante_store::StoreError;
use serde::Deserialize;

use super::detail::{self, Repair};
use crate::fault::Fault;
use crate::page::missing;
use crate::parts::form::Faults;
use crate::parts::form_body::Form;
use crate::session::Member;
use crate::state::Web;
use crate::tenant::frame::Said;

/// What was typed.
#[derive(Debug, Deserialize)]
pub(crate) struct Typed {
    #[serde(default)]
    event_id: String,
    #[serde(default)]
    event_type: String,
}

pub(crate) async fn submit(
    State(web): State<Web>,
    member: Member,
    Path((slug, id)): Path<(String, String)>,
    Form(typed): Form<Typed>,
) -> Result<Response, Fault> {
    let Ok(id) = id.parse::<ReceiptId>() else { return Ok(missing()) };
    let event_type = Some(typed.event_type.trim().to_owned()).filter(|text| !text.is_empty());
    match web.app.repair_event(&member.by, id, typed.event_id.trim().to_owned(), event_type).await {
        Ok(_) => Ok(Redirect::to(&format!("/t/{slug}/events/{id}?said=repaired")).into_response()),
        Err(StoreError::Problem(problem)) => {
            let faults = Faults::of(&problem, |pointer| match pointer {
                "/event_id" => Some("event_id".to_owned()),
                "/type" => Some("event_type".to_owned()),
                _ => None,
            });
            let typed = Repair { event_id: typed.event_id, event_type: typed.event_type };
            detail::page(&web, &member, id, &Said::default(), faults, Some(typed)).await
        }
        Err(failure) => Err(failure.into()),
    }
}
