//! Revoking an API key.

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_core::id::KeyId;

use crate::fault::Fault;
use crate::page::missing;
use crate::session::Member;
use crate::state::Web;

pub(crate) async fn submit(
    State(web): State<Web>,
    member: Member,
    Path((slug, id)): Path<(String, String)>,
) -> Result<Response, Fault> {
    let Ok(id) = id.parse::<KeyId>() else { return Ok(missing()) };
    web.app.delete_api_key(&member.by, id).await?;
    Ok(Redirect::to(&format!("/t/{slug}/keys?said=key-revoked")).into_response())
}
