//! Inviting somebody, and taking an invitation back.

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_core::access::Role;
use restante_core::id::InviteId;
use restante_core::problem::Problem;
use restante_store::StoreError;
use serde::Deserialize;

use super::page::{Shown, Typed};
use crate::fault::Fault;
use crate::parts::form_body::Form;
use crate::parts::new_link::NewLink;
use crate::session::Member;
use crate::state::Web;

#[derive(Deserialize)]
pub(crate) struct Asked {
    email: String,
    role: String,
}

pub(crate) async fn submit(
    State(web): State<Web>,
    member: Member,
    Form(asked): Form<Asked>,
) -> Result<Response, Fault> {
    let role = Role::from_word(&asked.role);
    let invited = match role {
        Some(role) => web.app.invite(&member.by, &asked.email, role).await,
        None => Err(Problem::field("/role", "Choose one of the roles.").into()),
    };
    let shown = match invited {
        Ok(invited) => Shown {
            link: Some(
                NewLink::invitation(&web, &invited.row.email, &member.here.name, invited.link.expose()).await,
            ),
            ..Shown::default()
        },
        Err(StoreError::Problem(problem)) => Shown {
            typed: Typed { email: asked.email, role: role.unwrap_or(Role::Developer), ..Typed::default() },
            refused: Some(problem),
            ..Shown::default()
        },
        Err(error) => return Err(error.into()),
    };
    shown.answer(&web, &member).await
}

pub(crate) async fn revoke(
    State(web): State<Web>,
    member: Member,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, Fault> {
    let id: InviteId = id.parse().map_err(|_| Problem::not_found("open invitation"))?;
    web.app.revoke_invite(&member.by, id).await?;
    Ok(Redirect::to(&format!("/t/{}/members?said=revoked", member.here.slug)).into_response())
}
