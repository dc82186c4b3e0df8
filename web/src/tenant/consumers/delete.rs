//! Deleting a consumer, after its name was typed.

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use serde::Deserialize;

use super::detail::{self, Asked};
use crate::fault::Fault;
use crate::parts::form::Faults;
use crate::parts::form_body::Form;
use crate::parts::link::Link;
use crate::session::Member;
use crate::state::Web;
use crate::tenant::frame::Said;

/// What was typed.
#[derive(Debug, Deserialize)]
pub(crate) struct Typed {
    #[serde(default)]
    typed_name: String,
}

pub(crate) async fn submit(
    State(web): State<Web>,
    member: Member,
    Path((slug, name)): Path<(String, String)>,
    Form(typed): Form<Typed>,
) -> Result<Response, Fault> {
    if typed.typed_name.trim() != name {
        let mut faults = Faults::default();
        faults.add("typed_name", "This is not the name of the consumer, so it was not deleted.");
        return detail::page(&web, &member, &name, &Asked::default(), &Said::default(), faults).await;
    }
    let cancelled = web.app.delete_consumer(&member.by, &name).await?;
    let to = Link::to(format!("/t/{slug}/consumers"))
        .with("said", "consumer-deleted")
        .with("n", cancelled.to_string());
    Ok(Redirect::to(&to.to_string()).into_response())
}
