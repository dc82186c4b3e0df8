//! Choosing a provider for a new endpoint: the catalogue with a search.

use askama::Template;
use axum::extract::{Query, State};
use axum::response::Response;
use restante_core::catalogue::{Catalogue, Provider};
use serde::Deserialize;

use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::shell::{Area, Shell, letter};
use crate::session::Member;
use crate::state::Web;
use crate::tenant::frame::{Said, frame};

/// What describes a sender that the catalogue lacks.
const CUSTOM: &str = "custom";

/// The page.
#[derive(Debug, Template)]
#[template(path = "tenant/endpoints/choose.html")]
struct ChoosePage {
    shell: Shell,
    query: String,
    providers: Vec<Card>,
    custom: String,
}

impl Page for ChoosePage {}

#[derive(Debug)]
struct Card {
    title: String,
    letter: String,
    href: String,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    q: String,
}

pub(crate) async fn show(
    State(web): State<Web>,
    member: Member,
    Query(asked): Query<Asked>,
) -> Result<Response, Fault> {
    let shell = frame(&web, &member, Area::Endpoints, &Said::default()).await?;
    Ok(answer(&ChoosePage::new(shell, asked.q)))
}

impl ChoosePage {
    fn new(shell: Shell, query: String) -> Self {
        let href = |slug: &str| shell.at(&format!("/endpoints/new/{slug}"));
        let mut found: Vec<&Provider> =
            Catalogue::builtin().all().filter(|one| one.slug != CUSTOM && matches(one, &query)).collect();
        found.sort_by_key(|one| one.title.to_lowercase());
        Self {
            providers: found
                .into_iter()
                .map(|one| Card {
                    title: one.title.clone(),
                    letter: letter(&one.title),
                    href: href(&one.slug),
                })
                .collect(),
            custom: href(CUSTOM),
            query,
            shell,
        }
    }
}

/// Whether each word of a search stands in the provider's name.
fn matches(provider: &Provider, query: &str) -> bool {
    let names = format!("{} {}", provider.title, provider.slug).to_lowercase();
    query.to_lowercase().split_whitespace().all(|word| names.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples::{HOSTILE, check, long};

    fn page(query: &str) -> String {
        ChoosePage::new(Shell::sample(Area::Endpoints), query.to_owned()).render().unwrap()
    }

    #[test]
    fn a_provider_is_found_by_a_part_of_its_name_and_custom_is_always_there() {
        let text = page("STRI");
        assert!(text.contains("/t/acme/endpoints/new/stripe") && !text.contains("/new/github"));
        for query in ["", "nothing of the kind", HOSTILE, &long()] {
            let text = page(query);
            check(&text);
            assert!(text.contains("/t/acme/endpoints/new/custom"), "{query}");
        }
        assert!(page("nothing of the kind").contains("No provider of this name"));
    }
}
