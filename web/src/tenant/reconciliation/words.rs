//! Runs in words.

use restante_app::reconcile::{Reconciliation, Run};
use restante_core::time::Timestamp;

use crate::parts::alien::Alien;
use crate::parts::amount::counted;
use crate::parts::badge::{Badge, Tone};
use crate::parts::moment::Moment;

/// Characters of an error that pages show.
pub(super) const ERROR_CHARS_MAX: usize = 500;

/// A run in a list.
#[derive(Debug, Clone)]
pub(super) struct RunLine {
    pub(super) href: String,
    pub(super) badge: Badge,
    pub(super) began: Moment,
    /// What came of it, in a sentence.
    pub(super) sentence: String,
    pub(super) error: Option<Alien>,
    pub(super) cause: &'static str,
    pub(super) listed: u64,
    pub(super) known: u64,
    pub(super) inserted: u64,
    pub(super) odd: u64,
}

impl RunLine {
    pub(super) fn of(run: &Run, base: &str, now: Timestamp) -> Self {
        let row = &run.row;
        Self {
            href: format!("{base}/runs/{}", row.id),
            badge: badge(run),
            began: Moment::new(row.started_at.unwrap_or(row.asked_at), now),
            sentence: sentence(run),
            error: row.error.as_deref().map(|text| Alien::cut(text, ERROR_CHARS_MAX)),
            cause: cause(&row.cause),
            listed: row.listed,
            known: row.known,
            inserted: row.inserted,
            odd: row.mismatched + row.failed + row.too_old,
        }
    }
}

pub(super) fn cause(word: &str) -> &'static str {
    match word {
        "wide" => "daily look further back",
        "asked" => "asked for",
        _ => "its time",
    }
}

/// The state of a run.
pub(super) fn badge(run: &Run) -> Badge {
    let row = &run.row;
    match row.outcome.as_deref() {
        Some("done") => Badge { tone: Tone::Good, icon: "check", word: "done" },
        Some("refused") => Badge { tone: Tone::Bad, icon: "slash", word: "stopped" },
        Some(_) => Badge { tone: Tone::Bad, icon: "cross", word: "failed" },
        None if row.error.is_some() => Badge { tone: Tone::Warn, icon: "clock", word: "waiting" },
        None if row.started_at.is_none() => Badge { tone: Tone::Info, icon: "clock", word: "queued" },
        None => Badge { tone: Tone::Info, icon: "replay", word: "running" },
    }
}

/// What came of a run, in a sentence that needs no knowledge of webhooks.
pub(super) fn sentence(run: &Run) -> String {
    let row = &run.row;
    let lost = row.inserted + row.redelivered;
    if row.missing > 0 {
        return format!(
            "{} that no event told of.",
            counted(row.missing, "object changed", "objects changed")
        );
    }
    if lost == 0 {
        return match (row.listed, row.finished_at.is_some()) {
            (0, false) => "Nothing has been listed yet.".to_owned(),
            (0, true) => "The provider listed nothing.".to_owned(),
            (listed, _) if row.failed + row.too_old == 0 => {
                format!("All {} were here already.", counted(listed, "event", "events"))
            }
            _ => format!("{} here already{}.", counted(row.known, "event was", "events were"), beside(run)),
        };
    }
    let mut text = counted(lost, "event found that never arrived", "events found that never arrived");
    if row.inserted > 0 {
        text.push_str(&format!(", {} inserted", row.inserted));
    }
    if row.redelivered > 0 {
        text.push_str(&format!(", {} asked for again", row.redelivered));
    }
    text.push_str(&beside(run));
    text.push('.');
    text
}

/// What else there was to see, behind a sentence that is not yet at its end.
fn beside(run: &Run) -> String {
    let (row, mut text) = (&run.row, String::new());
    if row.too_old > 0 {
        text.push_str(&format!(", {} too old to tell", row.too_old));
    }
    if row.failed > 0 {
        text.push_str(&format!(", {} could not be read", row.failed));
    }
    text
}

/// Where an endpoint stands.
pub(super) fn standing(set: Option<&Reconciliation>, possible: bool, last: Option<&Run>) -> Badge {
    match set {
        None if possible => Badge { tone: Tone::Warn, icon: "eye", word: "not set up" },
        None => Badge { tone: Tone::Plain, icon: "slash", word: "can’t be asked" },
        Some(set) if set.stopped.is_some() => Badge { tone: Tone::Bad, icon: "slash", word: "stopped" },
        Some(set) if !set.enabled => Badge { tone: Tone::Plain, icon: "pause", word: "paused" },
        Some(_) => last.map_or(Badge { tone: Tone::Info, icon: "clock", word: "not yet run" }, badge),
    }
}
