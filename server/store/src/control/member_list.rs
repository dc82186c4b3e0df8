//! The members of a tenant: listed, changed, removed. Who may do so, and that somebody has to own the
//! tenant, is decided by the callers, under the lock that stands here.

use restante_core::access::Role;
use restante_core::id::{TenantId, UserId};
use restante_core::time::Timestamp;

use crate::engine::sql::statements;
use crate::engine::{Conn, Row, StoreError, values};

/// A member of a tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberRow {
    /// The person.
    pub user: UserId,
    /// Their e-mail address.
    pub email: String,
    /// Their role.
    pub role: Role,
    /// Since when they belong to it.
    pub created_at: Timestamp,
    /// When they last signed in.
    pub signed_in_at: Option<Timestamp>,
    /// Since when they can't sign in.
    pub disabled_at: Option<Timestamp>,
    /// Whether they are asked for a code after the password.
    pub has_second_factor: bool,
}

statements! {
    /// The members of a tenant, by address.
    MEMBERS_PAGE = both
        "SELECT u.id, u.email, m.role, m.created_at, u.signed_in_at, u.disabled_at,
            CASE WHEN f.enabled_at IS NULL THEN FALSE ELSE TRUE END AS has_second_factor
            FROM members AS m JOIN users AS u ON u.id = m.user_id LEFT JOIN second_factors AS f ON f.user_id = u.id
            WHERE m.tenant_id = $1 ORDER BY u.email LIMIT $2";

    // Of two who take an owner away at once, the second waits here, and then counts what is left.
    /// Locks the owners of a tenant and names them.
    OWNERS_LOCK = both
        "UPDATE members SET role = role WHERE tenant_id = $1 AND role = 'owner' RETURNING user_id";

    /// Changes a member's role.
    MEMBER_SET_ROLE = both
        "UPDATE members SET role = $3 WHERE tenant_id = $1 AND user_id = $2";

    /// Takes a member out of a tenant.
    MEMBER_DELETE = both
        "DELETE FROM members WHERE tenant_id = $1 AND user_id = $2";
}

/// The members of a tenant, by address; at most `limit`.
///
/// # Errors
/// What the database ran into.
pub async fn page(conn: &mut Conn<'_>, tenant: TenantId, limit: u32) -> Result<Vec<MemberRow>, StoreError> {
    conn.fetch_all(&MEMBERS_PAGE, values![tenant, limit]).await?.iter().map(read).collect()
}

/// Locks the owners of a tenant until the end of the transaction, and names them.
///
/// # Errors
/// What the database ran into.
pub async fn lock_owners(conn: &mut Conn<'_>, tenant: TenantId) -> Result<Vec<UserId>, StoreError> {
    let rows = conn.fetch_all(&OWNERS_LOCK, values![tenant]).await?;
    rows.iter().map(|row| row.uuid("user_id").map(UserId)).collect()
}

/// Changes a member's role; `false` when they don't belong to the tenant.
///
/// # Errors
/// What the database ran into.
pub async fn set_role(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    user: UserId,
    role: Role,
) -> Result<bool, StoreError> {
    Ok(conn.execute(&MEMBER_SET_ROLE, values![tenant, user, role.as_str()]).await? == 1)
}

/// Takes a member out of a tenant; `false` when they don't belong to it.
///
/// # Errors
/// What the database ran into.
pub async fn remove(conn: &mut Conn<'_>, tenant: TenantId, user: UserId) -> Result<bool, StoreError> {
    Ok(conn.execute(&MEMBER_DELETE, values![tenant, user]).await? == 1)
}

fn read(row: &Row) -> Result<MemberRow, StoreError> {
    Ok(MemberRow {
        user: UserId(row.uuid("id")?),
        email: row.text("email")?,
        role: Role::from_word(&row.text("role")?).ok_or_else(|| row.broken("role"))?,
        created_at: row.time("created_at")?,
        signed_in_at: row.time_or_null("signed_in_at")?,
        disabled_at: row.time_or_null("disabled_at")?,
        has_second_factor: row.bool("has_second_factor")?,
    })
}
