//! The list of endpoints, each with its health at a glance.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use restante_app::overview::{EndpointOverview, Overview};
use restante_app::stats::Window;
use restante_core::catalogue::Catalogue;

use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::amount::{number, percent};
use crate::parts::badge::Badge;
use crate::parts::moment::Moment;
use crate::parts::shell::{Area, Shell, letter};
use crate::session::Member;
use crate::state::Web;
use crate::tenant::frame::{Said, frame};
use crate::tenant::overview::rows;

/// The page.
#[derive(Debug, Template)]
#[template(path = "tenant/endpoints/list.html")]
struct ListPage {
    shell: Shell,
    rows: Vec<Row>,
}

impl Page for ListPage {}

#[derive(Debug)]
struct Row {
    name: String,
    href: String,
    letter: String,
    provider: String,
    badge: Badge,
    newest: Option<Moment>,
    accepted: String,
    repeats: String,
    unusual: bool,
    refused: String,
}

pub(crate) async fn show(State(web): State<Web>, member: Member, said: Said) -> Result<Response, Fault> {
    let overview = web.app.overview(&member.by, Window::Day).await?;
    let shell = frame(&web, &member, Area::Endpoints, &said).await?;
    Ok(answer(&ListPage::new(shell, &overview)))
}

/// How a provider is called by people.
pub(crate) fn provider_title(slug: &str) -> String {
    Catalogue::builtin().get(slug).map_or_else(|| slug.to_owned(), |provider| provider.title.clone())
}

impl ListPage {
    fn new(shell: Shell, overview: &Overview) -> Self {
        let row = |one: &EndpointOverview| Row {
            name: one.name.clone(),
            href: shell.at(&format!("/endpoints/{}", one.id)),
            letter: letter(&one.provider),
            provider: provider_title(&one.provider),
            badge: rows::badge(one).unwrap_or(Badge::RECEIVING),
            newest: one.newest.map(|at| Moment::new(at, overview.now)),
            accepted: number(one.accepted),
            repeats: percent(one.repeat_share()),
            unusual: one.repeats_are_unusual(),
            refused: number(one.refused),
        };
        Self { rows: overview.endpoints.iter().map(row).collect(), shell }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples::check;
    use crate::tenant::overview::samples;

    fn page(overview: &Overview) -> String {
        ListPage::new(Shell::sample(Area::Endpoints), overview).render().unwrap()
    }

    #[test]
    fn every_sample_makes_a_page() {
        for overview in [samples::empty(), samples::ordinary(), samples::hostile(), samples::huge()] {
            check(&page(&overview));
        }
    }

    #[test]
    fn each_endpoint_is_told_with_its_state_and_none_with_the_next_step() {
        let text = page(&samples::ordinary());
        assert!(text.contains(">receiving</span>") && text.contains(">silent</span>"), "{text}");
        assert!(text.contains("Shopify") && text.contains("8,210"));
        assert!(page(&samples::empty()).contains("No endpoint yet"));
    }
}
