//! Pausing and resuming a consumer.

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_app::consumers::ConsumerChange;

use crate::fault::Fault;
use crate::session::Member;
use crate::state::Web;

pub(crate) async fn pause(
    State(web): State<Web>,
    member: Member,
    Path((slug, name)): Path<(String, String)>,
) -> Result<Response, Fault> {
    set(&web, &member, &slug, &name, false).await
}

pub(crate) async fn resume(
    State(web): State<Web>,
    member: Member,
    Path((slug, name)): Path<(String, String)>,
) -> Result<Response, Fault> {
    set(&web, &member, &slug, &name, true).await
}

async fn set(web: &Web, member: &Member, slug: &str, name: &str, enabled: bool) -> Result<Response, Fault> {
    let change = ConsumerChange { enabled: Some(Some(enabled)), ..ConsumerChange::default() };
    let consumer = web.app.update_consumer(&member.by, name, change).await?;
    let said = if enabled { "consumer-resumed" } else { "consumer-paused" };
    Ok(Redirect::to(&format!("/t/{slug}/consumers/{}?said={said}", consumer.name)).into_response())
}
