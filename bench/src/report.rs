//! The tables that a run prints, in Markdown, so that they can stand in the docs as they are. Ratios are taken round
//! by round, between neighbours in time, before the median: the machine's speed changes, the ratio less so.

use crate::figures::{PullRound, Round, median};
use crate::process::OTHER_CORES_MAX;
use crate::settings::{Engine, Kind};

/// At this many connections Restante promises a multiple of the hand-written handler's rate.
const TARGET_CONNECTIONS: usize = 64;

fn target(engine: Engine) -> f64 {
    match engine {
        Engine::Postgres => 5.0,
        Engine::Sqlite => 3.0,
    }
}

/// The rounds of one engine: its own, and those of the hand-written handlers.
fn of_engine(rounds: &[Round], engine: Engine) -> impl Iterator<Item = &Round> {
    rounds.iter().filter(move |round| round.engine == engine || round.kind.is_handwritten())
}

/// How many times the rate of `other` Restante reaches; `None` when one of them wasn't measured.
fn ratio(rounds: &[Round], engine: Engine, connections: usize, other: Kind) -> Option<f64> {
    let rate = |kind: Kind, number: u32| {
        of_engine(rounds, engine)
            .find(|round| round.kind == kind && round.connections == connections && round.round == number)
            .map(|round| round.requests_a_second)
            .filter(|rate| *rate > 0.0)
    };
    let numbers: std::collections::BTreeSet<_> = rounds.iter().map(|round| round.round).collect();
    let ratios: Vec<_> = numbers
        .into_iter()
        .filter_map(|number| Some(rate(Kind::Restante, number)? / rate(other, number)?))
        .collect();
    if ratios.is_empty() { None } else { Some(median(ratios)) }
}

/// The table of receiving on one engine.
pub(crate) fn receiving(rounds: &[Round], engine: Engine) -> String {
    let mut text = format!(
        "### Receiving on {}\n\n\
         | connections | what | requests/s | p50 ms | p99 ms | Restante is | peak memory MiB | cores: generator | server | database | other |\n\
         | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        engine.shown()
    );
    let keys: std::collections::BTreeSet<_> =
        of_engine(rounds, engine).map(|round| (round.connections, round.kind)).collect();
    for (connections, kind) in keys {
        let of = || {
            of_engine(rounds, engine)
                .filter(move |round| round.connections == connections && round.kind == kind)
        };
        let middle = |field: fn(&Round) -> f64| median(of().map(field));
        let times = match ratio(rounds, engine, connections, kind) {
            Some(times) if kind != Kind::Restante => format!("{times:.2}×"),
            _ => String::new(),
        };
        text.push_str(&format!(
            "| {connections} | {} | {:.0} | {:.2} | {:.2} | {times} | {:.0} | {:.2} | {:.2} | {:.2} | {:.2} |\n",
            kind.shown(),
            middle(|round| round.requests_a_second),
            middle(|round| round.p50_ms),
            middle(|round| round.p99_ms),
            middle(|round| round.peak_mib),
            middle(|round| round.generator_cores),
            middle(|round| round.server_cores),
            middle(|round| round.database_cores),
            middle(|round| round.other_cores),
        ));
    }
    text
}

/// What was answered otherwise than with a 2xx: one sentence, or nothing.
pub(crate) fn refusals(rounds: &[Round]) -> Option<String> {
    let refused: u64 = rounds.iter().map(|round| round.refused).sum();
    (refused > 0).then(|| format!("{refused} requests were refused (a sender would send them again)."))
}

/// A warning when something else took more of the machine than a benchmark can bear.
pub(crate) fn disturbance(rounds: &[Round]) -> Option<String> {
    let most = rounds.iter().map(|round| round.other_cores).fold(0.0, f64::max);
    (most > OTHER_CORES_MAX).then(|| {
        format!("Other programs took up to {most:.1} cores during a round: run this on an idle machine.")
    })
}

/// The table of claim and ack.
pub(crate) fn pulling(rounds: &[PullRound]) -> String {
    let mut text = String::from(
        "### Claim and ack\n\n\
         | engine | batch | applications | events/s | p50 ms a batch | p99 ms a batch | peak memory MiB | cores: generator |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let keys: std::collections::BTreeSet<_> =
        rounds.iter().map(|round| (round.engine, round.batch, round.workers)).collect();
    for (engine, batch, workers) in keys {
        let of = || {
            rounds
                .iter()
                .filter(move |round| (round.engine, round.batch, round.workers) == (engine, batch, workers))
        };
        let middle = |field: fn(&PullRound) -> f64| median(of().map(field));
        text.push_str(&format!(
            "| {} | {batch} | {workers} | {:.0} | {:.2} | {:.2} | {:.0} | {:.2} |\n",
            engine.shown(),
            middle(|round| round.events_a_second),
            middle(|round| round.p50_ms),
            middle(|round| round.p99_ms),
            middle(|round| round.peak_mib),
            middle(|round| round.generator_cores),
        ));
    }
    text
}

/// The promise, a sentence an engine, and whether it was kept.
pub(crate) fn targets(rounds: &[Round]) -> Vec<(String, bool)> {
    [Engine::Postgres, Engine::Sqlite]
        .into_iter()
        .filter_map(|engine| {
            let times = ratio(rounds, engine, TARGET_CONNECTIONS, Kind::Handwritten)?;
            let wanted = target(engine);
            let is_met = times >= wanted;
            let word = if is_met { "met" } else { "MISSED" };
            Some((
                format!(
                    "At {TARGET_CONNECTIONS} connections on {}: {times:.1} times the hand-written handler; wanted {wanted:.0}: {word}.",
                    engine.shown()
                ),
                is_met,
            ))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(engine: Engine, kind: Kind, number: u32, rate: f64) -> Round {
        Round {
            engine,
            kind,
            connections: TARGET_CONNECTIONS,
            round: number,
            seconds: 5.0,
            requests_a_second: rate,
            p50_ms: 1.0,
            p99_ms: 2.0,
            accepted: 4,
            duplicates: 1,
            refused: 0,
            unanswered: 0,
            peak_mib: 30.0,
            generator_cores: 0.1,
            server_cores: 1.0,
            database_cores: 0.5,
            other_cores: 0.0,
        }
    }

    #[test]
    fn a_ratio_compares_neighbours_in_time() {
        // The machine was four times slower in the second round.
        let rounds = [
            round(Engine::Sqlite, Kind::Restante, 1, 8_000.0),
            round(Engine::Postgres, Kind::Handwritten, 1, 2_000.0),
            round(Engine::Sqlite, Kind::Restante, 2, 2_000.0),
            round(Engine::Postgres, Kind::Handwritten, 2, 500.0),
        ];
        assert_eq!(ratio(&rounds, Engine::Sqlite, TARGET_CONNECTIONS, Kind::Handwritten), Some(4.0));
        assert_eq!(ratio(&rounds, Engine::Postgres, TARGET_CONNECTIONS, Kind::Handwritten), None);
    }

    #[test]
    fn a_missed_target_is_said() {
        let rounds = [
            round(Engine::Sqlite, Kind::Restante, 1, 2_900.0),
            round(Engine::Postgres, Kind::Handwritten, 1, 1_000.0),
            round(Engine::Postgres, Kind::Restante, 1, 5_100.0),
        ];
        let kept: Vec<_> = targets(&rounds).into_iter().map(|(_, is_met)| is_met).collect();
        assert_eq!(kept, [true, false]);
    }
}
