//! Figures for people and for the operator: sums of counters that the writes keep, and one index seek
//! a consumer for what waits longest. No row of an event is counted here.

use std::collections::HashMap;

use restante_core::id::{ConsumerId, EndpointId, ReceiptId, TenantId, uuid_v7_time};
use restante_core::time::Timestamp;
use uuid::Uuid;

use crate::engine::sql::statements;
use crate::engine::{Conn, Row, StoreError, values};

mod ages;
mod course;
mod endpoints;
#[cfg(test)]
mod tests;

pub use ages::{AgeCount, COUNTED_MAX, pending_ages};
pub use course::{Counted, Grain, course};
pub use endpoints::{EndpointSeen, endpoint_seen, endpoints_seen};

/// Microseconds of a minute and of an hour.
const MINUTE: i64 = 60_000_000;
const HOUR: i64 = 3_600_000_000;
/// Endpoints that figures are given of, the newest ones.
const ENDPOINTS_MAX: u32 = 1_000;
/// Consumers of the whole instance that the oldest pending event is looked for at.
const CONSUMERS_ACROSS_MAX: u32 = 10_000;

/// Counters by their subject (an endpoint or a consumer) and metric.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counters(HashMap<Uuid, HashMap<String, i64>>);

impl Counters {
    /// A counter; nothing counted is zero, and so is what can't be less.
    pub fn get(&self, subject: Uuid, metric: &str) -> u64 {
        self.0
            .get(&subject)
            .and_then(|metrics| metrics.get(metric))
            .map_or(0, |count| u64::try_from(*count).unwrap_or(0))
    }

    /// The counters of a subject whose metric begins so, with the rest of the metric's name.
    pub fn with_prefix<'a>(
        &'a self,
        subject: Uuid,
        prefix: &'a str,
    ) -> impl Iterator<Item = (&'a str, u64)> + 'a {
        self.0.get(&subject).into_iter().flatten().filter_map(move |(metric, count)| {
            Some((metric.strip_prefix(prefix)?, u64::try_from(*count).ok()?))
        })
    }
}

/// What is known of a tenant's consumer now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsumerPending {
    /// Its id.
    pub id: ConsumerId,
    /// Its name.
    pub name: String,
    /// When its oldest pending event was received, to the millisecond.
    pub oldest: Option<Timestamp>,
}

/// What waits in the whole instance, without a word about whom it belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Handoffs that are pending.
    pub pending: u64,
    /// Handoffs that are leased.
    pub leased: u64,
    /// Handoffs that wait for a person.
    pub failed: u64,
    /// Handoffs whose remote effect is unknown.
    pub uncertain: u64,
    /// When the oldest pending event was received, at the consumers that were looked at.
    pub oldest: Option<Timestamp>,
}

statements! {
    // The minutes up to the first full hour, then hours: exact to the minute, and few rows.
    /// What was counted since a moment.
    COUNTERS_SINCE = both
        "SELECT subject, metric, CAST(SUM(count) AS BIGINT) AS count FROM (
            SELECT subject, metric, count FROM rollups WHERE tenant_id = $1 AND grain = 1 AND at >= $2 AND at < $3
            UNION ALL
            SELECT subject, metric, count FROM rollups WHERE tenant_id = $1 AND grain = 2 AND at >= $3) AS found
            GROUP BY subject, metric";

    /// What is now.
    GAUGES = both
        "SELECT subject, metric, CAST(SUM(count) AS BIGINT) AS count FROM rollups
            WHERE tenant_id = $1 AND grain = 0 AND at = 0 GROUP BY subject, metric";

    /// The tenant's endpoints.
    ENDPOINTS_OF_FIGURES = both
        "SELECT id, provider FROM endpoints WHERE tenant_id = $1 AND deleted_at IS NULL ORDER BY id DESC LIMIT $2";

    /// The tenant's consumers with what waits longest at each.
    CONSUMERS_PENDING = both
        "SELECT c.id, c.name, (SELECT h.receipt_id FROM handoffs AS h WHERE h.tenant_id = c.tenant_id
            AND h.consumer_id = c.id AND h.state = 0 ORDER BY h.receipt_id LIMIT 1) AS oldest
            FROM consumers AS c WHERE c.tenant_id = $1 AND c.deleted_at IS NULL ORDER BY c.id DESC";

    /// The tenant's consumers.
    CONSUMERS_OF_FIGURES = both
        "SELECT id FROM consumers WHERE tenant_id = $1 AND deleted_at IS NULL";

    /// What waits longest at any consumer.
    CONSUMERS_PENDING_ACROSS = across_tenants "the operator's figures are of the whole instance" both
        "SELECT (SELECT h.receipt_id FROM handoffs AS h WHERE h.tenant_id = c.tenant_id
            AND h.consumer_id = c.id AND h.state = 0 ORDER BY h.receipt_id LIMIT 1) AS oldest
            FROM consumers AS c WHERE c.deleted_at IS NULL LIMIT $1";

    /// What is now, of all tenants together.
    GAUGES_ACROSS = across_tenants "the operator's figures are of the whole instance" both
        "SELECT r.metric, CAST(SUM(r.count) AS BIGINT) AS count FROM tenants AS t
            JOIN rollups AS r ON r.tenant_id = t.id AND r.grain = 0 AND r.at = 0 GROUP BY r.metric";
}

/// Every statement of this folder.
#[cfg(test)]
pub(crate) fn all_statements() -> impl Iterator<Item = &'static crate::engine::Sql> {
    [ALL, ages::ALL, course::ALL, endpoints::ALL].into_iter().flatten().copied()
}

/// What was counted of a tenant since a moment, rounded down to its minute.
///
/// # Errors
/// What the database ran into.
pub async fn counters_since(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    since: Timestamp,
) -> Result<Counters, StoreError> {
    let minute = since.micros().div_euclid(MINUTE) * MINUTE;
    let hour = minute.saturating_add(HOUR - 1).div_euclid(HOUR) * HOUR;
    counters(&conn.fetch_all(&COUNTERS_SINCE, values![tenant, minute, hour]).await?)
}

/// How many handoffs of each consumer of a tenant are in which state now.
///
/// # Errors
/// What the database ran into.
pub async fn gauges(conn: &mut Conn<'_>, tenant: TenantId) -> Result<Counters, StoreError> {
    counters(&conn.fetch_all(&GAUGES, values![tenant]).await?)
}

fn counters(rows: &[Row]) -> Result<Counters, StoreError> {
    let mut counters = Counters::default();
    for row in rows {
        let metrics = counters.0.entry(row.uuid("subject")?).or_default();
        metrics.insert(row.text("metric")?, row.int("count")?);
    }
    Ok(counters)
}

/// The tenant's endpoints, newest first, at most 1,000, each with its provider.
///
/// # Errors
/// What the database ran into.
pub async fn endpoints(
    conn: &mut Conn<'_>,
    tenant: TenantId,
) -> Result<Vec<(EndpointId, String)>, StoreError> {
    let rows = conn.fetch_all(&ENDPOINTS_OF_FIGURES, values![tenant, ENDPOINTS_MAX]).await?;
    rows.iter().map(|row| Ok((EndpointId(row.uuid("id")?), row.text("provider")?))).collect()
}

/// The tenant's consumers, newest first, each with its oldest pending event.
///
/// # Errors
/// What the database ran into.
pub async fn consumers(conn: &mut Conn<'_>, tenant: TenantId) -> Result<Vec<ConsumerPending>, StoreError> {
    let rows = conn.fetch_all(&CONSUMERS_PENDING, values![tenant]).await?;
    rows.iter()
        .map(|row| {
            Ok(ConsumerPending {
                id: ConsumerId(row.uuid("id")?),
                name: row.text("name")?,
                oldest: received(row)?,
            })
        })
        .collect()
}

/// The ids of the tenant's consumers.
///
/// # Errors
/// What the database ran into.
pub async fn consumers_named(conn: &mut Conn<'_>, tenant: TenantId) -> Result<Vec<ConsumerId>, StoreError> {
    let rows = conn.fetch_all(&CONSUMERS_OF_FIGURES, values![tenant]).await?;
    rows.iter().map(|row| Ok(ConsumerId(row.uuid("id")?))).collect()
}

/// A receipt's id holds the time at which it was received.
fn received(row: &Row) -> Result<Option<Timestamp>, StoreError> {
    Ok(row.uuid_or_null("oldest")?.map(|id| uuid_v7_time(ReceiptId(id).0)))
}

/// What waits in the whole instance: for the operator's metrics alone.
///
/// # Errors
/// What the database ran into.
pub async fn waiting(conn: &mut Conn<'_>) -> Result<Waiting, StoreError> {
    let mut waiting = Waiting::default();
    for row in conn.fetch_all(&GAUGES_ACROSS, values![]).await? {
        let count = u64::try_from(row.int("count")?).unwrap_or(0);
        match row.text("metric")?.as_str() {
            "pending" => waiting.pending = count,
            "leased" => waiting.leased = count,
            "failed" => waiting.failed = count,
            "uncertain" => waiting.uncertain = count,
            _ => {}
        }
    }
    for row in conn.fetch_all(&CONSUMERS_PENDING_ACROSS, values![CONSUMERS_ACROSS_MAX]).await? {
        let oldest = received(&row)?;
        waiting.oldest = match (waiting.oldest, oldest) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }
    Ok(waiting)
}
