//! The audit log: who changed what, when and on which request, written in the transaction of the
//! change itself. It never holds a secret, and nothing changes or removes its rows.

use restante_core::id::TenantId;
use restante_core::time::Timestamp;
use uuid::Uuid;

use crate::engine::sql::statements;
use crate::engine::{Conn, StoreError, values};

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    /// Its id, which sorts by time.
    pub id: Uuid,
    /// When it was done.
    pub at: Timestamp,
    /// Who did it: `key_…`, `usr_…`, or `operator` for the command line.
    pub actor: String,
    /// What was done: `endpoint.create`.
    pub action: &'static str,
    /// On what, by its id.
    pub subject: String,
    /// What changed, as JSON without secrets.
    pub detail: String,
    /// The request that asked for it.
    pub request_id: Option<String>,
}

statements! {
    /// Adds a line to the log.
    AUDIT_INSERT = both
        "INSERT INTO audit_log (tenant_id, id, at, actor, action, subject, detail, request_id)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
}

/// Adds a line.
///
/// # Errors
/// What the database ran into; then the change must not be committed either.
pub async fn insert(conn: &mut Conn<'_>, tenant: TenantId, row: AuditRow) -> Result<(), StoreError> {
    let AuditRow { id, at, actor, action, subject, detail, request_id } = row;
    let values = values![tenant, id, at, actor, action, subject, detail, request_id];
    conn.execute(&AUDIT_INSERT, values).await.map(|_| ())
}
