//! People, and which tenants they belong to.

use restante_core::access::Role;
use restante_core::id::{TenantId, UserId};
use restante_core::time::Timestamp;

use crate::engine::sql::statements;
use crate::engine::{Conn, StoreError, values};

statements! {
    /// Makes a person unless the e-mail address is taken.
    USER_INSERT = both
        "INSERT INTO users (id, email, password_hash, administrator, created_at)
            VALUES ($1, $2, $3, FALSE, $4) ON CONFLICT DO NOTHING";

    /// Makes a person a member of a tenant.
    MEMBER_INSERT = both
        "INSERT INTO members (tenant_id, user_id, role, created_at) VALUES ($1, $2, $3, $4)";
}

/// Makes a person; `false` when the e-mail address is taken.
///
/// # Errors
/// What the database ran into.
pub async fn insert(
    conn: &mut Conn<'_>,
    user: UserId,
    email: &str,
    password_hash: &str,
    at: Timestamp,
) -> Result<bool, StoreError> {
    Ok(conn.execute(&USER_INSERT, values![user, email, password_hash, at]).await? == 1)
}

/// Makes a person a member of a tenant.
///
/// # Errors
/// What the database ran into.
pub async fn insert_member(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    user: UserId,
    role: Role,
    at: Timestamp,
) -> Result<(), StoreError> {
    conn.execute(&MEMBER_INSERT, values![tenant, user, role.as_str(), at]).await.map(|_| ())
}
