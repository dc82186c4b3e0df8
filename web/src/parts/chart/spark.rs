//! A course in the size of a word: how a share went, without axes. The numbers that matter stand
//! beside it.

use std::fmt;

use askama::filters::HtmlSafe;

use crate::parts::amount::percent;

/// A course of shares between 0 and 1.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spark {
    /// What it is of: "Repeats".
    what: &'static str,
    shares: Vec<f64>,
}

impl Spark {
    pub(crate) fn new(what: &'static str, shares: Vec<f64>) -> Self {
        Self { what, shares }
    }
}

impl fmt::Display for Spark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Some(last), true) = (self.shares.last(), self.shares.len() > 1) else {
            return f.write_str("<span class=\"quiet\">–</span>");
        };
        let most = self.shares.iter().copied().fold(0.0_f64, f64::max);
        let least = self.shares.iter().copied().fold(1.0_f64, f64::min);
        let step = 100.0 / (self.shares.len() - 1) as f64;
        // A course that never rises lies on the ground; a small one is not blown up to a mountain.
        let scale = 20.0 / most.max(0.02);
        write!(
            f,
            "<svg class=\"spark\" viewBox=\"0 0 100 24\" preserveAspectRatio=\"none\" role=\"img\" \
             aria-label=\"{} from {} to {}, at last {}\">",
            self.what,
            percent(least),
            percent(most),
            percent(*last)
        )?;
        let mut path = String::new();
        for (place, share) in self.shares.iter().enumerate() {
            let letter = if place == 0 { 'M' } else { 'L' };
            path.push_str(&format!("{letter}{:.1} {:.1}", place as f64 * step, 22.0 - share * scale));
        }
        write!(f, "<path class=\"area\" d=\"{path}L100 24L0 24z\"/><path class=\"path\" d=\"{path}\"/></svg>")
    }
}

impl HtmlSafe for Spark {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_course_is_drawn_and_told() {
        let shown = Spark::new("Repeats", vec![0.0, 0.1, 0.05]).to_string();
        assert!(shown.contains("aria-label=\"Repeats from 0 % to 10.0 %, at last 5.0 %\""), "{shown}");
        assert!(shown.contains("d=\"M0.0 22.0L50.0 2.0L100.0 12.0\""), "{shown}");
    }

    #[test]
    fn one_value_is_no_course() {
        for shares in [vec![], vec![0.5]] {
            assert!(!Spark::new("Repeats", shares).to_string().contains("<svg"));
        }
    }
}
