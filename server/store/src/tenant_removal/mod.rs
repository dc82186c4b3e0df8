//! The end of a tenant. One transaction destroys its keys and every way to it; from then on nothing that it
//! sealed can be opened. Its rows go afterwards, in short steps that may be killed, repeated, and done by
//! several nodes.

mod sql;
mod tables;

use restante_core::id::TenantId;
use restante_core::time::Timestamp;

use crate::control::{tenant_keys, tenants};
use crate::engine::{Conn, Row, StoreError, values};
use crate::{holdings, retention};
use tables::TABLES;

/// Every statement of this folder.
#[cfg(test)]
pub(crate) fn all_statements() -> impl Iterator<Item = &'static crate::engine::Sql> {
    [sql::ALL, tables::ALL].into_iter().flatten().copied()
}

/// The tables that are emptied, for tests that look into them.
#[cfg(any(test, feature = "testing"))]
pub fn table_names() -> impl Iterator<Item = &'static str> {
    TABLES.iter().map(|table| table.name)
}

/// Rows that one step removes at most, all of one table.
const ROWS_PER_STEP: u32 = 500;
/// Bytes of payloads that one step removes, unless its first one alone is larger.
const PAYLOAD_BYTES_PER_STEP: u32 = 8 * 1024 * 1024;

/// A deletion that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRemoval {
    /// Who asked.
    pub actor: String,
    /// When.
    pub requested_at: Timestamp,
}

/// A deletion, under way or done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovalRow {
    /// The tenant.
    pub tenant: TenantId,
    /// The name that it had in commands and URLs.
    pub slug: String,
    /// The name that it had for people.
    pub name: String,
    /// Who asked.
    pub actor: String,
    /// When.
    pub requested_at: Timestamp,
    /// Events that it held then.
    pub events: u64,
    /// Rows that were removed so far.
    pub rows_removed: u64,
    /// The table in which the last step removed something; empty before the first.
    pub at_table: String,
    /// When the last step was done.
    pub stepped_at: Option<Timestamp>,
    /// When the last row was removed.
    pub finished_at: Option<Timestamp>,
}

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// It removed so many rows; more may be left.
    Removed(u64),
    /// Nothing of the tenant is left.
    Finished,
    /// It is finished already, or another node has it.
    Nothing,
}

/// Begins: the tenant's keys are destroyed, and endpoints' tokens, API keys, invitations, members and grants
/// lead to it no longer. `None` when there is no such tenant. Its name is free afterwards.
///
/// # Errors
/// A conflict while anything of it is held; what the database ran into.
pub async fn begin(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    new: NewRemoval,
) -> Result<Option<RemovalRow>, StoreError> {
    // First, so that commits under way end before, and the next ones see that it is over.
    tenants::config_changed(conn, tenant).await?;
    let Some(row) = tenants::by_id(conn, tenant).await? else { return Ok(None) };
    // Whoever makes a hold changes the tenant's row as well: the hold is here, or finds the tenant gone.
    retention::refuse_while_held(conn, tenant).await?;
    let NewRemoval { actor, requested_at } = new;
    let placeholder = tenant.to_string();
    let ended = conn.execute(&sql::TENANT_END, values![tenant, requested_at, placeholder]).await?;
    if ended == 0 {
        return Ok(None);
    }
    tenant_keys::destroy_all(conn, tenant).await?;
    for statement in sql::WAYS_IN {
        conn.execute(statement, values![tenant]).await?;
    }
    let held = holdings::of_tenant(conn, tenant).await?;
    let events = i64::try_from(held.events).unwrap_or(i64::MAX);
    let (slug, name) = (row.slug, row.name);
    let values = values![tenant, slug.as_str(), name.as_str(), actor.as_str(), requested_at, events];
    conn.execute(&sql::REMOVAL_INSERT, values).await?;
    Ok(Some(RemovalRow {
        tenant,
        slug,
        name,
        actor,
        requested_at,
        events: held.events,
        rows_removed: 0,
        at_table: String::new(),
        stepped_at: None,
        finished_at: None,
    }))
}

/// Removes some rows of a tenant whose deletion has begun.
///
/// # Errors
/// What the database ran into; then the step is done anew later.
pub async fn step(conn: &mut Conn<'_>, tenant: TenantId, at: Timestamp) -> Result<Step, StoreError> {
    let Some(row) = conn.fetch_optional(&sql::REMOVAL_LOCK, values![tenant]).await? else {
        return Ok(Step::Nothing);
    };
    let last = row.text("at_table")?;
    // On from where the last step was; before the end everything is looked at once more.
    let from = TABLES.iter().position(|table| table.name == last).unwrap_or(0);
    for table in TABLES[from..].iter().chain(TABLES) {
        let mut values = values![tenant, ROWS_PER_STEP];
        if table.by_bytes {
            values.extend(values![PAYLOAD_BYTES_PER_STEP]);
        }
        let removed = conn.execute(table.remove, values).await?;
        if removed > 0 {
            let count = i64::try_from(removed).unwrap_or(i64::MAX);
            conn.execute(&sql::REMOVAL_STEP, values![tenant, count, table.name, at]).await?;
            return Ok(Step::Removed(removed));
        }
    }
    conn.execute(&sql::TENANT_REMOVE, values![tenant]).await?;
    conn.execute(&sql::REMOVAL_END, values![tenant, at]).await?;
    Ok(Step::Finished)
}

/// Deletions of the whole instance that are under way.
///
/// # Errors
/// What the database ran into.
pub async fn open(conn: &mut Conn<'_>, limit: u32) -> Result<Vec<TenantId>, StoreError> {
    let rows = conn.fetch_all(&sql::REMOVALS_OPEN, values![limit]).await?;
    rows.iter().map(|row| Ok(TenantId(row.uuid("tenant_id")?))).collect()
}

/// The newest deletions of the whole instance.
///
/// # Errors
/// What the database ran into.
pub async fn newest(conn: &mut Conn<'_>, limit: u32) -> Result<Vec<RemovalRow>, StoreError> {
    conn.fetch_all(&sql::REMOVALS_NEWEST, values![limit]).await?.iter().map(read).collect()
}

/// The deletion of a tenant.
///
/// # Errors
/// What the database ran into.
pub async fn of_tenant(conn: &mut Conn<'_>, tenant: TenantId) -> Result<Option<RemovalRow>, StoreError> {
    conn.fetch_optional(&sql::REMOVAL, values![tenant]).await?.as_ref().map(read).transpose()
}

fn read(row: &Row) -> Result<RemovalRow, StoreError> {
    Ok(RemovalRow {
        tenant: TenantId(row.uuid("tenant_id")?),
        slug: row.text("slug")?,
        name: row.text("name")?,
        actor: row.text("actor")?,
        requested_at: row.time("requested_at")?,
        events: row.count("events")?,
        rows_removed: row.count("rows_removed")?,
        at_table: row.text("at_table")?,
        stepped_at: row.time_or_null("stepped_at")?,
        finished_at: row.time_or_null("finished_at")?,
    })
}
