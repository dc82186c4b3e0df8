//! One event: what is known of it, where it stands at each consumer, what happened to it, and what a
//! person may do about it.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use restante_app::events::{EventDetail, HandoffRecord, PayloadState};
use restante_core::handoff;
use restante_core::id::ReceiptId;
use restante_core::time::Timestamp;

use super::row::remarks;
use super::timeline::{self, Entry};
use crate::fault::Fault;
use crate::page::{Page, answer, missing};
use crate::parts::alien::Alien;
use crate::parts::amount::bytes;
use crate::parts::badge::Badge;
use crate::parts::form::Faults;
use crate::parts::link::Link;
use crate::parts::moment::{Moment, exact};
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

/// What is known of an event.
#[derive(Debug)]
struct Facts {
    event_id: Option<Alien>,
    receipt: String,
    endpoint: String,
    endpoint_href: String,
    provider: String,
    account: Option<Alien>,
    api_version: Option<Alien>,
    livemode: Option<&'static str>,
    received: Moment,
    received_exact: String,
    occurred: Option<Moment>,
    deliveries: u64,
    size: String,
    content_type: Option<Alien>,
    sha256: Option<String>,
    weak: Vec<&'static str>,
    decoder: String,
    payload: Option<&'static str>,
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
    Ok(answer(&DetailPage::new(shell, &detail, &endpoint, &actors, now, faults, typed)))
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
        let text = |text: &Option<String>| text.as_deref().map(|text| Alien::cut(text, 300));
        let facts = Facts {
            event_id: text(&receipt.event_id),
            receipt: receipt.id.to_string(),
            endpoint: endpoint.to_owned(),
            endpoint_href: shell.at(&format!("/endpoints/{}", receipt.endpoint)),
            provider: receipt.provider.clone(),
            account: text(&receipt.account),
            api_version: text(&receipt.api_version),
            livemode: receipt.livemode.map(|live| if live { "live" } else { "test mode of the provider" }),
            received: Moment::new(receipt.received_at, now),
            received_exact: exact(receipt.received_at),
            occurred: receipt.occurred_at.map(|at| Moment::new(at, now)),
            deliveries: receipt.deliveries,
            size: bytes(receipt.slice.length as u64),
            content_type: text(&receipt.content_type),
            sha256: detail
                .event
                .sha256
                .map(|digest| digest.iter().map(|byte| format!("{byte:02x}")).collect()),
            weak: receipt.weak.split_whitespace().filter_map(weakness).collect(),
            decoder: receipt.decoder.clone(),
            payload: match receipt.payload_state {
                PayloadState::Stored => None,
                PayloadState::Removed => Some("removed by retention; the key still refuses a second life"),
                PayloadState::Erased => Some("erased on request"),
            },
        };
        let needs_repair = receipt.reason.is_some();
        let replay = Link::to(shell.at("/replays/new")).with("event", receipt.id.to_string());
        let handoffs = detail.handoffs.iter().map(|one| row(&shell, one, &replay, now)).collect();
        Self {
            head: Head::new(&shell, detail),
            facts,
            handoffs,
            entries: timeline::entries(detail, endpoint, actors, now),
            replay: replay.to_string(),
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

/// What a scheme leaves unprotected, in a sentence.
fn weakness(word: &str) -> Option<&'static str> {
    match word {
        "body" => Some("the signature does not cover the body"),
        "id" => Some("the signature does not cover the event id"),
        "time" => Some("no time is signed"),
        _ => None,
    }
}

#[cfg(test)]
pub(crate) mod samples {
    //! Events with their histories, to try pages with.

    use axum::body::Bytes;
    use restante_app::events::{
        AttemptRecord, Content, DeliveryRecord, ReplayRecord, SettlementRecord, Variant,
    };
    use restante_core::handoff::{Outcome, State};
    use restante_core::id::{DeliveryId, EndpointId, ReplayId};
    use restante_core::request::HeaderList;
    use uuid::Uuid;

    use super::super::row::samples as rows;
    use super::*;
    use crate::parts::samples::{HOSTILE, long};

    pub(crate) use rows::NOW;

    fn content(text: &str) -> Content {
        let header = (text.to_owned(), Bytes::from(text.to_owned()));
        let body = serde_json::json!({ "id": text, "list": [1, 2.5, null, true, text] }).to_string();
        Content { headers: HeaderList(vec![header]), body: Bytes::from(body) }
    }

    fn of(text: &str, times: usize) -> EventDetail {
        let mut event = rows::event(text);
        event.content = Some(content(text));
        let at = |n: usize| NOW.plus_seconds(-60 + n as i64);
        let handoff = |state, n: usize| HandoffRecord {
            consumer: format!("consumer-{n}"),
            consumer_deleted: n % 2 == 1,
            state,
            due_at: (state == State::Pending).then(|| NOW.plus_seconds(300)),
            attempt: 3,
            tries: 3,
            lease: (state == State::Leased).then(|| (at(1), NOW.plus_seconds(30), Some(text.to_owned()))),
            replay: None,
            settled_at: (n == 5).then_some(NOW),
        };
        EventDetail {
            event,
            handoffs: State::ALL
                .iter()
                .cycle()
                .take(6.max(times))
                .enumerate()
                .map(|(n, s)| handoff(*s, n))
                .collect(),
            attempts: Outcome::ALL
                .iter()
                .cycle()
                .take(7.max(times))
                .enumerate()
                .map(|(n, outcome)| AttemptRecord {
                    consumer: "billing".to_owned(),
                    attempt: n as u32 + 1,
                    claimed_at: at(n),
                    ended_at: at(n + 1),
                    outcome: *outcome,
                    handler_version: Some(text.to_owned()),
                    remote_operation_id: Some(text.to_owned()),
                    note: Some(text.to_owned()),
                })
                .collect(),
            repeats: (0..times)
                .map(|n| DeliveryRecord {
                    id: DeliveryId(Uuid::from_u128(n as u128)),
                    endpoint: EndpointId(Uuid::from_u128(1)),
                    received_at: at(n),
                    outcome: "duplicate".to_owned(),
                    origin: "delivery".to_owned(),
                    same_body: n % 2 == 0,
                    secret: None,
                    request_id: Some(text.to_owned()),
                })
                .collect(),
            replays: vec![ReplayRecord {
                id: ReplayId(Uuid::from_u128(1)),
                at: at(20),
                actor: "usr_1".to_owned(),
                reason: Some(text.to_owned()),
                consumer: None,
            }],
            settlements: vec![SettlementRecord {
                consumer: "billing".to_owned(),
                at: at(30),
                actor: "operator".to_owned(),
                state: State::Processed,
                note: Some(text.to_owned()),
            }],
            variants: vec![Variant {
                id: Uuid::from_u128(9),
                received_at: at(5),
                size: 1_280,
                content: Some(content(&format!("{text}!"))),
            }],
        }
    }

    pub(crate) fn empty() -> EventDetail {
        let mut event = rows::event("");
        event.receipt.event_type = None;
        event.receipt.event_id = None;
        event.receipt.account = None;
        event.receipt.diverged = false;
        event.sha256 = None;
        EventDetail {
            event,
            handoffs: Vec::new(),
            attempts: Vec::new(),
            repeats: Vec::new(),
            replays: Vec::new(),
            settlements: Vec::new(),
            variants: Vec::new(),
        }
    }

    pub(crate) fn ordinary() -> EventDetail {
        of("invoice.paid", 2)
    }

    pub(crate) fn hostile() -> EventDetail {
        let mut detail = of(HOSTILE, 2);
        detail.event.receipt.reason = Some("envelope".to_owned());
        detail
    }

    pub(crate) fn huge() -> EventDetail {
        of(&long(), 200)
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
        DetailPage::new(shell, detail, endpoint, &actors, samples::NOW, faults, Some(typed)).render().unwrap()
    }

    #[test]
    fn every_sample_makes_a_page() {
        for detail in [samples::empty(), samples::ordinary(), samples::hostile(), samples::huge()] {
            check(&page(&detail, HOSTILE));
        }
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
