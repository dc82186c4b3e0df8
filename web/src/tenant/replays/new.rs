//! Before a replay: the events that it would be of, the consumers that would get them, and the form that
//! confirms it.

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use restante_app::events::Event;
use restante_core::id::ReceiptId;
use restante_core::limits::PAGE_SIZE_MAX;
use restante_store::StoreError;
use url::form_urlencoded;

use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::alien::Alien;
use crate::parts::amount::{counted, number};
use crate::parts::form::Faults;
use crate::parts::shell::{Area, Shell};
use crate::session::Member;
use crate::state::Web;
use crate::tenant::choices::{Choice, Choices};
use crate::tenant::events::{filter, named};
use crate::tenant::frame::{Said, frame};

/// Events that the page names.
const NAMED_MAX: u32 = 10;

/// The page.
#[derive(Debug, Template)]
#[template(path = "tenant/replays/new.html")]
pub(crate) struct NewPage {
    shell: Shell,
    count: String,
    /// What the button says.
    these: String,
    events: Vec<(Alien, Alien, String)>,
    more: String,
    /// What the form sends along: each picked event, or the filters.
    hidden: Vec<(String, String)>,
    consumers: Vec<Choice>,
    reason: String,
    back: String,
    nothing: bool,
    all: bool,
    faults: Faults,
}

impl Page for NewPage {
    fn status(&self) -> http::StatusCode {
        if self.faults.is_empty() { http::StatusCode::OK } else { http::StatusCode::UNPROCESSABLE_ENTITY }
    }
}

/// What is to be replayed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted {
    /// Events that were picked.
    pub(crate) picked: Vec<ReceiptId>,
    /// All that match the filters below.
    pub(crate) all: bool,
    pub(crate) filters: filter::Typed,
    /// To this consumer; empty: to each that wants them.
    pub(crate) to: String,
    pub(crate) reason: String,
    /// What makes the form that is sent twice known as one.
    pub(crate) once: String,
}

impl Wanted {
    /// Reads the pairs of an address or a form. The consumer of a filter is not the one that gets them.
    pub(crate) fn read(pairs: &str) -> Self {
        let mut wanted = Self::default();
        for (name, value) in form_urlencoded::parse(pairs.as_bytes()) {
            let value = value.into_owned();
            let filters = &mut wanted.filters;
            match &*name {
                "event" if wanted.picked.len() <= PAGE_SIZE_MAX as usize => {
                    wanted.picked.extend(value.parse::<ReceiptId>().ok());
                }
                "all" => wanted.all = true,
                "to" => wanted.to = value,
                "reason" => wanted.reason = value,
                "once" => wanted.once = value,
                "type" => filters.event_type = value,
                "event_id" => filters.event_id = value,
                "endpoint" => filters.endpoint = value,
                "provider" => filters.provider = value,
                "state" => filters.state = value,
                "consumer" => filters.consumer = value,
                "received_after" => filters.received_after = value,
                "received_before" => filters.received_before = value,
                _ => {}
            }
        }
        // One that was picked, at the consumer whose row had the button.
        if !wanted.all && wanted.to.is_empty() {
            wanted.to = std::mem::take(&mut wanted.filters.consumer);
        }
        wanted
    }

    fn hidden(&self) -> Vec<(String, String)> {
        let mut fields = vec![("once".to_owned(), self.once.clone())];
        if !self.all {
            fields.extend(self.picked.iter().map(|id| ("event".to_owned(), id.to_string())));
            return fields;
        }
        fields.extend(self.filters.link(String::new()).fields().iter().cloned());
        fields.push(("all".to_owned(), "1".to_owned()));
        fields
    }
}

pub(crate) async fn show(
    State(web): State<Web>,
    member: Member,
    RawQuery(query): RawQuery,
) -> Result<Response, Fault> {
    let mut wanted = Wanted::read(query.as_deref().unwrap_or_default());
    wanted.once = hex::encode(web.app.random.bytes::<16>());
    page(&web, &member, &wanted, Faults::default()).await
}

/// The page for what is wanted, with what is wrong with it.
pub(crate) async fn page(
    web: &Web,
    member: &Member,
    wanted: &Wanted,
    faults: Faults,
) -> Result<Response, Fault> {
    let choices = Choices::of(&web.app, &member.by).await?;
    let shell = frame(web, member, Area::Events, &Said::default()).await?;
    let (found, faults) = match find(web, member, wanted).await {
        Ok(found) => (found, faults),
        Err(StoreError::Problem(problem)) => (Found::default(), named(&problem)),
        Err(failure) => return Err(failure.into()),
    };
    Ok(answer(&NewPage::new(shell, wanted, &found, &choices, faults)))
}

/// What would be replayed.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) count: u64,
    /// Whether that is all of them.
    pub(crate) exact: bool,
    pub(crate) events: Vec<Event>,
}

async fn find(web: &Web, member: &Member, wanted: &Wanted) -> Result<Found, StoreError> {
    if wanted.all {
        let (filter, _) = wanted.filters.read();
        let (count, exact) = web.app.count_events(&member.by, filter.clone()).await?;
        let page = web.app.events(&member.by, filter, None, NAMED_MAX, false).await?;
        return Ok(Found { count, exact, events: page.events });
    }
    let mut events = Vec::new();
    for id in wanted.picked.iter().take(NAMED_MAX as usize) {
        events.push(web.app.event(&member.by, *id, false).await?.event);
    }
    Ok(Found { count: wanted.picked.len() as u64, exact: true, events })
}

impl NewPage {
    pub(crate) fn new(
        shell: Shell,
        wanted: &Wanted,
        found: &Found,
        choices: &Choices,
        faults: Faults,
    ) -> Self {
        let event = |event: &Event| {
            let receipt = &event.receipt;
            let name = receipt.event_type.as_deref().unwrap_or("no type");
            let id = receipt.event_id.as_deref().unwrap_or("no id");
            (Alien::cut(name, 80), Alien::cut(id, 80), shell.at(&format!("/events/{}", receipt.id)))
        };
        let count = counted(found.count, "event", "events");
        let count = if found.exact { count } else { format!("at least {} events", number(found.count)) };
        let more = found.count.saturating_sub(found.events.len() as u64);
        Self {
            these: if found.count == 1 { "Replay this event".to_owned() } else { format!("Replay {count}") },
            count,
            events: found.events.iter().map(event).collect(),
            more: if more == 0 { String::new() } else { number(more) },
            hidden: wanted.hidden(),
            consumers: choices.consumers(&wanted.to),
            reason: wanted.reason.clone(),
            back: back(&shell, wanted),
            nothing: found.count == 0,
            all: wanted.all,
            faults,
            shell,
        }
    }
}

/// Where the person came from.
fn back(shell: &Shell, wanted: &Wanted) -> String {
    match wanted.picked.as_slice() {
        _ if wanted.all => wanted.filters.link(shell.at("/events")).to_string(),
        [only] => shell.at(&format!("/events/{only}")),
        _ => shell.at("/events"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples::{HOSTILE, check, long};
    use crate::tenant::events::row::samples as rows;

    fn page(wanted: &Wanted, found: &Found, faults: Faults) -> String {
        let (shell, choices) = (Shell::sample(Area::Events), Choices::sample("Payments"));
        NewPage::new(shell, wanted, found, &choices, faults).render().unwrap()
    }

    #[test]
    fn every_sample_makes_a_page() {
        let mut faults = Faults::default();
        faults.add("reason", HOSTILE);
        let hostile = Wanted { reason: HOSTILE.to_owned(), to: HOSTILE.to_owned(), ..Wanted::default() };
        check(&page(&Wanted::default(), &Found::default(), Faults::default()));
        check(&page(&hostile, &Found { count: 1, exact: true, events: vec![rows::hostile()] }, faults));
        let events = (0..10).map(|_| rows::event(&long())).collect();
        let huge = Wanted { all: true, reason: long(), ..Wanted::default() };
        check(&page(&huge, &Found { count: u64::MAX, exact: false, events }, Faults::default()));
    }

    #[test]
    fn what_was_picked_or_filtered_is_sent_along_with_the_confirmation() {
        let id = rows::event("").receipt.id;
        let wanted = Wanted::read(&format!("event={id}&event=rubbish&consumer=billing"));
        assert_eq!((wanted.picked.as_slice(), wanted.to.as_str()), (&[id][..], "billing"));
        let found = Found { count: 1, exact: true, events: vec![rows::event("push")] };
        let text = page(&wanted, &found, Faults::default());
        assert!(
            text.contains(&format!("name=\"event\" value=\"{id}\"")) && text.contains("Replay this event")
        );
        assert!(text.contains("<option value=\"billing\" selected>"), "{text}");
        let wanted = Wanted::read("type=invoice.*&state=failed&consumer=billing&all=1&to=mailer");
        assert_eq!((wanted.filters.consumer.as_str(), wanted.to.as_str()), ("billing", "mailer"));
        let found = Found { count: 12, exact: true, events: Vec::new() };
        let text = page(&wanted, &found, Faults::default());
        for (name, value) in
            [("type", "invoice.*"), ("state", "failed"), ("all", "1"), ("consumer", "billing")]
        {
            assert!(text.contains(&format!("name=\"{name}\" value=\"{value}\"")), "{name}");
        }
    }
}
