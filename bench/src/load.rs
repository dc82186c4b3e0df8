//! The load generator: one thread, one epoll, keep-alive connections that each send the next prepared request as
//! soon as the last one is answered. It shares the machine with what it measures, so it does as little as it can,
//! and tells how much processor time it took. It judges nothing: `check` does.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

use crate::answer::Answer;
use crate::failure::{Result, While as _};
use crate::process::thread_cpu_seconds;
use crate::requests::Requests;

/// An answer that takes longer than this after the round's end is counted as none.
const LAST_ANSWERS: Duration = Duration::from_secs(10);
/// A server that drops this many connections in one round isn't measured any further.
const BROKEN_MAX: u64 = 1_000;
const ANSWER_BYTES_MAX: usize = 16 * 1024;

/// How long and how hard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Connections that are open at once.
    pub(crate) connections: usize,
    /// Load before the measured part.
    pub(crate) warm_up: Duration,
    /// The measured part.
    pub(crate) measured: Duration,
}

/// What one round gave.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Length of the measured part; shorter than asked for when the requests ran out.
    pub(crate) seconds: f64,
    /// Latency in microseconds of each 2xx that came within the measured part.
    pub(crate) latencies_us: Vec<u32>,
    /// Answers with `"status":"accepted"`, warm-up included.
    pub(crate) accepted: u64,
    /// Answers with `"status":"duplicate"`, warm-up included.
    pub(crate) duplicates: u64,
    /// Answers that are not 2xx, by status.
    pub(crate) refused: BTreeMap<u16, u64>,
    /// Requests that got no answer: their event may be stored or not.
    pub(crate) unanswered: u64,
    /// For each event, how many 2xx its requests got.
    pub(crate) successes: Vec<u16>,
    /// Processor time of the generator's thread over the whole round, and that round's length.
    pub(crate) generator_cpu_seconds: f64,
    /// Wall time of the whole round: warm-up, measured part, last answers.
    pub(crate) whole_seconds: f64,
}

impl Outcome {
    /// Requests a second that were answered with a 2xx.
    pub(crate) fn rate(&self) -> f64 {
        if self.seconds > 0.0 { self.latencies_us.len() as f64 / self.seconds } else { 0.0 }
    }
}

/// Sends the requests until the time is over or none are left, and waits for the last answers.
pub(crate) fn run(port: u16, requests: &Requests, pace: Pace) -> Result<Outcome> {
    let cpu_before = thread_cpu_seconds();
    let begun = Instant::now();
    let mut round = Round {
        poll: Poll::new().could_not("make an epoll")?,
        address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
        requests,
        next_place: 0,
        measured_from: begun + pace.warm_up,
        ends_at: begun + pace.warm_up + pace.measured,
        ran_out_at: None,
        in_flight: 0,
        outcome: Outcome { successes: vec![0; requests.events()], ..Outcome::default() },
    };
    round.outcome.latencies_us.reserve(requests.count());
    let mut connections = Vec::with_capacity(pace.connections);
    for slot in 0..pace.connections {
        connections.push(round.connect(slot)?);
    }

    let mut events = Events::with_capacity(pace.connections.max(16));
    let gives_up_at = round.ends_at + LAST_ANSWERS;
    loop {
        let now = Instant::now();
        if (round.is_over(now) && round.in_flight == 0) || now >= gives_up_at {
            break;
        }
        if round.outcome.unanswered > BROKEN_MAX {
            return Err("the server drops its connections".into());
        }
        match round.poll.poll(&mut events, Some(Duration::from_millis(100))) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        }
        for event in &events {
            let slot = event.token().0;
            if let Err(Broken) = round.advance(&mut connections[slot]) {
                round.replace(&mut connections[slot], slot)?;
            }
        }
    }

    round.outcome.unanswered += round.in_flight;
    let ended = round.ran_out_at.unwrap_or(round.ends_at).min(round.ends_at);
    round.outcome.seconds = ended.saturating_duration_since(round.measured_from).as_secs_f64();
    round.outcome.whole_seconds = begun.elapsed().as_secs_f64();
    round.outcome.generator_cpu_seconds = thread_cpu_seconds() - cpu_before;
    Ok(round.outcome)
}

struct Round<'a> {
    poll: Poll,
    address: SocketAddr,
    requests: &'a Requests,
    next_place: usize,
    measured_from: Instant,
    ends_at: Instant,
    ran_out_at: Option<Instant>,
    in_flight: u64,
    outcome: Outcome,
}

struct Connection {
    stream: TcpStream,
    sending: Option<Sending>,
    answer: Vec<u8>,
}

struct Sending {
    event: usize,
    sent_bytes: usize,
    begun: Instant,
}

/// The connection is of no more use.
struct Broken;

impl Round<'_> {
    fn connect(&self, slot: usize) -> Result<Connection> {
        let mut stream = TcpStream::connect(self.address).could_not("connect to the server")?;
        stream.set_nodelay(true)?;
        self.poll.registry().register(&mut stream, Token(slot), Interest::READABLE | Interest::WRITABLE)?;
        Ok(Connection { stream, sending: None, answer: Vec::with_capacity(1024) })
    }

    fn replace(&mut self, connection: &mut Connection, slot: usize) -> Result<()> {
        if connection.sending.is_some() {
            self.in_flight -= 1;
            self.outcome.unanswered += 1;
        }
        *connection = self.connect(slot)?;
        Ok(())
    }

    fn is_over(&self, now: Instant) -> bool {
        now >= self.ends_at || self.next_place >= self.requests.count()
    }

    /// Goes on with whatever this connection waits for.
    fn advance(&mut self, connection: &mut Connection) -> std::result::Result<(), Broken> {
        if connection.sending.is_none() {
            self.begin(connection)?;
        } else {
            self.send(connection)?;
        }
        if connection.sending.is_none() {
            return Ok(());
        }
        let Some(answer) = receive(connection)? else { return Ok(()) };
        let closes = answer.closes;
        self.answered(connection, answer);
        if closes {
            return Err(Broken);
        }
        // The answer to what is sent now raises an event of its own: no read in vain.
        self.begin(connection)
    }

    fn begin(&mut self, connection: &mut Connection) -> std::result::Result<(), Broken> {
        let now = Instant::now();
        if self.is_over(now) {
            if self.next_place >= self.requests.count() {
                self.ran_out_at.get_or_insert(now);
            }
            return Ok(());
        }
        let Some(event) = self.requests.event_at(self.next_place) else { return Ok(()) };
        self.next_place += 1;
        self.in_flight += 1;
        connection.sending = Some(Sending { event, sent_bytes: 0, begun: now });
        self.send(connection)
    }

    fn send(&mut self, connection: &mut Connection) -> std::result::Result<(), Broken> {
        let Some(sending) = &mut connection.sending else { return Ok(()) };
        let bytes = self.requests.bytes_of(sending.event);
        while sending.sent_bytes < bytes.len() {
            match connection.stream.write(&bytes[sending.sent_bytes..]) {
                Ok(0) => return Err(Broken),
                Ok(count) => sending.sent_bytes += count,
                // Also what a connection says that isn't up yet.
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotConnected) => {
                    break;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(Broken),
            }
        }
        Ok(())
    }

    fn answered(&mut self, connection: &mut Connection, answer: Answer) {
        let Some(sending) = connection.sending.take() else { return };
        self.in_flight -= 1;
        if !(200..300).contains(&answer.status) {
            *self.outcome.refused.entry(answer.status).or_default() += 1;
            return;
        }
        self.outcome.accepted += u64::from(answer.is_accepted);
        self.outcome.duplicates += u64::from(answer.is_duplicate);
        self.outcome.successes[sending.event] = self.outcome.successes[sending.event].saturating_add(1);
        let now = Instant::now();
        if now >= self.measured_from && now < self.ends_at {
            let latency_us = now.duration_since(sending.begun).as_micros();
            self.outcome.latencies_us.push(u32::try_from(latency_us).unwrap_or(u32::MAX));
        }
    }
}

/// Reads until an answer is whole (`Some`) or the kernel has no more (`None`).
fn receive(connection: &mut Connection) -> std::result::Result<Option<Answer>, Broken> {
    let mut chunk = [0; 4096];
    loop {
        match connection.stream.read(&mut chunk) {
            Ok(0) => return Err(Broken),
            Ok(count) => connection.answer.extend_from_slice(&chunk[..count]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotConnected) => {
                return Ok(None);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return Err(Broken),
        }
        if let Some(answer) = Answer::read(&connection.answer).map_err(|_| Broken)? {
            connection.answer.clear();
            return Ok(Some(answer));
        }
        if connection.answer.len() > ANSWER_BYTES_MAX {
            return Err(Broken);
        }
    }
}
