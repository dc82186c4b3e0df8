//! Who belongs to which tenant, in which role; and what a tenant lets administrators of the instance see.

use restante_core::access::Role;
use restante_core::id::{TenantId, UserId};
use restante_core::time::Timestamp;

use crate::engine::sql::statements;
use crate::engine::{Conn, Row, StoreError, values};

/// A tenant from the side of somebody who may go there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MembershipRow {
    /// The tenant.
    pub tenant: TenantId,
    /// Its name in commands and URLs.
    pub slug: String,
    /// Its name for people.
    pub name: String,
    /// Whether it takes no events for now.
    pub suspended: bool,
    /// Why, in the words of the administrator who did it.
    pub suspended_because: Option<String>,
    /// The person's role there.
    pub role: Role,
}

/// What a tenant lets administrators of the instance see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedRow {
    /// The tenant.
    pub tenant: TenantId,
    /// Its name in commands and URLs.
    pub slug: String,
    /// Its name for people.
    pub name: String,
    /// Whether it takes no events for now.
    pub suspended: bool,
    /// Why, in the words of the administrator who did it.
    pub suspended_because: Option<String>,
    /// Whether payloads are among what may be seen.
    pub payloads: bool,
    /// Until when.
    pub ends_at: Timestamp,
}

statements! {
    /// Makes a person a member of a tenant.
    MEMBER_INSERT = both
        "INSERT INTO members (tenant_id, user_id, role, created_at) VALUES ($1, $2, $3, $4)";

    /// A person's role in a tenant.
    MEMBER_ROLE = both
        "SELECT role FROM members WHERE tenant_id = $1 AND user_id = $2";

    /// The tenants of a person.
    MEMBERSHIPS = across_tenants "a person may belong to several tenants" both
        "SELECT t.id, t.slug, t.name, t.suspended, t.suspended_because, m.role FROM members AS m JOIN tenants AS t ON t.id = m.tenant_id
            WHERE m.user_id = $1 AND t.deleted_at IS NULL ORDER BY t.slug LIMIT $2";

    /// A person's place in the tenant that a path names.
    MEMBERSHIP_BY_SLUG = across_tenants "the path names the tenant, and this tells whether the person belongs there" both
        "SELECT t.id, t.slug, t.name, t.suspended, t.suspended_because, m.role FROM tenants AS t JOIN members AS m ON m.tenant_id = t.id
            WHERE t.slug = $1 AND m.user_id = $2 AND t.deleted_at IS NULL";

    /// What the tenant that a path names lets administrators see now, the most first.
    GRANTED_BY_SLUG = across_tenants "the path names the tenant, and this tells what it lets administrators see" both
        "SELECT t.id, t.slug, t.name, t.suspended, t.suspended_because, g.payloads, g.ends_at FROM tenants AS t JOIN grants AS g ON g.tenant_id = t.id
            WHERE t.slug = $1 AND t.deleted_at IS NULL AND g.ended_at IS NULL AND g.ends_at > $2
            ORDER BY g.payloads DESC, g.ends_at DESC LIMIT 1";
}

/// Makes a person a member of a tenant.
///
/// # Errors
/// What the database ran into; [`StoreError::Taken`] when they belong to it already.
pub async fn insert(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    user: UserId,
    role: Role,
    at: Timestamp,
) -> Result<(), StoreError> {
    conn.execute(&MEMBER_INSERT, values![tenant, user, role.as_str(), at]).await.map(|_| ())
}

/// A person's role in a tenant; `None` when they don't belong to it.
///
/// # Errors
/// What the database ran into.
pub async fn role_of(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    user: UserId,
) -> Result<Option<Role>, StoreError> {
    let row = conn.fetch_optional(&MEMBER_ROLE, values![tenant, user]).await?;
    row.map(|row| Role::from_word(&row.text("role")?).ok_or_else(|| row.broken("role"))).transpose()
}

/// The tenants of a person, by name; at most `limit`.
///
/// # Errors
/// What the database ran into.
pub async fn of_user(
    conn: &mut Conn<'_>,
    user: UserId,
    limit: u32,
) -> Result<Vec<MembershipRow>, StoreError> {
    conn.fetch_all(&MEMBERSHIPS, values![user, limit]).await?.iter().map(read).collect()
}

/// A person's place in the tenant of that slug; `None` when they don't belong to it, or there is none.
///
/// # Errors
/// What the database ran into.
pub async fn by_slug(
    conn: &mut Conn<'_>,
    slug: &str,
    user: UserId,
) -> Result<Option<MembershipRow>, StoreError> {
    let row = conn.fetch_optional(&MEMBERSHIP_BY_SLUG, values![slug, user]).await?;
    row.map(|row| read(&row)).transpose()
}

/// What the tenant of that slug lets administrators of the instance see now.
///
/// # Errors
/// What the database ran into.
pub async fn granted_by_slug(
    conn: &mut Conn<'_>,
    slug: &str,
    now: Timestamp,
) -> Result<Option<GrantedRow>, StoreError> {
    let row = conn.fetch_optional(&GRANTED_BY_SLUG, values![slug, now]).await?;
    row.map(|row| {
        Ok(GrantedRow {
            tenant: TenantId(row.uuid("id")?),
            slug: row.text("slug")?,
            name: row.text("name")?,
            suspended: row.bool("suspended")?,
            suspended_because: row.text_or_null("suspended_because")?,
            payloads: row.bool("payloads")?,
            ends_at: row.time("ends_at")?,
        })
    })
    .transpose()
}

fn read(row: &Row) -> Result<MembershipRow, StoreError> {
    Ok(MembershipRow {
        tenant: TenantId(row.uuid("id")?),
        slug: row.text("slug")?,
        name: row.text("name")?,
        suspended: row.bool("suspended")?,
        suspended_because: row.text_or_null("suspended_because")?,
        role: Role::from_word(&row.text("role")?).ok_or_else(|| row.broken("role"))?,
    })
}
