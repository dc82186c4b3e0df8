//! A share over time, with the band in which it usually is.

use askama::Template;
use askama::filters::HtmlSafe;

use crate::parts::amount::percent;

const WIDTH: f64 = 1_000.0;
const HEIGHT: f64 = 120.0;
/// Labels below, at most.
const LABELS_MAX: usize = 6;

/// A share between 0 and 1 for each slot of time; `None` where there was nothing to take a share of.
#[derive(Debug, Clone, PartialEq, Template)]
#[template(path = "parts/line.html")]
pub(crate) struct Line {
    summary: String,
    /// What is drawn, for the table: "Repeats".
    what: &'static str,
    /// What a slot is called: "Hour".
    unit: &'static str,
    rows: Vec<(String, String)>,
    /// The pieces of the line; where there was nothing it breaks off.
    path: String,
    /// Single values, which make no line, as pieces of no length: their round ends are points of one size,
    /// however the drawing is stretched.
    points: String,
    /// Top and height of the usual band.
    band: Option<(f64, f64)>,
    top: String,
    labels: Vec<String>,
}

impl HtmlSafe for Line {}

impl Line {
    /// Draws. `usual` is the band in which it usually is.
    pub(crate) fn new(
        what: &'static str,
        unit: &'static str,
        slots: Vec<(String, Option<f64>)>,
        usual: Option<(f64, f64)>,
    ) -> Self {
        let values = || slots.iter().filter_map(|(_, share)| *share);
        let most = values().chain(usual.map(|(_, high)| high)).fold(0.0_f64, f64::max);
        let top = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5].into_iter().find(|top| *top >= most).unwrap_or(1.0);
        let height = |share: f64| HEIGHT - share.clamp(0.0, top) / top * HEIGHT;
        let step = WIDTH / slots.len().saturating_sub(1).max(1) as f64;
        let mut path = String::new();
        let mut points = String::new();
        for (place, (_, share)) in slots.iter().enumerate() {
            let Some(share) = share else { continue };
            let (x, y) = (place as f64 * step, height(*share));
            let at =
                |place: Option<usize>| place.and_then(|place| slots.get(place)).and_then(|(_, share)| *share);
            let before = at(place.checked_sub(1));
            if before.is_none() && at(Some(place + 1)).is_none() {
                points.push_str(&format!("M{x:.1} {y:.1}h0"));
                continue;
            }
            path.push_str(&format!("{}{x:.1} {y:.1}", if before.is_some() { 'L' } else { 'M' }));
        }
        let band = usual.map(|(low, high)| {
            let (y, bottom) = (height(high), height(low));
            (y, (bottom - y).max(2.0))
        });
        let usually = usual
            .map(|(low, high)| format!(", usually {} to {}", percent(low), percent(high)))
            .unwrap_or_default();
        let summary = match values().next_back() {
            Some(last) => format!(
                "{what}: at most {}, at last {}{usually}.",
                percent(values().fold(0.0, f64::max)),
                percent(last)
            ),
            None => format!("{what}: nothing came in."),
        };
        let rows = slots
            .iter()
            .map(|(label, share)| (label.clone(), share.map_or_else(|| "–".to_owned(), percent)))
            .collect();
        let every = slots.len().div_ceil(LABELS_MAX).max(1);
        let labels = slots.iter().step_by(every).map(|(label, _)| label.clone()).collect();
        Self { summary, what, unit, rows, path, points, band, top: percent(top), labels }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples;

    #[test]
    fn hostile_and_long_labels_and_numbers_beyond_measure_are_drawn() {
        for text in [samples::HOSTILE.to_owned(), samples::long()] {
            let slots = [Some(f64::MAX), Some(-1.0), None, Some(0.0)].map(|share| (text.clone(), share));
            let line = Line::new("Repeats", "Hour", slots.to_vec(), Some((0.0, f64::MAX)));
            samples::check(&line.render().unwrap());
        }
    }

    #[test]
    fn the_line_breaks_off_where_nothing_came_and_the_band_is_told() {
        let slot = |hour: u8, share| (format!("{hour:02}:00"), share);
        let slots =
            vec![slot(0, Some(0.1)), slot(1, Some(0.2)), slot(2, None), slot(3, Some(0.05)), slot(4, None)];
        let line = Line::new("Repeats", "Hour", slots, Some((0.05, 0.1)));
        assert_eq!(line.path, "M0.0 60.0L250.0 0.0");
        assert_eq!(line.points, "M750.0 90.0h0");
        assert_eq!(line.band, Some((60.0, 30.0)));
        let text = line.render().unwrap();
        assert!(text.contains("Repeats: at most 20.0 %, at last 5.0 %, usually 5.0 % to 10.0 %."), "{text}");
        assert!(text.contains("<th scope=\"row\">02:00</th><td class=\"n\">–</td>"), "{text}");
    }

    #[test]
    fn nothing_is_told_as_nothing() {
        assert!(Line::new("Repeats", "Hour", Vec::new(), None).summary.contains("nothing came in"));
    }
}
