//! How far the clocks are apart: this machine's from the database's, and from those of the senders that sign
//! a time. The ages are kept in memory, of the last deliveries that this process took; like the recorder of
//! the figures they are one for the process.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use restante_store::StoreError;

use crate::App;

/// Deliveries of which the median age is taken.
const SIGNED_AGES_KEPT: usize = 101;

static SIGNED_AGES: Mutex<SignedAges> =
    Mutex::new(SignedAges { all: Ages(VecDeque::new()), by_provider: BTreeMap::new() });

/// The ages of the last signed times, of all senders and of each provider's. The names are those of the
/// catalogue, so their number is bounded.
struct SignedAges {
    all: Ages,
    by_provider: BTreeMap<&'static str, Ages>,
}

/// The last few ages of signed times, in milliseconds.
#[derive(Default)]
struct Ages(VecDeque<i64>);

impl Ages {
    fn push(&mut self, age_ms: i64) {
        if self.0.len() >= SIGNED_AGES_KEPT {
            self.0.pop_front();
        }
        self.0.push_back(age_ms);
    }

    /// The one in the middle, which a few senders with wrong clocks can't move.
    fn median(&self) -> Option<i64> {
        let mut ages: Vec<i64> = self.0.iter().copied().collect();
        ages.sort_unstable();
        ages.get(ages.len() / 2).copied()
    }
}

/// How old the signed times of a provider's authentic deliveries were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedAge {
    /// Its name in the catalogue.
    pub provider: &'static str,
    /// The median, in milliseconds. Negative: the sender's clock is ahead of ours. Some of it is the way of the
    /// request.
    pub median_ms: i64,
    /// Of so many deliveries, the last ones.
    pub deliveries: usize,
}

/// How far the clocks are apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clocks {
    /// How far this machine's clock is ahead of the database's, in milliseconds, as far as a query can tell.
    pub database_offset_ms: i64,
    /// Of each provider that has signed a time since this process started, in the order of their names.
    pub signed: Vec<SignedAge>,
}

/// Looks at the database's clock now, and at the signed times of the last deliveries.
///
/// # Errors
/// What the database ran into.
pub async fn clocks(app: &App) -> Result<Clocks, StoreError> {
    let before = app.clock.now();
    let database = app.store.read(|conn| Box::pin(async move { conn.now().await })).await?;
    // Half of the way there and back.
    let waited = app.clock.now().micros_since(before).max(0) / 2;
    let database_offset_ms = (before.micros_since(database).saturating_add(waited)) / 1_000;
    Ok(Clocks { database_offset_ms, signed: signed() })
}

/// Notes the age of a signed time.
pub(super) fn note(provider: &'static str, age_ms: i64) {
    let mut ages = SIGNED_AGES.lock().unwrap_or_else(PoisonError::into_inner);
    ages.all.push(age_ms);
    ages.by_provider.entry(provider).or_default().push(age_ms);
}

/// The median age of the last signed times, in milliseconds; `None` before the first.
pub(super) fn median_signed_age() -> Option<i64> {
    SIGNED_AGES.lock().unwrap_or_else(PoisonError::into_inner).all.median()
}

fn signed() -> Vec<SignedAge> {
    let ages = SIGNED_AGES.lock().unwrap_or_else(PoisonError::into_inner);
    let one = |(provider, ages): (&&'static str, &Ages)| {
        Some(SignedAge { provider, median_ms: ages.median()?, deliveries: ages.0.len() })
    };
    ages.by_provider.iter().filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use restante_store::both_engines;

    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn the_median_is_that_of_the_last_ages_and_a_wrong_clock_does_not_move_it() {
        let mut ages = Ages(VecDeque::new());
        assert_eq!(ages.median(), None);
        for age_ms in 0..1_000 {
            ages.push(age_ms);
        }
        assert_eq!(ages.0.len(), SIGNED_AGES_KEPT);
        assert_eq!(ages.median(), Some(949));
        for _ in 0..10 {
            ages.push(i64::MAX);
        }
        assert_eq!(ages.median(), Some(959));
    }

    // Other tests of this process note ages too, but not under these names.
    both_engines!(each_provider_has_its_own_median_and_the_database_its_offset, |t| async {
        let a = TestApp::new(t);
        for age_ms in [-2_000, 40, 90] {
            note("test-of-clocks-a", age_ms);
        }
        note("test-of-clocks-b", 7);
        let found = clocks(&a.app).await.unwrap();
        let of = |name: &str| found.signed.iter().find(|one| one.provider == name).map(|one| one.median_ms);
        assert_eq!((of("test-of-clocks-a"), of("test-of-clocks-b")), (Some(40), Some(7)));
        assert_eq!(found.database_offset_ms, 0, "the statements of a test see the test's clock");
    });
}
