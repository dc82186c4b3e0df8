//! The windows that figures are of, in words, and the chart of what came in during one.

use restante_app::overview::Slot;
use restante_app::stats::Window;
use restante_core::time::Timestamp;

use crate::parts::chart::{Bars, Series};
use crate::parts::link::Link;
use crate::parts::moment::{hour_and_minute, weekday_and_hour};

/// A choice that is a link.
#[derive(Debug)]
pub(crate) struct Choice {
    pub(crate) label: &'static str,
    pub(crate) href: String,
    pub(crate) current: bool,
}

/// The windows as choices below a path.
pub(crate) fn windows(path: &str, present: Window) -> Vec<Choice> {
    let choice = |window: Window| Choice {
        label: match window {
            Window::Hour => "1 hour",
            Window::Day => "24 hours",
            Window::Week => "7 days",
        },
        href: Link::to(path).with("window", window.as_str()).to_string(),
        current: window == present,
    };
    Window::ALL.map(choice).into()
}

/// "the last 24 hours".
pub(crate) const fn in_a_sentence(window: Window) -> &'static str {
    match window {
        Window::Hour => "the last hour",
        Window::Day => "the last 24 hours",
        Window::Week => "the last 7 days",
    }
}

/// A slot's beginning in words.
pub(crate) fn slot_label(window: Window, at: Timestamp) -> String {
    match window {
        Window::Hour | Window::Day => hour_and_minute(at),
        Window::Week => weekday_and_hour(at),
    }
}

/// What a slot is called.
pub(crate) const fn slot_unit(window: Window) -> &'static str {
    match window {
        Window::Hour => "Minute (UTC)",
        Window::Day => "Hour (UTC)",
        Window::Week => "From (UTC)",
    }
}

/// The chart of what came in.
pub(crate) fn requests<'a>(window: Window, slots: impl Iterator<Item = &'a Slot>) -> Bars {
    let series = vec![
        Series { name: "new events", colour: "c1" },
        Series { name: "repeats", colour: "c2" },
        Series { name: "refused", colour: "c3" },
        Series { name: "not kept", colour: "c4" },
    ];
    let slots = slots
        .map(|slot| crate::parts::chart::Slot {
            label: slot_label(window, slot.at),
            counts: vec![slot.accepted, slot.duplicates, slot.refused, slot.failed],
        })
        .collect();
    Bars::new(&format!("What came in during {}", in_a_sentence(window)), slot_unit(window), series, slots)
}

/// A moment for the field of a filter: `2026-11-30T14:02`.
pub(crate) fn minute(at: Timestamp) -> String {
    at.to_string().chars().take(16).collect()
}
