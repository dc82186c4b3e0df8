//! Ending own sessions: one, or all but the present one.

use axum::extract::{Path, State};
use axum::response::Redirect;
use restante_core::id::SessionId;
use restante_core::problem::{Code, Problem};

use crate::fault::Fault;
use crate::session::Person;
use crate::state::Web;

pub(crate) async fn end(
    State(web): State<Web>,
    person: Person,
    Path(id): Path<String>,
) -> Result<Redirect, Fault> {
    let id: SessionId = id.parse().map_err(|_| Problem::new(Code::NotFound, "There is no such session."))?;
    web.app.end_own_session(&person.actor(), id).await?;
    Ok(Redirect::to("/account?said=session"))
}

pub(crate) async fn end_others(State(web): State<Web>, person: Person) -> Result<Redirect, Fault> {
    web.app.end_other_sessions(&person.actor(), person.session).await?;
    Ok(Redirect::to("/account?said=others"))
}
