//! Times and spans as people read them: "5 min ago", with the exact time in UTC beside it for the
//! pointer, for copies and for programs.

use std::fmt;

use askama::filters::HtmlSafe;
use restante_core::time::Timestamp;
use time::OffsetDateTime;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// A moment as a `<time>` of a page: relative, with the exact time as its title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    at: Timestamp,
    now: Timestamp,
}

impl Moment {
    /// A moment, seen from now.
    pub(crate) const fn new(at: Timestamp, now: Timestamp) -> Self {
        Self { at, now }
    }

    /// `2026-11-30 14:02:11.482 UTC`.
    pub(crate) fn exact(&self) -> String {
        exact(self.at)
    }

    /// "5 min ago", "in 2 h", and a date for what is more than a week away.
    fn relative(&self) -> String {
        let seconds = self.now.micros_since(self.at) / 1_000_000;
        let far = seconds.abs();
        if far < 5 {
            return "just now".to_owned();
        }
        if far >= 7 * DAY {
            return date(self.at, self.now);
        }
        let (unit, name) = match far {
            ..MINUTE => (1, "s"),
            MINUTE..HOUR => (MINUTE, "min"),
            HOUR..DAY => (HOUR, "h"),
            _ => (DAY, "d"),
        };
        let amount = far / unit;
        if seconds > 0 { format!("{amount} {name} ago") } else { format!("in {amount} {name}") }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // All of it is made of digits and our own words.
        write!(f, "<time datetime=\"{}\" title=\"{}\">{}</time>", self.at, self.exact(), self.relative())
    }
}

impl HtmlSafe for Moment {}

/// `2026-11-30 14:02:11.482 UTC`.
pub(crate) fn exact(at: Timestamp) -> String {
    at.to_string().replacen('T', " ", 1).replacen('Z', " UTC", 1)
}

/// A span in at most two units: `24 s`, `14 min`, `2 h 14 min`, `3 d 4 h`.
pub(crate) fn span(seconds: u64) -> String {
    let two = |large: u64, name: &str, small: u64, other: &str| {
        if small == 0 { format!("{large} {name}") } else { format!("{large} {name} {small} {other}") }
    };
    match seconds {
        ..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => two(seconds / 3_600, "h", seconds % 3_600 / 60, "min"),
        _ => two(seconds / 86_400, "d", seconds % 86_400 / 3_600, "h"),
    }
}

/// A short span with its fraction: `412 ms`, `1.4 s`, then as [`span`].
pub(crate) fn span_micros(micros: i64) -> String {
    let micros = micros.max(0);
    match micros {
        ..1_000_000 => format!("{} ms", micros / 1_000),
        1_000_000..60_000_000 => format!("{}.{} s", micros / 1_000_000, micros / 100_000 % 10),
        _ => span(u64::try_from(micros / 1_000_000).unwrap_or(0)),
    }
}

fn parts(at: Timestamp) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(at.seconds()).unwrap_or(OffsetDateTime::UNIX_EPOCH)
}

/// `30 Nov`, with the year where it is another one.
pub(crate) fn date(at: Timestamp, now: Timestamp) -> String {
    let (then, today) = (parts(at), parts(now));
    let month = then.month().to_string();
    let month = month.get(..3).unwrap_or_default();
    if then.year() == today.year() {
        format!("{} {month}", then.day())
    } else {
        format!("{} {month} {}", then.day(), then.year())
    }
}

/// `14:05`.
pub(crate) fn hour_and_minute(at: Timestamp) -> String {
    let then = parts(at);
    format!("{:02}:{:02}", then.hour(), then.minute())
}

/// `Mon 14:00`.
pub(crate) fn weekday_and_hour(at: Timestamp) -> String {
    let then = parts(at);
    let day = then.weekday().to_string();
    format!("{} {:02}:00", day.get(..3).unwrap_or_default(), then.hour())
}

/// `Mon 30`.
pub(crate) fn weekday(at: Timestamp) -> String {
    let then = parts(at);
    let day = then.weekday().to_string();
    format!("{} {}", day.get(..3).unwrap_or_default(), then.day())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse_rfc3339(text).unwrap()
    }

    #[test]
    fn a_moment_is_told_from_now_and_exactly() {
        let now = at("2026-11-30T14:00:00Z");
        for (moment, told) in [
            ("2026-11-30T13:59:57Z", "just now"),
            ("2026-11-30T13:59:18Z", "42 s ago"),
            ("2026-11-30T13:00:01Z", "59 min ago"),
            ("2026-11-30T11:46:00Z", "2 h ago"),
            ("2026-11-28T14:00:00Z", "2 d ago"),
            ("2026-11-02T14:00:00Z", "2 Nov"),
            ("2025-11-02T14:00:00Z", "2 Nov 2025"),
            ("2026-11-30T14:05:00Z", "in 5 min"),
            ("2027-01-01T14:05:00Z", "1 Jan 2027"),
        ] {
            let moment = Moment::new(at(moment), now);
            assert_eq!(moment.relative(), told);
        }
        let shown = Moment::new(at("2026-11-30T13:59:18.482Z"), now).to_string();
        assert_eq!(
            shown,
            "<time datetime=\"2026-11-30T13:59:18.482Z\" title=\"2026-11-30 13:59:18.482 UTC\">41 s ago</time>"
        );
    }

    #[test]
    fn spans_have_at_most_two_units() {
        for (seconds, told) in [
            (0, "0 s"),
            (59, "59 s"),
            (60, "1 min"),
            (3_599, "59 min"),
            (3_600, "1 h"),
            (8_040, "2 h 14 min"),
            (86_400, "1 d"),
            (273_600, "3 d 4 h"),
        ] {
            assert_eq!(span(seconds), told);
        }
        assert_eq!(span_micros(412_900), "412 ms");
        assert_eq!(span_micros(1_460_000), "1.4 s");
        assert_eq!(span_micros(61_000_000), "1 min");
        assert_eq!(span_micros(-5), "0 ms");
    }

    #[test]
    fn the_edges_of_time_are_told_too() {
        for edge in [i64::MIN, -1, i64::MAX] {
            let edge = Timestamp::from_micros(edge);
            assert!(!Moment::new(edge, Timestamp::default()).to_string().is_empty());
            assert!(!weekday_and_hour(edge).is_empty());
        }
        assert!(!span(u64::MAX).is_empty());
    }
}
