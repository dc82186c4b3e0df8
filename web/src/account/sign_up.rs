//! Signing up without an invitation, where an administrator has opened it.

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, StatusCode, Uri};
use restante_app::administration::SignUp;
use restante_app::context::{ClientAddress, RequestId};
use restante_core::problem::{Code, Problem};
use restante_core::secret::Secret;
use restante_store::StoreError;
use serde::Deserialize;
use tower_sessions::Session as Cookie;

use super::enter::{address_of, enter, id_of};
use super::sign_in::opened_wrongly;
use crate::fault::Fault;
use crate::page::{self, Page, answer};
use crate::parts::form::{Faults, first_step};
use crate::parts::form_body::Form;
use crate::state::Web;

#[derive(Template)]
#[template(path = "account/sign_up.html")]
struct SignUpPage {
    typed: Typed,
    opened_wrongly: Option<String>,
    faults: Faults,
    status: StatusCode,
}

impl Page for SignUpPage {
    fn status(&self) -> StatusCode {
        self.status
    }
}

#[derive(Default, Deserialize)]
pub(crate) struct Typed {
    email: String,
    password: String,
    tenant_name: String,
    #[serde(default)]
    slug: String,
}

pub(crate) async fn show(State(web): State<Web>, uri: Uri, headers: HeaderMap) -> Result<Response, Fault> {
    if !web.app.sign_up_is_open().await? {
        return Ok(page::missing());
    }
    Ok(answer(&SignUpPage {
        typed: Typed::default(),
        opened_wrongly: opened_wrongly(&web, &headers, &uri),
        faults: Faults::default(),
        status: StatusCode::OK,
    }))
}

pub(crate) async fn submit(
    State(web): State<Web>,
    cookie: Cookie,
    request_id: Option<Extension<RequestId>>,
    address: Option<Extension<ClientAddress>>,
    uri: Uri,
    headers: HeaderMap,
    Form(typed): Form<Typed>,
) -> Result<Response, Fault> {
    if opened_wrongly(&web, &headers, &uri).is_some() {
        return Err(Problem::new(Code::MissingScope, "This is not the address to sign up at.").into());
    }
    let asked = SignUp {
        email: typed.email.clone(),
        password: Secret::new(typed.password.clone()),
        tenant_name: typed.tenant_name.clone(),
        slug: typed.slug.clone(),
        address: address_of(address),
    };
    match web.app.sign_up(asked, id_of(request_id)).await {
        Ok(done) => {
            let to = format!("/t/{}", done.slug);
            enter(&web, &cookie, &headers, done.user, Some(done.tenant), &to).await
        }
        Err(StoreError::Problem(problem)) if problem.code != Code::NotFound => Ok(answer(&SignUpPage {
            faults: Faults::of(&problem, first_step),
            status: StatusCode::from_u16(problem.code.status()).unwrap_or(StatusCode::UNPROCESSABLE_ENTITY),
            opened_wrongly: None,
            typed: Typed { password: String::new(), ..typed },
        })),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples;

    #[test]
    fn the_page_stands_with_nothing_and_with_hostile_and_long_texts() {
        for text in [String::new(), "acme".to_owned(), samples::HOSTILE.to_owned(), samples::long()] {
            for opened_wrongly in [None, Some(text.clone())] {
                let typed = Typed {
                    email: text.clone(),
                    password: "never on the page again".to_owned(),
                    tenant_name: text.clone(),
                    slug: text.clone(),
                };
                let mut faults = Faults::default();
                if !text.is_empty() {
                    faults.add("email", text.clone());
                }
                let page = SignUpPage { typed, opened_wrongly, faults, status: StatusCode::OK };
                let page = page.render().unwrap();
                samples::check(&page);
                assert!(!page.contains("never on the page again"));
            }
        }
    }
}
