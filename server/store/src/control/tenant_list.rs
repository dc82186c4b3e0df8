//! Tenants as administrators of the instance see them: with what they hold, how they are set, and how long
//! their oldest event waits. Amounts are counters and counts of what people make, never counts of events.

use restante_core::id::{ReceiptId, TenantId, uuid_v7_time};
use restante_core::tenant_limits::{Limited, PerLimit, TenantLimits};
use restante_core::time::Timestamp;

use super::tenant_limits;
use crate::engine::sql::statements;
use crate::engine::{Conn, Row, StoreError, values};

/// A tenant with its figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantFigures {
    /// Its id.
    pub id: TenantId,
    /// Its name in commands and URLs.
    pub slug: String,
    /// Its name for people.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// Whether it takes no events for now.
    pub suspended: bool,
    /// Since when.
    pub suspended_at: Option<Timestamp>,
    /// Why, in the words of who did it.
    pub suspended_because: Option<String>,
    /// Its limits.
    pub limits: TenantLimits,
    /// What it uses of each thing that can be limited, set or not. Rates are those of the last full minute.
    pub used: PerLimit,
    /// When its oldest pending event was received, to the millisecond.
    pub oldest_pending: Option<Timestamp>,
}

/// What comes behind every slug.
const AFTER_ALL: &str = "\u{10ffff}";
/// Microseconds of a minute.
const MINUTE: i64 = 60_000_000;

statements! {
    // The part between SELECT and FROM is that of the next statement.
    /// A page of tenants whose slugs lie in a span, by slug; all, or those that have limits.
    TENANT_FIGURES_PAGE = across_tenants "administrators look after every tenant" both
        "SELECT t.id, t.slug, t.name, t.created_at, t.suspended, t.suspended_at, t.suspended_because,
            q.deliveries_per_minute, q.endpoint_deliveries_per_minute, q.events_max, q.payload_bytes_max,
            q.endpoints_max, q.consumers_max, q.members_max,
            (SELECT CAST(SUM(r.count) AS BIGINT) FROM rollups AS r WHERE r.tenant_id = t.id AND r.grain = 0 AND r.at = 0
                AND r.subject = t.id AND r.metric = 'events_held') AS events,
            (SELECT CAST(SUM(r.count) AS BIGINT) FROM rollups AS r WHERE r.tenant_id = t.id AND r.grain = 0 AND r.at = 0
                AND r.subject = t.id AND r.metric = 'payload_bytes') AS payload_bytes,
            (SELECT CAST(SUM(r.count) AS BIGINT) FROM rollups AS r WHERE r.tenant_id = t.id AND r.grain = 1 AND r.at = $1
                AND r.metric = 'deliveries') AS deliveries,
            (SELECT CAST(MAX(busy.count) AS BIGINT) FROM (SELECT SUM(r.count) AS count FROM rollups AS r
                WHERE r.tenant_id = t.id AND r.grain = 1 AND r.at = $1 AND r.metric = 'deliveries' GROUP BY r.subject) AS busy)
                AS endpoint_deliveries,
            (SELECT COUNT(*) FROM endpoints AS e WHERE e.tenant_id = t.id AND e.deleted_at IS NULL) AS endpoints,
            (SELECT COUNT(*) FROM consumers AS c WHERE c.tenant_id = t.id AND c.deleted_at IS NULL) AS consumers,
            (SELECT COUNT(*) FROM members AS m WHERE m.tenant_id = t.id) AS members,
            (SELECT (SELECT h.receipt_id FROM handoffs AS h WHERE h.tenant_id = c.tenant_id AND h.consumer_id = c.id
                AND h.state = 0 ORDER BY h.receipt_id LIMIT 1) AS oldest FROM consumers AS c
                WHERE c.tenant_id = t.id AND c.deleted_at IS NULL ORDER BY oldest NULLS LAST LIMIT 1) AS oldest
            FROM tenants AS t LEFT JOIN tenant_limits AS q ON q.tenant_id = t.id
            WHERE t.deleted_at IS NULL AND t.slug > $2 AND t.slug >= $3 AND t.slug < $4
            AND ($5 = FALSE OR q.tenant_id IS NOT NULL) ORDER BY t.slug LIMIT $6";

    /// One tenant in the same form.
    TENANT_FIGURES = both
        "SELECT t.id, t.slug, t.name, t.created_at, t.suspended, t.suspended_at, t.suspended_because,
            q.deliveries_per_minute, q.endpoint_deliveries_per_minute, q.events_max, q.payload_bytes_max,
            q.endpoints_max, q.consumers_max, q.members_max,
            (SELECT CAST(SUM(r.count) AS BIGINT) FROM rollups AS r WHERE r.tenant_id = t.id AND r.grain = 0 AND r.at = 0
                AND r.subject = t.id AND r.metric = 'events_held') AS events,
            (SELECT CAST(SUM(r.count) AS BIGINT) FROM rollups AS r WHERE r.tenant_id = t.id AND r.grain = 0 AND r.at = 0
                AND r.subject = t.id AND r.metric = 'payload_bytes') AS payload_bytes,
            (SELECT CAST(SUM(r.count) AS BIGINT) FROM rollups AS r WHERE r.tenant_id = t.id AND r.grain = 1 AND r.at = $1
                AND r.metric = 'deliveries') AS deliveries,
            (SELECT CAST(MAX(busy.count) AS BIGINT) FROM (SELECT SUM(r.count) AS count FROM rollups AS r
                WHERE r.tenant_id = t.id AND r.grain = 1 AND r.at = $1 AND r.metric = 'deliveries' GROUP BY r.subject) AS busy)
                AS endpoint_deliveries,
            (SELECT COUNT(*) FROM endpoints AS e WHERE e.tenant_id = t.id AND e.deleted_at IS NULL) AS endpoints,
            (SELECT COUNT(*) FROM consumers AS c WHERE c.tenant_id = t.id AND c.deleted_at IS NULL) AS consumers,
            (SELECT COUNT(*) FROM members AS m WHERE m.tenant_id = t.id) AS members,
            (SELECT (SELECT h.receipt_id FROM handoffs AS h WHERE h.tenant_id = c.tenant_id AND h.consumer_id = c.id
                AND h.state = 0 ORDER BY h.receipt_id LIMIT 1) AS oldest FROM consumers AS c
                WHERE c.tenant_id = t.id AND c.deleted_at IS NULL ORDER BY oldest NULLS LAST LIMIT 1) AS oldest
            FROM tenants AS t LEFT JOIN tenant_limits AS q ON q.tenant_id = t.id
            WHERE t.deleted_at IS NULL AND t.id = $2";
}

/// Which tenants are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TenantsWanted {
    /// How their slugs begin.
    pub begins: String,
    /// The slug behind which they come.
    pub after: String,
    /// Whether only those count that have limits.
    pub only_limited: bool,
    /// How many.
    pub limit: u32,
}

/// Tenants with their figures, by slug.
///
/// # Errors
/// What the database ran into.
pub async fn page(
    conn: &mut Conn<'_>,
    wanted: TenantsWanted,
    now: Timestamp,
) -> Result<Vec<TenantFigures>, StoreError> {
    let TenantsWanted { begins, after, only_limited, limit } = wanted;
    let until = format!("{begins}{AFTER_ALL}");
    let values = values![last_minute(now), after, begins, until, only_limited, limit];
    conn.fetch_all(&TENANT_FIGURES_PAGE, values).await?.iter().map(read).collect()
}

/// One tenant with its figures.
///
/// # Errors
/// What the database ran into.
pub async fn one(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    now: Timestamp,
) -> Result<Option<TenantFigures>, StoreError> {
    let row = conn.fetch_optional(&TENANT_FIGURES, values![last_minute(now), tenant]).await?;
    row.as_ref().map(read).transpose()
}

/// The beginning of the last minute that is over.
fn last_minute(now: Timestamp) -> i64 {
    (now.micros().div_euclid(MINUTE) - 1) * MINUTE
}

fn read(row: &Row) -> Result<TenantFigures, StoreError> {
    let mut used = PerLimit::default();
    for (what, column) in [
        (Limited::DeliveriesPerMinute, "deliveries"),
        (Limited::EndpointDeliveriesPerMinute, "endpoint_deliveries"),
        (Limited::Events, "events"),
        (Limited::PayloadBytes, "payload_bytes"),
        (Limited::Endpoints, "endpoints"),
        (Limited::Consumers, "consumers"),
        (Limited::Members, "members"),
    ] {
        // A sum of no counters is NULL; one that was counted down on another node may be below zero for a moment.
        let count = row.int_or_null(column)?.unwrap_or(0);
        used = used.with(what, Some(u64::try_from(count).unwrap_or(0)));
    }
    Ok(TenantFigures {
        id: TenantId(row.uuid("id")?),
        slug: row.text("slug")?,
        name: row.text("name")?,
        created_at: row.time("created_at")?,
        suspended: row.bool("suspended")?,
        suspended_at: row.time_or_null("suspended_at")?,
        suspended_because: row.text_or_null("suspended_because")?,
        limits: tenant_limits::read(row)?,
        used,
        oldest_pending: row.uuid_or_null("oldest")?.map(|id| uuid_v7_time(ReceiptId(id).0)),
    })
}
