//! A tenant's limits in words, for its own pages and for the administration.

use restante_core::tenant_limits::{Limited, Measure};

use super::amount::{bytes, number};
use super::badge::Badge;

/// What is limited, as a label.
pub(crate) const fn title(what: Limited) -> &'static str {
    match what {
        Limited::DeliveriesPerMinute => "Deliveries a minute",
        Limited::EndpointDeliveriesPerMinute => "Deliveries a minute to one endpoint",
        Limited::Events => "Events held",
        Limited::PayloadBytes => "Payloads held",
        Limited::Endpoints => "Endpoints",
        Limited::Consumers => "Consumers",
        Limited::Members => "Members and open invitations",
    }
}

/// What happens at the limit.
pub(crate) const fn effect(what: Limited) -> &'static str {
    match what {
        Limited::DeliveriesPerMinute | Limited::EndpointDeliveriesPerMinute => {
            "What comes faster is answered 429 with Retry-After. Bursts of ten seconds are let through. Each node counts for itself."
        }
        Limited::Events => {
            "At the limit endpoints answer 503 and store nothing. An event without its payload counts too."
        }
        Limited::PayloadBytes => {
            "As they are stored, sealed. At the limit endpoints answer 503 and store nothing."
        }
        Limited::Endpoints | Limited::Consumers | Limited::Members => {
            "At the limit no further one can be made."
        }
    }
}

/// An amount of it.
pub(crate) fn amount(what: Limited, value: u64) -> String {
    if what == Limited::PayloadBytes { bytes(value) } else { number(value) }
}

/// How much of a limit is used, as a line of a table.
#[derive(Debug, Clone)]
pub(crate) struct LimitLine {
    pub(crate) title: &'static str,
    pub(crate) effect: &'static str,
    pub(crate) used: String,
    pub(crate) limit: String,
    pub(crate) badge: Option<Badge>,
}

impl LimitLine {
    pub(crate) fn of(measure: &Measure) -> Self {
        Self {
            title: title(measure.what),
            effect: effect(measure.what),
            used: amount(measure.what, measure.used),
            limit: amount(measure.what, measure.limit),
            badge: badge(measure),
        }
    }
}

/// Whether it is near or there.
pub(crate) const fn badge(measure: &Measure) -> Option<Badge> {
    match (measure.is_reached(), measure.is_near()) {
        (true, _) => Some(Badge::AT_LIMIT),
        (false, true) => Some(Badge::NEAR_LIMIT),
        (false, false) => None,
    }
}

/// What the tenant's people are told of a limit that is near or reached; nothing of one that is far.
pub(crate) fn warning(measure: &Measure) -> Option<String> {
    let Measure { what, used, limit } = *measure;
    let (used, limit) = (amount(what, used), amount(what, limit));
    if measure.is_reached() {
        return match what {
            Limited::Events | Limited::PayloadBytes => Some(format!(
                "{}: {used} of {limit}. Endpoints answer 503 and store nothing until there is room. An administrator of the \
                 instance can raise the limit.",
                title(what)
            )),
            Limited::DeliveriesPerMinute | Limited::EndpointDeliveriesPerMinute => Some(format!(
                "{}: {used} of {limit} in the last minute. What comes faster is answered 429, and senders come again later.",
                title(what)
            )),
            // Whoever makes one more is told then.
            _ => None,
        };
    }
    let tells = what.stops_receiving() || matches!(what, Limited::DeliveriesPerMinute);
    (measure.is_near() && tells).then(|| {
        format!("{}: {used} of {limit}. At the limit events are turned away for the time being.", title(what))
    })
}

/// A number of bytes as it was typed: `10 GiB`, `500 MiB`, `1000000`. Nothing is no limit.
///
/// # Errors
/// What could be typed instead.
pub(crate) fn read(what: Limited, text: &str) -> Result<Option<u64>, &'static str> {
    let text: String = text.chars().filter(|c| !matches!(c, ',' | '_' | ' ' | '\u{a0}')).collect();
    if text.is_empty() {
        return Ok(None);
    }
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = text.strip_prefix(digits).unwrap_or_default();
    let factor = match (what, unit.to_ascii_lowercase().as_str()) {
        (_, "") | (Limited::PayloadBytes, "b") => 1,
        (Limited::PayloadBytes, "kib") => 1 << 10,
        (Limited::PayloadBytes, "mib") => 1 << 20,
        (Limited::PayloadBytes, "gib") => 1 << 30,
        (Limited::PayloadBytes, "tib") => 1_u64 << 40,
        (Limited::PayloadBytes, _) => return Err(SIZES),
        _ => return Err(NUMBERS),
    };
    let wrong = if what == Limited::PayloadBytes { SIZES } else { NUMBERS };
    digits.parse::<u64>().ok().and_then(|number| number.checked_mul(factor)).map(Some).ok_or(wrong)
}

const SIZES: &str = "A whole number with a unit, as in 10 GiB or 500 MiB, or nothing for no limit.";
const NUMBERS: &str = "A whole number, or nothing for no limit.";

/// A limit as it can be typed again.
pub(crate) fn written(what: Limited, value: u64) -> String {
    const UNITS: [(&str, u64); 4] = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let unit = UNITS
        .iter()
        .find(|(_, size)| what == Limited::PayloadBytes && value >= *size && value.is_multiple_of(*size));
    unit.map_or_else(|| value.to_string(), |(name, size)| format!("{} {name}", value / size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_they_are_written() {
        let what = Limited::PayloadBytes;
        for (text, value) in [
            ("", None),
            ("  ", None),
            ("10 GiB", Some(10 << 30)),
            ("500mib", Some(500 << 20)),
            ("1,000,000", Some(1_000_000)),
            ("2 TiB", Some(2 << 40)),
            ("7 B", Some(7)),
        ] {
            assert_eq!(read(what, text), Ok(value), "{text}");
        }
        for text in ["GiB", "1.5 GiB", "10 GB", "-1", "99999999999 TiB", "ten"] {
            assert!(read(what, text).is_err(), "{text}");
        }
        for value in [0, 1, 1_000_000, 10 << 30, 500 << 20, u64::MAX] {
            assert_eq!(read(what, &written(what, value)), Ok(Some(value)));
        }
        assert_eq!(written(what, 10 << 30), "10 GiB");
        assert_eq!(written(Limited::Events, 1 << 20), "1048576");
        assert!(read(Limited::Events, "5 GiB").is_err());
    }

    #[test]
    fn a_limit_that_is_far_warns_nobody_and_one_that_turns_events_away_says_so() {
        let measure = |what, used| Measure { what, used, limit: 100 };
        for what in Limited::ALL {
            assert_eq!(warning(&measure(what, 10)), None);
            assert!(!title(what).is_empty() && effect(what).ends_with('.'));
        }
        assert!(warning(&measure(Limited::Events, 85)).unwrap().contains("85 of 100"));
        assert!(warning(&measure(Limited::Events, 100)).unwrap().contains("503"));
        assert!(warning(&measure(Limited::DeliveriesPerMinute, 100)).unwrap().contains("429"));
        assert_eq!(warning(&measure(Limited::Endpoints, 100)), None);
    }
}
