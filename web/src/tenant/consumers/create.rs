//! A new consumer.

use askama::Template;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_app::consumers::NewConsumer;
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
#[template(path = "tenant/consumers/create.html")]
struct CreatePage {
    shell: Shell,
    typed: Typed,
    endpoints: Vec<Choice>,
    faults: Faults,
}

impl Page for CreatePage {
    fn status(&self) -> http::StatusCode {
        if self.faults.is_empty() { http::StatusCode::OK } else { http::StatusCode::UNPROCESSABLE_ENTITY }
    }
}

pub(crate) async fn show(State(web): State<Web>, member: Member) -> Result<Response, Fault> {
    page(&web, &member, Typed { start: "beginning".to_owned(), ..Typed::default() }, Faults::default()).await
}

async fn page(web: &Web, member: &Member, typed: Typed, faults: Faults) -> Result<Response, Fault> {
    let choices = Choices::of(&web.app, &member.by).await?;
    let shell = frame(web, member, Area::Consumers, &Said::default()).await?;
    let endpoints = typed.endpoints(&choices);
    Ok(answer(&CreatePage { shell, typed, endpoints, faults }))
}

pub(crate) async fn submit(
    State(web): State<Web>,
    member: Member,
    Path(slug): Path<String>,
    body: Bytes,
) -> Result<Response, Fault> {
    let typed = Typed::read(&body);
    let faults = typed.faults();
    if !faults.is_empty() {
        return page(&web, &member, typed, faults).await;
    }
    let new = NewConsumer {
        name: typed.name.trim().to_owned(),
        filter: Some(typed.filter()),
        max_attempts: typed.max_attempts().ok().flatten(),
        start: Some(typed.start.clone()).filter(|start| !start.is_empty()),
        ..NewConsumer::default()
    };
    match web.app.create_consumer(&member.by, new, None).await {
        Ok(made) => {
            Ok(Redirect::to(&format!("/t/{slug}/consumers/{}#worker", made.value.name)).into_response())
        }
        Err(StoreError::Problem(problem)) => page(&web, &member, typed, fields::faults(&problem)).await,
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
            let typed = Typed {
                name: text.to_owned(),
                endpoints: vec![text.to_owned()],
                providers: text.to_owned(),
                types: text.to_owned(),
                max_attempts: text.to_owned(),
                start: text.to_owned(),
            };
            let mut faults = Faults::default();
            for field in ["name", "types", "providers", "endpoint", "max_attempts", "start"] {
                faults.add(field, text);
            }
            let endpoints = typed.endpoints(&Choices::sample(text));
            let page = CreatePage { shell: Shell::sample(Area::Consumers), typed, endpoints, faults };
            check(&page.render().unwrap());
        }
    }
}
