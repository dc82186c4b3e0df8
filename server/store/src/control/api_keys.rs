//! API keys: their hashes, what they may do, and how a presented one is found.

use restante_core::access::Scopes;
use restante_core::id::{KeyId, TenantId};
use restante_core::time::Timestamp;
use restante_core::token::TokenHash;
use uuid::Uuid;

use super::lookups;
use crate::engine::sql::statements;
use crate::engine::{Conn, Row, StoreError, values};

/// An API key as people see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKeyRow {
    /// Its id.
    pub id: KeyId,
    /// Its name for people.
    pub name: String,
    /// How the key begins, by which a person tells it from others.
    pub hint: String,
    /// What it may do.
    pub scopes: Scopes,
    /// Who made it: `key_…`, `usr_…`, or `operator`.
    pub created_by: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on it opens nothing.
    pub expires_at: Option<Timestamp>,
    /// When it was used last, to the minute.
    pub last_used_at: Option<Timestamp>,
}

/// What decides whether a presented key is the one that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    /// Whose it is.
    pub tenant: TenantId,
    /// Its id.
    pub id: KeyId,
    /// SHA-256 of its secret part.
    pub secret_hash: TokenHash,
    /// What it may do.
    pub scopes: Scopes,
    /// From when on it opens nothing.
    pub expires_at: Option<Timestamp>,
    /// When it was used last, to the minute.
    pub last_used_at: Option<Timestamp>,
}

/// What a key may do at this moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyNow {
    /// What it may do.
    pub scopes: Scopes,
    /// From when on it opens nothing.
    pub expires_at: Option<Timestamp>,
    /// Whether its tenant takes and gets no events for now.
    pub tenant_suspended: bool,
}

statements! {
    /// Keeps a key.
    API_KEY_INSERT = both
        "INSERT INTO api_keys (tenant_id, id, name, hint, lookup_hash, secret_hash, scopes, created_by, created_at, expires_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";

    /// A page of a tenant's keys, the newest first.
    API_KEYS_PAGE = both
        "SELECT id, name, hint, scopes, created_by, created_at, expires_at, last_used_at FROM api_keys
            WHERE tenant_id = $1 AND id < $2 AND deleted_at IS NULL ORDER BY id DESC LIMIT $3";

    /// Revokes a key. The row stays, since the audit log names it.
    API_KEY_DELETE = both
        "UPDATE api_keys SET deleted_at = $3 WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL
            RETURNING lookup_hash";

    /// The key that a look-up part leads to.
    API_KEY_BY_LOOKUP = across_tenants "the key is what names the tenant" both
        "SELECT k.tenant_id, k.id, k.secret_hash, k.scopes, k.expires_at, k.last_used_at
            FROM lookups AS l JOIN api_keys AS k ON k.tenant_id = l.tenant_id AND k.id = l.object_id
            WHERE l.hash = $1 AND l.kind = $2 AND k.deleted_at IS NULL";

    /// What a key may do now.
    API_KEY_NOW = both
        "SELECT k.scopes, k.expires_at, t.suspended FROM api_keys AS k JOIN tenants AS t ON t.id = k.tenant_id
            WHERE k.tenant_id = $1 AND k.id = $2 AND k.deleted_at IS NULL";

    /// Notes when a key was used.
    API_KEY_USED = both
        "UPDATE api_keys SET last_used_at = $3
            WHERE tenant_id = $1 AND id = $2 AND (last_used_at IS NULL OR last_used_at < $3)";
}

/// Keeps a new key, and the way from its look-up part to it.
///
/// # Errors
/// What the database ran into; [`StoreError::Taken`] when another key has this look-up part.
pub async fn insert(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    key: &ApiKeyRow,
    lookup_hash: &TokenHash,
    secret_hash: &TokenHash,
) -> Result<(), StoreError> {
    let values = values![
        tenant,
        key.id,
        key.name.as_str(),
        key.hint.as_str(),
        lookup_hash.0,
        secret_hash.0,
        key.scopes.to_string(),
        key.created_by.as_str(),
        key.created_at,
        key.expires_at,
    ];
    conn.execute(&API_KEY_INSERT, values).await?;
    lookups::insert(conn, tenant, lookups::API_KEY, key.id.0, lookup_hash).await
}

/// The newest keys of the tenant, from the one before `before` on; revoked ones are not among them.
///
/// # Errors
/// What the database ran into.
pub async fn page(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    before: Option<Uuid>,
    limit: u32,
) -> Result<Vec<ApiKeyRow>, StoreError> {
    let before = before.unwrap_or(Uuid::max());
    conn.fetch_all(&API_KEYS_PAGE, values![tenant, before, limit]).await?.iter().map(read).collect()
}

/// Revokes a key; `false` when it isn't there.
///
/// # Errors
/// What the database ran into.
pub async fn delete(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    key: KeyId,
    at: Timestamp,
) -> Result<bool, StoreError> {
    let Some(row) = conn.fetch_optional(&API_KEY_DELETE, values![tenant, key, at]).await? else {
        return Ok(false);
    };
    lookups::delete(conn, tenant, lookups::API_KEY, key.0, &row.blob("lookup_hash")?).await?;
    Ok(true)
}

/// The key that a look-up part leads to.
///
/// # Errors
/// What the database ran into.
pub async fn find(conn: &mut Conn<'_>, lookup_hash: &TokenHash) -> Result<Option<KeyRecord>, StoreError> {
    let values = values![lookup_hash.0, lookups::API_KEY];
    let Some(row) = conn.fetch_optional(&API_KEY_BY_LOOKUP, values).await? else { return Ok(None) };
    let secret_hash = row.blob("secret_hash")?.try_into().map_err(|_| row.broken("secret_hash"))?;
    Ok(Some(KeyRecord {
        tenant: TenantId(row.uuid("tenant_id")?),
        id: KeyId(row.uuid("id")?),
        secret_hash: TokenHash(secret_hash),
        scopes: read_scopes(&row)?,
        expires_at: row.time_or_null("expires_at")?,
        last_used_at: row.time_or_null("last_used_at")?,
    }))
}

/// What a key may do now; `None` when it was revoked.
///
/// # Errors
/// What the database ran into.
pub async fn now(conn: &mut Conn<'_>, tenant: TenantId, key: KeyId) -> Result<Option<KeyNow>, StoreError> {
    let row = conn.fetch_optional(&API_KEY_NOW, values![tenant, key]).await?;
    row.map(|row| {
        Ok(KeyNow {
            scopes: read_scopes(&row)?,
            expires_at: row.time_or_null("expires_at")?,
            tenant_suspended: row.bool("suspended")?,
        })
    })
    .transpose()
}

/// Notes when a key was used; never turns back.
///
/// # Errors
/// What the database ran into.
pub async fn used(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    key: KeyId,
    at: Timestamp,
) -> Result<u64, StoreError> {
    conn.execute(&API_KEY_USED, values![tenant, key, at]).await
}

fn read_scopes(row: &Row) -> Result<Scopes, StoreError> {
    Scopes::from_stored(&row.text("scopes")?).ok_or_else(|| row.broken("scopes"))
}

fn read(row: &Row) -> Result<ApiKeyRow, StoreError> {
    Ok(ApiKeyRow {
        id: KeyId(row.uuid("id")?),
        name: row.text("name")?,
        hint: row.text("hint")?,
        scopes: read_scopes(row)?,
        created_by: row.text("created_by")?,
        created_at: row.time("created_at")?,
        expires_at: row.time_or_null("expires_at")?,
        last_used_at: row.time_or_null("last_used_at")?,
    })
}
