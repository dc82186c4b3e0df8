//! Charts, drawn here as SVG. Each is a pure function of its numbers, has a sentence for those who
//! don't see it, and where it shows a course over time, the same numbers as a table. Colours and strokes
//! stand in the style sheet; nothing here needs a script or an inline style.

mod ages;
mod bars;
mod line;
mod spark;

pub(crate) use ages::AgeStrip;
pub(crate) use bars::{Bars, Series, Slot};
pub(crate) use line::Line;
pub(crate) use spark::Spark;

/// The smallest round number (1, 2 or 5 times a power of ten, halves of ten left out) that is not less.
fn round_up(most: u64) -> u64 {
    let mut power = 1_u64;
    loop {
        for step in [1, 2, 5] {
            let round = step * power;
            if round >= most {
                return round;
            }
        }
        match power.checked_mul(10) {
            Some(next) if next <= u64::MAX / 10 => power = next,
            _ => return most,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_ends_at_a_round_number() {
        for (most, end) in [(0, 1), (1, 1), (3, 5), (11, 20), (480, 500), (500, 500), (501, 1_000)] {
            assert_eq!(round_up(most), end);
        }
        assert!(round_up(u64::MAX) == u64::MAX);
    }
}
