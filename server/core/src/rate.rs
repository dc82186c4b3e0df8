//! A rate limit as one number: the moment at which everything that was let in would have come at an even
//! pace (the generic cell rate algorithm, ITU-T I.371). Nothing is counted, and nothing has to run in between.

use crate::time::Timestamp;

/// How far ahead of an even pace a burst may run: what comes at the rate's pace in ten seconds.
const BURST_MICROS: i64 = 10 * 1_000_000;
const MINUTE_MICROS: i64 = 60 * 1_000_000;

/// The pace of one sender or tenant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pace {
    even_at: i64,
}

impl Pace {
    /// Lets one more in, or tells in how many whole seconds it may come again, at least one.
    ///
    /// # Errors
    /// The seconds.
    pub fn admit(&mut self, now: Timestamp, per_minute: u64) -> Result<(), u64> {
        let now = now.micros();
        let per_minute = i64::try_from(per_minute.max(1)).unwrap_or(i64::MAX);
        let step = (MINUTE_MICROS / per_minute).max(1);
        // A clock that was set back must keep nobody out for as long.
        if self.even_at > now.saturating_add(BURST_MICROS).saturating_add(step) {
            self.even_at = now;
        }
        let ahead = self.even_at.saturating_sub(now).saturating_sub(BURST_MICROS);
        if ahead > 0 {
            return Err(u64::try_from(ahead).unwrap_or(0).div_ceil(1_000_000).max(1));
        }
        self.even_at = self.even_at.max(now).saturating_add(step);
        Ok(())
    }

    /// Whether it says nothing any more, so that it can be forgotten.
    pub const fn is_over(&self, now: Timestamp) -> bool {
        self.even_at <= now.micros()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_seconds(1_796_040_000);

    fn admitted(pace: &mut Pace, now: Timestamp, per_minute: u64, asked: usize) -> usize {
        (0..asked).filter(|_| pace.admit(now, per_minute).is_ok()).count()
    }

    #[test]
    fn a_burst_of_ten_seconds_goes_and_then_the_rate() {
        let mut pace = Pace::default();
        assert_eq!(admitted(&mut pace, NOW, 600, 1_000), 101);
        assert_eq!(pace.admit(NOW, 600), Err(1));
        assert_eq!(admitted(&mut pace, NOW.plus_seconds(1), 600, 1_000), 10);
        let minute: usize =
            (2..62).map(|second| admitted(&mut pace, NOW.plus_seconds(second), 600, 1_000)).sum();
        assert_eq!(minute, 600);
    }

    #[test]
    fn who_has_to_wait_is_told_for_how_long() {
        let mut pace = Pace::default();
        assert_eq!(pace.admit(NOW, 1), Ok(()));
        assert_eq!(pace.admit(NOW, 1), Err(50));
        assert_eq!(pace.admit(NOW.plus_seconds(49), 1), Err(1));
        assert_eq!(pace.admit(NOW.plus_seconds(50), 1), Ok(()));
    }

    #[test]
    fn a_clock_that_is_set_back_keeps_nobody_out() {
        let mut pace = Pace::default();
        admitted(&mut pace, NOW, 60, 100);
        assert!(pace.admit(NOW.plus_seconds(-86_400), 60).is_ok());
        assert!(Pace::default().admit(Timestamp::from_micros(i64::MIN), u64::MAX).is_ok());
        assert!(Pace::default().admit(Timestamp::from_micros(i64::MAX), 0).is_ok());
    }

    #[test]
    fn it_can_be_forgotten_once_it_is_even() {
        let mut pace = Pace::default();
        pace.admit(NOW, 60).unwrap();
        assert!(!pace.is_over(NOW));
        assert!(pace.is_over(NOW.plus_seconds(1)));
    }
}
