//! The first start: the first administrator and the first tenant, by the link that the console shows.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use http::{HeaderMap, StatusCode, Uri};
use restante_app::context::RequestId;
use restante_app::people::{OpenLink, SetUp};
use restante_core::secret::Secret;
use restante_core::token::LinkToken;
use restante_store::StoreError;
use serde::Deserialize;
use tower_sessions::Session as Cookie;

use super::dead_link::dead_link;
use super::enter::{enter, id_of};
use super::sign_in::opened_wrongly;
use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::form::{Faults, first_step};
use crate::parts::form_body::Form;
use crate::state::Web;

#[derive(Template)]
#[template(path = "account/set_up.html")]
struct SetUpPage {
    action: String,
    typed: Typed,
    opened_wrongly: Option<String>,
    faults: Faults,
    status: StatusCode,
}

impl Page for SetUpPage {
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

pub(crate) async fn show(
    State(web): State<Web>,
    Path(link): Path<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    if !is_open(&web, &link).await? {
        return Ok(dead_link());
    }
    Ok(answer(&SetUpPage {
        action: format!("/set-up/{link}"),
        typed: Typed::default(),
        opened_wrongly: opened_wrongly(&web, &headers, &uri),
        faults: Faults::default(),
        status: StatusCode::OK,
    }))
}

pub(crate) async fn submit(
    State(web): State<Web>,
    Path(link): Path<String>,
    cookie: Cookie,
    request_id: Option<Extension<RequestId>>,
    headers: HeaderMap,
    Form(typed): Form<Typed>,
) -> Result<Response, Fault> {
    let (true, Some(token)) = (is_open(&web, &link).await?, LinkToken::parse(&link)) else {
        return Ok(dead_link());
    };
    let asked = SetUp {
        email: typed.email.clone(),
        password: Secret::new(typed.password.clone()),
        tenant_name: typed.tenant_name.clone(),
        slug: typed.slug.clone(),
    };
    match web.app.set_up(&token, asked, id_of(request_id)).await {
        Ok(done) => {
            let to = format!("/t/{}", done.slug);
            enter(&web, &cookie, &headers, done.user, Some(done.tenant), &to).await
        }
        Err(StoreError::Problem(problem)) => Ok(answer(&SetUpPage {
            action: format!("/set-up/{link}"),
            faults: Faults::of(&problem, first_step),
            status: StatusCode::from_u16(problem.code.status()).unwrap_or(StatusCode::UNPROCESSABLE_ENTITY),
            opened_wrongly: None,
            typed: Typed { password: String::new(), ..typed },
        })),
        Err(error) => Err(error.into()),
    }
}

async fn is_open(web: &Web, link: &str) -> Result<bool, Fault> {
    let Some(token) = LinkToken::parse(link) else { return Ok(false) };
    Ok(matches!(web.app.open_link(&token).await?, Some(OpenLink::SetUp)))
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
                let page =
                    SetUpPage { action: text.clone(), typed, opened_wrongly, faults, status: StatusCode::OK };
                let page = page.render().unwrap();
                samples::check(&page);
                assert!(!page.contains("never on the page again"));
            }
        }
    }
}
