//! What may happen to a handoff, and what an application is answered: the rules of claim, ack, nack,
//! extend, expiry, replay, repair, settlement and cancellation. The store does each as one
//! conditional statement; these functions say what that statement has to do, and nothing here holds
//! a lease.

use crate::backoff;
use crate::problem::{Code, Problem};
use crate::time::Timestamp;

/// Defines an enumeration whose values have a word for people and for storage.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal;)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$variant_doc])* $variant,)* }

        impl $name {
            /// Every value.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The word in the API and the dashboard.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// The value of a word.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.as_str() == word)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

words! {
    /// Where a handoff stands.
    State {
        /// Waits for a claim, now or from its due time on.
        Pending = "pending";
        /// Claimed; when the lease runs out it is due again, or failed.
        Leased = "leased";
        /// The application has acked it, or a person settled it so.
        Processed = "processed";
        /// Given up; waits for a person until it is settled.
        Failed = "failed";
        /// A remote effect may have happened; waits for a person.
        Uncertain = "uncertain";
        /// Nobody wants it any more.
        Cancelled = "cancelled";
    }
}

words! {
    /// How an attempt ended. An attempt under way has none.
    Outcome {
        /// Acked.
        Acked = "acked";
        /// A retry was asked for, and there will be one.
        Retried = "retried";
        /// The application, or the consumer's answer to a push, said that it fails for good.
        Failed = "failed";
        /// The application can't tell whether a remote effect happened.
        Uncertain = "uncertain";
        /// The lease ran out.
        Expired = "expired";
        /// A retry was asked for, and no attempt was left.
        Exhausted = "exhausted";
        /// The consumer was deleted meanwhile.
        Cancelled = "cancelled";
    }
}

words! {
    /// What a nack asks for.
    Nack {
        /// Another attempt.
        Retry = "retry";
        /// None: it will never work.
        Failed = "failed";
        /// A person: a remote effect may have happened.
        Uncertain = "uncertain";
    }
}

words! {
    /// What an application is told about one lease.
    LeaseResult {
        /// The ack counts, now or since an earlier call.
        Acked = "acked";
        /// The nack counts: there will be another attempt.
        Retried = "retried";
        /// The nack counts: the handoff is failed.
        Failed = "failed";
        /// The nack counts: the handoff waits for a person.
        Uncertain = "uncertain";
        /// The lease now runs longer.
        Extended = "extended";
        /// The lease is over, and another claim may hold the event; nothing was changed.
        Expired = "expired";
        /// There is no such lease at this consumer.
        Unknown = "unknown";
    }
}

impl State {
    /// The stored number, which never changes: indexes and statements name it.
    pub const fn code(self) -> u8 {
        match self {
            Self::Pending => 0,
            Self::Leased => 1,
            Self::Processed => 2,
            Self::Failed => 3,
            Self::Uncertain => 4,
            Self::Cancelled => 5,
        }
    }

    /// The state of a stored number.
    pub fn from_code(code: i64) -> Option<Self> {
        Self::ALL.iter().copied().find(|state| i64::from(state.code()) == code)
    }

    /// Whether somebody still has to do something: retention leaves such receipts alone. `settled`
    /// says that a person settled a failed handoff as failed.
    pub const fn is_open(self, settled: bool) -> bool {
        match self {
            Self::Pending | Self::Leased | Self::Uncertain => true,
            Self::Failed => !settled,
            Self::Processed | Self::Cancelled => false,
        }
    }
}

/// What the store finds of a presented lease token, within the tenant and consumer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presented {
    /// No attempt has such a token.
    Unknown,
    /// The attempt is over.
    Ended(Outcome),
    /// The attempt is the handoff's latest and has no outcome yet.
    Open {
        /// From this moment on the lease is over, by the database's clock.
        expires_at: Timestamp,
        /// Attempts since the handoff was made or last replayed, this one included.
        tries: u32,
    },
}

/// What a call changes, in one statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The lease runs until then.
    Extend {
        /// The new end.
        expires_at: Timestamp,
    },
    /// The attempt ends and the lease with it.
    End {
        /// How the attempt ended.
        outcome: Outcome,
        /// Where the handoff goes.
        state: State,
        /// When it is due again, if it goes to pending.
        due_at: Option<Timestamp>,
    },
}

/// The answer to one lease of a call, with what to change. Without a change nothing is written.
pub type Ruling = (LeaseResult, Option<Change>);

const fn end(outcome: Outcome, state: State, due_at: Option<Timestamp>) -> Option<Change> {
    Some(Change::End { outcome, state, due_at })
}

/// Ack. A repeat answers as the first time; what ended otherwise is `expired`.
pub fn ack(lease: Presented, now: Timestamp) -> Ruling {
    match lease {
        Presented::Unknown => (LeaseResult::Unknown, None),
        Presented::Ended(Outcome::Acked) => (LeaseResult::Acked, None),
        Presented::Open { expires_at, .. } if now < expires_at => {
            (LeaseResult::Acked, end(Outcome::Acked, State::Processed, None))
        }
        Presented::Ended(_) | Presented::Open { .. } => (LeaseResult::Expired, None),
    }
}

/// Nack. `retry_in_seconds` and `random` (a fresh number, for the consumer's backoff) count for a
/// retry only; a retry without an attempt left fails. A repeat answers as the first time.
pub fn nack(
    lease: Presented,
    asked: Nack,
    retry_in_seconds: Option<u32>,
    max_attempts: u32,
    now: Timestamp,
    random: u64,
) -> Ruling {
    let (expires_at, tries) = match lease {
        Presented::Unknown => return (LeaseResult::Unknown, None),
        Presented::Ended(outcome) => return (repeated(asked, outcome), None),
        Presented::Open { expires_at, tries } => (expires_at, tries),
    };
    if now >= expires_at {
        return (LeaseResult::Expired, None);
    }
    match asked {
        Nack::Failed => (LeaseResult::Failed, end(Outcome::Failed, State::Failed, None)),
        Nack::Uncertain => (LeaseResult::Uncertain, end(Outcome::Uncertain, State::Uncertain, None)),
        Nack::Retry if tries >= max_attempts => {
            (LeaseResult::Failed, end(Outcome::Exhausted, State::Failed, None))
        }
        Nack::Retry => {
            let wait_micros = match retry_in_seconds {
                Some(seconds) => i64::from(seconds) * 1_000_000,
                None => backoff::delay_micros(tries, random),
            };
            let due_at = Timestamp::from_micros(now.micros().saturating_add(wait_micros));
            (LeaseResult::Retried, end(Outcome::Retried, State::Pending, Some(due_at)))
        }
    }
}

const fn repeated(asked: Nack, outcome: Outcome) -> LeaseResult {
    match (asked, outcome) {
        (Nack::Retry, Outcome::Retried) => LeaseResult::Retried,
        (Nack::Retry, Outcome::Exhausted) | (Nack::Failed, Outcome::Failed) => LeaseResult::Failed,
        (Nack::Uncertain, Outcome::Uncertain) => LeaseResult::Uncertain,
        _ => LeaseResult::Expired,
    }
}

/// Extend: the lease runs `lease_seconds` from now, which may also be shorter than it would have.
pub fn extend(lease: Presented, lease_seconds: u32, now: Timestamp) -> Ruling {
    match lease {
        Presented::Unknown => (LeaseResult::Unknown, None),
        Presented::Open { expires_at, .. } if now < expires_at => {
            let expires_at = now.plus_seconds(i64::from(lease_seconds));
            (LeaseResult::Extended, Some(Change::Extend { expires_at }))
        }
        Presented::Ended(_) | Presented::Open { .. } => (LeaseResult::Expired, None),
    }
}

/// Whether a claim may take a handoff: it is due, or its lease ran out with an attempt left.
/// `moment` is the due time of a pending one and the expiry of a leased one.
pub fn is_claimable(state: State, moment: Timestamp, tries: u32, max_attempts: u32, now: Timestamp) -> bool {
    match state {
        State::Pending => moment <= now,
        State::Leased => moment <= now && tries < max_attempts,
        State::Processed | State::Failed | State::Uncertain | State::Cancelled => false,
    }
}

/// What becomes of a lease that ran out: due again at once, since the lease was wait enough, or
/// failed when it was the last attempt. `None` while it runs.
pub fn expire(expires_at: Timestamp, tries: u32, max_attempts: u32, now: Timestamp) -> Option<Change> {
    if now < expires_at {
        None
    } else if tries < max_attempts {
        end(Outcome::Expired, State::Pending, Some(expires_at))
    } else {
        end(Outcome::Expired, State::Failed, None)
    }
}

/// What a replay needs to know of the receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replayable {
    /// The payload is there.
    pub payload_stored: bool,
    /// The envelope couldn't be read and no repair has given the receipt its key.
    pub awaits_repair: bool,
}

/// What a replay does to one consumer's handoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replayed {
    /// Pending and due now, with its attempts counted from none again; made when it wasn't there.
    Pending,
    /// Somebody works on it right now; it stays as it is and is not counted.
    StaysLeased,
}

/// Replay, for a consumer that may never have had the receipt (`None`).
///
/// # Errors
/// Gone when the payload is, a conflict that names `repair` when that is needed first.
pub fn replay(state: Option<State>, receipt: Replayable) -> Result<Replayed, Problem> {
    if receipt.awaits_repair {
        return Err(Problem::new(
            Code::Conflict,
            "The id of this event could not be read, so it can't be replayed yet: give it one with repair.",
        ));
    }
    if !receipt.payload_stored {
        return Err(Problem::new(
            Code::Gone,
            "The payload of this event is no longer kept, so there is nothing to replay.",
        ));
    }
    Ok(if state == Some(State::Leased) { Replayed::StaysLeased } else { Replayed::Pending })
}

/// Repair: the handoffs that waited in `failed` become pending; `false` leaves one as it is.
pub fn repair(state: State) -> bool {
    state == State::Failed
}

/// How a person settles a handoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Settlement {
    /// It was done after all, or elsewhere.
    Processed,
    /// It will not be done, and that is known.
    Failed,
}

impl Settlement {
    /// The state of a settled handoff.
    pub const fn state(self) -> State {
        match self {
            Self::Processed => State::Processed,
            Self::Failed => State::Failed,
        }
    }
}

/// Settle: only what waits for a person can be settled.
///
/// # Errors
/// A conflict that names the state.
pub fn settle(state: State, settlement: Settlement) -> Result<State, Problem> {
    match state {
        State::Failed | State::Uncertain => Ok(settlement.state()),
        State::Pending | State::Leased | State::Processed | State::Cancelled => Err(Problem::new(
            Code::Conflict,
            format!("This handoff is {}: only a failed or uncertain one can be settled.", state.as_str()),
        )),
    }
}

/// Cancel, when the consumer is deleted: what is not decided yet is cancelled, a lease included,
/// since its ack has nowhere to go. What is over or waits for a person keeps its state.
pub const fn is_cancelled_with_consumer(state: State) -> bool {
    matches!(state, State::Pending | State::Leased)
}

#[cfg(test)]
mod tests;
