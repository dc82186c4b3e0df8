//! The search box: any id leads to its thing.

use askama::Template;
use axum::Router;
use axum::extract::{Query, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;
use restante_app::search::Found;
use serde::Deserialize;

use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::alien::Alien;
use crate::parts::link::Link;
use crate::parts::shell::{Area, Shell};
use crate::session::Member;
use crate::state::Web;
use crate::tenant::frame::{Said, frame};

pub(crate) fn routes() -> Router<Web> {
    Router::new().route("/t/{slug}/search", get(show))
}

/// The page where nothing is found.
#[derive(Debug, Template)]
#[template(path = "tenant/search/nothing.html")]
struct NothingPage {
    shell: Shell,
    query: Option<Alien>,
}

impl Page for NothingPage {}

#[derive(Debug, Default, Deserialize)]
struct Asked {
    #[serde(default)]
    q: String,
}

async fn show(State(web): State<Web>, member: Member, Query(asked): Query<Asked>) -> Result<Response, Fault> {
    let query = asked.q.trim();
    let found = web.app.search(&member.by, query).await?;
    let shell = frame(&web, &member, Area::Search, &Said::default()).await?;
    let place = match found {
        Found::Event(id) => shell.at(&format!("/events/{id}")),
        Found::Events => Link::to(shell.at("/events")).with("event_id", query).to_string(),
        Found::Endpoint(id) => shell.at(&format!("/endpoints/{id}")),
        Found::Consumer(name) => shell.at(&format!("/consumers/{name}")),
        Found::Refusal(endpoint, id) => shell.at(&format!("/refusals/{endpoint}/{id}")),
        Found::Nothing => {
            let query = Some(Alien::cut(query, 200)).filter(|_| !query.is_empty());
            return Ok(answer(&NothingPage { shell, query }));
        }
    };
    Ok(Redirect::to(&place).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples::{HOSTILE, check, long};

    #[test]
    fn every_sample_makes_a_page() {
        for query in [None, Some("evt_1"), Some(HOSTILE), Some(&*long())] {
            let page = NothingPage { shell: Shell::sample(Area::Search), query: query.map(Alien::new) };
            check(&page.render().unwrap());
        }
    }
}
