//! Sending a test event to an endpoint.

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_app::endpoints::TestEvent;
use restante_core::id::EndpointId;
use restante_core::problem::Code;
use restante_store::StoreError;
use serde::Deserialize;

use super::{detail, fields};
use crate::fault::Fault;
use crate::page::missing;
use crate::parts::form_body::Form;
use crate::session::Member;
use crate::state::Web;
use crate::tenant::frame::Said;
use crate::tenant::overview::Asked;

/// Where the button stood.
#[derive(Debug, Deserialize)]
pub(crate) struct Typed {
    #[serde(default)]
    back: String,
}

pub(crate) async fn submit(
    State(web): State<Web>,
    member: Member,
    Path((slug, id)): Path<(String, String)>,
    Form(typed): Form<Typed>,
) -> Result<Response, Fault> {
    let Ok(id) = id.parse::<EndpointId>() else { return Ok(missing()) };
    match web.app.send_test_event(&member.by, id, TestEvent::default(), None).await {
        Ok(sent) => {
            let said = if sent.value.verified { "test-sent" } else { "test-unsigned" };
            let to = match (typed.back.as_str(), sent.value.receipts.first()) {
                ("first", _) | (_, None) => format!("/t/{slug}/endpoints/{id}/first?said={said}"),
                (_, Some(receipt)) => format!("/t/{slug}/events/{receipt}?said={said}"),
            };
            Ok(Redirect::to(&to).into_response())
        }
        Err(StoreError::Problem(problem)) if problem.code != Code::NotFound => {
            let faults = fields::faults(&problem);
            detail::page(&web, &member, id, &Asked::default(), &Said::default(), faults).await
        }
        Err(failure) => Err(failure.into()),
    }
}
