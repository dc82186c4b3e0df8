//! Bars over time: for each slot of time what was counted, stacked.

use askama::Template;
use askama::filters::HtmlSafe;

use super::round_up;
use crate::parts::amount::{counted, number};

/// The drawing is so wide and high; it is stretched to its place.
const WIDTH: f64 = 1_000.0;
const HEIGHT: f64 = 160.0;
/// Labels below the bars, at most.
const LABELS_MAX: usize = 6;

/// One kind of thing that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Series {
    /// What one and several are called.
    pub(crate) name: &'static str,
    /// The colour: `c1` to `c4`.
    pub(crate) colour: &'static str,
}

/// What was counted in a slot of time, in the order of the series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slot {
    /// When it begins, in words.
    pub(crate) label: String,
    /// How often each happened.
    pub(crate) counts: Vec<u64>,
}

/// A bar chart.
#[derive(Debug, Clone, PartialEq, Template)]
#[template(path = "parts/bars.html")]
pub(crate) struct Bars {
    /// What it shows, for those who don't see it.
    summary: String,
    /// What a slot is called in the table: "Hour".
    unit: &'static str,
    series: Vec<Series>,
    slots: Vec<Slot>,
    bars: Vec<Bar>,
    top: String,
    half: String,
    labels: Vec<String>,
}

/// One slot as it is drawn.
#[derive(Debug, Clone, PartialEq)]
struct Bar {
    x: f64,
    width: f64,
    parts: Vec<Part>,
    tip: String,
}

#[derive(Debug, Clone, PartialEq)]
struct Part {
    colour: &'static str,
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

impl HtmlSafe for Bars {}

impl Bars {
    /// Draws. `what` begins the summary: "Requests of the last 24 hours".
    pub(crate) fn new(what: &str, unit: &'static str, series: Vec<Series>, slots: Vec<Slot>) -> Self {
        let sum = |slot: &Slot| slot.counts.iter().fold(0_u64, |sum, count| sum.saturating_add(*count));
        let top = round_up(slots.iter().map(sum).max().unwrap_or(0));
        let step = WIDTH / slots.len().max(1) as f64;
        let bars =
            slots.iter().enumerate().map(|(place, slot)| bar(place, step, top, &series, slot)).collect();
        let totals: Vec<String> = series
            .iter()
            .enumerate()
            .map(|(place, one)| {
                let counts = slots.iter().filter_map(|slot| slot.counts.get(place));
                let total = counts.fold(0_u64, |sum, count| sum.saturating_add(*count));
                format!("{} {}", number(total), one.name)
            })
            .collect();
        let summary = format!(
            "{what}: {}; at most {} at once.",
            totals.join(", "),
            counted(top, "request", "requests")
        );
        let every = slots.len().div_ceil(LABELS_MAX).max(1);
        let labels = slots.iter().step_by(every).map(|slot| slot.label.clone()).collect();
        let half = if top.is_multiple_of(2) { number(top / 2) } else { String::new() };
        Self { summary, unit, series, slots, bars, top: number(top), half, labels }
    }

    /// Whether there is nothing to see.
    pub(crate) fn is_empty(&self) -> bool {
        self.slots.iter().all(|slot| slot.counts.iter().all(|count| *count == 0))
    }
}

fn bar(place: usize, step: f64, top: u64, series: &[Series], slot: &Slot) -> Bar {
    let gap = (step * 0.12).min(2.0);
    let (x, width) = (place as f64 * step, step);
    let mut y = HEIGHT;
    let mut parts = Vec::new();
    let mut tip = slot.label.clone();
    for (one, count) in series.iter().zip(&slot.counts) {
        tip.push_str(&format!("\n{} {}", number(*count), one.name));
        if *count == 0 {
            continue;
        }
        // What happened at all is seen.
        let height = (*count as f64 / top.max(1) as f64 * HEIGHT).max(1.0);
        y = (y - height).max(0.0);
        parts.push(Part { colour: one.colour, x: x + gap, y, width: (step - 2.0 * gap).max(0.5), height });
    }
    Bar { x, width, parts, tip }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples;

    #[test]
    fn hostile_and_long_labels_are_only_labels() {
        for label in [samples::HOSTILE.to_owned(), samples::long()] {
            let slot = Slot { label, counts: vec![1, 2] };
            samples::check(&Bars::new("Requests", "Hour", series(), vec![slot]).render().unwrap());
        }
    }

    fn series() -> Vec<Series> {
        vec![Series { name: "new", colour: "c1" }, Series { name: "refused", colour: "c3" }]
    }

    fn slots(counts: &[[u64; 2]]) -> Vec<Slot> {
        counts
            .iter()
            .enumerate()
            .map(|(hour, counts)| Slot { label: format!("{hour:02}:00"), counts: counts.to_vec() })
            .collect()
    }

    #[test]
    fn bars_stand_on_each_other_and_fill_the_height_by_their_share() {
        let chart = Bars::new("Requests", "Hour", series(), slots(&[[5, 5], [0, 0], [10, 0]]));
        assert_eq!(chart.top, "10");
        let parts = &chart.bars[0].parts;
        assert_eq!((parts[0].y, parts[0].height), (80.0, 80.0));
        assert_eq!((parts[1].y, parts[1].height), (0.0, 80.0));
        assert!(chart.bars[1].parts.is_empty());
        assert_eq!(chart.bars[2].parts[0].height, HEIGHT);
        assert!(!chart.is_empty());
    }

    #[test]
    fn the_picture_has_its_summary_its_tips_and_its_table() {
        let text = Bars::new("Requests", "Hour", series(), slots(&[[1_500, 2], [1, 0]])).render().unwrap();
        assert!(
            text.contains("aria-label=\"Requests: 1,501 new, 2 refused; at most 2,000 requests at once.\"")
        );
        assert!(text.contains("<title>00:00\n1,500 new\n2 refused</title>"), "{text}");
        assert!(text.contains("<th scope=\"row\">01:00</th>"));
        assert!(!text.contains("style="));
    }

    #[test]
    fn little_is_seen_beside_much_and_nothing_is_nothing() {
        let chart = Bars::new("Requests", "Hour", series(), slots(&[[1_000_000, 1]]));
        assert_eq!(chart.bars[0].parts[1].height, 1.0);
        let none = Bars::new("Requests", "Hour", series(), Vec::new());
        assert!(none.is_empty() && none.bars.is_empty());
        let huge = Bars::new("Requests", "Hour", series(), slots(&[[u64::MAX, u64::MAX]]));
        assert!(huge.bars[0].parts.iter().all(|part| part.height.is_finite() && part.y >= 0.0));
    }

    #[test]
    fn few_labels_stand_below_many_bars() {
        let chart = Bars::new("Requests", "Minute", series(), slots(&[[1, 1]; 60]));
        assert_eq!(chart.labels.len(), 6);
        assert_eq!(chart.labels[1], "10:00");
    }
}
