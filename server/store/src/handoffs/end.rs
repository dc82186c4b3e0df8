//! The end of an attempt, whatever ended it: one row of `attempts`, the handoff in its next state,
//! and the counters moved. Also the end of a handoff that was never claimed.

use restante_core::handoff::{Outcome, State};
use restante_core::id::{ConsumerId, ReceiptId, TenantId};
use restante_core::time::Timestamp;

use super::sql;
use crate::engine::{Batch, Conn, Row, StoreError, values};
use crate::rollups::{Lane, Tally};

/// A handoff as it stands, locked.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    pub(crate) receipt: ReceiptId,
    pub(crate) state: State,
    pub(crate) attempt: u32,
    pub(crate) tries: u32,
    /// The lease, while there is one.
    pub(crate) lease: Option<HeldLease>,
}

/// A lease as it is stored.
#[derive(Debug, Clone)]
pub(crate) struct HeldLease {
    pub(crate) hash: Vec<u8>,
    pub(crate) claimed_at: Timestamp,
    pub(crate) expires_at: Timestamp,
    pub(crate) handler_version: Option<String>,
}

/// What becomes of a handoff.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) handoff: Held,
    /// How its attempt ended; `None` where there was none.
    pub(crate) outcome: Option<Outcome>,
    pub(crate) state: State,
    pub(crate) due_at: Option<Timestamp>,
    pub(crate) remote_operation_id: Option<String>,
    pub(crate) note: Option<String>,
}

impl Held {
    pub(super) fn read(row: &Row) -> Result<Self, StoreError> {
        let state = State::from_code(row.int("state")?).ok_or_else(|| row.broken("state"))?;
        let lease = match (state, row.blob_or_null("lease_hash")?) {
            (State::Leased, Some(hash)) => Some(HeldLease {
                hash,
                claimed_at: row.time("claimed_at")?,
                expires_at: row.time("lease_expires_at")?,
                handler_version: row.text_or_null("handler_version")?,
            }),
            _ => None,
        };
        let small = |column| row.int(column).and_then(|n| u32::try_from(n).map_err(|_| row.broken(column)));
        Ok(Self {
            receipt: ReceiptId(row.uuid("receipt_id")?),
            state,
            attempt: small("attempt")?,
            tries: small("tries")?,
            lease,
        })
    }
}

/// Some handoffs of a consumer that are pending or leased, locked; none for any other state.
pub(crate) async fn held_in_state(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    consumer: ConsumerId,
    state: State,
    limit: u32,
) -> Result<Vec<Held>, StoreError> {
    let statement = match state {
        State::Pending => &sql::HANDOFFS_PENDING,
        State::Leased => &sql::HANDOFFS_LEASED,
        State::Processed | State::Failed | State::Uncertain | State::Cancelled => return Ok(Vec::new()),
    };
    conn.fetch_all(statement, values![tenant, consumer, limit]).await?.iter().map(Held::read).collect()
}

/// Ends handoffs that the transaction has locked. All of them change, or it is an error.
pub(crate) async fn end(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    consumer: ConsumerId,
    ends: Vec<End>,
) -> Result<(), StoreError> {
    if ends.is_empty() {
        return Ok(());
    }
    let now = conn.now().await?;
    let mut tally = Tally::default();
    for End { handoff, outcome, state, .. } in &ends {
        tally.shift(tenant, consumer.0, handoff.state.as_str(), -1);
        tally.shift(tenant, consumer.0, state.as_str(), 1);
        if let Some(outcome) = outcome {
            tally.count(tenant, consumer.0, outcome.as_str(), now, 1);
        }
    }
    keep_attempts(conn, tenant, consumer, now, &ends).await?;
    let batch = Batch::new()
        .uuids(ends.iter().map(|_| tenant.0))
        .uuids(ends.iter().map(|_| consumer.0))
        .uuids(ends.iter().map(|end| end.handoff.receipt.0))
        .ints(ends.iter().map(|end| end.handoff.state.code().into()))
        .ints(ends.iter().map(|end| end.handoff.attempt.into()))
        .ints(ends.iter().map(|end| end.state.code().into()))
        .ints_or_null(ends.iter().map(|end| end.due_at.map(Timestamp::micros)));
    let changed = conn.execute_batch(&sql::HANDOFFS_END, batch).await?;
    if changed != ends.len() as u64 {
        return Err(StoreError::Unavailable {
            statement: sql::HANDOFFS_END.name,
            detail: "a handoff changed at this very moment".to_owned(),
        });
    }
    tally.write(conn, Lane::Other).await
}

async fn keep_attempts(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    consumer: ConsumerId,
    now: Timestamp,
    ends: &[End],
) -> Result<(), StoreError> {
    let ended: Vec<(&End, &HeldLease, Outcome)> =
        ends.iter().filter_map(|end| Some((end, end.handoff.lease.as_ref()?, end.outcome?))).collect();
    if ended.is_empty() {
        return Ok(());
    }
    let batch = Batch::new()
        .uuids(ended.iter().map(|_| tenant.0))
        .uuids(ended.iter().map(|_| consumer.0))
        .uuids(ended.iter().map(|(end, ..)| end.handoff.receipt.0))
        .ints(ended.iter().map(|(end, ..)| end.handoff.attempt.into()))
        .blobs(ended.iter().map(|(_, lease, _)| lease.hash.clone()))
        .ints(ended.iter().map(|(_, lease, _)| lease.claimed_at.micros()))
        .ints(ended.iter().map(|_| now.micros()))
        .texts(ended.iter().map(|(.., outcome)| outcome.as_str().to_owned()))
        .texts_or_null(ended.iter().map(|(_, lease, _)| lease.handler_version.clone()))
        .texts_or_null(ended.iter().map(|(end, ..)| end.remote_operation_id.clone()))
        .texts_or_null(ended.iter().map(|(end, ..)| end.note.clone()));
    conn.execute_batch(&sql::ATTEMPTS_INSERT, batch).await.map(|_| ())
}
