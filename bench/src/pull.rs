//! Claim and ack as an application does them: claim a batch, read it, acknowledge it, claim the next. Every claimed
//! event is remembered, so that one that is handed out twice fails the run.

use std::collections::HashSet;
use std::thread;
use std::time::Instant;

use serde::Deserialize;
use serde_json::json;

use crate::client::Client;
use crate::failure::{Result, While as _};
use crate::process::thread_cpu_seconds;
use crate::restante::Restante;

const CONSUMER: &str = "default";

/// What a measurement gave.
#[derive(Debug)]
pub(crate) struct Pulled {
    /// Events claimed and acknowledged.
    pub(crate) events: usize,
    /// How long it took.
    pub(crate) seconds: f64,
    /// Time of each claim with its ack, in microseconds.
    pub(crate) latencies_us: Vec<u32>,
    /// Processor seconds of the applications' threads.
    pub(crate) generator_cpu_seconds: f64,
    /// Faults in sentences; empty is well.
    pub(crate) faults: Vec<String>,
}

impl Pulled {
    /// Events a second.
    pub(crate) fn rate(&self) -> f64 {
        if self.seconds > 0.0 { self.events as f64 / self.seconds } else { 0.0 }
    }
}

#[derive(Default)]
struct Worked {
    receipts: Vec<String>,
    latencies_us: Vec<u32>,
    cpu_seconds: f64,
    not_acked: usize,
}

#[derive(Deserialize)]
struct Claimed<'a> {
    #[serde(borrow)]
    events: Vec<ClaimedEvent<'a>>,
}

#[derive(Deserialize)]
struct ClaimedEvent<'a> {
    id: &'a str,
    lease: &'a str,
}

#[derive(Deserialize)]
struct Acked<'a> {
    #[serde(borrow)]
    results: Vec<AckedLease<'a>>,
}

#[derive(Deserialize)]
struct AckedLease<'a> {
    status: &'a str,
}

/// Claims and acks everything that is pending, by several workers at once.
pub(crate) fn run(restante: &Restante, batch: usize, workers: usize) -> Result<Pulled> {
    let begun = Instant::now();
    let worked = thread::scope(|scope| {
        let started: Vec<_> = (0..workers).map(|_| scope.spawn(|| work(restante.client(), batch))).collect();
        let ended = started.into_iter().map(|worker| worker.join().map_err(|_| "a worker ended early")?);
        ended.collect::<Result<Vec<_>>>()
    })?;
    let seconds = begun.elapsed().as_secs_f64();

    let mut pulled = Pulled {
        events: 0,
        seconds,
        latencies_us: Vec::new(),
        generator_cpu_seconds: 0.0,
        faults: Vec::new(),
    };
    let mut seen = HashSet::new();
    for one in worked {
        pulled.events += one.receipts.len();
        pulled.generator_cpu_seconds += one.cpu_seconds;
        pulled.latencies_us.extend(one.latencies_us);
        if one.not_acked > 0 {
            pulled.faults.push(format!("{} live leases were not acked", one.not_acked));
        }
        seen.extend(one.receipts);
    }
    if seen.len() != pulled.events {
        pulled
            .faults
            .push(format!("{} events were handed out again after a claim", pulled.events - seen.len()));
    }
    Ok(pulled)
}

fn work(mut client: Client, batch: usize) -> Result<Worked> {
    let path = |verb: &str| format!("/v1/consumers/{CONSUMER}/{verb}");
    let (claim, ack) = (path("claim"), path("ack"));
    let asked = serde_json::to_vec(&json!({"max": batch, "lease_seconds": 60, "wait_seconds": 0}))?;
    let cpu_before = thread_cpu_seconds();
    let mut worked = Worked::default();
    loop {
        let begun = Instant::now();
        let reply = client.send("POST", &claim, Some(&asked))?;
        let claimed: Claimed<'_> = read(reply.status, &reply.body, "claim")?;
        if claimed.events.is_empty() {
            break;
        }
        let leases: Vec<_> = claimed.events.iter().map(|event| event.lease).collect();
        let body = serde_json::to_vec(&json!({"leases": leases}))?;
        let reply = client.send("POST", &ack, Some(&body))?;
        let acked: Acked<'_> = read(reply.status, &reply.body, "ack")?;
        worked.not_acked +=
            leases.len() - acked.results.iter().filter(|lease| lease.status == "acked").count();
        worked.latencies_us.push(u32::try_from(begun.elapsed().as_micros()).unwrap_or(u32::MAX));
        worked.receipts.extend(claimed.events.iter().map(|event| event.id.to_owned()));
    }
    worked.cpu_seconds = thread_cpu_seconds() - cpu_before;
    Ok(worked)
}

fn read<'a, T: Deserialize<'a>>(status: u16, body: &'a [u8], verb: &str) -> Result<T> {
    if status != 200 {
        return Err(format!("{verb} answered {status}: {}", String::from_utf8_lossy(body)).into());
    }
    serde_json::from_slice(body).could_not(format!("read the answer to {verb}"))
}
