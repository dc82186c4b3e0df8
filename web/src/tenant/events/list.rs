//! The list of events, newest first. Its filters stand in the address; pages go on after a receipt, so
//! that they cost the same however many events there are.

use std::collections::HashMap;

use askama::Template;
use axum::extract::{Query, State};
use axum::response::Response;
use restante_app::events::{Event, EventFilter, Standing};
use restante_core::handoff;
use restante_core::id::ReceiptId;
use restante_core::problem::Problem;
use restante_core::time::Timestamp;
use restante_store::StoreError;

use super::filter::Typed;
use super::row::{self, EventRow};
use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::form::{Faults, first_step};
use crate::parts::shell::{Area, Shell};
use crate::session::Member;
use crate::state::Web;
use crate::tenant::choices::{Choice, Choices};
use crate::tenant::frame::{Said, frame};

/// Events of one page.
const PAGE: u32 = 50;

/// The page.
#[derive(Debug, Template)]
#[template(path = "tenant/events/list.html")]
pub(crate) struct ListPage {
    shell: Shell,
    typed: Typed,
    faults: Faults,
    endpoints: Vec<Choice>,
    consumers: Vec<Choice>,
    states: Vec<Choice>,
    chips: Vec<Chip>,
    clear: String,
    rows: Vec<EventRow>,
    /// On a later page: the way back to the newest.
    newest: Option<String>,
    /// The way on; there may be more although this page has few, when little of much matched.
    older: Option<String>,
    /// What asks whether something newer came.
    newer: Option<String>,
    replay_all: String,
    has_endpoints: bool,
}

impl Page for ListPage {}

/// A filter that is set.
#[derive(Debug)]
struct Chip {
    word: &'static str,
    value: String,
    without: String,
}

/// What a page of the list is made from.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    pub(crate) events: Vec<Event>,
    pub(crate) next: Option<ReceiptId>,
    pub(crate) standings: HashMap<ReceiptId, Vec<Standing>>,
}

pub(crate) async fn show(
    State(web): State<Web>,
    member: Member,
    Query(typed): Query<Typed>,
    said: Said,
) -> Result<Response, Fault> {
    let choices = Choices::of(&web.app, &member.by).await?;
    let shell = frame(&web, &member, Area::Events, &said).await?;
    let (filter, mut faults) = typed.read();
    let after: Option<ReceiptId> = typed.after.parse().ok();
    let mut listed = Listed::default();
    if faults.is_empty() {
        match load(&web, &member, filter, after).await {
            Ok(found) => listed = found,
            Err(StoreError::Problem(problem)) => faults = named(&problem),
            Err(failure) => return Err(failure.into()),
        }
    }
    Ok(answer(&ListPage::new(shell, typed, faults, &choices, &listed, web.app.clock.now())))
}

/// A filter that the verb refuses has its own name as pointer.
pub(crate) fn named(problem: &Problem) -> Faults {
    Faults::of(problem, |pointer| first_step(pointer).or_else(|| Some(pointer.to_owned())))
}

async fn load(
    web: &Web,
    member: &Member,
    filter: EventFilter,
    after: Option<ReceiptId>,
) -> Result<Listed, StoreError> {
    let page = web.app.events(&member.by, filter, after.map(|id| id.0), PAGE, false).await?;
    let ids = page.events.iter().map(|event| event.receipt.id).collect();
    let standings = web.app.standings(&member.by, ids).await?;
    Ok(Listed { events: page.events, next: page.next.map(ReceiptId), standings })
}

impl ListPage {
    pub(crate) fn new(
        shell: Shell,
        typed: Typed,
        faults: Faults,
        choices: &Choices,
        listed: &Listed,
        now: Timestamp,
    ) -> Self {
        let link = typed.link(shell.at("/events"));
        let names = choices.endpoint_names();
        let chips = typed
            .set()
            .map(|(name, word, value)| Chip {
                word,
                value: choices.word_of(name, value),
                without: link.clone().without(name).to_string(),
            })
            .collect();
        let first = listed.events.first().map(|event| event.receipt.id);
        let newer = (typed.after.is_empty() && faults.is_empty()).then(|| {
            let than = first.map_or_else(String::new, |id| id.to_string());
            typed.link(shell.at("/events/newer")).with("after", than).to_string()
        });
        let row = |event: &Event| {
            EventRow::new(&shell, event, row::of(&listed.standings, event.receipt.id), &names, now)
        };
        let states = handoff::State::ALL.iter().map(|state| Choice::plain(state.as_str(), &typed.state));
        Self {
            rows: listed.events.iter().map(row).collect(),
            endpoints: choices.endpoints(&typed.endpoint),
            consumers: choices.consumers(&typed.consumer),
            states: states.collect(),
            chips,
            clear: shell.at("/events"),
            newest: (!typed.after.is_empty()).then(|| link.to_string()),
            older: listed.next.map(|id| link.clone().with("after", id.to_string()).to_string()),
            newer,
            replay_all: typed.link(shell.at("/replays/new")).with("all", "1").to_string(),
            has_endpoints: choices.has_endpoints(),
            typed,
            faults,
            shell,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::row::samples::{NOW, event, hostile, standing};
    use super::*;
    use crate::parts::samples::{HOSTILE, check, long};

    fn listed(events: Vec<Event>) -> Listed {
        let standings = events
            .iter()
            .map(|event| {
                let all = [
                    standing("billing", handoff::State::Failed, false),
                    standing("mailer", handoff::State::Processed, false),
                ];
                (event.receipt.id, all.to_vec())
            })
            .collect();
        let next = events.last().map(|event| event.receipt.id);
        Listed { events, next, standings }
    }

    fn page(typed: Typed, choices: &Choices, listed: &Listed) -> String {
        let faults = typed.read().1;
        ListPage::new(Shell::sample(Area::Events), typed, faults, choices, listed, NOW).render().unwrap()
    }

    #[test]
    fn every_sample_makes_a_page() {
        let hostile_typed = Typed {
            event_type: HOSTILE.to_owned(),
            event_id: HOSTILE.to_owned(),
            endpoint: HOSTILE.to_owned(),
            state: HOSTILE.to_owned(),
            consumer: HOSTILE.to_owned(),
            received_after: HOSTILE.to_owned(),
            ..Typed::default()
        };
        for (typed, choices, events) in [
            (Typed::default(), Choices::default(), Vec::new()),
            (Typed::default(), Choices::sample("Payments"), vec![event("invoice.paid")]),
            (hostile_typed, Choices::sample(HOSTILE), vec![hostile()]),
            (Typed::default(), Choices::sample(&long()), (0..250).map(|_| event(&long())).collect()),
        ] {
            check(&page(typed, &choices, &listed(events)));
        }
    }

    #[test]
    fn filters_stay_in_every_address_of_the_page() {
        let typed =
            Typed { state: "failed".to_owned(), event_type: "invoice.*".to_owned(), ..Typed::default() };
        let text = page(typed, &Choices::sample("Payments"), &listed(vec![event("invoice.paid")]));
        for href in [
            "/t/acme/events?type=invoice.*&#38;state=failed&#38;after=rcp_",
            "/t/acme/events?type=invoice.*\"",
            "/t/acme/replays/new?type=invoice.*&#38;state=failed&#38;all=1",
        ] {
            assert!(text.contains(href), "{href} in {text}");
        }
        assert!(text.contains("name=\"event\" value=\"rcp_"));
        assert!(text.contains("and 1 more") && text.contains("billing: failed; mailer: processed"));
    }

    #[test]
    fn an_empty_list_says_the_next_step() {
        let none = page(Typed::default(), &Choices::default(), &listed(Vec::new()));
        assert!(none.contains("/t/acme/endpoints/new"), "{none}");
        let filtered = Typed { state: "failed".to_owned(), ..Typed::default() };
        let text = page(filtered, &Choices::sample("Payments"), &listed(Vec::new()));
        assert!(text.contains("No event matches") && text.contains("href=\"/t/acme/events\""));
        let wrong = Typed { state: "lost".to_owned(), ..Typed::default() };
        let text = page(wrong, &Choices::sample("Payments"), &listed(Vec::new()));
        assert!(text.contains("href=\"#state\"") && text.contains("aria-invalid=\"true\""), "{text}");
    }
}
