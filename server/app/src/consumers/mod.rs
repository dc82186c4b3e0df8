//! Consumers: the applications of a tenant that events are handed off to. A file an action; what may
//! be asked for stands in `check.rs`.

mod check;
mod create;
mod delete;
mod read;
mod update;

pub(crate) use check::is_name;
use restante_core::filter::{Filter, FilterInput};
use restante_core::id::ConsumerId;
use restante_core::problem::Problem;
use restante_core::time::Timestamp;
use restante_store::consumers::ConsumerRecord;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A consumer that has not claimed for so long is shown as idle: seven days.
const IDLE_AFTER_SECONDS: i64 = 7 * 24 * 60 * 60;

/// A consumer to be made, as it was asked for.
#[derive(Debug, Clone, Default)]
pub struct NewConsumer {
    /// Its name.
    pub name: String,
    /// `pull`, which is also meant when it is left out.
    pub mode: Option<String>,
    /// Which events it wants; all when it is left out.
    pub filter: Option<FilterInput>,
    /// Claims of an event before it is given up; 12 when it is left out.
    pub max_attempts: Option<u32>,
    /// `"none"`, which is also meant when it is left out.
    pub ordering: Option<Value>,
    /// From when on: `now`, `beginning` or a time.
    pub start: Option<String>,
    /// Where to push to; not built yet.
    pub push: Option<Value>,
    /// Whether claims give events; they do when it is left out.
    pub enabled: Option<bool>,
}

/// A change of a consumer: a JSON merge. `Some(None)` is `null`, the value from before any choice.
#[derive(Debug, Clone, Default)]
pub struct ConsumerChange {
    /// The name stays.
    pub name: Option<String>,
    /// The mode stays.
    pub mode: Option<Option<String>>,
    /// Which events it wants.
    pub filter: Option<Option<FilterInput>>,
    /// Claims of an event before it is given up.
    pub max_attempts: Option<Option<u32>>,
    /// The ordering stays.
    pub ordering: Option<Option<Value>>,
    /// The start stays.
    pub start: Option<Option<String>>,
    /// Not built yet.
    pub push: Option<Option<Value>>,
    /// Whether claims give events.
    pub enabled: Option<Option<bool>>,
}

/// A consumer as its tenant sees it. The form is also what kept answers hold, so that a field may be
/// added only with a default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consumer {
    /// Its id.
    pub id: ConsumerId,
    /// Its name.
    pub name: String,
    /// Which events it wants.
    pub filter: Filter,
    /// Claims of an event before it is given up.
    pub max_attempts: u32,
    /// The text that was asked for: `now`, `beginning`, or a time.
    pub start: String,
    /// Whether claims give events.
    pub enabled: bool,
    /// What was here before it is still being handed off.
    pub backfilling: bool,
    /// It has not claimed for seven days.
    pub idle: bool,
    /// The last claim, to the minute.
    pub last_claim_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

impl Consumer {
    pub(crate) fn new(record: ConsumerRecord, now: Timestamp) -> Self {
        let last_seen = record.last_claim_at.unwrap_or(record.created_at);
        Self {
            id: record.id,
            name: record.name,
            filter: record.filter,
            max_attempts: record.max_attempts,
            start: record.start,
            enabled: record.enabled,
            backfilling: record.backfill.is_some(),
            idle: last_seen.plus_seconds(IDLE_AFTER_SECONDS) <= now,
            last_claim_at: record.last_claim_at,
            created_at: record.created_at,
            updated_at: record.updated_at,
        }
    }
}

pub(crate) fn not_found() -> Problem {
    Problem::not_found("consumer")
}
