//! One event in a list.

use std::collections::HashMap;

use restante_app::events::{Event, PayloadState, Standing};
use restante_core::handoff::State;
use restante_core::id::{EndpointId, ReceiptId};
use restante_core::time::Timestamp;

use crate::parts::alien::Alien;
use crate::parts::amount::bytes;
use crate::parts::badge::Badge;
use crate::parts::moment::Moment;
use crate::parts::shell::{Shell, letter};

/// Characters of a type or an id that a list shows.
const CHARS_MAX: usize = 80;

/// A row.
#[derive(Debug)]
pub(crate) struct EventRow {
    pub(crate) receipt: String,
    pub(crate) href: String,
    pub(crate) event_type: Option<Alien>,
    pub(crate) event_id: Option<Alien>,
    pub(crate) endpoint: String,
    pub(crate) provider: String,
    pub(crate) letter: String,
    pub(crate) state: Option<Badge>,
    /// That it stands at other consumers too: "and 2 more".
    pub(crate) others: Option<String>,
    /// Where it stands at each consumer.
    pub(crate) standings: String,
    pub(crate) remarks: Vec<Badge>,
    pub(crate) deliveries: Option<String>,
    pub(crate) size: String,
    pub(crate) received: Moment,
}

/// What counts most for whoever looks at a list.
const fn weight(standing: &Standing) -> u8 {
    match (standing.state, standing.settled) {
        (State::Failed, false) => 0,
        (State::Uncertain, _) => 1,
        (State::Leased, _) => 2,
        (State::Pending, _) => 3,
        (State::Failed, true) => 4,
        (State::Processed, _) => 5,
        (State::Cancelled, _) => 6,
    }
}

impl EventRow {
    pub(crate) fn new(
        shell: &Shell,
        event: &Event,
        standings: &[Standing],
        endpoints: &HashMap<EndpointId, String>,
        now: Timestamp,
    ) -> Self {
        let receipt = &event.receipt;
        let most = standings.iter().min_by_key(|standing| weight(standing));
        let others = standings.len().saturating_sub(1);
        let same = standings.iter().filter(|one| most.is_some_and(|most| one.state == most.state)).count();
        let deleted = || "a deleted endpoint".to_owned();
        Self {
            receipt: receipt.id.to_string(),
            href: shell.at(&format!("/events/{}", receipt.id)),
            event_type: receipt.event_type.as_deref().map(|text| Alien::cut(text, CHARS_MAX)),
            event_id: receipt.event_id.as_deref().map(|text| Alien::cut(text, CHARS_MAX)),
            endpoint: endpoints.get(&receipt.endpoint).cloned().unwrap_or_else(deleted),
            letter: letter(&receipt.provider),
            provider: receipt.provider.clone(),
            state: most.map(|standing| Badge::state(standing.state)),
            others: match (others, same) {
                (0, _) => None,
                (_, same) if same == standings.len() => Some(format!("at {same} consumers")),
                (others, _) => Some(format!("and {others} more")),
            },
            standings: standings.iter().map(in_words).collect::<Vec<_>>().join("; "),
            remarks: remarks(event),
            deliveries: (receipt.deliveries > 1).then(|| format!("{} deliveries", receipt.deliveries)),
            size: bytes(receipt.slice.length as u64),
            received: Moment::new(receipt.received_at, now),
        }
    }
}

/// `billing: failed`.
fn in_words(one: &Standing) -> String {
    let settled = if one.settled { ", settled" } else { "" };
    format!("{}: {}{settled}", one.consumer, one.state.as_str())
}

/// What is to be said of an event beside its state.
pub(crate) fn remarks(event: &Event) -> Vec<Badge> {
    let receipt = &event.receipt;
    let all = [
        (receipt.reason.is_some(), Badge::UNREADABLE),
        (receipt.diverged, Badge::DIVERGED),
        (receipt.repeated_body, Badge::REPEATED_BODY),
        (receipt.ambiguous, Badge::AMBIGUOUS),
        (receipt.origin == "test", Badge::TEST),
        (receipt.payload_state != PayloadState::Stored, Badge::PAYLOAD_GONE),
        (event.replay.is_some(), Badge::REPLAYED),
    ];
    all.into_iter().filter(|(is, _)| *is).map(|(_, badge)| badge).collect()
}

/// The standings of one receipt, or none.
pub(crate) fn of(standings: &HashMap<ReceiptId, Vec<Standing>>, id: ReceiptId) -> &[Standing] {
    standings.get(&id).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
pub(crate) mod samples {
    //! Events to try pages with.

    use restante_app::events::Receipt;
    use restante_core::id::PayloadId;
    use uuid::Uuid;

    use super::*;
    use crate::parts::samples::HOSTILE;

    pub(crate) const NOW: Timestamp = Timestamp::from_seconds(1_796_040_000);

    pub(crate) fn event(text: &str) -> Event {
        let id = Uuid::from_u128(0x0192_f8a7_c1d2_7b3e_8f4a_5b6c_7d8e_9f01);
        let receipt = Receipt {
            id: ReceiptId(id),
            provider: text.to_owned(),
            scope: text.to_owned(),
            event_key: text.to_owned(),
            event_id: Some(text.to_owned()),
            endpoint: EndpointId(Uuid::from_u128(1)),
            event_type: Some(text.to_owned()),
            account: Some(text.to_owned()),
            api_version: Some(text.to_owned()),
            livemode: Some(true),
            occurred_at: Some(NOW.plus_seconds(-90)),
            received_at: NOW.plus_seconds(-60),
            origin: "delivery".to_owned(),
            decoder: "stripe/1".to_owned(),
            secret: None,
            payload: PayloadId(id),
            slice: restante_store::events::Slice { decoded: false, offset: 0, length: 1_280 },
            content_type: Some(text.to_owned()),
            sha256_sealed: Vec::new(),
            deliveries: 3,
            variants: 1,
            diverged: true,
            repeated_body: false,
            ambiguous: false,
            weak: "id time".to_owned(),
            reason: None,
            payload_state: PayloadState::Stored,
            payload_removed_at: None,
        };
        Event { receipt, sha256: Some([7; 32]), content: None, replay: None }
    }

    pub(crate) fn hostile() -> Event {
        let mut event = event(HOSTILE);
        event.receipt.reason = Some("envelope".to_owned());
        event.receipt.repeated_body = true;
        event.receipt.ambiguous = true;
        event.receipt.origin = "test".to_owned();
        event.receipt.payload_state = PayloadState::Removed;
        event
    }

    pub(crate) fn standing(consumer: &str, state: State, settled: bool) -> Standing {
        let id = event("").receipt.id;
        Standing { receipt: id, consumer: consumer.to_owned(), state, settled }
    }
}

#[cfg(test)]
mod tests {
    use super::samples::{NOW, event, standing};
    use super::*;
    use crate::parts::shell::Area;

    fn row(standings: &[Standing]) -> EventRow {
        EventRow::new(&Shell::sample(Area::Events), &event("invoice.paid"), standings, &HashMap::new(), NOW)
    }

    #[test]
    fn the_state_that_wants_a_person_stands_first() {
        let shown = row(&[
            standing("a", State::Processed, false),
            standing("b", State::Failed, false),
            standing("c", State::Pending, false),
        ]);
        assert_eq!(shown.state, Some(Badge::state(State::Failed)));
        assert_eq!(shown.others.as_deref(), Some("and 2 more"));
        assert_eq!(shown.standings, "a: processed; b: failed; c: pending");
        // Settled, it wants nobody any more.
        let shown = row(&[standing("a", State::Failed, true), standing("b", State::Pending, false)]);
        assert_eq!(shown.state, Some(Badge::state(State::Pending)));
    }

    #[test]
    fn one_state_everywhere_is_told_once_and_none_is_none() {
        let shown = row(&[standing("a", State::Processed, false), standing("b", State::Processed, false)]);
        assert_eq!(shown.others.as_deref(), Some("at 2 consumers"));
        let shown = row(&[]);
        assert_eq!((shown.state, shown.others), (None, None));
        assert_eq!(shown.deliveries.as_deref(), Some("3 deliveries"));
        assert_eq!(shown.endpoint, "a deleted endpoint");
    }
}
