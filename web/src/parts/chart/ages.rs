//! How old what waits is: a strip whose parts are as wide as their shares, from young to old.

use std::fmt;

use askama::filters::HtmlSafe;

use crate::parts::amount::number;

/// How many kinds of ages have a colour of their own.
const COLOURS: usize = 6;

/// Ages of one range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AgeShare {
    /// The range in words: "1 to 5 min".
    pub(crate) range: &'static str,
    /// How many, and whether there may be more.
    pub(crate) count: u64,
    pub(crate) at_least: bool,
}

/// The strip, with a sentence that says the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AgeStrip(Vec<AgeShare>);

impl AgeStrip {
    /// The ranges from young to old: word, count, and whether there may be more than were counted.
    pub(crate) fn new(ranges: impl IntoIterator<Item = (&'static str, u64, bool)>) -> Self {
        let shares = ranges.into_iter().map(|(range, count, at_least)| AgeShare { range, count, at_least });
        Self(shares.collect())
    }

    /// "40 under 1 min, at least 500 from 1 to 5 min".
    fn words(&self) -> String {
        let told: Vec<String> = self
            .0
            .iter()
            .filter(|share| share.count > 0)
            .map(|share| {
                let more = if share.at_least { "at least " } else { "" };
                format!("{more}{} {}", number(share.count), share.range)
            })
            .collect();
        if told.is_empty() { "nothing waits".to_owned() } else { told.join(", ") }
    }
}

impl fmt::Display for AgeStrip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: u64 = self.0.iter().map(|share| share.count).sum();
        // Words and numbers, all our own.
        write!(
            f,
            "<svg class=\"strip\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}\">",
            self.words()
        )?;
        let mut x = 0.0;
        for (place, share) in self.0.iter().enumerate().filter(|(_, share)| share.count > 0) {
            let width = share.count as f64 / all.max(1) as f64 * 1_000.0;
            let colour = place.min(COLOURS - 1);
            let more = if share.at_least { "at least " } else { "" };
            write!(
                f,
                "<rect class=\"a{colour}\" x=\"{x:.1}\" y=\"0\" width=\"{:.1}\" height=\"10\"><title>{more}{} {}</title></rect>",
                (width - 3.0).max(3.0),
                number(share.count),
                share.range
            )?;
            x += width;
        }
        f.write_str("</svg>")
    }
}

impl HtmlSafe for AgeStrip {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strip_and_its_sentence_say_the_same() {
        let strip =
            AgeStrip::new([("under 1 min", 40, false), ("1 to 5 min", 0, false), ("over a day", 500, true)]);
        let shown = strip.to_string();
        assert!(shown.contains("aria-label=\"40 under 1 min, at least 500 over a day\""), "{shown}");
        assert_eq!(shown.matches("<rect").count(), 2);
        assert!(shown.contains("class=\"a2\""));
    }

    #[test]
    fn without_anything_it_says_so() {
        assert!(AgeStrip::new([("under 1 min", 0, false)]).to_string().contains("nothing waits"));
        assert!(AgeStrip::new([]).to_string().ends_with("</svg>"));
    }
}
