//! Slots of a cron expression, computed from a moment that the database told. The node's own clock has no
//! say in it.

use std::str::FromStr as _;

use chrono::{DateTime, Utc};
use croner::Cron;
use croner::parser::{CronParser, Seconds};
use restante_core::time::Timestamp;

/// Where an expression has no further slot, or can't be read (a test keeps them readable): in a day.
const NEVER_SECONDS: i64 = 24 * 60 * 60;

/// The first slot after a moment.
pub(super) fn next(expression: &str, after: Timestamp) -> Timestamp {
    let found = parsed(expression).ok().and_then(|cron| {
        // The crate carries fractions of a second over into the slot, which would make another slot of it.
        let after = DateTime::<Utc>::from_timestamp(after.seconds(), 0)?;
        cron.find_next_occurrence(&after, false).ok()
    });
    found.map_or_else(
        || after.plus_seconds(NEVER_SECONDS),
        |slot| Timestamp::from_micros(slot.timestamp_micros()),
    )
}

fn parsed(expression: &str) -> Result<Cron, croner::errors::CronError> {
    match CronParser::builder().seconds(Seconds::Required).build().parse(expression) {
        Ok(cron) => Ok(cron),
        // The expressions stand in the program; this is the same by another road, for its error alone.
        Err(_) => Cron::from_str(expression),
    }
}

#[cfg(test)]
mod tests {
    use super::super::JOBS;
    use super::*;

    #[test]
    fn every_expression_is_read_and_its_slots_rise() {
        for job in JOBS {
            let cron = CronParser::builder().seconds(Seconds::Required).build().parse(job.cron);
            assert!(cron.is_ok(), "{}: {cron:?}", job.name);
            let mut slot = Timestamp::from_seconds(1_796_040_000);
            for _ in 0..100 {
                let following = next(job.cron, slot);
                assert!(following > slot, "{}", job.name);
                slot = following;
            }
        }
    }

    #[test]
    fn a_slot_is_where_the_expression_says() {
        let at = |text: &str| Timestamp::parse_rfc3339(text).unwrap();
        assert_eq!(next("0 */5 * * * *", at("2026-12-01T08:04:59.9Z")), at("2026-12-01T08:05:00Z"));
        assert_eq!(next("0 */5 * * * *", at("2026-12-01T08:05:00Z")), at("2026-12-01T08:10:00Z"));
        assert_eq!(next("0 20 3 * * *", at("2026-12-31T04:00:00Z")), at("2027-01-01T03:20:00Z"));
        assert_eq!(next("rubbish", at("2026-12-31T04:00:00Z")), at("2027-01-01T04:00:00Z"));
    }
}
