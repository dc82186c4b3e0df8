//! The lives of what is no event: counters, samples of refusals, invitations, lines of logs, finished replays of many.
//! Each step removes a bounded stretch from the old end.

use restante_core::id::{TenantId, uuid_v7_floor};
use restante_core::time::Timestamp;

use crate::engine::sql::statements;
use crate::engine::{Conn, StoreError, values};

/// Before which moments these things go.
#[derive(Debug, Clone, Copy)]
pub struct OldRows {
    /// Samples of refused requests.
    pub refusals: Timestamp,
    /// Invitations that ended.
    pub invites: Timestamp,
    /// Lines of the audit log; `None` while the tenant is held.
    pub log: Option<Timestamp>,
    /// Replays of many that have ended.
    pub replay_jobs: Timestamp,
}

/// Microseconds of the stretch of counters that goes at once.
const MINUTES_STRETCH: i64 = 3_600_000_000;
const HOURS_STRETCH: i64 = 24 * 3_600_000_000;

statements! {
    /// The oldest counter of a grain.
    ROLLUP_OLDEST = both
        "SELECT at FROM rollups WHERE tenant_id = $1 AND grain = $2 ORDER BY at LIMIT 1";

    /// Removes the counters of a stretch.
    ROLLUPS_DELETE = both
        "DELETE FROM rollups WHERE tenant_id = $1 AND grain = $2 AND at < $3";

    /// Removes old samples of refusals, of which each endpoint has a few; not what a hold covers: the tenant, the
    /// endpoint, or the event that the request became.
    REFUSALS_OLD = both
        "DELETE FROM refusals WHERE tenant_id = $1 AND received_at < $2 AND NOT EXISTS
            (SELECT 1 FROM retention_holds AS h WHERE h.tenant_id = $1 AND h.released_at IS NULL
                AND ((h.endpoint_id IS NULL AND h.receipt_id IS NULL) OR h.receipt_id = refusals.receipt_id
                    OR (h.receipt_id IS NULL AND h.endpoint_id = refusals.endpoint_id)))";

    /// Removes the way from the links of old invitations.
    INVITE_LOOKUPS_OLD = both
        "DELETE FROM lookups WHERE tenant_id = $1 AND hash IN
            (SELECT hash FROM invites WHERE tenant_id = $1 AND expires_at < $2)";

    /// Removes invitations that ended long ago, accepted or not.
    INVITES_OLD = both
        "DELETE FROM invites WHERE tenant_id = $1 AND expires_at < $2";

    /// The last of a stretch of old lines of a tenant's log.
    AUDIT_OLD = both
        "SELECT id FROM audit_log WHERE tenant_id = $1 AND id < $2 ORDER BY id LIMIT $3";

    /// Removes lines of a tenant's log up to one.
    AUDIT_DELETE = both
        "DELETE FROM audit_log WHERE tenant_id = $1 AND id <= $2";

    /// The last of a stretch of old lines of the instance's log.
    INSTANCE_AUDIT_OLD = both
        "SELECT id FROM instance_audit_log WHERE id < $1 ORDER BY id LIMIT $2";

    /// Removes lines of the instance's log up to one.
    INSTANCE_AUDIT_DELETE = both
        "DELETE FROM instance_audit_log WHERE id <= $1";

    /// Removes replays of many that ended long ago.
    REPLAY_JOBS_OLD = both
        "DELETE FROM replay_jobs WHERE tenant_id = $1 AND finished_at IS NOT NULL AND id < $2";
}

/// Lines of a log that go at once.
const LINES_AT_ONCE: u32 = 1_000;

/// Removes a stretch of each kind of a tenant. Gives how many rows went, and whether something is left.
///
/// # Errors
/// What the database ran into.
pub async fn remove_old_of_tenant(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    old: OldRows,
) -> Result<(u64, bool), StoreError> {
    let (mut removed, mut left) = (0, false);
    removed += conn.execute(&INVITE_LOOKUPS_OLD, values![tenant, old.invites]).await?;
    removed += conn.execute(&INVITES_OLD, values![tenant, old.invites]).await?;
    removed += conn.execute(&REFUSALS_OLD, values![tenant, old.refusals]).await?;
    removed += conn.execute(&REPLAY_JOBS_OLD, values![tenant, uuid_v7_floor(old.replay_jobs)]).await?;
    if let Some(before) = old.log {
        let values = values![tenant, uuid_v7_floor(before), LINES_AT_ONCE];
        let rows = conn.fetch_all(&AUDIT_OLD, values).await?;
        if let Some(last) = rows.last() {
            removed += conn.execute(&AUDIT_DELETE, values![tenant, last.uuid("id")?]).await?;
            left |= rows.len() == LINES_AT_ONCE as usize;
        }
    }
    Ok((removed, left))
}

/// Removes a stretch of a tenant's counters: those by the minute from before one moment, those by the hour from before
/// another. Gives how many of each went, and whether something is left.
///
/// # Errors
/// What the database ran into.
pub async fn remove_old_counters(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    minutes: Timestamp,
    hours: Timestamp,
) -> Result<([u64; 2], bool), StoreError> {
    let (mut removed, mut left) = ([0, 0], false);
    let grains = [(1_i64, minutes, MINUTES_STRETCH), (2, hours, HOURS_STRETCH)];
    for (removed, (grain, before, stretch)) in removed.iter_mut().zip(grains) {
        let Some(row) = conn.fetch_optional(&ROLLUP_OLDEST, values![tenant, grain]).await? else { continue };
        let oldest = row.int("at")?;
        if oldest >= before.micros() {
            continue;
        }
        let until = oldest.saturating_add(stretch).min(before.micros());
        *removed += conn.execute(&ROLLUPS_DELETE, values![tenant, grain, until]).await?;
        left |= until < before.micros();
    }
    Ok((removed, left))
}

/// Removes a stretch of the instance's log. Gives how many lines went, and whether something is left.
///
/// # Errors
/// What the database ran into.
pub async fn remove_old_instance_log(
    conn: &mut Conn<'_>,
    before: Timestamp,
) -> Result<(u64, bool), StoreError> {
    let rows = conn.fetch_all(&INSTANCE_AUDIT_OLD, values![uuid_v7_floor(before), LINES_AT_ONCE]).await?;
    let Some(last) = rows.last() else { return Ok((0, false)) };
    let removed = conn.execute(&INSTANCE_AUDIT_DELETE, values![last.uuid("id")?]).await?;
    Ok((removed, rows.len() == LINES_AT_ONCE as usize))
}
