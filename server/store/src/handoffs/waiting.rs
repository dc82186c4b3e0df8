//! What waits for a person, and where the receipts of a list stand: for pages, bounded.

use restante_core::handoff::{Outcome, State};
use restante_core::id::{ConsumerId, ReceiptId, TenantId};
use restante_core::time::Timestamp;
use uuid::Uuid;

use super::sql;
use crate::engine::{Conn, StoreError, values};

/// Handoffs of one state that are looked at, at each consumer; among the failed are those that a person has settled.
pub const LOOKED_AT_MAX: u32 = 1_000;

/// A handoff that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingHandoff {
    /// The receipt.
    pub receipt: ReceiptId,
    /// `failed` or `uncertain`.
    pub state: State,
    /// Claims so far.
    pub attempt: u32,
    /// How the last attempt ended; `None` when there was none.
    pub outcome: Option<Outcome>,
    /// The note or error that the application gave with it.
    pub note: Option<String>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// `envelope` while the receipt waits for a repair.
    pub reason: Option<String>,
    /// The event's type.
    pub event_type: Option<String>,
    /// The event's provider.
    pub provider: String,
}

/// The newest handoffs of a consumer that wait for a person, at most `limit`, of 1,000 that are looked at; none for
/// a state in which nobody waits for one.
///
/// # Errors
/// What the database ran into.
pub async fn waiting_for_a_person(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    consumer: ConsumerId,
    state: State,
    limit: u32,
) -> Result<Vec<WaitingHandoff>, StoreError> {
    let limit = limit.min(LOOKED_AT_MAX);
    let rows = match state {
        State::Failed => {
            conn.fetch_all(&sql::FAILURES_NEWEST, values![tenant, consumer, LOOKED_AT_MAX, limit]).await?
        }
        State::Uncertain => conn.fetch_all(&sql::UNCERTAIN_NEWEST, values![tenant, consumer, limit]).await?,
        State::Pending | State::Leased | State::Processed | State::Cancelled => return Ok(Vec::new()),
    };
    rows.iter()
        .map(|row| {
            let outcome = match row.text_or_null("outcome")? {
                Some(word) => Some(Outcome::from_word(&word).ok_or_else(|| row.broken("outcome"))?),
                None => None,
            };
            Ok(WaitingHandoff {
                receipt: ReceiptId(row.uuid("receipt_id")?),
                state,
                attempt: u32::try_from(row.int("attempt")?).map_err(|_| row.broken("attempt"))?,
                outcome,
                note: row.text_or_null("note")?,
                ended_at: row.time_or_null("ended_at")?,
                reason: row.text_or_null("reason")?,
                event_type: row.text_or_null("type")?,
                provider: row.text("provider")?,
            })
        })
        .collect()
}

/// Where a receipt stands at one consumer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The receipt.
    pub receipt: ReceiptId,
    /// The consumer's name.
    pub consumer: String,
    /// The handoff's state.
    pub state: State,
    /// Whether a person settled it.
    pub settled: bool,
}

/// Where some receipts stand, at every consumer there was.
///
/// # Errors
/// What the database ran into.
pub async fn states_of_receipts(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    receipts: &[ReceiptId],
) -> Result<Vec<Standing>, StoreError> {
    if receipts.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<Uuid> = receipts.iter().map(|id| id.0).collect();
    let rows = conn.fetch_all(&sql::STATES_OF_RECEIPTS, values![tenant, ids]).await?;
    rows.iter()
        .map(|row| {
            Ok(Standing {
                receipt: ReceiptId(row.uuid("receipt_id")?),
                consumer: row.text("name")?,
                state: State::from_code(row.int("state")?).ok_or_else(|| row.broken("state"))?,
                settled: row.time_or_null("settled_at")?.is_some(),
            })
        })
        .collect()
}
