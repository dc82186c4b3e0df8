//! Names, limits, suspension: each form leads back to the page of the tenant, with a word or with its faults.

use std::collections::HashMap;

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_core::id::TenantId;
use restante_core::tenant_limits::{Limited, TenantLimits};
use restante_store::StoreError;
use serde::Deserialize;

use super::detail::{self, Typed};
use super::tenant;
use crate::fault::Fault;
use crate::parts::form::{Faults, first_step};
use crate::parts::form_body::Form;
use crate::parts::limits::read;
use crate::session::Person;
use crate::state::Web;

/// The two names.
#[derive(Debug, Deserialize)]
pub(crate) struct Names {
    #[serde(default)]
    name: String,
    #[serde(default)]
    slug: String,
}

pub(crate) async fn names(
    State(web): State<Web>,
    person: Person,
    Path(id): Path<String>,
    Form(names): Form<Names>,
) -> Result<Response, Fault> {
    let id = tenant(&id)?;
    let done = web.app.rename_tenant(&person.actor(), id, &names.name, &names.slug).await;
    let typed = Typed { name: Some(names.name), slug: Some(names.slug), ..Typed::default() };
    after(&web, &person, id, done, typed, "named").await
}

pub(crate) async fn limits(
    State(web): State<Web>,
    person: Person,
    Path(id): Path<String>,
    Form(fields): Form<HashMap<String, String>>,
) -> Result<Response, Fault> {
    let id = tenant(&id)?;
    let (mut asked, mut faults) = (TenantLimits::default(), Faults::default());
    for what in Limited::ALL {
        match read(what, fields.get(what.as_str()).map_or("", String::as_str)) {
            Ok(value) => asked = asked.with(what, value),
            Err(detail) => faults.add(what.as_str(), detail),
        }
    }
    let typed = Typed { limits: fields, ..Typed::default() };
    if !faults.is_empty() {
        return detail::page(&web, &person, id, None, typed, faults).await;
    }
    let done = web.app.set_tenant_limits(&person.actor(), id, asked).await;
    after(&web, &person, id, done, typed, "limited").await
}

/// Why it is suspended.
#[derive(Debug, Deserialize)]
pub(crate) struct Reason {
    #[serde(default)]
    because: String,
}

pub(crate) async fn suspend(
    State(web): State<Web>,
    person: Person,
    Path(id): Path<String>,
    Form(reason): Form<Reason>,
) -> Result<Response, Fault> {
    let id = tenant(&id)?;
    let done = web.app.suspend_tenant(&person.actor(), id, &reason.because).await;
    let typed = Typed { because: reason.because, ..Typed::default() };
    after(&web, &person, id, done, typed, "suspended").await
}

pub(crate) async fn resume(
    State(web): State<Web>,
    person: Person,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    let id = tenant(&id)?;
    let done = web.app.resume_tenant(&person.actor(), id).await;
    after(&web, &person, id, done, Typed::default(), "resumed").await
}

async fn after(
    web: &Web,
    person: &Person,
    id: TenantId,
    done: Result<(), StoreError>,
    typed: Typed,
    said: &str,
) -> Result<Response, Fault> {
    match done {
        Ok(()) => Ok(Redirect::to(&format!("/admin/tenants/{id}?said={said}")).into_response()),
        Err(StoreError::Problem(problem)) if !problem.errors.is_empty() => {
            let faults = Faults::of(&problem, first_step);
            detail::page(web, person, id, None, typed, faults).await
        }
        Err(error) => Err(error.into()),
    }
}
