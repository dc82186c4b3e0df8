//! Adding and deleting a secret of an endpoint.

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_app::endpoints::{NewSecret, Retire};
use restante_core::id::{EndpointId, SecretId};
use restante_store::StoreError;
use serde::Deserialize;

use super::first::Pasted;
use super::{detail, fields};
use crate::fault::Fault;
use crate::page::missing;
use crate::parts::form_body::Form;
use crate::session::Member;
use crate::state::Web;
use crate::tenant::frame::Said;
use crate::tenant::overview::Asked;

/// What was typed.
#[derive(Debug, Deserialize)]
pub(crate) struct Typed {
    #[serde(default)]
    secret: Pasted,
    #[serde(default)]
    retire: String,
}

pub(crate) async fn add(
    State(web): State<Web>,
    member: Member,
    Path((slug, id)): Path<(String, String)>,
    Form(typed): Form<Typed>,
) -> Result<Response, Fault> {
    let Ok(id) = id.parse::<EndpointId>() else { return Ok(missing()) };
    let retire_others = typed.retire.parse().map_or(Retire::Never, Retire::AfterSeconds);
    let new = NewSecret { secret: typed.secret.into(), retire_others };
    match web.app.add_secret(&member.by, id, new, None).await {
        Ok(_) => Ok(Redirect::to(&format!("/t/{slug}/endpoints/{id}?said=secret-added")).into_response()),
        Err(StoreError::Problem(problem)) => {
            let faults = fields::faults(&problem);
            detail::page(&web, &member, id, &Asked::default(), &Said::default(), faults).await
        }
        Err(failure) => Err(failure.into()),
    }
}

pub(crate) async fn delete(
    State(web): State<Web>,
    member: Member,
    Path((slug, id, secret)): Path<(String, String, String)>,
) -> Result<Response, Fault> {
    let (Ok(id), Ok(secret)) = (id.parse::<EndpointId>(), secret.parse::<SecretId>()) else {
        return Ok(missing());
    };
    web.app.delete_secret(&member.by, id, secret).await?;
    Ok(Redirect::to(&format!("/t/{slug}/endpoints/{id}?said=secret-deleted")).into_response())
}
