//! Settlement: a person says of a failed or uncertain handoff that it is done, or that it never will be.

use restante_core::handoff::{self, Settlement, State};
use restante_core::id::{ReceiptId, TenantId};
use restante_core::problem::Problem;
use restante_core::time::Timestamp;
use uuid::Uuid;

use super::end::Held;
use super::record::HISTORY_MAX;
use super::sql;
use crate::consumers::ConsumerRecord;
use crate::engine::{Conn, Row, StoreError, values};
use crate::rollups::{Lane, Tally};

/// A settlement to be made.
#[derive(Debug, Clone)]
pub struct NewSettlement {
    /// Its id, which sorts by time.
    pub id: Uuid,
    /// What is settled.
    pub receipt: ReceiptId,
    /// As what.
    pub settlement: Settlement,
    /// Who says so: `key_…` or `usr_…`.
    pub actor: String,
    /// Why, in their words.
    pub note: Option<String>,
}

/// A settlement that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettlementRecord {
    /// The consumer's name.
    pub consumer: String,
    /// When.
    pub at: Timestamp,
    /// Who said so.
    pub actor: String,
    /// Where the handoff went.
    pub state: State,
    /// Why.
    pub note: Option<String>,
}

/// The counter of what is failed and settled as that.
pub(super) const SETTLED: &str = "settled";

/// Whether a handoff that was found is failed and settled as that.
pub(super) fn is_settled(row: &Row) -> Result<bool, StoreError> {
    let failed = row.int("state")? == i64::from(State::Failed.code());
    Ok(failed && row.time_or_null("settled_at")?.is_some())
}

/// Settles the handoff of a receipt to a consumer.
///
/// # Errors
/// Not found where there is no handoff, a conflict where it waits for nobody; what the database ran into.
pub async fn settle(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    consumer: &ConsumerRecord,
    new: NewSettlement,
) -> Result<State, StoreError> {
    let now = conn.now().await?;
    let values = values![tenant, consumer.id, new.receipt];
    let row = conn.fetch_optional(&sql::HANDOFF, values).await?;
    let row = row.ok_or_else(|| Problem::not_found("handoff of this event to this consumer"))?;
    let held = Held::read(&row)?;
    let state = handoff::settle(held.state, new.settlement)?;
    let values =
        values![tenant, consumer.id, new.receipt, i64::from(held.state.code()), i64::from(state.code()), now];
    conn.execute(&sql::HANDOFF_SETTLE, values).await?;
    let code = i64::from(state.code());
    let values = values![tenant, new.id, new.receipt, consumer.id, now, new.actor, code, new.note];
    conn.execute(&sql::SETTLEMENT_INSERT, values).await?;
    let mut tally = Tally::default();
    tally.shift(tenant, consumer.id.0, held.state.as_str(), -1);
    tally.shift(tenant, consumer.id.0, state.as_str(), 1);
    // What is settled as failed stays failed and waits for nobody: counted, so that the rest is known.
    let before = is_settled(&row)?;
    tally.shift(tenant, consumer.id.0, SETTLED, i64::from(state == State::Failed) - i64::from(before));
    tally.write(conn, Lane::Other).await?;
    Ok(state)
}

/// The newest settlements of a receipt, at most 200.
///
/// # Errors
/// What the database ran into.
pub async fn settlements_of_receipt(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    receipt: ReceiptId,
) -> Result<Vec<SettlementRecord>, StoreError> {
    let rows = conn.fetch_all(&sql::SETTLEMENTS_OF_RECEIPT, values![tenant, receipt, HISTORY_MAX]).await?;
    rows.iter()
        .map(|row| {
            Ok(SettlementRecord {
                consumer: row.text("name")?,
                at: row.time("at")?,
                actor: row.text("actor")?,
                state: State::from_code(row.int("state")?).ok_or_else(|| row.broken("state"))?,
                note: row.text_or_null("note")?,
            })
        })
        .collect()
}
