//! Holds: what must not go, whatever the policies say. A released hold stays as a record.

use restante_core::id::{EndpointId, HoldId, ReceiptId, TenantId};
use restante_core::problem::{Code, Problem};
use restante_core::time::Timestamp;
use uuid::Uuid;

use crate::engine::sql::statements;
use crate::engine::{Conn, Row, StoreError, values};

/// Holds that a tenant may have at once: each run reads all of them.
pub const HOLDS_MAX: u32 = 10_000;

/// A hold to be made.
#[derive(Debug, Clone)]
pub struct NewHold {
    /// Its id, which sorts by time.
    pub id: Uuid,
    /// An endpoint's events; `None` with no receipt: all of the tenant's.
    pub endpoint: Option<EndpointId>,
    /// One event.
    pub receipt: Option<ReceiptId>,
    /// Why.
    pub reason: String,
    /// Who said so.
    pub actor: String,
    /// When.
    pub at: Timestamp,
}

/// A hold as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoldRow {
    /// Its id.
    pub id: Uuid,
    /// An endpoint's events.
    pub endpoint: Option<EndpointId>,
    /// One event.
    pub receipt: Option<ReceiptId>,
    /// Why.
    pub reason: String,
    /// Who said so.
    pub created_by: String,
    /// When.
    pub created_at: Timestamp,
    /// Who released it.
    pub released_by: Option<String>,
    /// When.
    pub released_at: Option<Timestamp>,
}

statements! {
    /// Holds something.
    HOLD_INSERT = both
        "INSERT INTO retention_holds (tenant_id, id, endpoint_id, receipt_id, reason, created_by, created_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7)";

    /// What is held now.
    HOLDS_ACTIVE = both
        "SELECT id, endpoint_id, receipt_id, reason, created_by, created_at, released_by, released_at
            FROM retention_holds WHERE tenant_id = $1 AND released_at IS NULL ORDER BY id LIMIT $2";

    /// A page of holds, released ones too, newest first.
    HOLDS_PAGE = both
        "SELECT id, endpoint_id, receipt_id, reason, created_by, created_at, released_by, released_at
            FROM retention_holds WHERE tenant_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3";

    /// Releases a hold.
    HOLD_RELEASE = both
        "UPDATE retention_holds SET released_by = $3, released_at = $4
            WHERE tenant_id = $1 AND id = $2 AND released_at IS NULL";
}

fn read(row: &Row) -> Result<HoldRow, StoreError> {
    Ok(HoldRow {
        id: row.uuid("id")?,
        endpoint: row.uuid_or_null("endpoint_id")?.map(EndpointId),
        receipt: row.uuid_or_null("receipt_id")?.map(ReceiptId),
        reason: row.text("reason")?,
        created_by: row.text("created_by")?,
        created_at: row.time("created_at")?,
        released_by: row.text_or_null("released_by")?,
        released_at: row.time_or_null("released_at")?,
    })
}

/// Holds something. The caller has told commits that the configuration changes, which also waits for a batch that is
/// under way.
///
/// # Errors
/// What the database ran into.
pub async fn hold(conn: &mut Conn<'_>, tenant: TenantId, new: &NewHold) -> Result<(), StoreError> {
    let NewHold { id, endpoint, receipt, reason, actor, at } = new;
    let values = values![tenant, *id, *endpoint, *receipt, reason.as_str(), actor.as_str(), *at];
    conn.execute(&HOLD_INSERT, values).await.map(|_| ())
}

/// What is held now, at most [`HOLDS_MAX`].
///
/// # Errors
/// What the database ran into.
pub async fn active_holds(conn: &mut Conn<'_>, tenant: TenantId) -> Result<Vec<HoldRow>, StoreError> {
    conn.fetch_all(&HOLDS_ACTIVE, values![tenant, HOLDS_MAX]).await?.iter().map(read).collect()
}

/// Refuses to go on while anything of a tenant is held. The caller has told commits that the configuration changes, so
/// that no hold is made before it ends. What is told is what administrators of the instance may know: which hold, of
/// what kind and since when; the reason is between the tenant and whoever made it.
///
/// # Errors
/// A conflict that names the first hold and says who can release it; what the database ran into.
pub async fn refuse_while_held(conn: &mut Conn<'_>, tenant: TenantId) -> Result<(), StoreError> {
    let held = active_holds(conn, tenant).await?;
    let Some(first) = held.first() else { return Ok(()) };
    let what = match (first.endpoint, first.receipt) {
        (_, Some(event)) => format!("The event {event} of this tenant"),
        (Some(endpoint), None) => format!("The endpoint {endpoint} of this tenant"),
        (None, None) => "This tenant".to_owned(),
    };
    let more = match held.len() - 1 {
        0 => String::new(),
        1 => ", and there is 1 more hold".to_owned(),
        more => format!(", and there are {more} more holds"),
    };
    let (id, since) = (HoldId(first.id), first.created_at);
    let detail = format!(
        "{what} is held since {since} (hold {id}){more}, so nothing was deleted. The tenant's developers and owners \
         release holds on its page Retention or by DELETE /v1/retention/holds/{id}; after that it can be deleted."
    );
    Err(Problem::new(Code::Conflict, detail).into())
}

/// The newest holds, released ones too, from the one before `before` on.
///
/// # Errors
/// What the database ran into.
pub async fn holds(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    before: Option<Uuid>,
    limit: u32,
) -> Result<Vec<HoldRow>, StoreError> {
    let before = before.unwrap_or(Uuid::max());
    conn.fetch_all(&HOLDS_PAGE, values![tenant, before, limit]).await?.iter().map(read).collect()
}

/// Releases a hold; `false` when it isn't there or is released.
///
/// # Errors
/// What the database ran into.
pub async fn release(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    id: Uuid,
    actor: &str,
    at: Timestamp,
) -> Result<bool, StoreError> {
    Ok(conn.execute(&HOLD_RELEASE, values![tenant, id, actor, at]).await? == 1)
}
