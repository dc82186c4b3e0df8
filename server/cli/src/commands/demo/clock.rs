//! The demo's clock: it is moved through the week that the demo tells, and runs with the machine's
//! from then on. Database and program see the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use restante_app::clock::SystemClock;
use restante_core::time::{Clock, Timestamp};

/// No moment: the machine's clock counts.
const RUNS: i64 = i64::MIN;

/// A clock that stands where it was put, until it is let go. Clones show the same time.
#[derive(Debug, Clone)]
pub(super) struct MovedClock(Arc<AtomicI64>);

impl MovedClock {
    /// A clock that stands.
    pub(super) fn standing_at(at: Timestamp) -> Self {
        Self(Arc::new(AtomicI64::new(at.micros())))
    }

    /// Moves it on. It never goes back.
    pub(super) fn move_to(&self, at: Timestamp) {
        self.0.fetch_max(at.micros(), Ordering::Relaxed);
    }

    /// Moves it on a little.
    pub(super) fn pass(&self, millis: i64) {
        self.0.fetch_add(millis.saturating_mul(1_000), Ordering::Relaxed);
    }

    /// From now on it runs.
    pub(super) fn run(&self) {
        self.0.store(RUNS, Ordering::Relaxed);
    }
}

impl Clock for MovedClock {
    fn now(&self) -> Timestamp {
        match self.0.load(Ordering::Relaxed) {
            RUNS => SystemClock.now(),
            micros => Timestamp::from_micros(micros),
        }
    }
}
