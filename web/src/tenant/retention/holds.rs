//! Holding things, and releasing them.

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_app::retention::Held;
use restante_core::id::HoldId;
use restante_store::StoreError;
use serde::Deserialize;

use super::show;
use crate::fault::Fault;
use crate::page::missing;
use crate::parts::form::{Faults, first_step};
use crate::parts::form_body::Form;
use crate::session::Member;
use crate::state::Web;
use crate::tenant::frame::Said;

/// What was typed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Typed {
    /// Empty: the whole tenant; otherwise the id of an endpoint or an event.
    what: String,
    reason: String,
}

pub(crate) async fn submit(
    State(web): State<Web>,
    member: Member,
    Path(slug): Path<String>,
    Form(typed): Form<Typed>,
) -> Result<Response, Fault> {
    let what = typed.what.trim();
    let held = match (what.is_empty(), what.parse(), what.parse()) {
        (true, ..) => Held::Tenant,
        (_, Ok(endpoint), _) => Held::Endpoint(endpoint),
        (_, _, Ok(event)) => Held::Event(event),
        _ => {
            let mut faults = Faults::default();
            faults.add("what", "This is the id of an endpoint (ep_…) or of an event (rcp_…), or empty.");
            return show::page(&web, &member, &Said::default(), None, faults).await;
        }
    };
    match web.app.hold(&member.by, held, &typed.reason, None).await {
        Ok(_) => Ok(Redirect::to(&format!("/t/{slug}/retention?said=held#holds")).into_response()),
        Err(StoreError::Problem(problem)) => {
            let faults = Faults::of(&problem, first_step);
            show::page(&web, &member, &Said::default(), None, faults).await
        }
        Err(failure) => Err(failure.into()),
    }
}

pub(crate) async fn release(
    State(web): State<Web>,
    member: Member,
    Path((slug, id)): Path<(String, String)>,
) -> Result<Response, Fault> {
    let Ok(id) = id.parse::<HoldId>() else { return Ok(missing()) };
    web.app.release_hold(&member.by, id).await?;
    Ok(Redirect::to(&format!("/t/{slug}/retention?said=released#holds")).into_response())
}
