//! Times as senders write them. The strict reading is for signed times, where every liberty is a way
//! around the window; the other one for times that are only shown.

use crate::catalogue::TimeUnit;
use crate::time::Timestamp;

/// Digits that seconds and milliseconds may have. More can't be a date, and nothing overflows below.
const SECOND_DIGITS_MAX: usize = 12;
const MILLI_DIGITS_MAX: usize = 15;

/// A signed time. Unix times are ASCII digits and nothing else: no sign, no space, no fraction.
pub(crate) fn signed(text: &[u8], unit: TimeUnit) -> Option<Timestamp> {
    let text = std::str::from_utf8(text).ok()?;
    match unit {
        TimeUnit::S => digits(text, SECOND_DIGITS_MAX).map(Timestamp::from_seconds),
        TimeUnit::Ms => digits(text, MILLI_DIGITS_MAX).map(Timestamp::from_millis),
        TimeUnit::Rfc3339 => Timestamp::parse_rfc3339(text),
    }
}

/// A time of an event. Seconds may have a fraction.
pub(crate) fn shown(text: &str, unit: TimeUnit) -> Option<Timestamp> {
    match (unit, text.split_once('.')) {
        (TimeUnit::S, Some((whole, fraction))) if fraction.bytes().all(|byte| byte.is_ascii_digit()) => {
            let seconds = digits(whole, SECOND_DIGITS_MAX)?;
            let micros: i64 = format!("{fraction:0<6}").get(..6)?.parse().ok()?;
            Some(Timestamp::from_micros(seconds.checked_mul(1_000_000)?.checked_add(micros)?))
        }
        _ => signed(text.as_bytes(), unit),
    }
}

fn digits(text: &str, most: usize) -> Option<i64> {
    if text.is_empty() || text.len() > most || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signed_unix_time_is_digits_and_nothing_else() {
        assert_eq!(signed(b"1780000000", TimeUnit::S), Some(Timestamp::from_seconds(1_780_000_000)));
        assert_eq!(signed(b"1780000000123", TimeUnit::Ms), Some(Timestamp::from_millis(1_780_000_000_123)));
        for odd in [
            "",
            "-1",
            "+1780000000",
            " 1780000000",
            "1780000000 ",
            "1780000000.5",
            "1e9",
            "yesterday",
            "1780000000000",
            "9223372036854775807",
            "-9223372036854775808",
            "١٧٨",
        ] {
            assert_eq!(signed(odd.as_bytes(), TimeUnit::S), None, "{odd}");
        }
        assert_eq!(signed(b"\xff", TimeUnit::S), None);
    }

    #[test]
    fn rfc_3339_may_have_any_offset_and_fraction() {
        let wanted = Timestamp::parse_rfc3339("2026-05-28T20:26:36.104634Z");
        assert!(wanted.is_some());
        assert_eq!(signed(b"2026-05-28T20:26:36.104634564Z", TimeUnit::Rfc3339), wanted);
        assert_eq!(signed(b"2026-05-28T13:26:36.104634-07:00", TimeUnit::Rfc3339), wanted);
        assert_eq!(signed(b"2026-05-28", TimeUnit::Rfc3339), None);
    }

    #[test]
    fn a_shown_time_may_have_a_fraction() {
        assert_eq!(shown("1779999999.123", TimeUnit::S), Some(Timestamp::from_millis(1_779_999_999_123)));
        assert_eq!(shown("1779999999.", TimeUnit::S), Some(Timestamp::from_seconds(1_779_999_999)));
        assert_eq!(shown("x.5", TimeUnit::S), None);
    }
}
