//! Moments in time: microseconds since 1970 in UTC, as both databases keep them.

use std::fmt;

use ::time::OffsetDateTime;
use ::time::format_description::well_known::Rfc3339;

/// A moment, in microseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

/// 9999-12-31T23:59:59.999999Z, the last moment that RFC 3339 can write.
const LAST_MICROS: i64 = 253_402_300_799_999_999;

impl Timestamp {
    /// From microseconds.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// From milliseconds; what lies beyond 64 bits stays at the edge.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis.saturating_mul(1_000))
    }

    /// From seconds; what lies beyond 64 bits stays at the edge.
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1_000_000))
    }

    /// Microseconds since 1970.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Whole milliseconds since 1970, rounded down.
    pub const fn millis(self) -> i64 {
        self.0.div_euclid(1_000)
    }

    /// Whole seconds since 1970, rounded down.
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(1_000_000)
    }

    /// This moment moved by seconds, forwards or backwards; never overflows.
    pub const fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds.saturating_mul(1_000_000)))
    }

    /// How many microseconds lie between an earlier moment and this one; negative when it is later.
    pub const fn micros_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Reads RFC 3339, with any offset; `None` when it is anything else.
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        let read = OffsetDateTime::parse(text, &Rfc3339).ok()?;
        i64::try_from(read.unix_timestamp_nanos() / 1_000).ok().map(Self)
    }
}

impl fmt::Display for Timestamp {
    /// RFC 3339 in UTC with milliseconds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0.clamp(0, LAST_MICROS);
        let shown = OffsetDateTime::from_unix_timestamp(micros / 1_000_000).map_err(|_| fmt::Error)?;
        write!(
            f,
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
            shown.year(),
            u8::from(shown.month()),
            shown.day(),
            shown.hour(),
            shown.minute(),
            shown.second(),
            micros / 1_000 % 1_000
        )
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl serde::Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Self::parse_rfc3339(&text)
            .ok_or_else(|| serde::de::Error::custom("not a time in RFC 3339, such as 2026-11-30T12:00:00Z"))
    }
}

/// Where the time comes from. The program has one clock; tests move their own.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Timestamp;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_reads_back_with_its_milliseconds() {
        let text = "2026-11-30T12:34:56.789Z";
        let read = Timestamp::parse_rfc3339(text);
        assert_eq!(read.map(|t| t.to_string()), Some(text.to_string()));
        assert_eq!(Timestamp::parse_rfc3339("2026-11-30T13:34:56.789+01:00"), read);
    }

    #[test]
    fn the_edges_neither_panic_nor_wrap() {
        for micros in [i64::MIN, -1, 0, i64::MAX] {
            let moment = Timestamp::from_micros(micros);
            assert!(!moment.to_string().is_empty());
            let _ = moment.plus_seconds(i64::MAX).micros_since(moment.plus_seconds(i64::MIN));
        }
    }
}
