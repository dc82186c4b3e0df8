//! Moments as providers write and read them.

use ::time::OffsetDateTime;
use ::time::format_description::well_known::Rfc2822;

use super::recipe::Unit;
use crate::time::Timestamp;

/// A moment as a request has it.
pub(super) fn write(at: Timestamp, unit: Unit) -> String {
    match unit {
        Unit::S => at.seconds().to_string(),
        Unit::Ms => at.millis().to_string(),
        Unit::Rfc3339 | Unit::Rfc2822 => at.to_string(),
        Unit::Date => at.to_string().chars().take(10).collect(),
    }
}

/// A moment as an entry has it; `None` when it is anything else.
pub(super) fn read(text: &str, unit: Unit) -> Option<Timestamp> {
    match unit {
        // Some write fractions of a second.
        Unit::S => text.split('.').next()?.parse().ok().map(Timestamp::from_seconds),
        Unit::Ms => text.parse().ok().map(Timestamp::from_millis),
        Unit::Rfc3339 => Timestamp::parse_rfc3339(text),
        Unit::Rfc2822 => OffsetDateTime::parse(text, &Rfc2822)
            .ok()
            .map(|read| Timestamp::from_seconds(read.unix_timestamp())),
        Unit::Date => Timestamp::parse_rfc3339(&format!("{text}T00:00:00Z")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_unit_reads_what_it_writes_as_far_as_it_goes() {
        let at = Timestamp::from_millis(1_796_040_000_123);
        assert_eq!(read(&write(at, Unit::S), Unit::S), Some(Timestamp::from_seconds(1_796_040_000)));
        assert_eq!(read("1796040000.5", Unit::S), Some(Timestamp::from_seconds(1_796_040_000)));
        assert_eq!(read(&write(at, Unit::Ms), Unit::Ms), Some(at));
        assert_eq!(read(&write(at, Unit::Rfc3339), Unit::Rfc3339), Some(at));
        assert_eq!(write(at, Unit::Date), "2026-11-30");
        let day = Timestamp::parse_rfc3339("2026-11-30T00:00:00Z");
        assert_eq!(read("2026-11-30", Unit::Date), day);
        let noon = Timestamp::parse_rfc3339("2023-08-24T05:01:45Z");
        assert_eq!(read("Thu, 24 Aug 2023 05:01:45 +0000", Unit::Rfc2822), noon);
        for unit in [Unit::S, Unit::Ms, Unit::Rfc3339, Unit::Rfc2822, Unit::Date] {
            assert_eq!(read("yesterday", unit), None);
        }
    }
}
