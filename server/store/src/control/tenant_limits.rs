//! The limits of tenants. What they mean stands in `restante_core::tenant_limits`.

use restante_core::id::TenantId;
use restante_core::tenant_limits::{Limited, TenantLimits};
use restante_core::time::Timestamp;

use crate::engine::sql::statements;
use crate::engine::{Conn, Row, StoreError, Value, values};

statements! {
    /// The limits of a tenant.
    TENANT_LIMITS = both
        "SELECT deliveries_per_minute, endpoint_deliveries_per_minute, events_max, payload_bytes_max, endpoints_max,
            consumers_max, members_max FROM tenant_limits WHERE tenant_id = $1";

    /// Sets the limits of a tenant.
    TENANT_LIMITS_SET = both
        "INSERT INTO tenant_limits (tenant_id, deliveries_per_minute, endpoint_deliveries_per_minute, events_max,
            payload_bytes_max, endpoints_max, consumers_max, members_max, updated_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
            ON CONFLICT (tenant_id) DO UPDATE SET deliveries_per_minute = excluded.deliveries_per_minute,
            endpoint_deliveries_per_minute = excluded.endpoint_deliveries_per_minute, events_max = excluded.events_max,
            payload_bytes_max = excluded.payload_bytes_max, endpoints_max = excluded.endpoints_max,
            consumers_max = excluded.consumers_max, members_max = excluded.members_max, updated_at = excluded.updated_at";

    /// Takes all limits of a tenant away.
    TENANT_LIMITS_CLEAR = both
        "DELETE FROM tenant_limits WHERE tenant_id = $1";

    /// How many endpoints a tenant has.
    TENANT_ENDPOINTS_COUNT = both
        "SELECT COUNT(*) AS found FROM endpoints WHERE tenant_id = $1 AND deleted_at IS NULL";

    /// How many members a tenant has.
    TENANT_MEMBERS_COUNT = both
        "SELECT COUNT(*) AS found FROM members WHERE tenant_id = $1";
}

/// The column of each limit.
const fn column(what: Limited) -> &'static str {
    match what {
        Limited::DeliveriesPerMinute => "deliveries_per_minute",
        Limited::EndpointDeliveriesPerMinute => "endpoint_deliveries_per_minute",
        Limited::Events => "events_max",
        Limited::PayloadBytes => "payload_bytes_max",
        Limited::Endpoints => "endpoints_max",
        Limited::Consumers => "consumers_max",
        Limited::Members => "members_max",
    }
}

/// The limits in a row that has all of their columns.
pub(super) fn read(row: &Row) -> Result<TenantLimits, StoreError> {
    let mut limits = TenantLimits::default();
    for what in Limited::ALL {
        let value = row.int_or_null(column(what))?;
        let value = value.map(|value| u64::try_from(value).map_err(|_| row.broken(column(what))));
        limits = limits.with(what, value.transpose()?);
    }
    Ok(limits)
}

/// The limits of a tenant.
///
/// # Errors
/// What the database ran into.
pub async fn of_tenant(conn: &mut Conn<'_>, tenant: TenantId) -> Result<TenantLimits, StoreError> {
    let row = conn.fetch_optional(&TENANT_LIMITS, values![tenant]).await?;
    row.map_or(Ok(TenantLimits::default()), |row| read(&row))
}

/// Sets the limits of a tenant.
///
/// # Errors
/// What the database ran into.
pub async fn set(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    limits: &TenantLimits,
    at: Timestamp,
) -> Result<(), StoreError> {
    if limits.is_empty() {
        return conn.execute(&TENANT_LIMITS_CLEAR, values![tenant]).await.map(|_| ());
    }
    let stored = |what| limits.get(what).map(|value| i64::try_from(value).unwrap_or(i64::MAX));
    let mut values = values![tenant];
    values.extend(Limited::ALL.map(|what| Value::from(stored(what))));
    values.push(Value::from(at));
    conn.execute(&TENANT_LIMITS_SET, values).await.map(|_| ())
}

/// How many endpoints a tenant has.
///
/// # Errors
/// What the database ran into.
pub async fn count_endpoints(conn: &mut Conn<'_>, tenant: TenantId) -> Result<u64, StoreError> {
    conn.fetch_one(&TENANT_ENDPOINTS_COUNT, values![tenant]).await?.count("found")
}

/// How many members a tenant has.
///
/// # Errors
/// What the database ran into.
pub async fn count_members(conn: &mut Conn<'_>, tenant: TenantId) -> Result<u64, StoreError> {
    conn.fetch_one(&TENANT_MEMBERS_COUNT, values![tenant]).await?.count("found")
}
