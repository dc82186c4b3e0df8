//! The figures at the top of the overview, each with the list that it stands for.

use restante_app::overview::{ConsumerOverview, Refused, Slot};

use super::window::minute;
use crate::parts::amount::{counted, number, percent};
use crate::parts::link::Link;
use crate::parts::moment::span;
use crate::parts::reasons::reason;
use crate::parts::shell::Shell;

/// An age from which on the oldest pending event is worth a colour: ten minutes.
pub(super) const OLD_SECONDS: u64 = 600;

/// A figure that stands for a whole.
#[derive(Debug)]
pub(super) struct Tile {
    pub(super) id: &'static str,
    pub(super) tone: &'static str,
    pub(super) icon: &'static str,
    pub(super) label: &'static str,
    pub(super) value: String,
    pub(super) sub: String,
    pub(super) href: String,
}

/// The tiles.
pub(super) fn tiles(
    shell: &Shell,
    total: Slot,
    consumers: &[ConsumerOverview],
    refusals: &[Refused],
) -> Vec<Tile> {
    let events = |link: Link| link.to_string();
    let oldest = consumers.iter().find(|consumer| consumer.oldest.is_some());
    let (failed, uncertain) =
        consumers.iter().fold((0, 0), |sum, one| (sum.0 + one.failed, sum.1 + one.uncertain));
    let authentic = total.accepted + total.duplicates;
    let repeats = if authentic == 0 { 0.0 } else { total.duplicates as f64 / authentic as f64 };
    let requests = authentic + total.refused;
    let refused = if requests == 0 { 0.0 } else { total.refused as f64 / requests as f64 };
    vec![
        Tile {
            id: "tile-events",
            tone: "",
            icon: "events",
            label: "New events",
            value: number(total.accepted),
            sub: if authentic == 0 {
                "nothing came in".to_owned()
            } else {
                let word = if total.duplicates == 1 { "repeat" } else { "repeats" };
                format!("{} {word}, {} of all deliveries", number(total.duplicates), percent(repeats))
            },
            href: events(Link::to(shell.at("/events")).with("received_after", minute(total.at))),
        },
        oldest_tile(shell, oldest),
        Tile {
            id: "tile-failures",
            tone: if failed + uncertain > 0 { "bad" } else { "" },
            icon: "failures",
            label: "Wait for a person",
            value: number(failed + uncertain),
            sub: if failed + uncertain == 0 {
                "no permanent failure is open".to_owned()
            } else {
                format!("{} failed for good, {} uncertain", number(failed), number(uncertain))
            },
            href: shell.at("/failures"),
        },
        Tile {
            id: "tile-refused",
            tone: "",
            icon: "shield",
            label: "Refused",
            value: number(total.refused),
            sub: match refusals.first() {
                Some(most) => format!("{} of requests; mostly: {}", percent(refused), reason(&most.reason)),
                None => "every request was authentic".to_owned(),
            },
            href: shell.at("/refusals"),
        },
    ]
}

fn oldest_tile(shell: &Shell, oldest: Option<&ConsumerOverview>) -> Tile {
    let base = Tile {
        id: "tile-oldest",
        tone: "",
        icon: "clock",
        label: "Oldest pending",
        value: "none".to_owned(),
        sub: "every consumer is up to date".to_owned(),
        href: shell.at("/consumers"),
    };
    match oldest.and_then(|one| Some((one, one.age_seconds?))) {
        None => base,
        Some((one, seconds)) => Tile {
            tone: if seconds >= OLD_SECONDS { "warn" } else { "" },
            value: span(seconds),
            sub: format!("at {}, {}", one.name, counted(one.pending, "event waits", "events wait")),
            href: shell.at(&format!("/consumers/{}", one.name)),
            ..base
        },
    }
}
