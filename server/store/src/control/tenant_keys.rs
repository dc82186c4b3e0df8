//! The wrapped keys of tenants. What they mean stands in `restante_core::seal`; here they are bytes.

use restante_core::id::TenantId;
use restante_core::seal::{KEY_SETTLES_SECONDS, KeyClass, KeyState, TenantKeyRow};
use restante_core::time::Timestamp;

use crate::engine::sql::statements;
use crate::engine::{Conn, Row, StoreError, values};
use crate::failpoint;

/// A key that was wrapped anew.
pub struct RewrappedKey {
    /// Whose key.
    pub tenant: TenantId,
    /// As it was read.
    pub read: TenantKeyRow,
    /// Its new wrapping.
    pub wrapped: Vec<u8>,
}

statements! {
    /// Keeps a wrapped key.
    TENANT_KEY_INSERT = both
        "INSERT INTO tenant_keys (tenant_id, class, version, state, wrapped, created_at)
            VALUES ($1, $2, $3, $4, $5, $6)";

    /// The keys of a tenant.
    TENANT_KEYS = both
        "SELECT class, version, state, wrapped, created_at FROM tenant_keys WHERE tenant_id = $1
            ORDER BY class, version";

    /// Ends the active key of a class, which goes on opening what it sealed.
    TENANT_KEY_DEMOTE = both
        "UPDATE tenant_keys SET state = $3 WHERE tenant_id = $1 AND class = $2 AND state = $4";

    /// Destroys a key that only opens.
    TENANT_KEY_DESTROY = both
        "UPDATE tenant_keys SET state = $4, wrapped = $5 WHERE tenant_id = $1 AND class = $2 AND version = $3
            AND state = $6";

    /// Destroys every key of a tenant. What they sealed can't be opened any more.
    TENANT_KEYS_DESTROY = both
        "UPDATE tenant_keys SET state = $2, wrapped = $3 WHERE tenant_id = $1 AND state <> $2";

    // Only the value that was read is replaced, so that two runs can't undo each other's work.
    /// Replaces the wrapping of a key.
    TENANT_KEY_REWRAP = both
        "UPDATE tenant_keys SET wrapped = $5 WHERE tenant_id = $1 AND class = $2 AND version = $3 AND wrapped = $4";

    /// The keys of every tenant in steps, for the operator's check and for a change of the master key.
    TENANT_KEYS_ALL = across_tenants "the master key wraps the keys of every tenant" both
        "SELECT tenant_id, class, version, state, wrapped, created_at FROM tenant_keys
            WHERE tenant_id > $1 OR (tenant_id = $1 AND (class > $2 OR (class = $2 AND version > $3)))
            ORDER BY tenant_id, class, version LIMIT $4";
}

/// Keeps a new key.
///
/// # Errors
/// What the database ran into; a second active key of a class is refused.
pub async fn insert(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    key: &TenantKeyRow,
    at: Timestamp,
) -> Result<(), StoreError> {
    let (class, state) = (i64::from(key.class.code()), i64::from(key.state.code()));
    let values = values![tenant, class, key.version, state, key.wrapped.as_slice(), at];
    conn.execute(&TENANT_KEY_INSERT, values).await.map(|_| ())
}

/// Every key of a tenant, by class and version.
///
/// # Errors
/// What the database ran into, or a row that can't be a key.
pub async fn of_tenant(conn: &mut Conn<'_>, tenant: TenantId) -> Result<Vec<TenantKeyRow>, StoreError> {
    Ok(of_tenant_with_times(conn, tenant).await?.into_iter().map(|(row, _)| row).collect())
}

/// Every key of a tenant, by class and version, with the time at which it was made.
///
/// # Errors
/// What the database ran into, or a row that can't be a key.
pub async fn of_tenant_with_times(
    conn: &mut Conn<'_>,
    tenant: TenantId,
) -> Result<Vec<(TenantKeyRow, Timestamp)>, StoreError> {
    let now = conn.now().await?;
    let rows = conn.fetch_all(&TENANT_KEYS, values![tenant]).await?;
    rows.iter().map(|row| Ok((read(row, now)?, row.time("created_at")?))).collect()
}

/// Destroys a key that only opens, and nothing else; tells whether it did. Its row stays.
///
/// # Errors
/// What the database ran into.
pub async fn destroy(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    class: KeyClass,
    version: u32,
) -> Result<bool, StoreError> {
    let [from, to] = [KeyState::DecryptOnly, KeyState::Destroyed].map(|state| i64::from(state.code()));
    let values = values![tenant, i64::from(class.code()), version, to, Vec::<u8>::new(), from];
    Ok(conn.execute(&TENANT_KEY_DESTROY, values).await? == 1)
}

/// Makes the active key of a class one that only opens, so that a new one can take its place.
///
/// # Errors
/// What the database ran into.
pub async fn demote_active(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    class: KeyClass,
) -> Result<u64, StoreError> {
    let [from, to] = [KeyState::Active, KeyState::DecryptOnly].map(|state| i64::from(state.code()));
    conn.execute(&TENANT_KEY_DEMOTE, values![tenant, i64::from(class.code()), to, from]).await
}

/// Destroys every key of a tenant: their rows stay without the wrapped key. Tells how many there were. Copies
/// of the database from before still hold them.
///
/// # Errors
/// What the database ran into.
pub async fn destroy_all(conn: &mut Conn<'_>, tenant: TenantId) -> Result<u64, StoreError> {
    let destroyed = i64::from(KeyState::Destroyed.code());
    conn.execute(&TENANT_KEYS_DESTROY, values![tenant, destroyed, Vec::<u8>::new()]).await
}

/// Replaces a key's wrapping, if it is still the one that was read; tells whether it did.
///
/// # Errors
/// What the database ran into.
pub async fn rewrap(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    read: &TenantKeyRow,
    wrapped: &[u8],
) -> Result<bool, StoreError> {
    let class = i64::from(read.class.code());
    let values = values![tenant, class, read.version, read.wrapped.as_slice(), wrapped];
    Ok(conn.execute(&TENANT_KEY_REWRAP, values).await? == 1)
}

/// Replaces the wrappings of several keys, of each that is still as it was read; gives how many.
///
/// # Errors
/// What the database ran into.
pub async fn rewrap_all(conn: &mut Conn<'_>, keys: Vec<RewrappedKey>) -> Result<u64, StoreError> {
    let mut done = 0;
    for RewrappedKey { tenant, read, wrapped } in keys {
        done += u64::from(rewrap(conn, tenant, &read, &wrapped).await?);
    }
    failpoint::pass(failpoint::REWRAP).await?;
    Ok(done)
}

/// The keys of every tenant, in steps: those after the one that was seen last.
///
/// # Errors
/// What the database ran into, or a row that can't be a key.
pub async fn of_all_tenants(
    conn: &mut Conn<'_>,
    after: Option<(TenantId, KeyClass, u32)>,
    limit: u32,
) -> Result<Vec<(TenantId, TenantKeyRow)>, StoreError> {
    let (tenant, class, version) = after
        .map_or((TenantId(uuid::Uuid::nil()), 0, 0), |(tenant, class, version)| {
            (tenant, i64::from(class.code()), version)
        });
    let now = conn.now().await?;
    conn.fetch_all(&TENANT_KEYS_ALL, values![tenant, class, version, limit])
        .await?
        .iter()
        .map(|row| Ok((TenantId(row.uuid("tenant_id")?), read(row, now)?)))
        .collect()
}

fn read(row: &Row, now: Timestamp) -> Result<TenantKeyRow, StoreError> {
    let version = row.int("version")?;
    let age = now.micros_since(row.time("created_at")?);
    Ok(TenantKeyRow {
        class: KeyClass::from_code(row.int("class")?).ok_or_else(|| row.broken("class"))?,
        version: u32::try_from(version).map_err(|_| row.broken("version"))?,
        state: KeyState::from_code(row.int("state")?).ok_or_else(|| row.broken("state"))?,
        wrapped: row.blob("wrapped")?,
        settled: age >= KEY_SETTLES_SECONDS * 1_000_000,
    })
}
