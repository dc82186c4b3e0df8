//! The secrets of endpoints: sealed, several at once while one takes over from another.

use std::collections::HashMap;

use restante_core::id::{EndpointId, SecretId, TenantId};
use restante_core::time::Timestamp;

use crate::engine::sql::statements;
use crate::engine::{Conn, Row, StoreError, values};

/// One secret of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretRow {
    /// Its id.
    pub id: SecretId,
    /// The secret, sealed.
    pub secret_sealed: Vec<u8>,
    /// What people know it by.
    pub hint: String,
    /// When it was added.
    pub created_at: Timestamp,
    /// From when on it verifies nothing; `None` while it isn't retired.
    pub expires_at: Option<Timestamp>,
}

statements! {
    /// Adds a secret.
    SECRET_INSERT = both
        "INSERT INTO endpoint_secrets (tenant_id, endpoint_id, id, secret_sealed, hint, created_at, expires_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7)";

    /// The secrets of an endpoint, the oldest first.
    SECRETS_OF_ENDPOINT = both
        "SELECT id, secret_sealed, hint, created_at, expires_at FROM endpoint_secrets
            WHERE tenant_id = $1 AND endpoint_id = $2 ORDER BY id";

    // Differs in the list.
    /// The secrets of several endpoints.
    SECRETS_OF_ENDPOINTS =
        sqlite "SELECT endpoint_id, id, secret_sealed, hint, created_at, expires_at FROM endpoint_secrets
            WHERE tenant_id = $1 AND endpoint_id IN (SELECT unhex(value) FROM json_each($2)) ORDER BY endpoint_id, id"
        postgres "SELECT endpoint_id, id, secret_sealed, hint, created_at, expires_at FROM endpoint_secrets
            WHERE tenant_id = $1 AND endpoint_id = ANY($2) ORDER BY endpoint_id, id";

    /// Has the secrets of an endpoint end, none later than it would have ended before.
    SECRETS_RETIRE = both
        "UPDATE endpoint_secrets SET expires_at = $3
            WHERE tenant_id = $1 AND endpoint_id = $2 AND (expires_at IS NULL OR expires_at > $3)";

    /// Removes the secrets that ended.
    SECRETS_DELETE_EXPIRED = both
        "DELETE FROM endpoint_secrets WHERE tenant_id = $1 AND endpoint_id = $2 AND expires_at <= $3";

    /// Removes a secret.
    SECRET_DELETE = both
        "DELETE FROM endpoint_secrets WHERE tenant_id = $1 AND endpoint_id = $2 AND id = $3";

    /// Removes every secret of an endpoint.
    SECRETS_DELETE_ALL = both
        "DELETE FROM endpoint_secrets WHERE tenant_id = $1 AND endpoint_id = $2";
}

/// Adds a secret.
///
/// # Errors
/// What the database ran into.
pub async fn insert(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoint: EndpointId,
    secret: &SecretRow,
) -> Result<(), StoreError> {
    let SecretRow { id, secret_sealed, hint, created_at, expires_at } = secret;
    let values =
        values![tenant, endpoint, *id, secret_sealed.as_slice(), hint.as_str(), *created_at, *expires_at];
    conn.execute(&SECRET_INSERT, values).await.map(|_| ())
}

/// The secrets of an endpoint, the oldest first, ended ones among them.
///
/// # Errors
/// What the database ran into.
pub async fn of_endpoint(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoint: EndpointId,
) -> Result<Vec<SecretRow>, StoreError> {
    conn.fetch_all(&SECRETS_OF_ENDPOINT, values![tenant, endpoint]).await?.iter().map(read).collect()
}

/// The secrets of several endpoints.
///
/// # Errors
/// What the database ran into.
pub async fn of_endpoints(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoints: &[EndpointId],
) -> Result<HashMap<EndpointId, Vec<SecretRow>>, StoreError> {
    let ids: Vec<uuid::Uuid> = endpoints.iter().map(|endpoint| endpoint.0).collect();
    let mut found: HashMap<EndpointId, Vec<SecretRow>> = HashMap::with_capacity(endpoints.len());
    for row in conn.fetch_all(&SECRETS_OF_ENDPOINTS, values![tenant, ids]).await? {
        found.entry(EndpointId(row.uuid("endpoint_id")?)).or_default().push(read(&row)?);
    }
    Ok(found)
}

/// Has the present secrets of an endpoint end at a time, unless they end earlier.
///
/// # Errors
/// What the database ran into.
pub async fn retire(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoint: EndpointId,
    at: Timestamp,
) -> Result<u64, StoreError> {
    conn.execute(&SECRETS_RETIRE, values![tenant, endpoint, at]).await
}

/// Removes the secrets of an endpoint that ended by a time.
///
/// # Errors
/// What the database ran into.
pub async fn delete_expired(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoint: EndpointId,
    at: Timestamp,
) -> Result<u64, StoreError> {
    conn.execute(&SECRETS_DELETE_EXPIRED, values![tenant, endpoint, at]).await
}

/// Removes a secret; `false` when it isn't there.
///
/// # Errors
/// What the database ran into.
pub async fn delete(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoint: EndpointId,
    secret: SecretId,
) -> Result<bool, StoreError> {
    Ok(conn.execute(&SECRET_DELETE, values![tenant, endpoint, secret]).await? == 1)
}

/// Removes every secret of an endpoint.
///
/// # Errors
/// What the database ran into.
pub async fn delete_all(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoint: EndpointId,
) -> Result<u64, StoreError> {
    conn.execute(&SECRETS_DELETE_ALL, values![tenant, endpoint]).await
}

fn read(row: &Row) -> Result<SecretRow, StoreError> {
    Ok(SecretRow {
        id: SecretId(row.uuid("id")?),
        secret_sealed: row.blob("secret_sealed")?,
        hint: row.text("hint")?,
        created_at: row.time("created_at")?,
        expires_at: row.time_or_null("expires_at")?,
    })
}
