//! The overview as its template takes it: every figure in words, each with the list that it stands for.

use askama::Template;
use restante_app::overview::Overview;
use restante_core::time::Timestamp;

use super::rows::{ConsumerRow, EndpointRow, RefusalRow, SilentRow, consumer, endpoint};
use super::tiles::{Tile, tiles};
use super::window::{Choice, in_a_sentence, requests, windows};
use crate::page::Page;
use crate::parts::amount::number;
use crate::parts::chart::Bars;
use crate::parts::link::Link;
use crate::parts::moment::{exact, span};
use crate::parts::reasons::reason;
use crate::parts::shell::Shell;

/// Rows that each table shows; the lists show the rest.
const ROWS_MAX: usize = 8;
/// The page.
#[derive(Debug, Template)]
#[template(path = "tenant/overview.html")]
pub(crate) struct OverviewPage {
    pub(crate) shell: Shell,
    windows: Vec<Choice>,
    /// How the window is called in a sentence.
    window: &'static str,
    /// Its word in addresses.
    window_word: &'static str,
    now: String,
    tiles: Vec<Tile>,
    chart: Bars,
    consumers: Vec<ConsumerRow>,
    consumers_more: usize,
    endpoints: Vec<EndpointRow>,
    endpoints_more: usize,
    refusals: Vec<RefusalRow>,
    silent: Vec<SilentRow>,
    /// Endpoints whose provider could be asked what it sent, and is not: a few, and how many more.
    unasked: Vec<(String, String)>,
    unasked_more: usize,
    /// Whether there is anything that could receive.
    has_endpoints: bool,
}

impl Page for OverviewPage {}

/// Endpoints that are named of those whose provider is not asked.
const UNASKED_MAX: usize = 3;

impl OverviewPage {
    /// With the endpoints whose provider could be asked what it sent, and is not: name and address.
    pub(crate) fn with_unasked(mut self, mut unasked: Vec<(String, String)>) -> Self {
        self.unasked_more = unasked.len().saturating_sub(UNASKED_MAX);
        unasked.truncate(UNASKED_MAX);
        self.unasked = unasked;
        self
    }

    /// The page of what an app gave.
    pub(crate) fn new(shell: Shell, overview: Overview) -> Self {
        let Overview { window, now, slots, endpoints, refusals, consumers } = overview;
        let total = slots.total();
        let tiles = tiles(&shell, total, &consumers, &refusals);
        let name = |id| {
            endpoints.iter().find(|endpoint| Some(endpoint.id) == id).map(|endpoint| endpoint.name.clone())
        };
        let refusals = refusals
            .iter()
            .take(ROWS_MAX)
            .map(|refused| RefusalRow {
                reason: reason(&refused.reason).to_owned(),
                count: number(refused.count),
                mostly_at: name(refused.mostly_at),
                href: match refused.mostly_at {
                    Some(id) => Link::to(shell.at("/refusals")).with("endpoint", id.to_string()).to_string(),
                    None => shell.at("/refusals"),
                },
            })
            .collect();
        let silent = endpoints.iter().filter_map(|endpoint| {
            let silence = endpoint.silence?;
            Some(SilentRow {
                name: endpoint.name.clone(),
                href: shell.at(&format!("/endpoints/{}", endpoint.id)),
                since: span(silence.seconds),
                pause: silence.longest_pause_seconds.map(span),
            })
        });
        let since = slots.since();
        Self {
            unasked: Vec::new(),
            unasked_more: 0,
            windows: windows(&shell.at(""), window),
            window: in_a_sentence(window),
            window_word: window.as_str(),
            now: exact(Timestamp::from_seconds(now.seconds())).replacen(".000", "", 1),
            chart: requests(window, slots.iter()),
            consumers: consumers.iter().take(ROWS_MAX).map(|one| consumer(&shell, one)).collect(),
            consumers_more: consumers.len().saturating_sub(ROWS_MAX),
            silent: silent.collect(),
            has_endpoints: !endpoints.is_empty(),
            endpoints_more: endpoints.len().saturating_sub(ROWS_MAX),
            endpoints: endpoints.iter().take(ROWS_MAX).map(|one| endpoint(&shell, one, since, now)).collect(),
            refusals,
            tiles,
            shell,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;
    use crate::parts::samples::check;
    use crate::parts::shell::Area;

    fn page(overview: Overview) -> String {
        OverviewPage::new(Shell::sample(Area::Overview), overview).render().unwrap()
    }

    #[test]
    fn every_sample_makes_a_page() {
        for overview in [samples::empty(), samples::ordinary(), samples::hostile(), samples::huge()] {
            check(&page(overview));
        }
    }

    #[test]
    fn each_figure_leads_to_its_list() {
        let text = page(samples::ordinary());
        for href in [
            "href=\"/t/acme/events?received_after=2026-11-29T13%3A00\"",
            "href=\"/t/acme/consumers/billing\"",
            "href=\"/t/acme/failures\"",
            "href=\"/t/acme/refusals\"",
            "href=\"/t/acme/events?consumer=billing&#38;state=pending\"",
            "href=\"/t/acme/failures?consumer=billing\"",
        ] {
            assert!(text.contains(href), "{href} in {text}");
        }
        assert!(
            text.contains("2 h 14 min") && text.contains("8,210") && text.contains("usually 1.0 % to 4.0 %")
        );
        assert!(text.contains("Shop EU") && text.contains("fell silent"));
    }

    #[test]
    fn without_an_endpoint_the_page_says_the_next_step() {
        let text = page(samples::empty());
        assert!(text.contains("href=\"/t/acme/endpoints/new\""), "{text}");
        assert!(!text.contains("class=\"tiles\""));
    }
}
