//! Deleting a tenant with everything, after its name was typed.

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_core::problem::Code;
use restante_store::StoreError;
use serde::Deserialize;

use super::detail::{self, Typed};
use super::tenant;
use crate::fault::Fault;
use crate::parts::form::{Faults, first_step};
use crate::parts::form_body::Form;
use crate::session::Person;
use crate::state::Web;

/// What was typed.
#[derive(Debug, Deserialize)]
pub(crate) struct Confirmed {
    #[serde(default)]
    typed_name: String,
}

pub(crate) async fn submit(
    State(web): State<Web>,
    person: Person,
    Path(id): Path<String>,
    Form(confirmed): Form<Confirmed>,
) -> Result<Response, Fault> {
    let id = tenant(&id)?;
    match web.app.delete_tenant(&person.actor(), id, &confirmed.typed_name).await {
        Ok(_) => Ok(Redirect::to(&format!("/admin/tenants/{id}/removal")).into_response()),
        // A hold is told above the page and at the form, which stays open.
        Err(StoreError::Problem(problem)) if problem.code == Code::Conflict => {
            let mut faults = Faults::default();
            faults.add("typed_name", problem.detail);
            detail::page(&web, &person, id, None, Typed::default(), faults).await
        }
        Err(StoreError::Problem(problem)) if !problem.errors.is_empty() => {
            let faults = Faults::of(&problem, first_step);
            detail::page(&web, &person, id, None, Typed::default(), faults).await
        }
        Err(error) => Err(error.into()),
    }
}
