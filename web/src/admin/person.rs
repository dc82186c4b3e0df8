//! One person, and what an administrator may do about them.

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use http::StatusCode;
use restante_core::id::UserId;
use restante_core::problem::{Code, Problem};
use restante_store::StoreError;
use serde::Deserialize;

use super::people::PersonLine;
use super::start::yes_or_no;
use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::form::{Faults, first_step};
use crate::parts::form_body::Form;
use crate::parts::new_link::NewLink;
use crate::parts::shell::{Area, Notice, Shell};
use crate::session::Person;
use crate::state::Web;

#[derive(Template)]
#[template(path = "admin/person.html")]
struct PersonPage {
    shell: Shell,
    person: PersonLine,
    is_self: bool,
    link: Option<NewLink>,
    faults: Faults,
    status: StatusCode,
}

impl Page for PersonPage {
    fn status(&self) -> StatusCode {
        self.status
    }
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    said: String,
}

pub(crate) async fn show(
    State(web): State<Web>,
    person: Person,
    Path(id): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<Response, Fault> {
    let notice = match asked.said.as_str() {
        "made" => Some("They administer the instance now."),
        "unmade" => Some("They don’t administer the instance any more."),
        "disabled" => Some("The account is disabled, and its sessions have ended."),
        "enabled" => Some("They can sign in again."),
        "ended" => Some("They are signed out everywhere."),
        _ => None,
    };
    page(&web, &person, user(&id)?, notice, None, None).await
}

#[derive(Deserialize)]
pub(crate) struct Typed {
    is: String,
}

pub(crate) async fn administrator(
    State(web): State<Web>,
    person: Person,
    Path(id): Path<String>,
    Form(typed): Form<Typed>,
) -> Result<Response, Fault> {
    let (user, is) = (user(&id)?, yes_or_no(&typed.is)?);
    let done = web.app.set_administrator(&person.actor(), user, is).await;
    if done.is_ok() && !is && user == person.who.user {
        return Ok(Redirect::to("/").into_response());
    }
    after(&web, &person, user, done, if is { "made" } else { "unmade" }).await
}

pub(crate) async fn disabled(
    State(web): State<Web>,
    person: Person,
    Path(id): Path<String>,
    Form(typed): Form<Typed>,
) -> Result<Response, Fault> {
    let (user, is) = (user(&id)?, yes_or_no(&typed.is)?);
    let done = web.app.set_disabled(&person.actor(), user, is).await;
    after(&web, &person, user, done, if is { "disabled" } else { "enabled" }).await
}

pub(crate) async fn end_sessions(
    State(web): State<Web>,
    person: Person,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    let user = user(&id)?;
    let done = web.app.end_sessions_of(&person.actor(), user).await.map(|_| ());
    if done.is_ok() && user == person.who.user {
        return Ok(Redirect::to("/sign-in").into_response());
    }
    after(&web, &person, user, done, "ended").await
}

pub(crate) async fn reset_link(
    State(web): State<Web>,
    person: Person,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    let user = user(&id)?;
    let token = web.app.new_reset_link(&person.actor(), user, false).await?;
    let (row, _) = web.app.person(&person.actor(), user).await?;
    let link = NewLink::new_password(&web, &row.email, token.expose()).await;
    page(&web, &person, user, None, Some(link), None).await
}

async fn after(
    web: &Web,
    person: &Person,
    user: UserId,
    done: Result<(), StoreError>,
    said: &str,
) -> Result<Response, Fault> {
    match done {
        Ok(()) => Ok(Redirect::to(&format!("/admin/people/{user}?said={said}")).into_response()),
        Err(StoreError::Problem(problem)) if problem.code == Code::Conflict => {
            page(web, person, user, None, None, Some(problem)).await
        }
        Err(error) => Err(error.into()),
    }
}

async fn page(
    web: &Web,
    person: &Person,
    user: UserId,
    notice: Option<&'static str>,
    link: Option<NewLink>,
    refused: Option<Problem>,
) -> Result<Response, Fault> {
    let (row, tenants) = web.app.person(&person.actor(), user).await?;
    let mut shell = person.shell(Area::AdminPeople);
    shell.notices.extend(notice.map(Notice::done));
    let status = refused.as_ref().map_or(StatusCode::OK, |problem| {
        StatusCode::from_u16(problem.code.status()).unwrap_or(StatusCode::CONFLICT)
    });
    Ok(answer(&PersonPage {
        shell,
        person: PersonLine::of(row, &tenants, web.app.clock.now()),
        is_self: user == person.who.user,
        link,
        faults: refused.map(|problem| Faults::of(&problem, first_step)).unwrap_or_default(),
        status,
    }))
}

fn user(id: &str) -> Result<UserId, Problem> {
    id.parse().map_err(|_| Problem::new(Code::NotFound, "There is no such person."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples;

    #[test]
    fn the_page_stands_for_anybody() {
        for number in 0..4 {
            for text in ["ada@example.com", samples::HOSTILE, &samples::long()] {
                let page = PersonPage {
                    shell: Shell::sample(Area::AdminPeople),
                    person: PersonLine::sample(text, number),
                    is_self: number == 3,
                    link: Some(NewLink::sample(text)),
                    faults: Faults::default(),
                    status: StatusCode::OK,
                };
                let shown = page.render().unwrap();
                samples::check(&shown);
                // Nobody disables their own account.
                assert_eq!(shown.contains("/disabled\""), number != 3, "{number}");
            }
        }
    }
}
