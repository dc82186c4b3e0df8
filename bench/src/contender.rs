//! One server of the comparison: started, loaded for a round, checked. Whatever differs between Restante and the
//! hand-written handler ends here.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::check;
use crate::failure::{Result, While as _};
use crate::handwritten::Handwritten;
use crate::load::{self, Outcome, Pace};
use crate::postgres::Postgres;
use crate::process;
use crate::requests::Requests;
use crate::restante::{Commit, Restante};
use crate::settings::{Engine, Kind, Settings};

/// Requests that are prepared for a second of load while nothing is known of a server's speed.
const REQUESTS_A_SECOND_GUESSED: f64 = 30_000.0;
/// Prepared requests, as a multiple of what the server managed before.
const REQUESTS_RESERVE: f64 = 1.6;
const REQUESTS_MAX: f64 = 600_000.0;

/// A running server.
pub(crate) struct Contender {
    /// What it is.
    pub(crate) kind: Kind,
    /// Where its data lies; PostgreSQL for the hand-written handlers.
    pub(crate) engine: Engine,
    server: Server,
    rounds: u32,
    /// Requests a second by connections, the most so far.
    fastest: BTreeMap<usize, f64>,
    stored_events: u64,
}

enum Server {
    Restante(Restante),
    Handwritten(Handwritten),
}

/// A round with what it cost.
pub(crate) struct Measured {
    /// What the load generator saw.
    pub(crate) outcome: Outcome,
    /// Faults in sentences; empty is well.
    pub(crate) faults: Vec<String>,
    /// Processor seconds of the server during the round.
    pub(crate) server_cpu_seconds: f64,
    /// Processor seconds of PostgreSQL during the round.
    pub(crate) database_cpu_seconds: f64,
    /// Processor seconds of everything on this machine that isn't part of the round, the kernel's own work included.
    pub(crate) other_cpu_seconds: f64,
    /// The server's largest resident memory during the round, in bytes.
    pub(crate) peak_bytes: u64,
}

impl Contender {
    /// Starts a server of this kind on this engine.
    pub(crate) fn start(
        settings: &Settings,
        work_dir: &Path,
        postgres: &Postgres,
        kind: Kind,
        engine: Engine,
    ) -> Result<Self> {
        let port = free_port()?;
        let server = if kind.is_handwritten() {
            let explicit = kind == Kind::HandwrittenTransaction;
            let name = if explicit { "handwritten-transaction" } else { "handwritten" };
            Server::Handwritten(Handwritten::start(settings, work_dir, postgres, name, port, explicit)?)
        } else {
            let commit = match kind {
                Kind::Single => Commit::Single,
                Kind::None => Commit::None,
                _ => Commit::Grouped,
            };
            let name = format!("restante-{engine:?}-{commit:?}").to_lowercase();
            let url = match engine {
                Engine::Postgres => Some(postgres.create_database(&name.replace('-', "_"))?),
                Engine::Sqlite => None,
            };
            let binary = match &settings.server {
                Some(path) => path.clone(),
                None => crate::restante::binary_beside_this()?,
            };
            Server::Restante(Restante::start(&binary, work_dir, &name, port, url.as_deref(), commit)?)
        };
        Ok(Self { kind, engine, server, rounds: 0, fastest: BTreeMap::new(), stored_events: 0 })
    }

    /// The server, when it is Restante with its own commit: the only one that has claims to measure.
    pub(crate) fn as_product(&self) -> Option<&Restante> {
        match (&self.server, self.kind) {
            (Server::Restante(restante), Kind::Restante) => Some(restante),
            _ => None,
        }
    }

    /// Different events that all rounds so far have stored.
    pub(crate) fn stored_events(&self) -> u64 {
        self.stored_events
    }

    /// Runs a round of load and checks what it left.
    pub(crate) fn round(&mut self, postgres: &Postgres, pace: Pace) -> Result<Measured> {
        let seconds = (pace.warm_up + pace.measured).as_secs_f64();
        let known = self.fastest.get(&pace.connections).map(|rate| rate * REQUESTS_RESERVE);
        let count = (known.unwrap_or(REQUESTS_A_SECOND_GUESSED) * seconds).min(REQUESTS_MAX);
        self.round_of(postgres, pace, count as usize)
    }

    /// Sends this many requests, without looking at the time it takes beyond ten minutes.
    pub(crate) fn fill(&mut self, postgres: &Postgres, requests: usize) -> Result<Measured> {
        let pace = Pace { connections: 64, warm_up: Duration::ZERO, measured: Duration::from_secs(600) };
        self.round_of(postgres, pace, requests)
    }

    fn round_of(&mut self, postgres: &Postgres, pace: Pace, count: usize) -> Result<Measured> {
        self.rounds += 1;
        let label = self.label();
        let target = match &mut self.server {
            Server::Restante(restante) => restante.new_endpoint(&format!("round {}", self.rounds))?,
            Server::Handwritten(handwritten) => handwritten.target(),
        };
        let id_prefix = format!("evt_1Bench{:04}", self.rounds);
        let requests = Requests::prepare(&target, &id_prefix, count)?;
        settle(postgres)?;

        let id = self.server_id();
        process::forget_peak(id);
        let cpu = || [id, postgres.id()].map(process::tree_cpu_seconds);
        let (cpu_before, machine_before) = (cpu(), process::machine_cpu_seconds());
        let outcome = load::run(target.port, &requests, pace).could_not(format!("load {label}"))?;
        let [server_cpu_seconds, database_cpu_seconds] =
            std::array::from_fn(|place| cpu()[place] - cpu_before[place]);
        let other_cpu_seconds = process::machine_cpu_seconds()
            - machine_before
            - server_cpu_seconds
            - database_cpu_seconds
            - outcome.generator_cpu_seconds;
        let peak_bytes = process::peak_bytes(id);

        let fastest = self.fastest.entry(pace.connections).or_insert(1_000.0);
        *fastest = fastest.max(outcome.rate());
        let faults = self.check(postgres, &requests, &outcome).could_not(format!("check {label}"))?;
        self.stored_events += outcome.successes.iter().filter(|count| **count > 0).count() as u64;
        Ok(Measured {
            outcome,
            faults,
            server_cpu_seconds,
            database_cpu_seconds,
            other_cpu_seconds,
            peak_bytes,
        })
    }

    fn check(&self, postgres: &Postgres, requests: &Requests, outcome: &Outcome) -> Result<Vec<String>> {
        let stored = match &self.server {
            Server::Restante(_) if self.kind == Kind::None => return Ok(check::answer_faults(outcome)),
            Server::Restante(restante) => restante.stored(requests)?,
            Server::Handwritten(handwritten) => handwritten.stored(postgres, requests.id_prefix())?,
        };
        let mut faults = check::faults(requests, outcome, &stored);
        faults.extend(check::novelty_faults(outcome));
        Ok(faults)
    }

    /// The server's process.
    pub(crate) fn server_id(&self) -> u32 {
        match &self.server {
            Server::Restante(restante) => restante.id(),
            Server::Handwritten(handwritten) => handwritten.id(),
        }
    }

    /// Its name in messages.
    pub(crate) fn label(&self) -> String {
        if self.kind.is_handwritten() {
            self.kind.shown().to_owned()
        } else {
            format!("{} on {}", self.kind.shown(), self.engine.shown())
        }
    }
}

/// Writes out what earlier rounds left in the database's and the kernel's memory: each round pays for itself alone.
fn settle(postgres: &Postgres) -> Result<()> {
    postgres.checkpoint()?;
    std::process::Command::new("sync").status().could_not("run sync")?;
    Ok(())
}

/// A port that is free now.
pub(crate) fn free_port() -> Result<u16> {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).could_not("find a free port")?;
    Ok(listener.local_addr()?.port())
}
