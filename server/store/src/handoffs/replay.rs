//! Replay: a person or an application makes handoffs of one receipt pending again. Who, when and why
//! are kept in the same transaction.

use restante_core::handoff::{self, Replayable, Replayed, State};
use restante_core::id::{ConsumerId, EndpointId, ReceiptId, ReplayId, TenantId};
use restante_core::problem::Problem;
use restante_core::time::Timestamp;

use super::end::Held;
use super::record::HISTORY_MAX;
use super::settle::{SETTLED, is_settled};
use super::sql;
use crate::consumers::{self, ConsumerRecord};
use crate::engine::{Conn, Row, StoreError, values};
use crate::rollups::{Lane, Tally};

/// A replay to be made.
#[derive(Debug, Clone)]
pub struct NewReplay {
    /// Its id.
    pub id: ReplayId,
    /// What is replayed.
    pub receipt: ReceiptId,
    /// Who asked: `key_…` or `usr_…`.
    pub actor: String,
    /// Why, in their words.
    pub reason: Option<String>,
}

/// A replay that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayRecord {
    /// Its id.
    pub id: ReplayId,
    /// When.
    pub at: Timestamp,
    /// Who asked.
    pub actor: String,
    /// Why.
    pub reason: Option<String>,
    /// The name of the consumer that was named; `None` for all.
    pub consumer: Option<String>,
}

/// Makes a receipt pending for one consumer, also when it never had it, or without one for each that
/// had it or whose filter matches it. A leased handoff stays as it is. Gives the consumers that have
/// something to claim now.
///
/// # Errors
/// Not found, gone or a conflict, by the rules of `core::handoff::replay`; what the database ran into.
pub async fn replay(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    new: NewReplay,
    consumer: Option<ConsumerRecord>,
) -> Result<Vec<ConsumerId>, StoreError> {
    let row = conn.fetch_optional(&sql::RECEIPT_TO_REPLAY, values![tenant, new.receipt]).await?;
    let row = row.ok_or_else(|| Problem::not_found("event"))?;
    let receipt = Replayable {
        payload_stored: row.text("payload_state")? == "stored",
        awaits_repair: row.text_or_null("reason")?.is_some(),
    };
    handoff::replay(None, receipt)?;
    let named = consumer.as_ref().map(|consumer| consumer.id);
    let mut consumers = match consumer {
        Some(consumer) => vec![consumer],
        None => consumers::all(conn, tenant).await?,
    };
    // Everyone locks handoffs in this order.
    consumers.sort_by_key(|consumer| consumer.id);
    let now = conn.now().await?;
    let mut tally = Tally::default();
    let mut pending = Vec::new();
    for consumer in consumers {
        let values = values![tenant, consumer.id, new.receipt];
        let found = conn.fetch_optional(&sql::HANDOFF, values).await?;
        let state = found.as_ref().map(Held::read).transpose()?.map(|held| held.state);
        let wants = named.is_some() || state.is_some() || matches(&consumer, &row)?;
        if !wants || handoff::replay(state, receipt)? == Replayed::StaysLeased {
            continue;
        }
        let changed = match state {
            Some(state) => {
                tally.shift(tenant, consumer.id.0, state.as_str(), -1);
                if found.as_ref().map(is_settled).transpose()?.unwrap_or(false) {
                    tally.shift(tenant, consumer.id.0, SETTLED, -1);
                }
                let values = values![tenant, consumer.id, new.receipt, i64::from(state.code()), now, new.id];
                conn.execute(&sql::HANDOFF_REPLAY, values).await?
            }
            None => {
                let values = values![tenant, consumer.id, new.receipt, now, new.id];
                conn.execute(&sql::HANDOFF_INSERT, values).await?
            }
        };
        if changed != 1 {
            return Err(StoreError::Unavailable {
                statement: sql::HANDOFF_REPLAY.name,
                detail: "a handoff changed at this very moment".to_owned(),
            });
        }
        tally.shift(tenant, consumer.id.0, State::Pending.as_str(), 1);
        pending.push(consumer.id);
    }
    // What changed nothing is no replay.
    if !pending.is_empty() {
        let values = values![tenant, new.id, new.receipt, named, now, new.actor, new.reason];
        conn.execute(&sql::REPLAY_INSERT, values).await?;
    }
    tally.write(conn, Lane::Other).await?;
    Ok(pending)
}

fn matches(consumer: &ConsumerRecord, receipt: &Row) -> Result<bool, StoreError> {
    let endpoint = EndpointId(receipt.uuid("endpoint_id")?);
    let event_type = receipt.text_or_null("type")?;
    Ok(consumer.filter.matches(endpoint, &receipt.text("provider")?, event_type.as_deref()))
}

/// The newest replays of a receipt, at most 200.
///
/// # Errors
/// What the database ran into.
pub async fn replays_of_receipt(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    receipt: ReceiptId,
) -> Result<Vec<ReplayRecord>, StoreError> {
    let rows = conn.fetch_all(&sql::REPLAYS_OF_RECEIPT, values![tenant, receipt, HISTORY_MAX]).await?;
    rows.iter().map(read).collect()
}

/// Replays by their ids.
///
/// # Errors
/// What the database ran into.
pub async fn replays_by_id(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    ids: &[ReplayId],
) -> Result<Vec<ReplayRecord>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<uuid::Uuid> = ids.iter().map(|id| id.0).collect();
    conn.fetch_all(&sql::REPLAYS_BY_ID, values![tenant, ids]).await?.iter().map(read).collect()
}

/// The last replay of each of some receipts; a receipt that was never replayed is left out.
///
/// # Errors
/// What the database ran into.
pub async fn replays_latest(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    receipts: &[ReceiptId],
) -> Result<Vec<(ReceiptId, ReplayRecord)>, StoreError> {
    if receipts.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<uuid::Uuid> = receipts.iter().map(|id| id.0).collect();
    let rows = conn.fetch_all(&sql::REPLAYS_LATEST, values![tenant, ids]).await?;
    rows.iter().map(|row| Ok((ReceiptId(row.uuid("receipt_id")?), read(row)?))).collect()
}

fn read(row: &Row) -> Result<ReplayRecord, StoreError> {
    Ok(ReplayRecord {
        id: ReplayId(row.uuid("id")?),
        at: row.time("at")?,
        actor: row.text("actor")?,
        reason: row.text_or_null("reason")?,
        consumer: row.text_or_null("name")?,
    })
}
