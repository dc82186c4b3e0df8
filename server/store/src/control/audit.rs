//! The audit log: who changed what, when and on which request, written in the transaction of the
//! change itself. It never holds a secret, and nothing changes or removes its rows.

use restante_core::id::TenantId;
use restante_core::time::Timestamp;
use uuid::Uuid;

use crate::engine::sql::statements;
use crate::engine::{Conn, Row, StoreError, values};

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

/// One line of the log as it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditLine {
    /// Its id, which sorts by time.
    pub id: Uuid,
    /// When it was done.
    pub at: Timestamp,
    /// Who did it: `key_…`, `usr_…`, or `operator` for the command line.
    pub actor: String,
    /// What was done: `endpoint.create`.
    pub action: String,
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

    /// A page of a tenant's log, the newest first.
    AUDIT_PAGE = both
        "SELECT id, at, actor, action, subject, detail, request_id FROM audit_log
            WHERE tenant_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3";

    /// The same of one who acted.
    AUDIT_PAGE_OF_ACTOR = both
        "SELECT id, at, actor, action, subject, detail, request_id FROM audit_log
            WHERE tenant_id = $1 AND id < $2 AND actor = $4 ORDER BY id DESC LIMIT $3";

    /// The same of one kind of change.
    AUDIT_PAGE_OF_ACTION = both
        "SELECT id, at, actor, action, subject, detail, request_id FROM audit_log
            WHERE tenant_id = $1 AND id < $2 AND action = $4 ORDER BY id DESC LIMIT $3";
}

/// Which lines of a log are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum AuditOf {
    /// All.
    #[default]
    All,
    /// Those of one who acted.
    Actor(String),
    /// Those of one kind of change.
    Action(String),
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

/// The newest lines of the tenant, from the one before `before` on.
///
/// # Errors
/// What the database ran into.
pub async fn page(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    of: AuditOf,
    before: Option<Uuid>,
    limit: u32,
) -> Result<Vec<AuditLine>, StoreError> {
    let before = before.unwrap_or(Uuid::max());
    let rows = match of {
        AuditOf::All => conn.fetch_all(&AUDIT_PAGE, values![tenant, before, limit]).await?,
        AuditOf::Actor(actor) => {
            conn.fetch_all(&AUDIT_PAGE_OF_ACTOR, values![tenant, before, limit, actor]).await?
        }
        AuditOf::Action(action) => {
            conn.fetch_all(&AUDIT_PAGE_OF_ACTION, values![tenant, before, limit, action]).await?
        }
    };
    rows.iter().map(AuditLine::read).collect()
}

impl AuditLine {
    pub(super) fn read(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.uuid("id")?,
            at: row.time("at")?,
            actor: row.text("actor")?,
            action: row.text("action")?,
            subject: row.text("subject")?,
            detail: row.text("detail")?,
            request_id: row.text_or_null("request_id")?,
        })
    }
}
