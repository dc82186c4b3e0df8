//! Whether an endpoint fell silent: nothing has come for clearly longer than it was ever quiet in the
//! last week. An endpoint that sleeps at night or over the weekend is known by its own course, without a
//! threshold that anybody has to set.

use restante_core::time::Timestamp;
use restante_store::stats::Counted;

const HOUR: i64 = 3_600;
/// Silence is no news before this many seconds.
const QUIET_SECONDS_MIN: i64 = 2 * HOUR;
/// How much longer than the longest pause it has to last.
const TIMES_THE_LONGEST_PAUSE: i64 = 2;
/// Hours with deliveries below which nothing is known about an endpoint's course.
const HOURS_KNOWN_MIN: usize = 6;
/// An endpoint whose last event is older than this is not in use any more, and no news either.
const FORGOTTEN_SECONDS: i64 = 30 * 24 * HOUR;
/// The span of the course.
const WEEK_SECONDS: i64 = 7 * 24 * HOUR;

/// An endpoint's silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Silence {
    /// How long nothing has come, in seconds.
    pub seconds: u64,
    /// The longest pause of the last week before it, in seconds; `None` when nothing came in all of it.
    pub longest_pause_seconds: Option<u64>,
}

/// Whether an endpoint fell silent, by the hours of the last week in which something authentic came
/// (the oldest first), and by its newest event.
pub(super) fn of(hours: &[&Counted], newest: Option<Timestamp>, now: Timestamp) -> Option<Silence> {
    let newest = newest?;
    let quiet = now.micros_since(newest) / 1_000_000;
    if quiet >= FORGOTTEN_SECONDS {
        return None;
    }
    let mut active: Vec<i64> = hours
        .iter()
        .filter(|one| matches!(one.metric.as_str(), "accepted" | "duplicates"))
        .map(|one| one.at.seconds())
        .collect();
    active.dedup();
    let Some(last) = active.last() else {
        let seconds = u64::try_from(quiet).ok()?;
        return (quiet >= WEEK_SECONDS).then_some(Silence { seconds, longest_pause_seconds: None });
    };
    if active.len() < HOURS_KNOWN_MIN {
        return None;
    }
    let longest = active.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(HOUR);
    // Repeats are signs of life too, and are known by their hour alone.
    let of_newest = newest.seconds().div_euclid(HOUR) * HOUR;
    let alive = if *last > of_newest { *last + HOUR } else { newest.seconds() };
    let silent = now.seconds().saturating_sub(alive);
    let seconds = u64::try_from(silent).ok()?;
    (silent >= QUIET_SECONDS_MIN && silent > TIMES_THE_LONGEST_PAUSE * longest)
        .then_some(Silence { seconds, longest_pause_seconds: u64::try_from(longest).ok() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_seconds(1_796_040_000);

    /// The hours before now in which something came.
    fn hours(ago: &[i64]) -> Vec<Counted> {
        ago.iter()
            .map(|hour| Counted {
                at: NOW.plus_seconds(-hour * HOUR),
                subject: uuid::Uuid::nil(),
                metric: "accepted".to_owned(),
                count: 1,
            })
            .collect()
    }

    fn silence(ago: &[i64]) -> Option<Silence> {
        let counted = hours(ago);
        let newest = ago.last().map(|hour| NOW.plus_seconds(-hour * HOUR));
        of(&counted.iter().collect::<Vec<_>>(), newest, NOW)
    }

    #[test]
    fn an_endpoint_that_always_spoke_is_silent_after_some_hours() {
        let busy: Vec<i64> = (9..160).rev().collect();
        let silence = silence(&busy).unwrap();
        assert_eq!((silence.seconds, silence.longest_pause_seconds), (9 * 3_600, Some(3_600)));
    }

    #[test]
    fn an_endpoint_that_speaks_is_not_silent() {
        assert_eq!(silence(&(1..160).rev().collect::<Vec<_>>()), None);
        assert_eq!(silence(&(0..160).rev().collect::<Vec<_>>()), None);
    }

    #[test]
    fn who_sleeps_over_the_weekend_is_not_silent_on_sunday() {
        // Busy until 40 hours ago, after a pause of 50 hours before that.
        let mut weekly: Vec<i64> = (140..165).rev().collect();
        weekly.extend((40..90).rev());
        assert_eq!(silence(&weekly), None);
    }

    #[test]
    fn little_known_and_long_forgotten_endpoints_are_no_news() {
        assert_eq!(silence(&[100, 90, 80]), None);
        assert_eq!(of(&[], None, NOW), None);
        assert_eq!(of(&[], Some(NOW.plus_seconds(-40 * 24 * HOUR)), NOW), None);
        let week = of(&[], Some(NOW.plus_seconds(-8 * 24 * HOUR)), NOW).unwrap();
        assert_eq!(week.longest_pause_seconds, None);
    }

    #[test]
    fn repeats_are_signs_of_life() {
        let mut counted = hours(&(20..160).rev().collect::<Vec<_>>());
        let mut repeats = hours(&[3, 2, 1, 0]);
        repeats.iter_mut().for_each(|one| one.metric = "duplicates".to_owned());
        counted.extend(repeats);
        let newest = Some(NOW.plus_seconds(-20 * HOUR));
        assert_eq!(of(&counted.iter().collect::<Vec<_>>(), newest, NOW), None);
    }
}
