//! Signing in with address and password.

use askama::Template;
use axum::Extension;
use axum::extract::{Query, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use http::{HeaderMap, StatusCode, Uri};
use restante_app::context::ClientAddress;
use restante_app::people::SignIn;
use restante_core::problem::{Code, Problem};
use restante_core::secret::Secret;
use restante_store::StoreError;
use serde::Deserialize;
use tower_sessions::Session as Cookie;

use super::enter::{address_of, enter};
use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::form::{Faults, first_step};
use crate::parts::form_body::Form;
use crate::parts::next::{own_path, with_next};
use crate::session::{self, OpenedAs};
use crate::state::Web;

#[derive(Template)]
#[template(path = "account/sign_in.html")]
struct SignInPage {
    email: String,
    next: Option<String>,
    notice: Option<&'static str>,
    /// The right address, when the person came by one at which the session would be lost.
    opened_wrongly: Option<String>,
    may_sign_up: bool,
    faults: Faults,
    status: StatusCode,
}

impl Page for SignInPage {
    fn status(&self) -> StatusCode {
        self.status
    }
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    next: Option<String>,
    said: Option<String>,
}

pub(crate) async fn show(
    State(web): State<Web>,
    cookie: Cookie,
    Query(asked): Query<Asked>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let next = asked.next.as_deref().and_then(own_path);
    let signed_in = session::read(&cookie).await?.is_some_and(|session| !session.awaits_code);
    if signed_in {
        return Ok(Redirect::to(next.unwrap_or("/")).into_response());
    }
    let notice = match asked.said.as_deref() {
        Some("signed-out") => Some("You are signed out."),
        Some("password-set") => Some("The password is set. Sign in with it."),
        _ => None,
    };
    Ok(answer(&SignInPage {
        email: String::new(),
        next: next.map(str::to_owned),
        notice,
        opened_wrongly: opened_wrongly(&web, &headers, &uri),
        may_sign_up: web.app.sign_up_is_open().await?,
        faults: Faults::default(),
        status: StatusCode::OK,
    }))
}

#[derive(Deserialize)]
pub(crate) struct Typed {
    email: String,
    password: String,
    next: Option<String>,
}

pub(crate) async fn submit(
    State(web): State<Web>,
    cookie: Cookie,
    address: Option<Extension<ClientAddress>>,
    uri: Uri,
    headers: HeaderMap,
    Form(typed): Form<Typed>,
) -> Result<Response, Fault> {
    let next = typed.next.as_deref().and_then(own_path);
    let opened_wrongly = opened_wrongly(&web, &headers, &uri);
    let asked = SignIn {
        email: typed.email.clone(),
        password: Secret::new(typed.password),
        address: address_of(address),
        device: session::device_mark(&headers, &web.public),
    };
    let checked = match opened_wrongly {
        // What was typed is out already, but no session follows that would be lost.
        Some(_) => Err(Problem::new(Code::MissingScope, "This is not the address to sign in at.").into()),
        None => web.app.check_password(asked).await,
    };
    let accepted = match checked {
        Ok(accepted) => accepted,
        Err(StoreError::Problem(problem)) => {
            let status = StatusCode::from_u16(problem.code.status()).unwrap_or(StatusCode::FORBIDDEN);
            return Ok(answer(&SignInPage {
                email: typed.email,
                next: next.map(str::to_owned),
                notice: None,
                opened_wrongly,
                may_sign_up: false,
                faults: Faults::of(&problem, first_step),
                // A 401 would have to name a scheme of HTTP that browsers ask for by themselves.
                status: if status == StatusCode::UNAUTHORIZED { StatusCode::FORBIDDEN } else { status },
            }));
        }
        Err(error) => return Err(error.into()),
    };
    if accepted.awaits_code {
        let half = web.app.new_session(accepted.user, true, &session::device_name(&headers));
        session::begin(&cookie, half).await?;
        return Ok(Redirect::to(&with_next("/sign-in/code", next)).into_response());
    }
    enter(&web, &cookie, &headers, accepted.user, None, next.unwrap_or("/")).await
}

/// Where to go instead, when the person came by an address at which a session would be lost.
pub(super) fn opened_wrongly(web: &Web, headers: &HeaderMap, uri: &Uri) -> Option<String> {
    (OpenedAs::read(headers, uri, &web.public) == OpenedAs::Wrongly).then(|| web.public.origin.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples;

    #[test]
    fn the_page_stands_with_nothing_and_with_hostile_and_long_texts() {
        for text in
            [String::new(), "ada@example.com".to_owned(), samples::HOSTILE.to_owned(), samples::long()]
        {
            for opened_wrongly in [None, Some(text.clone())] {
                let mut faults = Faults::default();
                if !text.is_empty() {
                    faults.add("email", text.clone());
                }
                let page = SignInPage {
                    email: text.clone(),
                    next: Some(text.clone()).filter(|text| !text.is_empty()),
                    notice: Some("You are signed out.").filter(|_| text.is_empty()),
                    opened_wrongly,
                    may_sign_up: !text.is_empty(),
                    faults,
                    status: StatusCode::OK,
                };
                samples::check(&page.render().unwrap());
            }
        }
    }
}
