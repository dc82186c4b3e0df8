//! Whether the clock can be believed by a job that deletes what is too old. The database's time is compared
//! with the time that has really gone by since this process began (a clock that nobody can set), and with
//! this node's own wall clock. Time that merely passed while the server was off is no disagreement.

use std::time::{Duration, Instant};

use restante_core::time::Timestamp;

/// Disagreement up to which clocks are believed: an hour.
const DISAGREEMENT_SECONDS_MAX: i64 = 60 * 60;

/// A point from which both clocks are counted.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClockWatch {
    began: Instant,
    database_began: Timestamp,
}

impl ClockWatch {
    /// Begins now; `database` is the database's time.
    pub(super) fn begin(database: Timestamp) -> Self {
        Self { began: Instant::now(), database_began: database }
    }

    /// Why a job that deletes must not run now; `None` when the clocks agree.
    pub(super) fn distrust(&self, database: Timestamp, node: Timestamp) -> Option<String> {
        disagreement(self.database_began, self.began.elapsed(), database, node)
    }
}

fn disagreement(began: Timestamp, elapsed: Duration, database: Timestamp, node: Timestamp) -> Option<String> {
    let elapsed = i64::try_from(elapsed.as_secs()).unwrap_or(i64::MAX);
    let jumped = database.micros_since(began.plus_seconds(elapsed)) / 1_000_000;
    if jumped.abs() > DISAGREEMENT_SECONDS_MAX {
        let way = if jumped > 0 { "ahead" } else { "back" };
        return Some(format!(
            "The clock of the database has jumped {} {way} since this server started. Nothing is removed by a \
             clock that can't be believed. When it is right now, restart the server, or have the job run now.",
            in_words(jumped)
        ));
    }
    let apart = node.micros_since(database) / 1_000_000;
    (apart.abs() > DISAGREEMENT_SECONDS_MAX).then(|| {
        format!(
            "The clock of this node and that of the database are {} apart. Nothing is removed until they agree. \
             Set the wrong one, or have the job run now if the database's is right.",
            in_words(apart)
        )
    })
}

fn in_words(seconds: i64) -> String {
    let hours = seconds.unsigned_abs() / 3_600;
    if hours >= 48 { format!("{} days", hours / 24) } else { format!("{hours} hours") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGAN: Timestamp = Timestamp::from_seconds(1_796_040_000);

    #[test]
    fn clocks_that_agree_are_believed_however_long_it_took() {
        for seconds in [0, 30, 86_400, 400 * 86_400] {
            let now = BEGAN.plus_seconds(seconds);
            let elapsed = Duration::from_secs(seconds.unsigned_abs());
            assert_eq!(disagreement(BEGAN, elapsed, now, now), None);
            assert_eq!(disagreement(BEGAN, elapsed, now.plus_seconds(600), now), None, "a little is usual");
        }
    }

    #[test]
    fn a_clock_that_jumped_is_not_believed_either_way() {
        let minute = Duration::from_secs(60);
        let ahead = BEGAN.plus_seconds(400 * 86_400);
        assert!(disagreement(BEGAN, minute, ahead, ahead).unwrap().contains("399 days ahead"));
        let back = BEGAN.plus_seconds(-3 * 3_600);
        assert!(disagreement(BEGAN, minute, back, back).unwrap().contains("3 hours back"));
        let now = BEGAN.plus_seconds(60);
        assert!(disagreement(BEGAN, minute, now, ahead).unwrap().contains("apart"));
    }
}
