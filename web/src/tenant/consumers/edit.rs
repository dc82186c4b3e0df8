//! The settings of a consumer that is there: its filter, and when it gives up.

use askama::Template;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_app::consumers::ConsumerChange;
use restante_store::StoreError;

use super::fields::{self, Typed};
use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::form::Faults;
use crate::parts::shell::{Area, Shell};
use crate::session::Member;
use crate::state::Web;
use crate::tenant::choices::{Choice, Choices};
use crate::tenant::frame::{Said, frame};

/// The page.
#[derive(Debug, Template)]
#[template(path = "tenant/consumers/edit.html")]
struct EditPage {
    shell: Shell,
    name: String,
    typed: Typed,
    endpoints: Vec<Choice>,
    faults: Faults,
}

impl Page for EditPage {
    fn status(&self) -> http::StatusCode {
        if self.faults.is_empty() { http::StatusCode::OK } else { http::StatusCode::UNPROCESSABLE_ENTITY }
    }
}

pub(crate) async fn show(
    State(web): State<Web>,
    member: Member,
    Path((_, name)): Path<(String, String)>,
) -> Result<Response, Fault> {
    let consumer = web.app.consumer(&member.by, &name).await?;
    let typed = Typed::of(&consumer.filter, consumer.max_attempts);
    page(&web, &member, consumer.name, typed, Faults::default()).await
}

async fn page(
    web: &Web,
    member: &Member,
    name: String,
    typed: Typed,
    faults: Faults,
) -> Result<Response, Fault> {
    let choices = Choices::of(&web.app, &member.by).await?;
    let shell = frame(web, member, Area::Consumers, &Said::default()).await?;
    let endpoints = typed.endpoints(&choices);
    Ok(answer(&EditPage { shell, name, typed, endpoints, faults }))
}

pub(crate) async fn submit(
    State(web): State<Web>,
    member: Member,
    Path((slug, name)): Path<(String, String)>,
    body: Bytes,
) -> Result<Response, Fault> {
    let consumer = web.app.consumer(&member.by, &name).await?;
    let typed = Typed::read(&body);
    let faults = typed.faults();
    if !faults.is_empty() {
        return page(&web, &member, consumer.name, typed, faults).await;
    }
    let change = ConsumerChange {
        filter: Some(Some(typed.filter())),
        max_attempts: typed.max_attempts().ok(),
        ..ConsumerChange::default()
    };
    match web.app.update_consumer(&member.by, &name, change).await {
        Ok(_) => {
            let to = format!("/t/{slug}/consumers/{}?said=consumer-saved", consumer.name);
            Ok(Redirect::to(&to).into_response())
        }
        Err(StoreError::Problem(problem)) => {
            page(&web, &member, consumer.name, typed, fields::faults(&problem)).await
        }
        Err(failure) => Err(failure.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples::{HOSTILE, check, long};

    #[test]
    fn every_sample_makes_a_page() {
        for text in ["", "billing", HOSTILE, &long()] {
            let typed = Typed { types: text.to_owned(), providers: text.to_owned(), ..Typed::default() };
            let mut faults = Faults::default();
            faults.add("types", text);
            let endpoints = typed.endpoints(&Choices::sample(text));
            let shell = Shell::sample(Area::Consumers);
            let page = EditPage { shell, name: text.to_owned(), typed, endpoints, faults };
            check(&page.render().unwrap());
        }
    }
}
