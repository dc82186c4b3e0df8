//! What a tenant has set for an endpoint.

use restante_core::id::{EndpointId, TenantId};
use restante_core::time::Timestamp;

use super::sql::{
    RECONCILIATION, RECONCILIATION_DELETE, RECONCILIATION_PUT, RECONCILIATION_STOP, RECONCILIATIONS,
};
use crate::engine::{Conn, Row, StoreError, values};

/// Endpoints of a tenant that are given at once.
const ENDPOINTS_MAX: u32 = 1_000;

/// What is set for an endpoint, and how far its runs have come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReconciliationRow {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// Whether runs begin by themselves.
    pub enabled: bool,
    /// In place of the recipe's host.
    pub base_url: Option<String>,
    /// Between two runs.
    pub interval_seconds: u32,
    /// How far a run looks back before the last one's end.
    pub overlap_seconds: u32,
    /// As JSON.
    pub options: String,
    /// As JSON, sealed.
    pub credentials_sealed: Vec<u8>,
    /// What people know them by, as JSON.
    pub credentials_hint: String,
    /// When it was set first.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// Everything up to here has been looked at.
    pub checkpoint_at: Option<Timestamp>,
    /// When a run last looked further back than it had to.
    pub wide_at: Option<Timestamp>,
    /// When the next run is due.
    pub due_at: Timestamp,
    /// Why no run begins by itself any more.
    pub stopped: Option<String>,
    pub(super) lease_epoch: i64,
    pub(super) lease_until: Option<Timestamp>,
}

impl ReconciliationRow {
    /// What is set for an endpoint that had nothing set.
    pub const fn new(endpoint: EndpointId, at: Timestamp) -> Self {
        Self {
            endpoint,
            enabled: true,
            base_url: None,
            interval_seconds: 0,
            overlap_seconds: 0,
            options: String::new(),
            credentials_sealed: Vec::new(),
            credentials_hint: String::new(),
            created_at: at,
            updated_at: at,
            checkpoint_at: None,
            wide_at: None,
            due_at: at,
            stopped: None,
            lease_epoch: 0,
            lease_until: None,
        }
    }
}

/// What is set for an endpoint.
///
/// # Errors
/// What the database ran into.
pub async fn settings(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoint: EndpointId,
) -> Result<Option<ReconciliationRow>, StoreError> {
    conn.fetch_optional(&RECONCILIATION, values![tenant, endpoint]).await?.as_ref().map(read).transpose()
}

/// What is set for the endpoints of a tenant, at most 1,000.
///
/// # Errors
/// What the database ran into.
pub async fn of_tenant(conn: &mut Conn<'_>, tenant: TenantId) -> Result<Vec<ReconciliationRow>, StoreError> {
    conn.fetch_all(&RECONCILIATIONS, values![tenant, ENDPOINTS_MAX]).await?.iter().map(read).collect()
}

/// Sets it. What stopped the runs is taken to be mended.
///
/// # Errors
/// What the database ran into.
pub async fn put(conn: &mut Conn<'_>, tenant: TenantId, row: ReconciliationRow) -> Result<(), StoreError> {
    let values = values![
        tenant,
        row.endpoint,
        row.enabled,
        row.base_url,
        row.interval_seconds,
        row.overlap_seconds,
        row.options,
        row.credentials_sealed,
        row.credentials_hint,
        row.updated_at,
        row.due_at,
    ];
    conn.execute(&RECONCILIATION_PUT, values).await.map(|_| ())
}

/// Forgets it, with the credentials. Gives whether it was set.
///
/// # Errors
/// What the database ran into.
pub async fn delete(conn: &mut Conn<'_>, tenant: TenantId, endpoint: EndpointId) -> Result<bool, StoreError> {
    Ok(conn.execute(&RECONCILIATION_DELETE, values![tenant, endpoint]).await? == 1)
}

/// Has no run begin by itself any more, and says why.
///
/// # Errors
/// What the database ran into.
pub async fn stop(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoint: EndpointId,
    why: &str,
) -> Result<(), StoreError> {
    conn.execute(&RECONCILIATION_STOP, values![tenant, endpoint, why]).await.map(|_| ())
}

pub(super) fn read(row: &Row) -> Result<ReconciliationRow, StoreError> {
    let seconds = |name: &str| Ok::<u32, StoreError>(u32::try_from(row.count(name)?).unwrap_or(u32::MAX));
    Ok(ReconciliationRow {
        endpoint: EndpointId(row.uuid("endpoint_id")?),
        enabled: row.bool("enabled")?,
        base_url: row.text_or_null("base_url")?,
        interval_seconds: seconds("interval_seconds")?,
        overlap_seconds: seconds("overlap_seconds")?,
        options: row.text("options")?,
        credentials_sealed: row.blob("credentials_sealed")?,
        credentials_hint: row.text("credentials_hint")?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
        checkpoint_at: row.time_or_null("checkpoint_at")?,
        wide_at: row.time_or_null("wide_at")?,
        due_at: row.time("due_at")?,
        stopped: row.text_or_null("stopped")?,
        lease_epoch: row.int("lease_epoch")?,
        lease_until: row.time_or_null("lease_until")?,
    })
}
