//! How much the demo's senders have to tell, hour by hour, and in which steps the week is told.

use restante_core::time::Timestamp;

use super::kinds::Hours;

const HOUR: i64 = 3_600;
/// The demo tells this much: nearly a week, so that all of it is within the longest window.
const TOLD_SECONDS: i64 = 7 * 24 * HOUR - 2 * HOUR;

/// Percent of a busy hour, by the hour of the day in UTC.
const SHOP: [i64; 24] = [
    22, 16, 14, 14, 18, 28, 45, 65, 85, 100, 110, 112, 105, 108, 112, 108, 100, 98, 108, 116, 104, 80, 55, 34,
];
const OFFICE: [i64; 24] =
    [0, 0, 0, 0, 0, 0, 8, 40, 90, 115, 120, 100, 60, 105, 120, 115, 90, 50, 20, 8, 4, 0, 0, 0];

/// How much of a busy hour's events come at a time, in percent.
pub(super) fn percent(hours: Hours, at: Timestamp) -> i64 {
    let hour = usize::try_from(at.seconds().div_euclid(HOUR).rem_euclid(24)).unwrap_or(0);
    // 1970 began on a Thursday; 0 is Monday.
    let weekend = (at.seconds().div_euclid(24 * HOUR) + 3).rem_euclid(7) >= 5;
    let of_day = |day: &[i64; 24]| day.get(hour).copied().unwrap_or(0);
    match hours {
        Hours::Shop if weekend => of_day(&SHOP) * 6 / 5,
        Hours::Shop => of_day(&SHOP),
        Hours::Office if weekend => of_day(&OFFICE) / 12,
        Hours::Office => of_day(&OFFICE),
        Hours::Machine => 70 + of_day(&SHOP) / 3,
    }
}

/// The moments at which the week is told, the last one being its end: the nearer the end, the closer.
pub(super) fn steps(end: Timestamp) -> Vec<Timestamp> {
    let mut steps = vec![end];
    let mut ago = 0;
    while ago < TOLD_SECONDS {
        ago += match ago {
            ..3_600 => 150,
            3_600..10_800 => 400,
            10_800..86_400 => 1_200,
            _ => 2_400,
        };
        steps.push(end.plus_seconds(-ago));
    }
    steps.reverse();
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offices_rest_at_night_and_shops_never_quite() {
        let monday_night = Timestamp::from_seconds(1_796_000_400); // 2026-11-30T01:00:00Z
        assert_eq!(monday_night.to_string(), "2026-11-30T01:00:00.000Z");
        assert_eq!(percent(Hours::Office, monday_night), 0);
        assert_eq!(percent(Hours::Shop, monday_night), 16);
        let noon = monday_night.plus_seconds(10 * HOUR);
        assert_eq!(percent(Hours::Office, noon), 100);
        assert_eq!(percent(Hours::Office, noon.plus_seconds(-24 * HOUR)), 8, "that is a Sunday");
    }

    #[test]
    fn the_steps_end_now_and_never_go_back() {
        let end = Timestamp::from_seconds(1_796_000_000);
        let steps = steps(end);
        assert_eq!(steps.last(), Some(&end));
        assert!(steps.is_sorted());
        assert!(end.micros_since(steps[0]) / 1_000_000 < 7 * 24 * HOUR);
    }
}
