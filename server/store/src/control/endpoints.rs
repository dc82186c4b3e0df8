//! Endpoints as people and programs manage them. What the receiving path reads of one stands in
//! `receiving.rs`.

use restante_core::catalogue::DedupScope;
use restante_core::id::{EndpointId, TenantId};
use restante_core::time::Timestamp;
use restante_core::token::TokenHash;
use uuid::Uuid;

use super::{lookups, secrets};
use crate::engine::sql::statements;
use crate::engine::{Conn, Row, StoreError, values};

/// An endpoint without its secrets, which are rows of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointRow {
    /// Its id.
    pub id: EndpointId,
    /// Its name for people.
    pub name: String,
    /// Its provider's slug; it never changes.
    pub provider: String,
    /// The token of its URL, sealed for display.
    pub token_sealed: Vec<u8>,
    /// Its options as a JSON object, without the secret ones.
    pub options: String,
    /// The secret options as a JSON object, sealed; `None` when there are none.
    pub options_sealed: Option<Vec<u8>>,
    /// The tenant's choice; `None` is what the catalogue knows.
    pub dedup_scope: Option<DedupScope>,
    /// The tenant's choice, in bytes; `None` is what the provider documents.
    pub max_body_bytes: Option<u64>,
    /// Whether it takes deliveries.
    pub enabled: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it or its secrets were changed last.
    pub updated_at: Timestamp,
}

/// Names that are given at once.
const NAMES_MAX: u32 = 1_000;

statements! {
    /// Makes an endpoint.
    ENDPOINT_INSERT = both
        "INSERT INTO endpoints (tenant_id, id, name, provider, token_hash, token_sealed, options, options_sealed,
            dedup_scope, max_body_bytes, enabled, created_at, updated_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";

    /// An endpoint.
    ENDPOINT_GET = both
        "SELECT id, name, provider, token_sealed, options, options_sealed, dedup_scope, max_body_bytes, enabled,
            created_at, updated_at FROM endpoints WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL";

    /// A page of a tenant's endpoints, the newest first.
    ENDPOINTS_PAGE = both
        "SELECT id, name, provider, token_sealed, options, options_sealed, dedup_scope, max_body_bytes, enabled,
            created_at, updated_at FROM endpoints WHERE tenant_id = $1 AND id < $2 AND deleted_at IS NULL
            ORDER BY id DESC LIMIT $3";

    /// The names of a tenant's endpoints, the newest first.
    ENDPOINT_NAMES = both
        "SELECT id, name FROM endpoints WHERE tenant_id = $1 AND deleted_at IS NULL ORDER BY id DESC LIMIT $2";

    /// Changes what can change of an endpoint.
    ENDPOINT_UPDATE = both
        "UPDATE endpoints SET name = $3, options = $4, options_sealed = $5, dedup_scope = $6, max_body_bytes = $7,
            enabled = $8, updated_at = $9, revision = revision + 1 WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL";

    /// Notes that the secrets of an endpoint have changed.
    ENDPOINT_TOUCH = both
        "UPDATE endpoints SET updated_at = $3, revision = revision + 1
            WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL";

    /// Deletes an endpoint. The row stays for the receipts that name it; its sealed options go.
    ENDPOINT_DELETE = both
        "UPDATE endpoints SET deleted_at = $3, updated_at = $3, enabled = FALSE, options_sealed = NULL, revision = revision + 1
            WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL RETURNING token_hash";

    /// Whether an endpoint holds an event.
    ENDPOINT_HOLDS_EVENT = both
        "SELECT 1 AS found FROM receipts WHERE tenant_id = $1 AND endpoint_id = $2 LIMIT 1";
}

/// Makes an endpoint, and the way from its token to it.
///
/// # Errors
/// What the database ran into.
pub async fn insert(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoint: &EndpointRow,
    token_hash: &TokenHash,
) -> Result<(), StoreError> {
    let values = values![
        tenant,
        endpoint.id,
        endpoint.name.as_str(),
        endpoint.provider.as_str(),
        token_hash.0,
        endpoint.token_sealed.as_slice(),
        endpoint.options.as_str(),
        endpoint.options_sealed.clone(),
        endpoint.dedup_scope.map(scope_word),
        endpoint.max_body_bytes.map(as_stored),
        endpoint.enabled,
        endpoint.created_at,
        endpoint.updated_at,
    ];
    conn.execute(&ENDPOINT_INSERT, values).await?;
    lookups::insert(conn, tenant, lookups::ENDPOINT, endpoint.id.0, token_hash).await
}

/// An endpoint of the tenant.
///
/// # Errors
/// What the database ran into.
pub async fn get(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoint: EndpointId,
) -> Result<Option<EndpointRow>, StoreError> {
    let row = conn.fetch_optional(&ENDPOINT_GET, values![tenant, endpoint]).await?;
    row.map(|row| read(&row)).transpose()
}

/// The newest endpoints of the tenant, from the one before `before` on.
///
/// # Errors
/// What the database ran into.
pub async fn page(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    before: Option<Uuid>,
    limit: u32,
) -> Result<Vec<EndpointRow>, StoreError> {
    let before = before.unwrap_or(Uuid::max());
    conn.fetch_all(&ENDPOINTS_PAGE, values![tenant, before, limit]).await?.iter().map(read).collect()
}

/// Writes what can change of an endpoint; `false` when it isn't there.
///
/// # Errors
/// What the database ran into.
pub async fn update(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoint: &EndpointRow,
) -> Result<bool, StoreError> {
    let values = values![
        tenant,
        endpoint.id,
        endpoint.name.as_str(),
        endpoint.options.as_str(),
        endpoint.options_sealed.clone(),
        endpoint.dedup_scope.map(scope_word),
        endpoint.max_body_bytes.map(as_stored),
        endpoint.enabled,
        endpoint.updated_at,
    ];
    Ok(conn.execute(&ENDPOINT_UPDATE, values).await? == 1)
}

/// Notes that the secrets of an endpoint have changed; `false` when it isn't there.
///
/// # Errors
/// What the database ran into.
pub async fn touch(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoint: EndpointId,
    at: Timestamp,
) -> Result<bool, StoreError> {
    Ok(conn.execute(&ENDPOINT_TOUCH, values![tenant, endpoint, at]).await? == 1)
}

/// Deletes an endpoint with its secrets and the way from its token to it; `false` when it isn't
/// there. Its receipts stay.
///
/// # Errors
/// What the database ran into.
pub async fn delete(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoint: EndpointId,
    at: Timestamp,
) -> Result<bool, StoreError> {
    let Some(row) = conn.fetch_optional(&ENDPOINT_DELETE, values![tenant, endpoint, at]).await? else {
        return Ok(false);
    };
    lookups::delete(conn, tenant, lookups::ENDPOINT, endpoint.0, &row.blob("token_hash")?).await?;
    secrets::delete_all(conn, tenant, endpoint).await?;
    crate::reconciliation::delete(conn, tenant, endpoint).await?;
    Ok(true)
}

/// The names of a tenant's endpoints, the newest first, at most 1,000.
///
/// # Errors
/// What the database ran into.
pub async fn names(conn: &mut Conn<'_>, tenant: TenantId) -> Result<Vec<(EndpointId, String)>, StoreError> {
    let rows = conn.fetch_all(&ENDPOINT_NAMES, values![tenant, NAMES_MAX]).await?;
    rows.iter().map(|row| Ok((EndpointId(row.uuid("id")?), row.text("name")?))).collect()
}

/// Whether an endpoint holds an event, be it a tombstone.
///
/// # Errors
/// What the database ran into.
pub async fn holds_event(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoint: EndpointId,
) -> Result<bool, StoreError> {
    Ok(conn.fetch_optional(&ENDPOINT_HOLDS_EVENT, values![tenant, endpoint]).await?.is_some())
}

fn read(row: &Row) -> Result<EndpointRow, StoreError> {
    Ok(EndpointRow {
        id: EndpointId(row.uuid("id")?),
        name: row.text("name")?,
        provider: row.text("provider")?,
        token_sealed: row.blob("token_sealed")?,
        options: row.text("options")?,
        options_sealed: row.blob_or_null("options_sealed")?,
        dedup_scope: read_scope(row)?,
        max_body_bytes: read_max_body_bytes(row)?,
        enabled: row.bool("enabled")?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
    })
}

pub(super) fn read_scope(row: &Row) -> Result<Option<DedupScope>, StoreError> {
    let Some(word) = row.text_or_null("dedup_scope")? else { return Ok(None) };
    [DedupScope::Provider, DedupScope::Account, DedupScope::Endpoint]
        .into_iter()
        .find(|scope| scope_word(*scope) == word)
        .map(Some)
        .ok_or_else(|| row.broken("dedup_scope"))
}

pub(super) fn read_max_body_bytes(row: &Row) -> Result<Option<u64>, StoreError> {
    row.int_or_null("max_body_bytes")?
        .map(|bytes| u64::try_from(bytes).map_err(|_| row.broken("max_body_bytes")))
        .transpose()
}

const fn scope_word(scope: DedupScope) -> &'static str {
    match scope {
        DedupScope::Provider => "provider",
        DedupScope::Account => "account",
        DedupScope::Endpoint => "endpoint",
    }
}

/// The operator's ceiling lies far below 63 bits; a value beyond them is that ceiling's business.
fn as_stored(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
