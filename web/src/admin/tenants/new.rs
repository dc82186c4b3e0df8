//! Making a tenant, with an invitation for its first owner.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use restante_app::administration::tenants::{CreatedTenant, NewTenantAsked};
use restante_store::StoreError;
use serde::Deserialize;

use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::form::{Faults, first_step};
use crate::parts::form_body::Form;
use crate::parts::new_link::NewLink;
use crate::parts::shell::{Area, Shell};
use crate::session::Person;
use crate::state::Web;

#[derive(Template)]
#[template(path = "admin/tenants/new.html")]
struct NewPage {
    shell: Shell,
    typed: Typed,
    faults: Faults,
}

#[derive(Template)]
#[template(path = "admin/tenants/created.html")]
struct CreatedPage {
    shell: Shell,
    name: String,
    href: String,
    link: Option<NewLink>,
}

impl Page for NewPage {
    fn status(&self) -> StatusCode {
        if self.faults.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY }
    }
}

impl Page for CreatedPage {}

/// What was typed.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Typed {
    #[serde(default)]
    name: String,
    #[serde(default)]
    slug: String,
    #[serde(default)]
    owner: String,
}

pub(crate) async fn show(person: Person) -> Response {
    let shell = person.shell(Area::AdminTenants);
    answer(&NewPage { shell, typed: Typed::default(), faults: Faults::default() })
}

pub(crate) async fn submit(
    State(web): State<Web>,
    person: Person,
    Form(typed): Form<Typed>,
) -> Result<Response, Fault> {
    let shell = person.shell(Area::AdminTenants);
    let Typed { name, slug, owner } = typed.clone();
    match web.app.create_tenant(&person.actor(), NewTenantAsked { name, slug, owner }).await {
        Ok(made) => Ok(answer(&created(&web, shell, &made, typed.name).await)),
        Err(StoreError::Problem(problem)) if !problem.errors.is_empty() => {
            Ok(answer(&NewPage { shell, typed, faults: Faults::of(&problem, first_step) }))
        }
        Err(error) => Err(error.into()),
    }
}

async fn created(web: &Web, shell: Shell, made: &CreatedTenant, name: String) -> CreatedPage {
    let link = NewLink::invitation(web, &made.owner, &name, made.link.expose()).await;
    CreatedPage { shell, name, href: format!("/admin/tenants/{}", made.tenant), link: Some(link) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples;

    #[test]
    fn the_pages_stand_with_any_text() {
        for text in ["", "acme", samples::HOSTILE, &samples::long()] {
            let text = || text.to_owned();
            let mut faults = Faults::default();
            for field in ["name", "slug", "owner"] {
                faults.add(field, text());
            }
            let typed = Typed { name: text(), slug: text(), owner: text() };
            let page = NewPage { shell: Shell::sample(Area::AdminTenants), typed, faults };
            samples::check(&page.render().unwrap());
            let link = Some(NewLink::sample(&text()));
            let shell = Shell::hostile(Area::AdminTenants);
            samples::check(&CreatedPage { shell, name: text(), href: text(), link }.render().unwrap());
        }
    }
}
