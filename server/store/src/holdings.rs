//! What a tenant holds, as counters that each commit keeps: its events (receipts, those among them whose
//! payload is gone) and the bytes of its sealed payloads. Limits and lists of tenants read them, so that
//! nobody counts rows. Who removes receipts or payloads takes them off again in the same transaction.

use restante_core::id::TenantId;

use crate::engine::sql::statements;
use crate::engine::{Conn, StoreError, values};
use crate::rollups::Tally;

/// Receipts that are there. Its subject is the tenant.
const EVENTS: &str = "events_held";
/// Bytes of payloads that are there, as they are sealed. Its subject is the tenant.
const PAYLOAD_BYTES: &str = "payload_bytes";

/// What a tenant holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Holdings {
    /// Events, those among them whose payload is gone.
    pub events: u64,
    /// Bytes of sealed payloads.
    pub payload_bytes: u64,
}

statements! {
    /// What a tenant holds.
    HOLDINGS = both
        "SELECT metric, CAST(SUM(count) AS BIGINT) AS count FROM rollups
            WHERE tenant_id = $1 AND grain = 0 AND at = 0 AND subject = $1 GROUP BY metric";
}

/// Counts receipts and bytes of payloads that came, or with a minus those that went.
pub(crate) fn shift(tally: &mut Tally, tenant: TenantId, receipts: i64, payload_bytes: i64) {
    for (metric, by) in [(EVENTS, receipts), (PAYLOAD_BYTES, payload_bytes)] {
        if by != 0 {
            tally.shift(tenant, tenant.0, metric, by);
        }
    }
}

/// What a tenant holds now.
///
/// # Errors
/// What the database ran into.
pub async fn of_tenant(conn: &mut Conn<'_>, tenant: TenantId) -> Result<Holdings, StoreError> {
    let mut found = Holdings::default();
    for row in conn.fetch_all(&HOLDINGS, values![tenant]).await? {
        let count = u64::try_from(row.int("count")?).unwrap_or(0);
        match row.text("metric")?.as_str() {
            EVENTS => found.events = count,
            PAYLOAD_BYTES => found.payload_bytes = count,
            _ => {}
        }
    }
    Ok(found)
}
