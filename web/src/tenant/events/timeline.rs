//! What happened to an event, one after another, from all that was kept of it: deliveries, attempts,
//! replays, settlements, and what is under way.

use restante_app::events::{AttemptRecord, EventDetail, HandoffRecord, PayloadState};
use restante_core::handoff::Outcome;
use restante_core::time::Timestamp;

use crate::parts::alien::Alien;
use crate::parts::badge::{Badge, Tone};
use crate::parts::moment::{Moment, span_micros};
use crate::tenant::actors::Actors;

/// Characters of a note that the timeline shows.
const NOTE_CHARS_MAX: usize = 600;

/// One thing that happened.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) tone: Tone,
    pub(crate) icon: &'static str,
    /// The consumer or endpoint that it is about.
    pub(crate) subject: String,
    /// What happened, in our words.
    pub(crate) text: String,
    /// More of it, in our words.
    pub(crate) more: Vec<String>,
    /// What an application or a person wrote.
    pub(crate) note: Option<Alien>,
    pub(crate) at: Timestamp,
    pub(crate) moment: Moment,
}

/// Everything, the oldest first.
pub(crate) fn entries(detail: &EventDetail, endpoint: &str, actors: &Actors, now: Timestamp) -> Vec<Entry> {
    let mut entries = vec![received(detail, endpoint, now)];
    for repeat in &detail.repeats {
        let other = if repeat.same_body { "" } else { ", with other bytes" };
        let mut entry = Entry::new(Tone::Plain, "endpoints", repeat.received_at, now);
        entry.text = format!("Delivered again{other}");
        entry.more.extend(repeat.request_id.as_ref().map(|id| format!("request {id}")));
        entries.push(entry);
    }
    entries.extend(detail.attempts.iter().map(|attempt| ended(attempt, now)));
    entries.extend(detail.handoffs.iter().filter_map(|handoff| under_way(handoff, now)));
    for replay in &detail.replays {
        let mut entry = Entry::new(Tone::Info, "replay", replay.at, now);
        let to = replay.consumer.as_deref().unwrap_or("every consumer that wants it");
        entry.subject = to.to_owned();
        entry.text = format!("gets it again, as {} asked", actors.name(&replay.actor));
        entry.note = replay.reason.as_deref().map(|text| Alien::cut(text, NOTE_CHARS_MAX));
        entries.push(entry);
    }
    for settlement in &detail.settlements {
        let (tone, icon) = (Badge::state(settlement.state).tone, "person");
        let mut entry = Entry::new(tone, icon, settlement.at, now);
        entry.subject = settlement.consumer.clone();
        entry.text =
            format!("was settled as {} by {}", settlement.state.as_str(), actors.name(&settlement.actor));
        entry.note = settlement.note.as_deref().map(|text| Alien::cut(text, NOTE_CHARS_MAX));
        entries.push(entry);
    }
    if let Some(at) = detail.event.receipt.payload_removed_at {
        let mut entry = Entry::new(Tone::Plain, "trash", at, now);
        entry.text = match detail.event.receipt.payload_state {
            PayloadState::Erased => "The payload was erased".to_owned(),
            _ => "Retention removed the payload".to_owned(),
        };
        entry.more.push("a repeat is a duplicate from here on, and nobody is handed it".to_owned());
        entries.push(entry);
    }
    entries.sort_by_key(|entry| entry.at);
    entries
}

impl Entry {
    fn new(tone: Tone, icon: &'static str, at: Timestamp, now: Timestamp) -> Self {
        Self {
            tone,
            icon,
            subject: String::new(),
            text: String::new(),
            more: Vec::new(),
            note: None,
            at,
            moment: Moment::new(at, now),
        }
    }
}

fn received(detail: &EventDetail, endpoint: &str, now: Timestamp) -> Entry {
    let receipt = &detail.event.receipt;
    let mut entry = Entry::new(Tone::Info, "endpoints", receipt.received_at, now);
    entry.subject = endpoint.to_owned();
    entry.text = match receipt.origin.as_str() {
        "test" => "took a test event that a person sent".to_owned(),
        "reconciliation" => "got it by asking the provider".to_owned(),
        _ => "received it, authentic".to_owned(),
    };
    let logged = detail.repeats.len() as u64 + 1;
    if receipt.deliveries > logged {
        entry
            .more
            .push(format!("{} later deliveries are counted and not listed", receipt.deliveries - logged));
    }
    entry
}

fn ended(attempt: &AttemptRecord, now: Timestamp) -> Entry {
    let (tone, icon) = Badge::outcome(attempt.outcome);
    let mut entry = Entry::new(tone, icon, attempt.ended_at, now);
    entry.subject = attempt.consumer.clone();
    let number = attempt.attempt;
    entry.text = match attempt.outcome {
        Outcome::Acked => format!("acknowledged attempt {number}"),
        Outcome::Retried => format!("asked for another try after attempt {number}"),
        Outcome::Failed => format!("gave up for good at attempt {number}"),
        Outcome::Exhausted => format!("had no try left after attempt {number}"),
        Outcome::Uncertain => format!("can’t tell whether attempt {number} had an effect"),
        Outcome::Expired => format!("let the lease of attempt {number} run out"),
        Outcome::Cancelled => format!("was deleted during attempt {number}"),
    };
    entry.more.push(format!("took {}", span_micros(attempt.ended_at.micros_since(attempt.claimed_at))));
    entry.more.extend(attempt.handler_version.as_ref().map(|version| format!("version {version}")));
    entry.more.extend(attempt.remote_operation_id.as_ref().map(|id| format!("remote operation {id}")));
    entry.note = attempt.note.as_deref().map(|text| Alien::cut(text, NOTE_CHARS_MAX));
    entry
}

fn under_way(handoff: &HandoffRecord, now: Timestamp) -> Option<Entry> {
    let (since, until, version) = handoff.lease.as_ref()?;
    let mut entry = Entry::new(Tone::Warn, "lock", *since, now);
    entry.subject = handoff.consumer.clone();
    entry.text = format!("works on attempt {}", handoff.attempt);
    entry.more.push(format!("the lease runs until {}", crate::parts::moment::exact(*until)));
    entry.more.extend(version.as_ref().map(|version| format!("version {version}")));
    Some(entry)
}
