//! Medians, percentiles and the record of one round: arithmetic alone.

use serde::Serialize;

use crate::contender::Measured;
use crate::pull::Pulled;
use crate::settings::{Engine, Kind};

/// One round of load on one contender.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Round {
    #[serde(serialize_with = "shown_engine")]
    pub(crate) engine: Engine,
    #[serde(serialize_with = "shown_kind")]
    pub(crate) kind: Kind,
    pub(crate) connections: usize,
    pub(crate) round: u32,
    pub(crate) seconds: f64,
    pub(crate) requests_a_second: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) accepted: u64,
    pub(crate) duplicates: u64,
    pub(crate) refused: u64,
    pub(crate) unanswered: u64,
    pub(crate) peak_mib: f64,
    /// Shares of one core.
    pub(crate) generator_cores: f64,
    pub(crate) server_cores: f64,
    pub(crate) database_cores: f64,
    /// What else ran on the machine.
    pub(crate) other_cores: f64,
}

impl Round {
    /// Takes the figures of a round.
    pub(crate) fn new(
        engine: Engine,
        kind: Kind,
        connections: usize,
        round: u32,
        measured: Measured,
    ) -> Self {
        let rate = measured.outcome.rate();
        let mut outcome = measured.outcome;
        outcome.latencies_us.sort_unstable();
        let whole = outcome.whole_seconds.max(0.001);
        Self {
            engine,
            kind,
            connections,
            round,
            seconds: outcome.seconds,
            requests_a_second: rate,
            p50_ms: percentile_ms(&outcome.latencies_us, 50),
            p99_ms: percentile_ms(&outcome.latencies_us, 99),
            accepted: outcome.accepted,
            duplicates: outcome.duplicates,
            refused: outcome.refused.values().sum(),
            unanswered: outcome.unanswered,
            peak_mib: measured.peak_bytes as f64 / 1024.0 / 1024.0,
            generator_cores: outcome.generator_cpu_seconds / whole,
            server_cores: measured.server_cpu_seconds / whole,
            database_cores: measured.database_cpu_seconds / whole,
            other_cores: (measured.other_cpu_seconds / whole).max(0.0),
        }
    }
}

/// One measurement of claim and ack.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PullRound {
    #[serde(serialize_with = "shown_engine")]
    pub(crate) engine: Engine,
    pub(crate) batch: usize,
    pub(crate) workers: usize,
    pub(crate) round: u32,
    pub(crate) events: usize,
    pub(crate) events_a_second: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) generator_cores: f64,
    pub(crate) peak_mib: f64,
}

impl PullRound {
    /// Takes the figures of a measurement.
    pub(crate) fn new(
        engine: Engine,
        batch: usize,
        workers: usize,
        round: u32,
        pulled: Pulled,
        peak_bytes: u64,
    ) -> Self {
        let rate = pulled.rate();
        let mut latencies_us = pulled.latencies_us;
        latencies_us.sort_unstable();
        Self {
            engine,
            batch,
            workers,
            round,
            events: pulled.events,
            events_a_second: rate,
            p50_ms: percentile_ms(&latencies_us, 50),
            p99_ms: percentile_ms(&latencies_us, 99),
            generator_cores: pulled.generator_cpu_seconds / pulled.seconds.max(0.001),
            peak_mib: peak_bytes as f64 / 1024.0 / 1024.0,
        }
    }
}

fn shown_engine<S: serde::Serializer>(engine: &Engine, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(engine.shown())
}

fn shown_kind<S: serde::Serializer>(kind: &Kind, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(kind.shown())
}

/// The value below which this many of a hundred lie; 0 of nothing. The values are sorted.
pub(crate) fn percentile_ms(sorted_us: &[u32], percent: usize) -> f64 {
    let place = (sorted_us.len() * percent).div_ceil(100).saturating_sub(1);
    sorted_us.get(place).map_or(0.0, |value| f64::from(*value) / 1000.0)
}

/// The middle value; of an even number the mean of both in the middle; 0 of none.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    match (values.len(), values.len() / 2) {
        (0, _) => 0.0,
        (count, middle) if count % 2 == 1 => values[middle],
        (_, middle) => f64::midpoint(values[middle - 1], values[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_a_value_that_occurred() {
        let values: Vec<u32> = (1..=100).map(|value| value * 1000).collect();
        assert_eq!(percentile_ms(&values, 50), 50.0);
        assert_eq!(percentile_ms(&values, 99), 99.0);
        assert_eq!(percentile_ms(&values[..1], 99), 1.0);
        assert_eq!(percentile_ms(&[], 99), 0.0);
    }

    #[test]
    fn a_median_does_not_follow_one_wild_value() {
        assert_eq!(median([3.0, 1_000.0, 1.0]), 3.0);
        assert_eq!(median([1.0, 2.0]), 1.5);
        assert_eq!(median([]), 0.0);
    }
}
