//! The benchmark: starts a throw-away PostgreSQL, Restante on both engines and the hand-written handler, loads them in
//! turn with signed requests, checks after each round that nothing that was acknowledged is missing, and prints tables.
//! `bench/run` builds what this needs and starts it; `docs/performance.md` says how to read the figures.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command for people: tables out, progress beside"
)]

mod answer;
mod check;
mod client;
mod contender;
mod failure;
mod figures;
mod handwritten;
mod load;
mod machine;
mod postgres;
mod process;
mod pull;
mod report;
mod requests;
mod restante;
mod settings;
mod slow_disk;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser as _;

use contender::{Contender, Measured};
use failure::{Result, While as _};
use figures::{PullRound, Round};
use load::Pace;
use postgres::Postgres;
use settings::{Engine, Settings};

/// The first load that a server gets, so that no round meets a cold one.
const FIRST_LOAD: Pace = Pace { connections: 16, warm_up: Duration::ZERO, measured: Duration::from_secs(3) };

/// A machine that is still busy after this is measured as it is, and the report says so.
const IDLE_WITHIN: Duration = Duration::from_secs(20);

fn main() -> ExitCode {
    let settings = Settings::parse();
    match run(&settings) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("restante-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Everything that was measured, and what was wrong with it.
#[derive(Default, serde::Serialize)]
struct Results {
    machine: Vec<String>,
    rounds: Vec<Round>,
    pulls: Vec<PullRound>,
    faults: Vec<String>,
}

/// `false`: a round lost or doubled something, or under `--strict` a target was missed.
fn run(settings: &Settings) -> Result<bool> {
    let work_dir = make_work_dir(settings)?;
    process::stop_all_when_interrupted(&work_dir)?;
    let results = measure(settings, &work_dir);
    if results.is_err() {
        process::stay_out_of_an_interrupt();
    }
    if settings.keep || results.is_err() {
        eprintln!("Data and logs are in {}.", work_dir.display());
    } else {
        fs::remove_dir_all(&work_dir).could_not(format!("remove {}", work_dir.display()))?;
    }
    let results = results?;

    if let Some(path) = &settings.json {
        fs::write(path, serde_json::to_vec_pretty(&results)?)
            .could_not(format!("write {}", path.display()))?;
    }
    println!("{}\n", results.machine.join("\n"));
    for engine in engines(settings) {
        if results.rounds.iter().all(|round| round.engine != engine) {
            continue;
        }
        println!("{}", report::receiving(&results.rounds, engine));
    }
    if !results.pulls.is_empty() {
        println!("{}", report::pulling(&results.pulls));
    }
    if let Some(sentence) = report::refusals(&results.rounds) {
        println!("{sentence}");
    }
    if let Some(sentence) = report::disturbance(&results.rounds) {
        println!("{sentence}");
    }
    let mut is_well = results.faults.is_empty();
    for (sentence, is_met) in report::targets(&results.rounds) {
        println!("{sentence}");
        is_well &= is_met || !settings.strict;
    }
    if results.faults.is_empty() {
        println!("Every acknowledged event was stored once; every repeat was recognised.");
    }
    for fault in &results.faults {
        println!("FAULT: {fault}");
    }
    Ok(is_well)
}

fn measure(settings: &Settings, work_dir: &Path) -> Result<Results> {
    let flush_extra = Duration::from_micros(settings.flush_extra_microseconds);
    if !flush_extra.is_zero() {
        slow_disk::slow_down(work_dir, flush_extra)?;
    }
    // Dropped last: the servers hold connections to it.
    let postgres = Postgres::start(work_dir, contender::free_port()?)?;
    let mut results =
        Results { machine: machine::describe(work_dir, &postgres.describe()?)?, ..Results::default() };
    if !flush_extra.is_zero() {
        results.machine.push(format!(
            "- each flush of the measured programs takes {} ms longer than that",
            flush_extra.as_secs_f64() * 1e3
        ));
    }
    let mut contenders = Vec::new();
    for engine in engines(settings) {
        for kind in settings.contenders.iter().filter(|kind| !kind.is_handwritten()) {
            contenders.push(Contender::start(settings, work_dir, &postgres, *kind, engine)?);
        }
    }
    for kind in settings.contenders.iter().filter(|kind| kind.is_handwritten() && !settings.no_receive) {
        contenders.push(Contender::start(settings, work_dir, &postgres, *kind, Engine::Postgres)?);
    }
    if !settings.no_receive {
        receive(settings, &postgres, &mut contenders, &mut results)?;
    }
    if !settings.no_pull {
        for contender in &mut contenders {
            pull(settings, &postgres, contender, &mut results)?;
        }
    }
    Ok(results)
}

/// Rounds of load: A B C, A B C, A B C at each number of connections.
fn receive(
    settings: &Settings,
    postgres: &Postgres,
    contenders: &mut [Contender],
    results: &mut Results,
) -> Result<()> {
    for contender in &mut *contenders {
        let measured = contender.round(postgres, FIRST_LOAD)?;
        note_faults(contender, &measured, results);
    }
    for connections in &settings.connections {
        let pace = Pace {
            connections: *connections,
            warm_up: Duration::from_secs(settings.warm_up_seconds),
            measured: Duration::from_secs(settings.seconds),
        };
        for number in 1..=settings.rounds {
            for contender in &mut *contenders {
                let round = undisturbed_round(settings, postgres, contender, pace, number, results)?;
                eprintln!(
                    "{connections:>4} connections, round {number}: {:>7.0} requests/s, p99 {:>7.2} ms, {:.1} cores elsewhere, {}",
                    round.requests_a_second,
                    round.p99_ms,
                    round.other_cores,
                    contender.label()
                );
                results.rounds.push(round);
            }
        }
    }
    Ok(())
}

/// One round; again when other programs took too much of the machine meanwhile, and the least disturbed one counts.
fn undisturbed_round(
    settings: &Settings,
    postgres: &Postgres,
    contender: &mut Contender,
    pace: Pace,
    number: u32,
    results: &mut Results,
) -> Result<Round> {
    let mut best: Option<Round> = None;
    for _ in 0..=settings.repeat_disturbed {
        process::wait_until_idle(IDLE_WITHIN);
        let measured = contender.round(postgres, pace)?;
        note_faults(contender, &measured, results);
        let round = Round::new(contender.engine, contender.kind, pace.connections, number, measured);
        if best.as_ref().is_none_or(|best| round.other_cores < best.other_cores) {
            best = Some(round);
        }
        if best.as_ref().is_some_and(|best| best.other_cores <= process::OTHER_CORES_MAX) {
            break;
        }
    }
    best.ok_or_else(|| "no round was run".into())
}

/// Claim and ack, for Restante with its own commit.
fn pull(
    settings: &Settings,
    postgres: &Postgres,
    contender: &mut Contender,
    results: &mut Results,
) -> Result<()> {
    let label = contender.label();
    let requests = settings.pull_events as usize / (requests::REPEAT_ONE_IN - 1) * requests::REPEAT_ONE_IN;
    if contender.as_product().is_none() {
        return Ok(());
    }
    let mut drained = 0;
    for number in 0..=settings.rounds {
        for batch in &settings.pull_batches {
            for workers in &settings.pull_workers {
                let measured = contender.fill(postgres, requests)?;
                note_faults(contender, &measured, results);
                let Some(restante) = contender.as_product() else { return Ok(()) };
                process::forget_peak(restante.id());
                let mut pulled =
                    pull::run(restante, *batch, *workers).could_not(format!("claim from {label}"))?;
                drained += pulled.events as u64;
                if drained != contender.stored_events() {
                    let stored = contender.stored_events();
                    pulled.faults.push(format!("{stored} events were stored and {drained} handed out"));
                }
                results.faults.extend(pulled.faults.drain(..).map(|fault| format!("{label}: {fault}")));
                let peak_bytes = process::peak_bytes(restante.id());
                let round = PullRound::new(contender.engine, *batch, *workers, number, pulled, peak_bytes);
                eprintln!(
                    "claim + ack by {batch}, {workers} applications: {:>7.0} events/s, {label}",
                    round.events_a_second
                );
                // The first pass drains what the rounds of load have left, and warms up.
                if number > 0 {
                    results.pulls.push(round);
                }
            }
        }
    }
    Ok(())
}

fn note_faults(contender: &Contender, measured: &Measured, results: &mut Results) {
    let label = contender.label();
    results.faults.extend(measured.faults.iter().map(|fault| format!("{label}: {fault}")));
}

fn engines(settings: &Settings) -> Vec<Engine> {
    let mut engines = settings.engines.clone();
    engines.sort();
    engines.dedup();
    engines
}

/// A folder of this run alone. PostgreSQL's own user must be able to enter it.
fn make_work_dir(settings: &Settings) -> Result<PathBuf> {
    let parent = settings.work_dir.clone().unwrap_or_else(std::env::temp_dir);
    let path = parent.join(format!("restante-bench-{}", std::process::id()));
    fs::create_dir_all(&parent).could_not(format!("make {}", parent.display()))?;
    fs::create_dir(&path).could_not(format!("make {}", path.display()))?;
    Ok(path)
}
