//! Grants: what a tenant lets administrators of the instance see, until when, and who let them.

use restante_core::id::{GrantId, TenantId};
use restante_core::time::Timestamp;

use crate::engine::sql::statements;
use crate::engine::{Conn, Row, StoreError, values};

/// A grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantRow {
    /// Its id.
    pub id: GrantId,
    /// Whether payloads are among what may be seen.
    pub payloads: bool,
    /// What it is for.
    pub note: String,
    /// Who gave it.
    pub created_by: String,
    /// When.
    pub created_at: Timestamp,
    /// Until when it is good.
    pub ends_at: Timestamp,
    /// When it was taken back before that.
    pub ended_at: Option<Timestamp>,
}

statements! {
    /// Keeps a grant.
    GRANT_INSERT = both
        "INSERT INTO grants (tenant_id, id, payloads, note, created_by, created_at, ends_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7)";

    /// The grants of a tenant, the newest first.
    GRANTS_PAGE = both
        "SELECT id, payloads, note, created_by, created_at, ends_at, ended_at FROM grants
            WHERE tenant_id = $1 ORDER BY id DESC LIMIT $2";

    /// Takes a grant back.
    GRANT_END = both
        "UPDATE grants SET ended_at = $3 WHERE tenant_id = $1 AND id = $2 AND ended_at IS NULL AND ends_at > $3";
}

/// Keeps a grant.
///
/// # Errors
/// What the database ran into.
pub async fn insert(conn: &mut Conn<'_>, tenant: TenantId, grant: GrantRow) -> Result<(), StoreError> {
    let GrantRow { id, payloads, note, created_by, created_at, ends_at, .. } = grant;
    let values = values![tenant, id, payloads, note, created_by, created_at, ends_at];
    conn.execute(&GRANT_INSERT, values).await.map(|_| ())
}

/// The grants of a tenant, the newest first; at most `limit`.
///
/// # Errors
/// What the database ran into.
pub async fn page(conn: &mut Conn<'_>, tenant: TenantId, limit: u32) -> Result<Vec<GrantRow>, StoreError> {
    conn.fetch_all(&GRANTS_PAGE, values![tenant, limit]).await?.iter().map(read).collect()
}

/// Takes a grant back; `false` when it is over already or is none of the tenant.
///
/// # Errors
/// What the database ran into.
pub async fn end(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    grant: GrantId,
    at: Timestamp,
) -> Result<bool, StoreError> {
    Ok(conn.execute(&GRANT_END, values![tenant, grant, at]).await? == 1)
}

fn read(row: &Row) -> Result<GrantRow, StoreError> {
    Ok(GrantRow {
        id: GrantId(row.uuid("id")?),
        payloads: row.bool("payloads")?,
        note: row.text("note")?,
        created_by: row.text("created_by")?,
        created_at: row.time("created_at")?,
        ends_at: row.time("ends_at")?,
        ended_at: row.time_or_null("ended_at")?,
    })
}
