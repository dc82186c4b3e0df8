//! Invitations into a tenant. The link's hash leads to the tenant by way of the look-ups, as with every
//! bare credential; accepting one is a change of its row, so that of two who accept at once one is too
//! late.

use restante_core::access::Role;
use restante_core::id::{InviteId, TenantId};
use restante_core::time::Timestamp;
use restante_core::token::TokenHash;

use super::lookups;
use crate::engine::sql::statements;
use crate::engine::{Conn, Row, StoreError, values};

/// An invitation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InviteRow {
    /// Its id. It opens nothing.
    pub id: InviteId,
    /// The address that is invited, in lower case.
    pub email: String,
    /// The role that waits.
    pub role: Role,
    /// Who invited.
    pub created_by: String,
    /// When.
    pub created_at: Timestamp,
    /// From when on it opens nothing.
    pub expires_at: Timestamp,
}

/// An invitation with the tenant it is into, as its link shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundInvite {
    /// The tenant.
    pub tenant: TenantId,
    /// Its name in commands and URLs.
    pub slug: String,
    /// Its name for people.
    pub tenant_name: String,
    /// The invitation.
    pub invite: InviteRow,
}

statements! {
    /// Keeps an invitation.
    INVITE_INSERT = both
        "INSERT INTO invites (tenant_id, id, hash, email, role, created_by, created_at, expires_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

    /// The invitation of a link that can still be accepted.
    INVITE_FIND = across_tenants "the link is what names the tenant" both
        "SELECT i.tenant_id, t.slug, t.name, i.id, i.email, i.role, i.created_by, i.created_at, i.expires_at
            FROM lookups AS l JOIN invites AS i ON i.tenant_id = l.tenant_id AND i.id = l.object_id
            JOIN tenants AS t ON t.id = i.tenant_id
            WHERE l.hash = $1 AND l.kind = $2 AND t.deleted_at IS NULL AND i.accepted_at IS NULL AND i.revoked_at IS NULL AND i.expires_at > $3";

    /// Accepts an invitation, once.
    INVITE_ACCEPT = both
        "UPDATE invites SET accepted_at = $3
            WHERE tenant_id = $1 AND id = $2 AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > $3";

    /// Takes an invitation back.
    INVITE_REVOKE = both
        "UPDATE invites SET revoked_at = $3
            WHERE tenant_id = $1 AND id = $2 AND accepted_at IS NULL AND revoked_at IS NULL RETURNING hash";

    /// Takes the earlier invitations of an address back.
    INVITES_REVOKE_OF_EMAIL = both
        "UPDATE invites SET revoked_at = $3
            WHERE tenant_id = $1 AND email = $2 AND accepted_at IS NULL AND revoked_at IS NULL";

    /// The open invitations of a tenant, the newest first.
    INVITES_OPEN = both
        "SELECT id, email, role, created_by, created_at, expires_at FROM invites
            WHERE tenant_id = $1 AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > $2
            ORDER BY id DESC LIMIT $3";

    /// Open invitations of a tenant, counted up to a bound.
    INVITES_OPEN_COUNT = both
        "SELECT COUNT(*) AS invites FROM (SELECT id FROM invites
            WHERE tenant_id = $1 AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > $2 LIMIT $3) AS few";
}

/// Keeps an invitation, and the way from its link to it.
///
/// # Errors
/// What the database ran into.
pub async fn insert(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    hash: &TokenHash,
    invite: InviteRow,
) -> Result<(), StoreError> {
    let InviteRow { id, email, role, created_by, created_at, expires_at } = invite;
    let values = values![tenant, id, hash.0, email, role.as_str(), created_by, created_at, expires_at];
    conn.execute(&INVITE_INSERT, values).await?;
    lookups::insert(conn, tenant, lookups::INVITE, id.0, hash).await
}

/// The invitation of a link that can still be accepted.
///
/// # Errors
/// What the database ran into.
pub async fn find(
    conn: &mut Conn<'_>,
    hash: &TokenHash,
    now: Timestamp,
) -> Result<Option<FoundInvite>, StoreError> {
    let row = conn.fetch_optional(&INVITE_FIND, values![hash.0, lookups::INVITE, now]).await?;
    row.map(|row| {
        Ok(FoundInvite {
            tenant: TenantId(row.uuid("tenant_id")?),
            slug: row.text("slug")?,
            tenant_name: row.text("name")?,
            invite: read(&row)?,
        })
    })
    .transpose()
}

/// Accepts an invitation; `false` when it was accepted, taken back, or has run out.
///
/// # Errors
/// What the database ran into.
pub async fn accept(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    invite: InviteId,
    at: Timestamp,
) -> Result<bool, StoreError> {
    Ok(conn.execute(&INVITE_ACCEPT, values![tenant, invite, at]).await? == 1)
}

/// Takes an invitation back; `false` when it isn't open.
///
/// # Errors
/// What the database ran into.
pub async fn revoke(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    invite: InviteId,
    at: Timestamp,
) -> Result<bool, StoreError> {
    let Some(row) = conn.fetch_optional(&INVITE_REVOKE, values![tenant, invite, at]).await? else {
        return Ok(false);
    };
    lookups::delete(conn, tenant, lookups::INVITE, invite.0, &row.blob("hash")?).await?;
    Ok(true)
}

/// Takes the earlier invitations of an address back.
///
/// # Errors
/// What the database ran into.
pub async fn revoke_of_email(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    email: &str,
    at: Timestamp,
) -> Result<u64, StoreError> {
    conn.execute(&INVITES_REVOKE_OF_EMAIL, values![tenant, email, at]).await
}

/// The open invitations of a tenant, the newest first.
///
/// # Errors
/// What the database ran into.
pub async fn open(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    now: Timestamp,
    limit: u32,
) -> Result<Vec<InviteRow>, StoreError> {
    conn.fetch_all(&INVITES_OPEN, values![tenant, now, limit]).await?.iter().map(read).collect()
}

/// How many invitations are open, up to `limit`.
///
/// # Errors
/// What the database ran into.
pub async fn count_open(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    now: Timestamp,
    limit: u32,
) -> Result<u64, StoreError> {
    conn.fetch_one(&INVITES_OPEN_COUNT, values![tenant, now, limit]).await?.count("invites")
}

fn read(row: &Row) -> Result<InviteRow, StoreError> {
    Ok(InviteRow {
        id: InviteId(row.uuid("id")?),
        email: row.text("email")?,
        role: Role::from_word(&row.text("role")?).ok_or_else(|| row.broken("role"))?,
        created_by: row.text("created_by")?,
        created_at: row.time("created_at")?,
        expires_at: row.time("expires_at")?,
    })
}
