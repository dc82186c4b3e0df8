//! How long the last commits of deliveries took, for people who look. The figures of Prometheus are
//! histograms, from which a page could tell nothing exact.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Commits that are remembered.
const KEPT: usize = 1_000;

/// As global as the recorder is.
static LAST: Mutex<Last> = Mutex::new(Last { micros: Vec::new(), next: 0 });

/// The last few durations; the oldest is overwritten.
struct Last {
    micros: Vec<u32>,
    next: usize,
}

/// How long commits took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Latency {
    /// Half of them took no longer, in microseconds.
    pub p50_micros: u64,
    /// Of a hundred, one took longer.
    pub p99_micros: u64,
    /// How many were looked at, at most a thousand.
    pub commits: usize,
}

impl Last {
    fn note(&mut self, took: Duration) {
        let micros = u32::try_from(took.as_micros()).unwrap_or(u32::MAX);
        match self.micros.get_mut(self.next) {
            Some(place) => *place = micros,
            None => self.micros.push(micros),
        }
        self.next = (self.next + 1) % KEPT;
    }

    fn latency(&self) -> Option<Latency> {
        let mut sorted = self.micros.clone();
        sorted.sort_unstable();
        let at = |percent: usize| {
            let rank = (sorted.len() * percent).div_ceil(100).max(1);
            sorted.get(rank - 1).map(|micros| u64::from(*micros))
        };
        Some(Latency { p50_micros: at(50)?, p99_micros: at(99)?, commits: sorted.len() })
    }
}

/// A delivery was committed, this long after it was given to the committer.
pub(super) fn note(took: Duration) {
    LAST.lock().unwrap_or_else(PoisonError::into_inner).note(took);
}

/// How long the last commits of this process took; `None` before the first.
pub fn commit_latency() -> Option<Latency> {
    // Copied under the lock, sorted behind it: commits don't wait for a page.
    let copy = {
        let last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        Last { micros: last.micros.clone(), next: last.next }
    };
    copy.latency()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_and_the_slowest_of_a_hundred_are_those_of_the_last_thousand() {
        let mut last = Last { micros: Vec::new(), next: 0 };
        assert_eq!(last.latency(), None);
        last.note(Duration::from_micros(7));
        assert_eq!(last.latency(), Some(Latency { p50_micros: 7, p99_micros: 7, commits: 1 }));
        for micros in 1..=3_000 {
            last.note(Duration::from_micros(micros));
        }
        assert_eq!(last.latency(), Some(Latency { p50_micros: 2_500, p99_micros: 2_990, commits: KEPT }));
        last.note(Duration::MAX);
        assert_eq!(last.latency().unwrap().commits, KEPT);
    }
}
