//! One event: what is known of it, where it stands at each consumer, what happened to it, and what a
//! person may do about it.

mod facts;
#[cfg(test)]
pub(crate) mod samples;

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use restante_app::events::{EventDetail, HandoffRecord, PayloadState};
use restante_core::handoff;
use restante_core::id::ReceiptId;
use restante_core::time::Timestamp;

use self::facts::Facts;
use super::row::remarks;
use super::timeline::{self, Entry};
use crate::fault::Fault;
use crate::page::{Page, answer, missing};
use crate::parts::alien::Alien;
use crate::parts::badge::Badge;
use crate::parts::form::Faults;
use crate::parts::link::Link;
use crate::parts::moment::Moment;
use crate::parts::shell::{Area, Shell};
use crate::session::Member;
use crate::state::Web;
use crate::tenant::actors::Actors;
use crate::tenant::frame::{Said, frame};

/// The page.
#[derive(Debug, Template)]
#[template(path = "tenant/events/detail.html")]
pub(crate) struct DetailPage {
    pub(crate) shell: Shell,
    head: Head,
    facts: Facts,
    handoffs: Vec<HandoffRow>,
    entries: Vec<Entry>,
    replay: String,
    /// What is left of it, once its payload is gone.
    tombstone: Option<Tombstone>,
    /// What is typed into the form for a repair, while one is needed.
    repair: Option<Repair>,
    /// What an erasure does not reach.
    not_reached: [&'static str; 5],
    faults: Faults,
}

impl Page for DetailPage {
    fn status(&self) -> http::StatusCode {
        if self.faults.is_empty() { http::StatusCode::OK } else { http::StatusCode::UNPROCESSABLE_ENTITY }
    }
}

/// What stands at the top of each page of an event.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) title: Alien,
    /// The same in plain text, for the browser's tab.
    pub(crate) name: String,
    pub(crate) remarks: Vec<Badge>,
    pub(crate) id: String,
    pub(crate) href: String,
    /// Whether its payload is there, to be read or erased.
    pub(crate) stored: bool,
    /// Whether it can be replayed: its payload is there, and it doesn't wait for a repair.
    pub(crate) replayable: bool,
    pub(crate) variants: u64,
}

/// What is left of an event whose payload is gone.
#[derive(Debug)]
struct Tombstone {
    /// Who took the payload.
    by: &'static str,
    at: Option<Moment>,
    /// Days after its coming for which the key stays, by what is in force now.
    key_days: Option<u64>,
}

/// Where it stands at one consumer.
#[derive(Debug)]
struct HandoffRow {
    consumer: String,
    href: Option<String>,
    state: Badge,
    settled: bool,
    attempts: u32,
    due: Option<Moment>,
    waits: bool,
    replay: String,
}

/// The form that gives an unreadable event its id.
#[derive(Debug, Default)]
pub(crate) struct Repair {
    pub(crate) event_id: String,
    pub(crate) event_type: String,
}

pub(crate) async fn show(
    State(web): State<Web>,
    member: Member,
    Path((_, id)): Path<(String, String)>,
    said: Said,
) -> Result<Response, Fault> {
    let Ok(id) = id.parse() else { return Ok(missing()) };
    page(&web, &member, id, &said, Faults::default(), None).await
}

/// The page of an event, with what was typed into its forms and is wrong with it.
pub(crate) async fn page(
    web: &Web,
    member: &Member,
    id: ReceiptId,
    said: &Said,
    faults: Faults,
    typed: Option<Repair>,
) -> Result<Response, Fault> {
    let detail = web.app.event(&member.by, id, false).await?;
    let endpoint = endpoint_name(web, member, &detail).await?;
    let acted = detail.replays.iter().map(|one| one.actor.as_str());
    let acted = acted.chain(detail.settlements.iter().map(|one| one.actor.as_str()));
    let actors = Actors::of(&web.app, &member.by, acted).await?;
    let shell = frame(web, member, Area::Events, said).await?;
    let now = web.app.clock.now();
    let mut page = DetailPage::new(shell, &detail, &endpoint, &actors, now, faults, typed);
    if let Some(tombstone) = &mut page.tombstone {
        tombstone.key_days = Some(web.app.key_days(&member.by, detail.event.receipt.endpoint).await?);
    }
    Ok(answer(&page))
}

/// The name of the endpoint by which an event came first.
pub(crate) async fn endpoint_name(web: &Web, member: &Member, detail: &EventDetail) -> Result<String, Fault> {
    let names = web.app.endpoint_names(&member.by).await?;
    let found = names.into_iter().find(|(id, _)| *id == detail.event.receipt.endpoint);
    Ok(found.map_or_else(|| "a deleted endpoint".to_owned(), |(_, name)| name))
}

impl Head {
    pub(crate) fn new(shell: &Shell, detail: &EventDetail) -> Self {
        let receipt = &detail.event.receipt;
        let name = receipt.event_type.clone().unwrap_or_else(|| "An event without a type".to_owned());
        let mut event = detail.event.clone();
        // Replays stand in the timeline; here they would only repeat it.
        event.replay = None;
        Self {
            title: Alien::cut(&name, 120),
            name: name.chars().take(80).collect(),
            remarks: remarks(&event),
            id: receipt.id.to_string(),
            href: shell.at(&format!("/events/{}", receipt.id)),
            stored: receipt.payload_state == PayloadState::Stored,
            replayable: receipt.payload_state == PayloadState::Stored && receipt.reason.is_none(),
            variants: detail.variants.len() as u64,
        }
    }
}

impl DetailPage {
    pub(crate) fn new(
        shell: Shell,
        detail: &EventDetail,
        endpoint: &str,
        actors: &Actors,
        now: Timestamp,
        faults: Faults,
        typed: Option<Repair>,
    ) -> Self {
        let receipt = &detail.event.receipt;
        let stored = receipt.payload_state == PayloadState::Stored;
        let tombstone = (!stored).then(|| Tombstone {
            by: if receipt.payload_state == PayloadState::Erased { "An erasure" } else { "Retention" },
            at: receipt.payload_removed_at.map(|at| Moment::new(at, now)),
            key_days: None,
        });
        let needs_repair = receipt.reason.is_some() && stored;
        let replay = Link::to(shell.at("/replays/new")).with("event", receipt.id.to_string());
        let handoffs = detail.handoffs.iter().map(|one| row(&shell, one, &replay, now)).collect();
        Self {
            head: Head::new(&shell, detail),
            facts: Facts::new(&shell, detail, endpoint, now),
            handoffs,
            entries: timeline::entries(detail, endpoint, actors, now),
            replay: replay.to_string(),
            tombstone,
            repair: needs_repair.then(|| typed.unwrap_or_default()),
            not_reached: restante_app::retention::NOT_REACHED,
            faults,
            shell,
        }
    }
}

fn row(shell: &Shell, one: &HandoffRecord, replay: &Link, now: Timestamp) -> HandoffRow {
    let waits = one.state == handoff::State::Uncertain
        || (one.state == handoff::State::Failed && one.settled_at.is_none());
    HandoffRow {
        consumer: one.consumer.clone(),
        href: (!one.consumer_deleted).then(|| shell.at(&format!("/consumers/{}", one.consumer))),
        state: Badge::state(one.state),
        settled: one.settled_at.is_some(),
        attempts: one.attempt,
        due: one.due_at.filter(|due| *due > now).map(|due| Moment::new(due, now)),
        waits,
        replay: replay.clone().with("consumer", &*one.consumer).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples::{HOSTILE, check};

    fn page(detail: &EventDetail, endpoint: &str) -> String {
        let (shell, actors) = (Shell::sample(Area::Events), Actors::default());
        let mut faults = Faults::default();
        faults.add("event_id", HOSTILE);
        let typed = Repair { event_id: HOSTILE.to_owned(), event_type: HOSTILE.to_owned() };
        let mut page = DetailPage::new(shell, detail, endpoint, &actors, samples::NOW, faults, Some(typed));
        if let Some(tombstone) = &mut page.tombstone {
            tombstone.key_days = Some(400);
        }
        page.render().unwrap()
    }

    #[test]
    fn every_sample_makes_a_page() {
        for detail in [samples::empty(), samples::ordinary(), samples::hostile(), samples::huge()] {
            check(&page(&detail, HOSTILE));
        }
    }

    #[test]
    fn what_a_tombstone_does_stands_on_its_page() {
        for (state, by) in [(PayloadState::Removed, "Retention"), (PayloadState::Erased, "An erasure")] {
            let mut detail = samples::hostile();
            detail.event.receipt.payload_state = state;
            detail.event.receipt.payload_removed_at = Some(samples::NOW.plus_seconds(-86_400));
            detail.event.content = None;
            let text = page(&detail, "Payments");
            check(&text);
            for part in [
                by,
                "removed its payload",
                "answered as a duplicate",
                "handed to nobody",
                "can’t be replayed",
                "400 days after it came",
                "would come in as a new event",
            ] {
                assert!(text.contains(part), "{part} in {text}");
            }
            for act in ["/replays/new", "/erase\"", "/repair\"", "A replay can hand it"] {
                assert!(!text.contains(act), "{act}: nothing can be done with bytes that are gone");
            }
        }
        assert!(!page(&samples::ordinary(), "Payments").contains("This is a tombstone"));
    }

    #[test]
    fn the_page_tells_what_happened_in_order_and_what_can_be_done() {
        let text = page(&samples::ordinary(), "Payments");
        let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what} in {text}"));
        assert!(place("received it, authentic") < place("acknowledged attempt 1"));
        assert!(place("acknowledged attempt 1") < place("gets it again, as usr_1 asked"));
        assert!(place("gets it again, as usr_1 asked") < place("by the operator on the command line"));
        assert!(
            text.contains("the signature does not cover the event id") && text.contains("no time is signed")
        );
        assert!(text.contains("/replays/new?event=rcp_"));
        // Only what waits for a person can be settled.
        assert_eq!(
            text.matches("action=\"/t/acme/events/").count() - text.matches("/erase\"").count(),
            text.matches("name=\"settlement\" value=\"processed\"").count()
        );
        assert!(!text.contains("name=\"event_id\""), "nothing is to be repaired");
        let unreadable = page(&samples::hostile(), "Payments");
        assert!(unreadable.contains("name=\"event_id\""));
        assert!(
            !unreadable.contains("/replays/new?event=rcp_"),
            "a replay would be refused before the repair"
        );
    }

    #[test]
    fn a_viewer_sees_no_button_that_would_be_refused() {
        let mut shell = Shell::sample(Area::Events);
        shell.scopes = restante_core::access::Role::Viewer.scopes();
        let detail = samples::hostile();
        let page = DetailPage::new(
            shell,
            &detail,
            "Payments",
            &Actors::default(),
            samples::NOW,
            Faults::default(),
            None,
        );
        let text = page.render().unwrap();
        for never in ["/replays/new", "name=\"settlement\"", "/payload", "name=\"event_id\""] {
            assert!(!text.contains(never), "{never}");
        }
    }
}
