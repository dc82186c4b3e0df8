//! A window of time cut into slots, and what was counted in each: an hour by the minute, a day by the
//! hour, a week by six hours.

use restante_core::time::Timestamp;
use restante_store::stats::{Counted, Grain};

use super::share;
use crate::stats::Window;

const MINUTE: i64 = 60_000_000;
const HOUR: i64 = 60 * MINUTE;

/// How a window is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// By which counters.
    pub(crate) grain: Grain,
    /// When the first slot begins.
    pub(crate) since: Timestamp,
    step: i64,
    count: usize,
}

/// What came in within one slot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Slot {
    /// When it begins.
    pub at: Timestamp,
    /// Events that were new.
    pub accepted: u64,
    /// Events that had come before.
    pub duplicates: u64,
    /// Requests that were refused.
    pub refused: u64,
    /// Requests that could not be kept.
    pub failed: u64,
}

/// The slots of a window, the oldest first; the last one is under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slots {
    shape: Shape,
    slots: Vec<Slot>,
}

impl Slots {
    /// How a window that ends now is cut. The last slot is the one that is under way.
    pub(crate) const fn shape(window: Window, now: Timestamp) -> Shape {
        let (grain, step, count) = match window {
            Window::Hour => (Grain::Minute, MINUTE, 60),
            Window::Day => (Grain::Hour, HOUR, 24),
            Window::Week => (Grain::Hour, 6 * HOUR, 28),
        };
        let last = now.micros().div_euclid(step).saturating_mul(step);
        let since = last.saturating_sub(step.saturating_mul(count as i64 - 1));
        Shape { grain, since: Timestamp::from_micros(since), step, count }
    }

    /// A window in which nothing came.
    pub fn empty(window: Window, now: Timestamp) -> Self {
        Self::new(Self::shape(window, now))
    }

    pub(crate) fn new(shape: Shape) -> Self {
        let at = |place: usize| shape.since.micros().saturating_add(shape.step.saturating_mul(place as i64));
        let slots = (0..shape.count)
            .map(|place| Slot { at: Timestamp::from_micros(at(place)), ..Slot::default() })
            .collect();
        Self { shape, slots }
    }

    /// Each slot.
    pub fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter()
    }

    /// When the window begins.
    pub const fn since(&self) -> Timestamp {
        self.shape.since
    }

    /// What came in within the window.
    pub fn total(&self) -> Slot {
        self.slots.iter().fold(Slot { at: self.shape.since, ..Slot::default() }, |sum, slot| Slot {
            at: sum.at,
            accepted: sum.accepted + slot.accepted,
            duplicates: sum.duplicates + slot.duplicates,
            refused: sum.refused + slot.refused,
            failed: sum.failed + slot.failed,
        })
    }

    fn place(&self, at: Timestamp) -> Option<usize> {
        usize::try_from(at.micros_since(self.shape.since).div_euclid(self.shape.step)).ok()
    }

    pub(crate) fn add(&mut self, counted: &Counted) {
        let Some(slot) = self.place(counted.at).and_then(|place| self.slots.get_mut(place)) else { return };
        match counted.metric.as_str() {
            "accepted" => slot.accepted += counted.count,
            "duplicates" => slot.duplicates += counted.count,
            "failed" => slot.failed += counted.count,
            metric if metric.starts_with("rejected:") => slot.refused += counted.count,
            _ => {}
        }
    }

    /// The share of repeats in each slot, of the counters of one endpoint.
    pub(crate) fn repeats_of<'a>(&self, counted: impl Iterator<Item = &'a Counted>) -> Vec<Option<f64>> {
        let mut own = Self::new(self.shape);
        counted.for_each(|one| own.add(one));
        own.repeats()
    }

    /// The share of repeats in each slot; `None` where nothing came.
    pub fn repeats(&self) -> Vec<Option<f64>> {
        self.slots.iter().map(|slot| share(slot.duplicates, slot.accepted)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse_rfc3339(text).unwrap()
    }

    fn counted(at: Timestamp, metric: &str, count: u64) -> Counted {
        Counted { at, subject: uuid::Uuid::nil(), metric: metric.to_owned(), count }
    }

    #[test]
    fn windows_end_with_the_slot_that_is_under_way() {
        let now = at("2026-11-30T12:34:56Z");
        for (window, first, count) in [
            (Window::Hour, "2026-11-30T11:35:00Z", 60),
            (Window::Day, "2026-11-29T13:00:00Z", 24),
            (Window::Week, "2026-11-23T18:00:00Z", 28),
        ] {
            let slots = Slots::new(Slots::shape(window, now));
            assert_eq!((slots.since(), slots.iter().count()), (at(first), count));
            assert!(slots.slots[count - 1].at <= now);
        }
    }

    #[test]
    fn counters_fall_into_their_slots_and_others_nowhere() {
        let now = at("2026-11-30T12:34:56Z");
        let mut slots = Slots::new(Slots::shape(Window::Day, now));
        slots.add(&counted(at("2026-11-30T12:00:00Z"), "accepted", 3));
        slots.add(&counted(at("2026-11-30T12:00:00Z"), "duplicates", 1));
        slots.add(&counted(at("2026-11-30T12:00:00Z"), "rejected:token_mismatch", 2));
        slots.add(&counted(at("2026-11-30T12:00:00Z"), "deliveries", 9));
        slots.add(&counted(at("2026-11-29T12:00:00Z"), "accepted", 7));
        slots.add(&counted(at("2026-12-30T12:00:00Z"), "accepted", 7));
        let total = slots.total();
        assert_eq!((total.accepted, total.duplicates, total.refused, total.failed), (3, 1, 2, 0));
        assert_eq!(slots.repeats().last(), Some(&Some(0.25)));
        assert_eq!(slots.repeats().first(), Some(&None));
    }

    #[test]
    fn the_edges_of_time_make_slots_too() {
        for micros in [i64::MIN, 0, i64::MAX] {
            let slots = Slots::new(Slots::shape(Window::Week, Timestamp::from_micros(micros)));
            assert_eq!(slots.iter().count(), 28);
        }
    }
}
