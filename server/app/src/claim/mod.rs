//! Pulling: an application claims events under leases, and acks, nacks or extends them. A file an
//! action; what may be asked for stands in `check.rs`.

mod check;
mod leases;
mod pull;
#[cfg(test)]
mod tests;

use restante_core::handoff::{LeaseResult, Nack};
use restante_core::time::Timestamp;
use restante_core::token::LeaseToken;

use crate::events::Event;

/// What a claim asks for.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Events at most.
    pub max: u32,
    /// How long the leases run.
    pub lease_seconds: u32,
    /// How long to wait for something to come.
    pub wait_seconds: u32,
    /// The version of the application, kept on the attempt.
    pub handler_version: Option<String>,
}

/// What a claim got.
#[derive(Debug, Default)]
pub struct Claimed {
    /// The events, in the order in which they fell due.
    pub events: Vec<ClaimedEvent>,
    /// Told with an empty claim.
    pub idle: Option<Idle>,
}

/// What an empty claim tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Idle {
    /// Events that others hold.
    pub leased: u64,
    /// When the next event becomes visible, if nothing comes before.
    pub next_at: Option<Timestamp>,
    /// The consumer is paused.
    pub paused: bool,
}

/// An event under a lease.
#[derive(Debug)]
pub struct ClaimedEvent {
    /// The event with its bytes.
    pub event: Event,
    /// How many claims it has had, this one included.
    pub attempt: u32,
    /// What the holder presents.
    pub token: LeaseToken,
    /// When it runs out, by the database's clock.
    pub expires_at: Timestamp,
}

/// One lease of an ack.
#[derive(Debug, Clone, Default)]
pub struct Ack {
    /// The lease as it was presented.
    pub lease: String,
    /// The id of what the application did elsewhere.
    pub remote_operation_id: Option<String>,
    /// A note for people.
    pub note: Option<String>,
}

/// One lease of a nack.
#[derive(Debug, Clone)]
pub struct NackOne {
    /// The lease as it was presented.
    pub lease: String,
    /// What is asked for.
    pub asked: Nack,
    /// When to retry; `None` leaves it to the backoff.
    pub retry_in_seconds: Option<u32>,
    /// What went wrong, for people.
    pub error: Option<String>,
    /// The id of what the application did elsewhere.
    pub remote_operation_id: Option<String>,
}

/// The answer to one lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseAnswer {
    /// The lease as it was presented.
    pub lease: String,
    /// What became of it.
    pub result: LeaseResult,
    /// The new end of a lease that was extended.
    pub expires_at: Option<Timestamp>,
}
