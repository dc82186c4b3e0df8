//! What is usual: between what and what the share of repeats of an endpoint was in the last week, hour by
//! hour, and over all of it: where few events come, most hours have no repeat, and a day with one is usual.

use restante_core::time::Timestamp;
use restante_store::stats::Counted;

use super::share;

/// Hours below which nothing is called usual.
const HOURS_MIN: usize = 12;

/// The band in which eight of ten hours of the last week lay, and the week as a whole; the hour under way
/// doesn't count, or the unusual would explain itself.
pub(super) fn repeats(hours: &[&Counted], now: Timestamp) -> Option<(f64, f64)> {
    let under_way = now.micros().div_euclid(3_600_000_000).saturating_mul(3_600_000_000);
    let (mut shares, mut duplicates, mut accepted) = (Vec::new(), 0, 0);
    let mut rest = hours;
    while let Some(first) = rest.first() {
        let end = rest.iter().position(|one| one.at != first.at).unwrap_or(rest.len());
        let (hour, after) = rest.split_at(end);
        rest = after;
        if first.at.micros() >= under_way {
            continue;
        }
        let count =
            |metric: &str| hour.iter().filter(|one| one.metric == metric).map(|one| one.count).sum::<u64>();
        shares.extend(share(count("duplicates"), count("accepted")));
        duplicates += count("duplicates");
        accepted += count("accepted");
    }
    if shares.len() < HOURS_MIN {
        return None;
    }
    shares.sort_unstable_by(f64::total_cmp);
    let at = |tenths: usize| shares.get((shares.len() - 1) * tenths / 10).copied();
    let of_all = share(duplicates, accepted)?;
    at(1).zip(at(9)).map(|(low, high)| (low.min(of_all), high.max(of_all)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_seconds(1_796_040_000);

    fn hours(shares: &[u64]) -> Vec<Counted> {
        let hour = |place: usize, metric: &str, count| Counted {
            at: NOW.plus_seconds((place as i64 - shares.len() as i64) * 3_600),
            subject: uuid::Uuid::nil(),
            metric: metric.to_owned(),
            count,
        };
        let each = shares.iter().enumerate();
        each.flat_map(|(place, n)| [hour(place, "accepted", 100 - n), hour(place, "duplicates", *n)])
            .collect()
    }

    fn usual(hours: &[Counted]) -> Option<(f64, f64)> {
        repeats(&hours.iter().collect::<Vec<_>>(), NOW)
    }

    #[test]
    fn the_usual_leaves_out_the_rare() {
        let mut shares = vec![2; 30];
        shares.extend([4, 4, 4, 4, 90]);
        let (low, high) = usual(&hours(&shares)).unwrap();
        assert!((low - 0.02).abs() < 1e-9 && (0.04..0.05).contains(&high), "{low} to {high}");
    }

    #[test]
    fn where_repeats_are_rare_the_usual_is_that_of_the_week() {
        let mut shares = vec![0; 38];
        shares.extend([50, 50]);
        let (low, high) = usual(&hours(&shares)).unwrap();
        assert!(low.abs() < 1e-9 && (high - 0.025).abs() < 1e-9, "{low} to {high}");
    }

    #[test]
    fn a_few_hours_and_the_one_under_way_are_not_usual() {
        assert_eq!(usual(&hours(&[1; 11])), None);
        let mut many = hours(&[1; 12]);
        assert!(usual(&many).is_some());
        many.push(Counted {
            at: NOW,
            subject: uuid::Uuid::nil(),
            metric: "duplicates".to_owned(),
            count: 1_000,
        });
        assert_eq!(usual(&many), Some((0.01, 0.01)));
    }
}
