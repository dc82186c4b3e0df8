//! Deleting a consumer: at once for everyone who would claim or hand off, and in steps for what it
//! still held, so that a million pending handoffs don't hold up the tenant's commits.

use restante_core::handoff::{Outcome, State, is_cancelled_with_consumer};
use restante_core::id::{ConsumerId, TenantId};

use super::backfill::consumer_of_row;
use super::{ConsumerRecord, sql};
use crate::control::tenants;
use crate::engine::{Conn, StoreError, values};
use crate::handoffs;

/// Handoffs that one step cancels.
const STEP_HANDOFFS: u32 = 500;

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CancelStep {
    /// Handoffs that it cancelled.
    pub cancelled: u64,
    /// Nothing is left to do.
    pub done: bool,
}

/// Deletes a consumer; `false` when someone else did. Its history stays; what it still held is
/// cancelled by [`write_cancel_step`].
///
/// # Errors
/// What the database ran into.
pub async fn delete(conn: &mut Conn<'_>, consumer: &ConsumerRecord) -> Result<bool, StoreError> {
    tenants::config_changed(conn, consumer.tenant).await?;
    let now = conn.now().await?;
    let values = values![consumer.tenant, consumer.id, now];
    Ok(conn.execute(&sql::CONSUMER_DELETE, values).await? == 1)
}

/// Deleted consumers of any tenant that have steps left.
///
/// # Errors
/// What the database ran into.
pub async fn unfinished_removals(
    conn: &mut Conn<'_>,
    limit: u32,
) -> Result<Vec<(TenantId, ConsumerId)>, StoreError> {
    conn.fetch_all(&sql::CONSUMERS_TO_CANCEL, values![limit]).await?.iter().map(consumer_of_row).collect()
}

/// Cancels some of what a deleted consumer still holds.
///
/// # Errors
/// What the database ran into; then the step will be done again.
pub async fn write_cancel_step(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    consumer: ConsumerId,
) -> Result<CancelStep, StoreError> {
    let mut cancelled = 0;
    for state in State::ALL.iter().copied().filter(|state| is_cancelled_with_consumer(*state)) {
        let held = handoffs::held_in_state(conn, tenant, consumer, state, STEP_HANDOFFS).await?;
        cancelled += held.len() as u64;
        let ends = held
            .into_iter()
            .map(|handoff| handoffs::End {
                outcome: (state == State::Leased).then_some(Outcome::Cancelled),
                state: State::Cancelled,
                due_at: None,
                note: None,
                remote_operation_id: None,
                handoff,
            })
            .collect();
        handoffs::end(conn, tenant, consumer, ends).await?;
    }
    Ok(CancelStep { cancelled, done: cancelled < u64::from(STEP_HANDOFFS) })
}
