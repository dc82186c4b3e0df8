//! How long a handoff waits after an attempt that asks for a retry without saying when: exponential
//! from 5 seconds to 1 hour, with full jitter, so that what failed together doesn't come back
//! together. It decides on a delay, not on whether there is another attempt (`handoff.rs`).

/// The longest wait after the first attempt.
const FIRST_MICROS: u64 = 5_000_000;
/// The longest wait after any attempt.
const LAST_MICROS: u64 = 3_600_000_000;

/// The longest wait after the attempt of that number, counted from 1, in microseconds.
pub fn ceiling_micros(attempt: u32) -> u64 {
    // 2^10 times the first already exceeds the last, so larger shifts say nothing new.
    let doublings = attempt.saturating_sub(1).min(10);
    (FIRST_MICROS << doublings).min(LAST_MICROS)
}

/// The wait after the attempt of that number, counted from 1, in microseconds: anywhere from nothing
/// to the ceiling. `random` is a fresh 64-bit number.
pub fn delay_micros(attempt: u32, random: u64) -> i64 {
    let choices = u128::from(ceiling_micros(attempt)) + 1;
    // The product's upper half is even over the choices, without the bias of a remainder.
    let chosen = (u128::from(random) * choices) >> 64;
    // At most an hour of microseconds.
    chosen as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ceiling_doubles_from_five_seconds_to_an_hour() {
        let seconds: Vec<u64> = (1..=12).map(|attempt| ceiling_micros(attempt) / 1_000_000).collect();
        assert_eq!(seconds, [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]);
    }

    #[test]
    fn the_edges_of_attempts_and_randomness_stay_within() {
        for attempt in [0, 1, 11, 12, 64, u32::MAX] {
            assert_eq!(delay_micros(attempt, 0), 0);
            assert_eq!(delay_micros(attempt, u64::MAX), ceiling_micros(attempt) as i64);
        }
        assert_eq!(ceiling_micros(0), 5_000_000);
        assert_eq!(ceiling_micros(u32::MAX), 3_600_000_000);
    }

    #[test]
    fn half_the_randomness_is_half_the_ceiling() {
        assert_eq!(delay_micros(1, u64::MAX / 2), 2_500_000);
    }
}
