//! A state as a shape and a word. The colour only repeats the two.

use std::fmt;

use askama::filters::HtmlSafe;
use restante_core::handoff::{Outcome, State};

use super::icon::Icon;

/// What a colour stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Good,
    Warn,
    Bad,
    Odd,
    Info,
}

impl fmt::Display for Tone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain => "",
            Self::Good => "good",
            Self::Warn => "warn",
            Self::Bad => "bad",
            Self::Odd => "odd",
            Self::Info => "info",
        })
    }
}

impl HtmlSafe for Tone {}

/// A badge: all three are ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Badge {
    pub(crate) tone: Tone,
    pub(crate) icon: &'static str,
    pub(crate) word: &'static str,
}

impl Badge {
    /// The badge of a handoff's state.
    pub(crate) const fn state(state: State) -> Self {
        let (tone, icon) = match state {
            State::Pending => (Tone::Info, "clock"),
            State::Leased => (Tone::Warn, "lock"),
            State::Processed => (Tone::Good, "check"),
            State::Failed => (Tone::Bad, "cross"),
            State::Uncertain => (Tone::Odd, "question"),
            State::Cancelled => (Tone::Plain, "slash"),
        };
        Self { tone, icon, word: state.as_str() }
    }

    /// The tone and icon of how an attempt ended.
    pub(crate) const fn outcome(outcome: Outcome) -> (Tone, &'static str) {
        match outcome {
            Outcome::Acked => (Tone::Good, "check"),
            Outcome::Retried => (Tone::Warn, "replay"),
            Outcome::Failed | Outcome::Exhausted => (Tone::Bad, "cross"),
            Outcome::Uncertain => (Tone::Odd, "question"),
            Outcome::Expired => (Tone::Warn, "clock"),
            Outcome::Cancelled => (Tone::Plain, "slash"),
        }
    }

    /// The badge of something that is on or off.
    pub(crate) const fn enabled(enabled: bool) -> Self {
        if enabled {
            Self { tone: Tone::Good, icon: "check", word: "enabled" }
        } else {
            Self { tone: Tone::Plain, icon: "pause", word: "disabled" }
        }
    }

    pub(crate) const DIVERGED: Self = Self { tone: Tone::Odd, icon: "split", word: "diverged" };
    pub(crate) const TEST: Self = Self { tone: Tone::Plain, icon: "flask", word: "test" };
    pub(crate) const REPEATED_BODY: Self = Self { tone: Tone::Warn, icon: "copy", word: "repeated body" };
    pub(crate) const AMBIGUOUS: Self = Self { tone: Tone::Warn, icon: "question", word: "ambiguous" };
    pub(crate) const UNREADABLE: Self = Self { tone: Tone::Bad, icon: "wrench", word: "needs repair" };
    pub(crate) const PAYLOAD_GONE: Self = Self { tone: Tone::Plain, icon: "trash", word: "payload gone" };
    pub(crate) const REPLAYED: Self = Self { tone: Tone::Plain, icon: "replay", word: "replayed" };
    pub(crate) const ACTIVE: Self = Self { tone: Tone::Good, icon: "check", word: "active" };
    pub(crate) const RECEIVING: Self = Self { tone: Tone::Good, icon: "check", word: "receiving" };
    pub(crate) const SILENT: Self = Self { tone: Tone::Warn, icon: "silent", word: "silent" };
    pub(crate) const WAITING: Self = Self { tone: Tone::Info, icon: "clock", word: "no event yet" };
    pub(crate) const IDLE: Self = Self { tone: Tone::Warn, icon: "silent", word: "idle" };
    pub(crate) const NORMAL: Self = Self { tone: Tone::Good, icon: "check", word: "normal" };
    pub(crate) const LOOK: Self = Self { tone: Tone::Warn, icon: "clock", word: "look at it" };
    pub(crate) const ACT: Self = Self { tone: Tone::Bad, icon: "failures", word: "act now" };
    pub(crate) const SUSPENDED: Self = Self { tone: Tone::Warn, icon: "pause", word: "suspended" };
    pub(crate) const NEAR_LIMIT: Self = Self { tone: Tone::Warn, icon: "clock", word: "near a limit" };
    pub(crate) const AT_LIMIT: Self = Self { tone: Tone::Bad, icon: "slash", word: "at a limit" };
    pub(crate) const PAUSED: Self = Self { tone: Tone::Warn, icon: "pause", word: "paused" };
}

impl fmt::Display for Badge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tone, icon, word } = self;
        write!(f, "<span class=\"badge {tone}\">{}{word}</span>", Icon::named(icon))
    }
}

impl HtmlSafe for Badge {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_has_a_shape_and_a_word_of_its_own() {
        let all: Vec<Badge> = State::ALL.iter().map(|state| Badge::state(*state)).collect();
        for (place, badge) in all.iter().enumerate() {
            let shown = badge.to_string();
            assert!(shown.contains(badge.word) && !shown.contains("d=\"\""), "{shown}");
            assert!(all[..place].iter().all(|other| other.icon != badge.icon), "{shown}");
        }
        for outcome in Outcome::ALL {
            assert_ne!(Icon::named(Badge::outcome(*outcome).1), Icon::named("nothing"));
        }
    }
}
