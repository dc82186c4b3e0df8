//! Leases that have run out: the event is due again, or failed when that was its last attempt. Each
//! claim does this for its own consumer first; a sweep does it for consumers that nobody claims of.

use restante_core::handoff::{self, Change, State};
use restante_core::id::{ConsumerId, TenantId};

use super::end::{End, Held, end};
use super::sql;
use crate::engine::{Conn, StoreError, values};

/// Leases that one transaction ends.
const LEASES_MAX: u32 = 500;

/// What became of the leases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Expired {
    /// Events that are due again.
    pub pending: u64,
    /// Events whose last attempt that was.
    pub failed: u64,
}

/// Ends leases of a consumer that have run out, up to 500 of them.
///
/// # Errors
/// What the database ran into.
pub async fn expire(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    consumer: ConsumerId,
    max_attempts: u32,
) -> Result<Expired, StoreError> {
    let now = conn.now().await?;
    let mut expired = Expired::default();
    let mut ends = Vec::new();
    for row in conn.fetch_all(&sql::LEASES_RUN_OUT, values![tenant, consumer, now, LEASES_MAX]).await? {
        let held = Held::read(&row)?;
        let lease = held.lease.as_ref().ok_or_else(|| row.broken("lease_hash"))?;
        let Some(Change::End { outcome, state, due_at }) =
            handoff::expire(lease.expires_at, held.tries, max_attempts, now)
        else {
            continue;
        };
        match state {
            State::Failed => expired.failed += 1,
            _ => expired.pending += 1,
        }
        ends.push(End {
            handoff: held,
            outcome: Some(outcome),
            state,
            due_at,
            remote_operation_id: None,
            note: None,
        });
    }
    end(conn, tenant, consumer, ends).await?;
    Ok(expired)
}

/// Consumers of any tenant with leases that have run out, and their `max_attempts`.
///
/// # Errors
/// What the database ran into.
pub async fn with_run_out_leases(
    conn: &mut Conn<'_>,
    limit: u32,
) -> Result<Vec<(TenantId, ConsumerId, u32)>, StoreError> {
    let now = conn.now().await?;
    let rows = conn.fetch_all(&sql::CONSUMERS_WITH_RUN_OUT_LEASES, values![now, limit]).await?;
    rows.iter()
        .map(|row| {
            let max_attempts =
                u32::try_from(row.int("max_attempts")?).map_err(|_| row.broken("max_attempts"))?;
            Ok((TenantId(row.uuid("tenant_id")?), ConsumerId(row.uuid("id")?), max_attempts))
        })
        .collect()
}
