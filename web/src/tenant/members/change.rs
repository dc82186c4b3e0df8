//! Changing a member's role, taking them out, and helping them with a new password.

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_core::access::Role;
use restante_core::id::UserId;
use restante_core::problem::Problem;
use restante_store::StoreError;
use serde::Deserialize;

use super::page::Shown;
use crate::fault::Fault;
use crate::parts::form_body::Form;
use crate::parts::new_link::NewLink;
use crate::session::Member;
use crate::state::Web;

#[derive(Deserialize)]
pub(crate) struct Asked {
    role: String,
}

pub(crate) async fn role(
    State(web): State<Web>,
    member: Member,
    Path((_, id)): Path<(String, String)>,
    Form(asked): Form<Asked>,
) -> Result<Response, Fault> {
    let user = user(&id)?;
    let changed = match Role::from_word(&asked.role) {
        Some(role) => web.app.set_member_role(&member.by, user, role).await,
        None => Err(Problem::field("/role", "Choose one of the roles.").into()),
    };
    after(&web, &member, user, changed, "role").await
}

pub(crate) async fn remove(
    State(web): State<Web>,
    member: Member,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, Fault> {
    let user = user(&id)?;
    let removed = web.app.remove_member(&member.by, user).await;
    after(&web, &member, user, removed, "removed").await
}

pub(crate) async fn reset_link(
    State(web): State<Web>,
    member: Member,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, Fault> {
    let user = user(&id)?;
    let shown = match web.app.new_member_reset_link(&member.by, user).await {
        Ok(link) => {
            let members = web.app.members(&member.by).await?.members;
            let email =
                members.into_iter().find(|one| one.user == user).map(|one| one.email).unwrap_or_default();
            let link = NewLink::new_password(&web, &email, link.expose()).await;
            Shown { link: Some(link), ..Shown::default() }
        }
        Err(StoreError::Problem(problem)) => Shown { refused: Some(problem), ..Shown::default() },
        Err(error) => return Err(error.into()),
    };
    shown.answer(&web, &member).await
}

/// The page again, with what was done or why it was not. Who has just taken the tenant from themselves
/// goes where they may still go.
async fn after(
    web: &Web,
    member: &Member,
    user: UserId,
    done: Result<(), StoreError>,
    said: &str,
) -> Result<Response, Fault> {
    match done {
        Ok(()) if user == member.who.user => Ok(Redirect::to("/").into_response()),
        Ok(()) => Ok(Redirect::to(&format!("/t/{}/members?said={said}", member.here.slug)).into_response()),
        Err(StoreError::Problem(problem)) if problem.code != restante_core::problem::Code::NotFound => {
            Shown { refused: Some(problem), ..Shown::default() }.answer(web, member).await
        }
        Err(error) => Err(error.into()),
    }
}

fn user(id: &str) -> Result<UserId, Problem> {
    id.parse().map_err(|_| Problem::not_found("member"))
}
