//! Signing in with address and password.

use std::net::{IpAddr, Ipv4Addr};

use askama::Template;
use axum::Extension;
use axum::extract::{Query, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use http::header::SET_COOKIE;
use http::{HeaderMap, StatusCode, Uri};
use restante_app::context::ClientAddress;
use restante_app::people::SignIn;
use restante_core::problem::{Code, Problem};
use restante_core::secret::Secret;
use restante_store::StoreError;
use serde::Deserialize;
use tower_sessions::Session as Cookie;

use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::form::{Faults, first_step};
use crate::parts::form_body::Form;
use crate::parts::next::own_path;
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
        _ => None,
    };
    Ok(answer(&SignInPage {
        email: String::new(),
        next: next.map(str::to_owned),
        notice,
        opened_wrongly: opened_wrongly(&web, &headers, &uri),
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
        address: address.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |Extension(address)| address.0),
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
                faults: Faults::of(&problem, first_step),
                // A 401 would have to name a scheme of HTTP that browsers ask for by themselves.
                status: if status == StatusCode::UNAUTHORIZED { StatusCode::FORBIDDEN } else { status },
            }));
        }
        Err(error) => return Err(error.into()),
    };
    enter(&web, &cookie, &headers, accepted.user, next.unwrap_or("/")).await
}

/// Signs somebody in who has shown all that they have to, and leads them on.
async fn enter(
    web: &Web,
    cookie: &Cookie,
    headers: &HeaderMap,
    user: restante_core::id::UserId,
    to: &str,
) -> Result<Response, Fault> {
    let mark = web.app.signed_in(user, session::device_mark(headers, &web.public)).await?;
    session::begin(cookie, web.app.new_session(user, false, &session::device_name(headers))).await?;
    let mut response = Redirect::to(to).into_response();
    response.headers_mut().append(SET_COOKIE, session::remember_device(&web.public, &mark));
    Ok(response)
}

fn opened_wrongly(web: &Web, headers: &HeaderMap, uri: &Uri) -> Option<String> {
    (OpenedAs::read(headers, uri, &web.public) == OpenedAs::Wrongly).then(|| web.public.origin.clone())
}
