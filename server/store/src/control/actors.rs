//! Names of those who act in a tenant, by their ids.

use restante_core::id::{KeyId, TenantId, UserId};
use uuid::Uuid;

use crate::engine::sql::statements;
use crate::engine::{Conn, StoreError, values};

statements! {
    // Differs in the list.
    /// The addresses of some members.
    MEMBERS_NAMED =
        sqlite "SELECT u.id, u.email FROM json_each($2) AS r
            CROSS JOIN members AS m ON m.tenant_id = $1 AND m.user_id = unhex(r.value)
            CROSS JOIN users AS u ON u.id = m.user_id"
        postgres "SELECT u.id, u.email FROM UNNEST($2::uuid[]) AS r (id)
            JOIN members AS m ON m.tenant_id = $1 AND m.user_id = r.id JOIN users AS u ON u.id = m.user_id";

    // Differs in the list.
    /// The names of some keys, revoked ones too.
    KEYS_NAMED =
        sqlite "SELECT k.id, k.name FROM json_each($2) AS r
            CROSS JOIN api_keys AS k ON k.tenant_id = $1 AND k.id = unhex(r.value)"
        postgres "SELECT k.id, k.name FROM UNNEST($2::uuid[]) AS r (id)
            JOIN api_keys AS k ON k.tenant_id = $1 AND k.id = r.id";
}

/// The addresses of those who are members of the tenant.
///
/// # Errors
/// What the database ran into.
pub async fn members(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    users: &[UserId],
) -> Result<Vec<(UserId, String)>, StoreError> {
    if users.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<Uuid> = users.iter().map(|id| id.0).collect();
    let rows = conn.fetch_all(&MEMBERS_NAMED, values![tenant, ids]).await?;
    rows.iter().map(|row| Ok((UserId(row.uuid("id")?), row.text("email")?))).collect()
}

/// The names of the tenant's API keys, revoked ones too.
///
/// # Errors
/// What the database ran into.
pub async fn keys(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    keys: &[KeyId],
) -> Result<Vec<(KeyId, String)>, StoreError> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<Uuid> = keys.iter().map(|id| id.0).collect();
    let rows = conn.fetch_all(&KEYS_NAMED, values![tenant, ids]).await?;
    rows.iter().map(|row| Ok((KeyId(row.uuid("id")?), row.text("name")?))).collect()
}
