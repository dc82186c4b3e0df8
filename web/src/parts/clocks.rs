//! How far the clocks are apart, as a panel: this machine's from the database's, and from those of the
//! senders that sign a time.

use askama::Template;
use askama::filters::HtmlSafe;
use restante_app::figures::Clocks;
use restante_core::catalogue::Catalogue;

use super::amount::counted;
use super::moment::span_micros;

/// From here on somebody should look: a signed time is refused beyond some minutes, leases are counted in
/// seconds.
const DATABASE_MS_MAX: u64 = 2_000;
/// The way of a request takes its share of a signed age.
const SIGNED_MS_MAX: u64 = 60_000;

/// The panel.
#[derive(Debug, Clone, Template)]
#[template(path = "parts/clocks.html")]
pub(crate) struct ClocksPanel {
    database: String,
    database_is_off: bool,
    rows: Vec<Row>,
}

/// What the times of a provider say.
#[derive(Debug, Clone)]
struct Row {
    provider: String,
    median: String,
    of: String,
    is_off: bool,
}

impl HtmlSafe for ClocksPanel {}

impl ClocksPanel {
    pub(crate) fn new(clocks: &Clocks) -> Self {
        let offset = clocks.database_offset_ms;
        let title = |slug: &str| {
            Catalogue::builtin().get(slug).map_or_else(|| slug.to_owned(), |provider| provider.title.clone())
        };
        let row = |age: &restante_app::figures::SignedAge| Row {
            provider: title(age.provider),
            median: match age.median_ms {
                ..0 => format!("{} ahead of this machine", span_ms(age.median_ms)),
                _ => format!("{} old", span_ms(age.median_ms)),
            },
            of: counted(age.deliveries as u64, "delivery", "deliveries"),
            is_off: age.median_ms.unsigned_abs() > SIGNED_MS_MAX,
        };
        Self {
            database: match offset {
                0 => "the same as the database’s".to_owned(),
                1.. => format!("{} ahead of the database’s", span_ms(offset)),
                _ => format!("{} behind the database’s", span_ms(offset)),
            },
            database_is_off: offset.unsigned_abs() > DATABASE_MS_MAX,
            rows: clocks.signed.iter().map(row).collect(),
        }
    }
}

fn span_ms(ms: i64) -> String {
    span_micros(i64::try_from(ms.unsigned_abs()).unwrap_or(i64::MAX).saturating_mul(1_000))
}

#[cfg(test)]
mod tests {
    use restante_app::figures::SignedAge;

    use super::*;
    use crate::parts::samples::check;

    fn panel(database_offset_ms: i64, ages: &[(&'static str, i64)]) -> String {
        let signed = ages.iter().map(|(provider, median_ms)| SignedAge {
            provider,
            median_ms: *median_ms,
            deliveries: 101,
        });
        let text =
            ClocksPanel::new(&Clocks { database_offset_ms, signed: signed.collect() }).render().unwrap();
        check(&text);
        text
    }

    #[test]
    fn an_offset_says_which_way_and_whether_it_is_large() {
        let text = panel(-2_500, &[("stripe", 130), ("slack", -300_000)]);
        assert!(text.contains("2.5 s behind the database’s"), "{text}");
        assert!(text.contains("130 ms old") && text.contains("5 min ahead of this machine"), "{text}");
        assert!(text.contains("Stripe") && text.contains("101 deliveries"), "{text}");
        assert_eq!(text.matches("warn-text").count(), 2, "{text}");
        let text = panel(0, &[]);
        assert!(text.contains("the same as the database’s") && text.contains("No signed time"), "{text}");
        for extreme in [i64::MIN, i64::MAX] {
            panel(extreme, &[("stripe", extreme)]);
        }
    }
}
