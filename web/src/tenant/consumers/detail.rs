//! One consumer: what waits and for how long, what it wants, a worker for it, and the ways to stop it.

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use restante_app::consumers::Consumer;
use restante_app::overview::{AGE_RANGES, ConsumerOverview, OLDEST_RANGE};
use restante_app::stats::Window;
use restante_core::time::Timestamp;
use serde::Deserialize;

use super::list::{badge, wants};
use super::worker::{Language, worker};
use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::amount::number;
use crate::parts::badge::Badge;
use crate::parts::chart::AgeStrip;
use crate::parts::form::Faults;
use crate::parts::link::Link;
use crate::parts::moment::{Moment, span};
use crate::parts::shell::{Area, Shell};
use crate::session::Member;
use crate::state::Web;
use crate::tenant::frame::{Said, frame};

/// The page.
#[derive(Debug, Template)]
#[template(path = "tenant/consumers/detail.html")]
pub(crate) struct DetailPage {
    shell: Shell,
    name: String,
    id: String,
    href: String,
    badge: Badge,
    enabled: bool,
    backfilling: bool,
    idle: bool,
    wants: String,
    max_attempts: u32,
    claimed: Option<Moment>,
    created: Moment,
    tiles: Vec<Tile>,
    ages: Option<AgeStrip>,
    languages: Vec<(&'static str, String, bool)>,
    needs: &'static str,
    worker: String,
    faults: Faults,
}

impl Page for DetailPage {
    fn status(&self) -> http::StatusCode {
        if self.faults.is_empty() { http::StatusCode::OK } else { http::StatusCode::UNPROCESSABLE_ENTITY }
    }
}

#[derive(Debug)]
struct Tile {
    label: &'static str,
    value: String,
    tone: &'static str,
    href: String,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    worker: String,
}

pub(crate) async fn show(
    State(web): State<Web>,
    member: Member,
    Path((_, name)): Path<(String, String)>,
    Query(asked): Query<Asked>,
    said: Said,
) -> Result<Response, Fault> {
    page(&web, &member, &name, &asked, &said, Faults::default()).await
}

/// The page, with what is wrong with one of its forms.
pub(crate) async fn page(
    web: &Web,
    member: &Member,
    name: &str,
    asked: &Asked,
    said: &Said,
    faults: Faults,
) -> Result<Response, Fault> {
    let consumer = web.app.consumer(&member.by, name).await?;
    let overview = web.app.overview(&member.by, Window::Day).await?;
    let figures = overview.consumers.into_iter().find(|one| one.id == consumer.id);
    let shell = frame(web, member, Area::Consumers, said).await?;
    let language = Language::from_word(&asked.worker);
    let address = &web.app.settings.public_url;
    Ok(answer(&DetailPage::new(shell, &consumer, figures.as_ref(), language, address, overview.now, faults)))
}

impl DetailPage {
    pub(crate) fn new(
        shell: Shell,
        consumer: &Consumer,
        figures: Option<&ConsumerOverview>,
        language: Language,
        address: &str,
        now: Timestamp,
        faults: Faults,
    ) -> Self {
        let href = shell.at(&format!("/consumers/{}", consumer.name));
        let ages = figures.and_then(|figures| figures.ages.as_ref()).map(|ages| {
            let words = AGE_RANGES.iter().map(|(_, word)| *word).chain([OLDEST_RANGE]);
            AgeStrip::new(words.zip(ages).map(|(word, age)| (word, age.count, age.more)))
        });
        Self {
            id: consumer.id.to_string(),
            badge: badge(consumer),
            enabled: consumer.enabled,
            backfilling: consumer.backfilling,
            idle: consumer.idle,
            wants: wants(consumer),
            max_attempts: consumer.max_attempts,
            claimed: consumer.last_claim_at.map(|at| Moment::new(at, now)),
            created: Moment::new(consumer.created_at, now),
            tiles: figures.map(|figures| tiles(&shell, consumer, figures)).unwrap_or_default(),
            ages,
            languages: language.choices(&href),
            needs: language.needs(),
            worker: worker(language, address, &consumer.name),
            name: consumer.name.clone(),
            href,
            faults,
            shell,
        }
    }
}

fn tiles(shell: &Shell, consumer: &Consumer, figures: &ConsumerOverview) -> Vec<Tile> {
    let events = |state: &str| {
        let link = Link::to(shell.at("/events")).with("consumer", &*consumer.name).with("state", state);
        link.to_string()
    };
    let tile = |label, count: u64, tone, href| Tile {
        label,
        value: number(count),
        tone: if count > 0 { tone } else { "" },
        href,
    };
    vec![
        Tile {
            label: "Oldest pending",
            value: figures.age_seconds.map_or_else(|| "none".to_owned(), span),
            tone: if figures.age_seconds.is_some_and(|age| age >= 600) { "warn" } else { "" },
            href: events("pending"),
        },
        tile("Pending", figures.pending, "", events("pending")),
        tile("In work", figures.leased, "", events("leased")),
        tile("Wait for a person", figures.failed + figures.uncertain, "bad", {
            Link::to(shell.at("/failures")).with("consumer", &*consumer.name).to_string()
        }),
        tile("Claims, 24 h", figures.attempts, "", events("processed")),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::list::samples;
    use super::*;
    use crate::parts::samples::{HOSTILE, check, long};
    use crate::tenant::overview::samples as overviews;

    fn page(shell: Shell, consumer: &Consumer, language: Language) -> String {
        let overview = overviews::ordinary();
        let figures = overview.consumers.first();
        let mut faults = Faults::default();
        faults.add("typed_name", HOSTILE);
        DetailPage::new(shell, consumer, figures, language, "https://hooks.example.com", samples::NOW, faults)
            .render()
            .unwrap()
    }

    #[test]
    fn every_sample_makes_a_page() {
        for text in ["", "invoice.*", HOSTILE, &long()] {
            for language in Language::ALL {
                let shell = Shell::hostile(Area::Consumers);
                check(&page(shell, &samples::consumer("billing", text), language));
            }
        }
        let quiet =
            Consumer { enabled: false, idle: true, last_claim_at: None, ..samples::consumer("x", "") };
        let shell = Shell::sample(Area::Consumers);
        let page =
            DetailPage::new(shell, &quiet, None, Language::Rust, "http://x", samples::NOW, Faults::default());
        check(&page.render().unwrap());
    }

    #[test]
    fn the_worker_has_the_real_address_and_a_viewer_can_stop_nothing() {
        let text = page(Shell::sample(Area::Consumers), &samples::consumer("billing", "*"), Language::Python);
        assert!(text.contains("https://hooks.example.com/v1/consumers/billing"), "{text}");
        assert!(text.contains("/t/acme/keys/new?consumer=billing"));
        let mut shell = Shell::sample(Area::Consumers);
        shell.scopes = restante_core::access::Role::Viewer.scopes();
        let text = page(shell, &samples::consumer("billing", "*"), Language::Shell);
        for never in
            ["/consumers/billing/pause", "/consumers/billing/delete", "/consumers/billing/edit", "/keys/new"]
        {
            assert!(!text.contains(never), "{never}");
        }
    }
}
