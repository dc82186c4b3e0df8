//! Asking anew whether it is still the person, before what would hurt most if it were not. The page
//! keeps the form that was sent: with the right password it goes on as if nothing had been asked.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use restante_app::people::{Session, Who};
use restante_core::secret::Secret;
use restante_store::StoreError;
use tower_sessions::Session as Cookie;
use url::form_urlencoded;

use super::{form_token, kept};
use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::form::Faults;
use crate::state::Web;

/// The field of the password.
const FIELD: &str = "confirm_password";

/// The form that waits for the answer.
pub(super) struct Asked<'a> {
    pub(super) who: &'a Who,
    pub(super) path: &'a str,
    pub(super) form: &'a [u8],
}

#[derive(Template)]
#[template(path = "account/confirm.html")]
struct ConfirmPage<'a> {
    email: &'a str,
    path: &'a str,
    csrf: String,
    fields: Vec<(String, String)>,
    faults: Faults,
}

impl Page for ConfirmPage<'_> {
    fn status(&self) -> StatusCode {
        // Nothing was done of what the form asked for.
        StatusCode::FORBIDDEN
    }
}

/// Takes the password that came with the form, or asks for it. The session has a new id afterwards.
///
/// # Errors
/// The page that asks.
pub(super) async fn demand(
    web: &Web,
    cookie: &Cookie,
    session: Session,
    asked: Asked<'_>,
) -> Result<Session, Response> {
    let (mut fields, mut password) = (Vec::new(), None);
    for (name, value) in form_urlencoded::parse(asked.form) {
        match name.as_ref() {
            FIELD => password = Some(Secret::new(value.into_owned())),
            form_token::FIELD => {}
            _ => fields.push((name.into_owned(), value.into_owned())),
        }
    }
    let mut faults = Faults::default();
    if let Some(password) = password {
        match web.app.confirm_person(session.user, session.id, password).await {
            Ok(()) => {
                let session = Session { confirmed_at: web.app.clock.now(), ..session };
                let begun = kept::begin(cookie, session.clone()).await;
                return begun.map(|()| session).map_err(|problem| Fault::from(problem).into_response());
            }
            Err(StoreError::Problem(problem)) => {
                faults = Faults::of(&problem, |pointer| (pointer == "/password").then(|| FIELD.to_owned()));
            }
            Err(error) => return Err(Fault::from(error).into_response()),
        }
    }
    let csrf = form_token::token(&session);
    let page = ConfirmPage { email: &asked.who.email, path: asked.path, csrf, fields, faults };
    Err(answer(&page))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples;

    #[test]
    fn the_form_that_waits_is_only_text() {
        let hostile = samples::HOSTILE.to_owned();
        let page = ConfirmPage {
            email: samples::HOSTILE,
            path: samples::HOSTILE,
            csrf: "0".repeat(64),
            fields: vec![(hostile.clone(), hostile), ("huge".to_owned(), samples::long())],
            faults: Faults::default(),
        };
        samples::check(&page.render().unwrap());
    }
}
