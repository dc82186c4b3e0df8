//! Enabling and disabling an endpoint.

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_app::endpoints::EndpointChange;
use restante_core::id::EndpointId;
use restante_store::StoreError;

use super::{detail, fields};
use crate::fault::Fault;
use crate::page::missing;
use crate::session::Member;
use crate::state::Web;
use crate::tenant::frame::Said;
use crate::tenant::overview::Asked;

pub(crate) async fn enable(
    State(web): State<Web>,
    member: Member,
    Path((slug, id)): Path<(String, String)>,
) -> Result<Response, Fault> {
    set(&web, &member, &slug, &id, true).await
}

pub(crate) async fn disable(
    State(web): State<Web>,
    member: Member,
    Path((slug, id)): Path<(String, String)>,
) -> Result<Response, Fault> {
    set(&web, &member, &slug, &id, false).await
}

async fn set(web: &Web, member: &Member, slug: &str, id: &str, enabled: bool) -> Result<Response, Fault> {
    let Ok(id) = id.parse::<EndpointId>() else { return Ok(missing()) };
    let change = EndpointChange { enabled: Some(enabled), ..EndpointChange::default() };
    match web.app.update_endpoint(&member.by, id, change).await {
        Ok(_) => {
            let said = if enabled { "endpoint-enabled" } else { "endpoint-disabled" };
            Ok(Redirect::to(&format!("/t/{slug}/endpoints/{id}?said={said}")).into_response())
        }
        Err(StoreError::Problem(problem)) => {
            let faults = fields::faults(&problem);
            detail::page(web, member, id, &Asked::default(), &Said::default(), faults).await
        }
        Err(failure) => Err(failure.into()),
    }
}
