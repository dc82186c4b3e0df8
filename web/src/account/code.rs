//! The code of the second factor, after the password.

use askama::Template;
use axum::extract::{Query, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use http::{HeaderMap, StatusCode};
use restante_core::problem::Problem;
use restante_store::StoreError;
use serde::Deserialize;
use tower_sessions::Session as Cookie;

use super::enter::enter;
use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::form::{Faults, first_step};
use crate::parts::form_body::Form;
use crate::parts::next::own_path;
use crate::session;
use crate::state::Web;

#[derive(Template)]
#[template(path = "account/code.html")]
struct CodePage {
    next: Option<String>,
    faults: Faults,
    status: StatusCode,
}

impl Page for CodePage {
    fn status(&self) -> StatusCode {
        self.status
    }
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    next: Option<String>,
}

pub(crate) async fn show(cookie: Cookie, Query(asked): Query<Asked>) -> Result<Response, Fault> {
    match session::read(&cookie).await? {
        None => Ok(Redirect::to("/sign-in").into_response()),
        Some(session) if !session.awaits_code => Ok(Redirect::to("/").into_response()),
        Some(_) => {
            let next = asked.next.as_deref().and_then(own_path).map(str::to_owned);
            Ok(answer(&CodePage { next, faults: Faults::default(), status: StatusCode::OK }))
        }
    }
}

#[derive(Deserialize)]
pub(crate) struct Typed {
    code: String,
    next: Option<String>,
}

pub(crate) async fn submit(
    State(web): State<Web>,
    cookie: Cookie,
    headers: HeaderMap,
    Form(typed): Form<Typed>,
) -> Result<Response, Fault> {
    let Some(session) = session::read(&cookie).await?.filter(|session| session.awaits_code) else {
        return Ok(Redirect::to("/sign-in").into_response());
    };
    let next = typed.next.as_deref().and_then(own_path);
    match web.app.check_code(session.user, &typed.code).await {
        Ok(_) => enter(&web, &cookie, &headers, session.user, None, next.unwrap_or("/")).await,
        Err(StoreError::Problem(problem)) => Ok(refused(next, &problem)),
        Err(error) => Err(error.into()),
    }
}

fn refused(next: Option<&str>, problem: &Problem) -> Response {
    let status = StatusCode::from_u16(problem.code.status()).unwrap_or(StatusCode::UNPROCESSABLE_ENTITY);
    answer(&CodePage { next: next.map(str::to_owned), faults: Faults::of(problem, first_step), status })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples;

    #[test]
    fn the_page_stands_with_nothing_and_with_hostile_and_long_texts() {
        for text in [String::new(), "/t/acme".to_owned(), samples::HOSTILE.to_owned(), samples::long()] {
            let mut faults = Faults::default();
            if !text.is_empty() {
                faults.add("code", text.clone());
            }
            let next = Some(text).filter(|text| !text.is_empty());
            let page = CodePage { next, faults, status: StatusCode::OK }.render().unwrap();
            samples::check(&page);
            assert!(page.contains("name=\"code\""));
        }
    }
}
