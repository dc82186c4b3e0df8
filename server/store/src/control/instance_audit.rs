//! The instance's own audit log: what was done to people, tenants and the instance itself. What happens
//! within a tenant stands in the tenant's log.

use uuid::Uuid;

use super::audit::{AuditLine, AuditRow};
use crate::engine::sql::statements;
use crate::engine::{Conn, StoreError, values};

statements! {
    /// Adds a line to the instance's log.
    INSTANCE_AUDIT_INSERT = both
        "INSERT INTO instance_audit_log (id, at, actor, action, subject, detail, request_id)
            VALUES ($1, $2, $3, $4, $5, $6, $7)";

    /// A page of the instance's log, the newest first.
    INSTANCE_AUDIT_PAGE = both
        "SELECT id, at, actor, action, subject, detail, request_id FROM instance_audit_log
            WHERE id < $1 ORDER BY id DESC LIMIT $2";
}

/// Adds a line.
///
/// # Errors
/// What the database ran into; then the change must not be committed either.
pub async fn insert(conn: &mut Conn<'_>, row: AuditRow) -> Result<(), StoreError> {
    let AuditRow { id, at, actor, action, subject, detail, request_id } = row;
    let values = values![id, at, actor, action, subject, detail, request_id];
    conn.execute(&INSTANCE_AUDIT_INSERT, values).await.map(|_| ())
}

/// The newest lines, from the one before `before` on.
///
/// # Errors
/// What the database ran into.
pub async fn page(
    conn: &mut Conn<'_>,
    before: Option<Uuid>,
    limit: u32,
) -> Result<Vec<AuditLine>, StoreError> {
    let before = before.unwrap_or(Uuid::max());
    conn.fetch_all(&INSTANCE_AUDIT_PAGE, values![before, limit]).await?.iter().map(AuditLine::read).collect()
}
