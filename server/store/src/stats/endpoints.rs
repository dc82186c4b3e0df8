//! Endpoints as figures name them, each with its newest event.

use restante_core::id::{EndpointId, TenantId, uuid_v7_time};
use restante_core::time::Timestamp;

use super::ENDPOINTS_MAX;
use crate::engine::sql::statements;
use crate::engine::{Conn, Row, StoreError, values};

/// An endpoint and when its newest event came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointSeen {
    /// Its id.
    pub id: EndpointId,
    /// Its name for people.
    pub name: String,
    /// Its provider's slug.
    pub provider: String,
    /// Whether it takes deliveries.
    pub enabled: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When its newest event was received, to the millisecond; repeats don't count.
    pub newest: Option<Timestamp>,
}

statements! {
    // The order names the endpoint too, so that the planner takes the index of both.
    /// The tenant's endpoints, each with its newest receipt.
    ENDPOINTS_SEEN = both
        "SELECT e.id, e.name, e.provider, e.enabled, e.created_at,
            (SELECT r.id FROM receipts AS r WHERE r.tenant_id = e.tenant_id AND r.endpoint_id = e.id
                ORDER BY r.endpoint_id DESC, r.id DESC LIMIT 1) AS newest
            FROM endpoints AS e WHERE e.tenant_id = $1 AND e.deleted_at IS NULL ORDER BY e.id DESC LIMIT $2";

    /// One endpoint with its newest receipt.
    ENDPOINT_SEEN = both
        "SELECT e.id, e.name, e.provider, e.enabled, e.created_at,
            (SELECT r.id FROM receipts AS r WHERE r.tenant_id = e.tenant_id AND r.endpoint_id = e.id
                ORDER BY r.endpoint_id DESC, r.id DESC LIMIT 1) AS newest
            FROM endpoints AS e WHERE e.tenant_id = $1 AND e.id = $2 AND e.deleted_at IS NULL";
}

fn read(row: &Row) -> Result<EndpointSeen, StoreError> {
    Ok(EndpointSeen {
        id: EndpointId(row.uuid("id")?),
        name: row.text("name")?,
        provider: row.text("provider")?,
        enabled: row.bool("enabled")?,
        created_at: row.time("created_at")?,
        newest: row.uuid_or_null("newest")?.map(uuid_v7_time),
    })
}

/// One endpoint with its newest event.
///
/// # Errors
/// What the database ran into.
pub async fn endpoint_seen(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    id: EndpointId,
) -> Result<Option<EndpointSeen>, StoreError> {
    conn.fetch_optional(&ENDPOINT_SEEN, values![tenant, id]).await?.as_ref().map(read).transpose()
}

/// The tenant's endpoints, newest first, at most 1,000, each with its newest event.
///
/// # Errors
/// What the database ran into.
pub async fn endpoints_seen(conn: &mut Conn<'_>, tenant: TenantId) -> Result<Vec<EndpointSeen>, StoreError> {
    let rows = conn.fetch_all(&ENDPOINTS_SEEN, values![tenant, ENDPOINTS_MAX]).await?;
    rows.iter().map(read).collect()
}
