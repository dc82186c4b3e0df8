//! How old what waits at a consumer is. Each range of ages is counted up to a bound on an index, so
//! that a million waiting events cost no more than a few thousand.

use restante_core::id::{ConsumerId, TenantId, uuid_v7_floor};
use restante_core::time::Timestamp;
use uuid::Uuid;

use crate::engine::sql::statements;
use crate::engine::{Conn, StoreError, values};

/// Handoffs that are counted in one range at most.
pub const COUNTED_MAX: u64 = 500;

/// How many wait in one range of ages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgeCount {
    /// How many were counted, at most [`COUNTED_MAX`].
    pub count: u64,
    /// Whether there may be more.
    pub more: bool,
}

statements! {
    // The state stands in the text, or the planner would not find its index.
    /// How many of a span of time are pending at a consumer, up to a bound.
    PENDING_BETWEEN = both
        "SELECT CAST(COUNT(*) AS BIGINT) AS count FROM (
            SELECT receipt_id FROM handoffs WHERE tenant_id = $1 AND consumer_id = $2 AND state = 0
            AND receipt_id >= $3 AND receipt_id < $4 LIMIT $5) AS found";
}

/// How many handoffs of a consumer are pending by when their events were received: those since
/// `bounds[0]`, those between `bounds[1]` and `bounds[0]`, and so on; in the end all before the last.
/// The bounds go back in time.
///
/// # Errors
/// What the database ran into.
pub async fn pending_ages(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    consumer: ConsumerId,
    bounds: &[Timestamp],
) -> Result<Vec<AgeCount>, StoreError> {
    let mut until = Uuid::max();
    let mut ages = Vec::with_capacity(bounds.len() + 1);
    for from in bounds.iter().copied().map(uuid_v7_floor).chain([Uuid::nil()]) {
        let limit = i64::try_from(COUNTED_MAX).unwrap_or(i64::MAX);
        let row =
            conn.fetch_optional(&PENDING_BETWEEN, values![tenant, consumer, from, until, limit]).await?;
        let count = row.map_or(Ok(0), |row| row.count("count"))?;
        ages.push(AgeCount { count, more: count >= COUNTED_MAX });
        until = from;
    }
    Ok(ages)
}
