//! Letting administrators of the instance look into the tenant, and ending it.

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_app::members::NewGrant;
use restante_core::id::GrantId;
use restante_core::problem::Problem;
use restante_store::StoreError;
use serde::Deserialize;

use super::page::{Shown, Typed};
use crate::fault::Fault;
use crate::parts::form_body::Form;
use crate::session::Member;
use crate::state::Web;

#[derive(Deserialize)]
pub(crate) struct Asked {
    hours: String,
    #[serde(default)]
    note: String,
    payloads: Option<String>,
}

pub(crate) async fn submit(
    State(web): State<Web>,
    member: Member,
    Form(asked): Form<Asked>,
) -> Result<Response, Fault> {
    let grant = NewGrant {
        payloads: asked.payloads.is_some(),
        // What is no number is out of bounds.
        hours: asked.hours.trim().parse().unwrap_or(0),
        note: asked.note.clone(),
    };
    match web.app.grant(&member.by, grant).await {
        Ok(_) => Ok(Redirect::to(&format!("/t/{}/members?said=granted", member.here.slug)).into_response()),
        Err(StoreError::Problem(problem)) => {
            let typed = Typed {
                hours: asked.hours,
                note: asked.note,
                payloads: asked.payloads.is_some(),
                ..Typed::default()
            };
            Shown { typed, refused: Some(problem), ..Shown::default() }.answer(&web, &member).await
        }
        Err(error) => Err(error.into()),
    }
}

pub(crate) async fn end(
    State(web): State<Web>,
    member: Member,
    Path((_, id)): Path<(String, String)>,
) -> Result<Redirect, Fault> {
    let id: GrantId = id.parse().map_err(|_| Problem::not_found("grant"))?;
    web.app.end_grant(&member.by, id).await?;
    Ok(Redirect::to(&format!("/t/{}/members?said=ended", member.here.slug)))
}
