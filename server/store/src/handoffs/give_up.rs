//! Giving up: retention ends what nobody has processed for as long as a person has allowed it, with a record of
//! each; and an erasure ends all that was still to be done about an event.

use restante_core::handoff::{Outcome, State};
use restante_core::id::{ConsumerId, ReceiptId, TenantId};
use restante_core::time::Timestamp;
use uuid::Uuid;

use super::end::{End, Held, end};
use super::settle::SETTLED;
use super::sql;
use crate::engine::{Conn, StoreError, values};
use crate::retention::RETENTION_OPEN_LOCKED;
use crate::rollups::{Lane, Tally};

/// Who stands in the record of what retention gives up.
const RETENTION: &str = "retention";
const NOTE: &str = "Nobody processed it within expire_unprocessed_days, so retention gave it up.";

/// Gives up the handoffs of events that are pending, failed or uncertain; a lease is left alone. Gives how many.
///
/// # Errors
/// What the database ran into.
pub(crate) async fn give_up(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    receipts: Vec<Uuid>,
) -> Result<u64, StoreError> {
    settle_open(conn, tenant, receipts, RETENTION, NOTE, false).await
}

/// Ends every handoff of events that are erased, leases too: whoever has one is answered `expired`. Gives how many.
///
/// # Errors
/// What the database ran into.
pub(crate) async fn end_all(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    receipts: Vec<Uuid>,
    actor: &str,
    note: &str,
) -> Result<u64, StoreError> {
    settle_open(conn, tenant, receipts, actor, note, true).await
}

async fn settle_open(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    receipts: Vec<Uuid>,
    actor: &str,
    note: &str,
    leases_too: bool,
) -> Result<u64, StoreError> {
    if receipts.is_empty() {
        return Ok(0);
    }
    let now = conn.now().await?;
    let mut tally = Tally::default();
    let mut ended = 0;
    for row in conn.fetch_all(&RETENTION_OPEN_LOCKED, values![tenant, receipts]).await? {
        let consumer = ConsumerId(row.uuid("consumer_id")?);
        let held = Held::read(&row)?;
        let (receipt, before) = (held.receipt, held.state);
        let after = match before {
            State::Leased if !leases_too => continue,
            // What waited for a person stays failed, and nobody waits for it any more.
            State::Failed | State::Uncertain => State::Failed,
            _ => State::Cancelled,
        };
        if before == State::Leased {
            let one = End {
                handoff: held,
                outcome: Some(Outcome::Cancelled),
                state: after,
                due_at: None,
                remote_operation_id: None,
                note: None,
            };
            end(conn, tenant, consumer, vec![one]).await?;
        } else {
            let values =
                values![tenant, consumer, receipt, i64::from(before.code()), i64::from(after.code()), now];
            conn.execute(&sql::HANDOFF_SETTLE, values).await?;
            tally.shift(tenant, consumer.0, before.as_str(), -1);
            tally.shift(tenant, consumer.0, after.as_str(), 1);
            if after == State::Failed {
                tally.shift(tenant, consumer.0, SETTLED, 1);
            }
        }
        let values = values![
            tenant,
            record_id(receipt, consumer, now),
            receipt,
            consumer,
            now,
            actor,
            i64::from(after.code()),
            note
        ];
        conn.execute(&sql::SETTLEMENT_INSERT, values).await?;
        ended += 1;
    }
    tally.write(conn, Lane::Other).await?;
    Ok(ended)
}

/// An id in the order of time that two records of one moment don't share: the receipt and the consumer are in it.
fn record_id(receipt: ReceiptId, consumer: ConsumerId, now: Timestamp) -> Uuid {
    let mixed = (receipt.0.as_u128() ^ consumer.0.as_u128().rotate_left(40)).to_be_bytes();
    let mut random = [0; 10];
    random.copy_from_slice(&mixed[6..]);
    restante_core::id::uuid_v7(now, random)
}
