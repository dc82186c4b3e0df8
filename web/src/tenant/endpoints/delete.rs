//! Deleting an endpoint, after its name was typed.

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_core::id::EndpointId;
use serde::Deserialize;

use super::detail;
use crate::fault::Fault;
use crate::page::missing;
use crate::parts::form::Faults;
use crate::parts::form_body::Form;
use crate::session::Member;
use crate::state::Web;
use crate::tenant::frame::Said;
use crate::tenant::overview::Asked;

/// What was typed.
#[derive(Debug, Deserialize)]
pub(crate) struct Typed {
    #[serde(default)]
    typed_name: String,
}

pub(crate) async fn submit(
    State(web): State<Web>,
    member: Member,
    Path((slug, id)): Path<(String, String)>,
    Form(typed): Form<Typed>,
) -> Result<Response, Fault> {
    let Ok(id) = id.parse::<EndpointId>() else { return Ok(missing()) };
    let endpoint = web.app.endpoint(&member.by, id).await?;
    if typed.typed_name.trim() != endpoint.name.trim() {
        let mut faults = Faults::default();
        faults.add("typed_name", "This is not the name of the endpoint, so it was not deleted.");
        return detail::page(&web, &member, id, &Asked::default(), &Said::default(), faults).await;
    }
    web.app.delete_endpoint(&member.by, id).await?;
    Ok(Redirect::to(&format!("/t/{slug}/endpoints?said=endpoint-deleted")).into_response())
}
