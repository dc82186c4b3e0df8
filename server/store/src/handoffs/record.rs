//! Handoffs and attempts as a person sees them beside an event.

use restante_core::handoff::{Outcome, State};
use restante_core::id::{ReceiptId, ReplayId, TenantId};
use restante_core::time::Timestamp;

use super::sql;
use crate::engine::{Conn, StoreError, values};

/// Attempts that an event's detail shows, the newest ones.
pub(super) const HISTORY_MAX: u32 = 200;

/// A receipt on its way to one consumer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandoffRecord {
    /// The consumer's name.
    pub consumer: String,
    /// Whether the consumer was deleted.
    pub consumer_deleted: bool,
    /// Where it stands.
    pub state: State,
    /// When it is due, while it is pending.
    pub due_at: Option<Timestamp>,
    /// Claims so far.
    pub attempt: u32,
    /// Claims since it was made or last replayed.
    pub tries: u32,
    /// The attempt under way: since when, until when, by which version.
    pub lease: Option<(Timestamp, Timestamp, Option<String>)>,
    /// The last replay.
    pub replay: Option<ReplayId>,
    /// When a person settled it.
    pub settled_at: Option<Timestamp>,
}

/// An attempt that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptRecord {
    /// The consumer's name.
    pub consumer: String,
    /// Its number at this consumer, from 1.
    pub attempt: u32,
    /// When it was claimed.
    pub claimed_at: Timestamp,
    /// When it ended.
    pub ended_at: Timestamp,
    /// How it ended.
    pub outcome: Outcome,
    /// The version of the application.
    pub handler_version: Option<String>,
    /// The id of what the application did elsewhere.
    pub remote_operation_id: Option<String>,
    /// The note or error that it gave.
    pub note: Option<String>,
}

/// The handoffs of a receipt, one a consumer.
///
/// # Errors
/// What the database ran into.
pub async fn handoffs_of_receipt(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    receipt: ReceiptId,
) -> Result<Vec<HandoffRecord>, StoreError> {
    let rows = conn.fetch_all(&sql::HANDOFFS_OF_RECEIPT, values![tenant, receipt]).await?;
    rows.iter()
        .map(|row| {
            let state = State::from_code(row.int("state")?).ok_or_else(|| row.broken("state"))?;
            let small =
                |column| row.int(column).and_then(|n| u32::try_from(n).map_err(|_| row.broken(column)));
            let lease = match (row.time_or_null("claimed_at")?, row.time_or_null("lease_expires_at")?) {
                (Some(since), Some(until)) if state == State::Leased => {
                    Some((since, until, row.text_or_null("handler_version")?))
                }
                _ => None,
            };
            Ok(HandoffRecord {
                consumer: row.text("name")?,
                consumer_deleted: row.time_or_null("deleted_at")?.is_some(),
                state,
                due_at: if state == State::Pending { Some(row.time("due_at")?) } else { None },
                attempt: small("attempt")?,
                tries: small("tries")?,
                lease,
                replay: row.uuid_or_null("replay_id")?.map(ReplayId),
                settled_at: row.time_or_null("settled_at")?,
            })
        })
        .collect()
}

/// The newest ended attempts of a receipt, at most 200.
///
/// # Errors
/// What the database ran into.
pub async fn attempts_of_receipt(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    receipt: ReceiptId,
) -> Result<Vec<AttemptRecord>, StoreError> {
    let rows = conn.fetch_all(&sql::ATTEMPTS_OF_RECEIPT, values![tenant, receipt, HISTORY_MAX]).await?;
    rows.iter()
        .map(|row| {
            Ok(AttemptRecord {
                consumer: row.text("name")?,
                attempt: u32::try_from(row.int("attempt")?).map_err(|_| row.broken("attempt"))?,
                claimed_at: row.time("claimed_at")?,
                ended_at: row.time("ended_at")?,
                outcome: Outcome::from_word(&row.text("outcome")?).ok_or_else(|| row.broken("outcome"))?,
                handler_version: row.text_or_null("handler_version")?,
                remote_operation_id: row.text_or_null("remote_operation_id")?,
                note: row.text_or_null("note")?,
            })
        })
        .collect()
}
