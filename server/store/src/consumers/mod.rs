//! Consumers: the applications of a tenant that events are handed off to. Each function runs inside
//! the caller's transaction. What they hold now stands in `handoffs`; no rule is decided here.

mod backfill;
mod record;
mod remove;
mod sql;

pub(crate) use backfill::endpoints_of_repeats;
pub use backfill::{BackfillStep, unfinished_backfills, write_backfill_step};
pub use record::{ConsumerRecord, NewConsumer};
pub use remove::{CancelStep, delete, unfinished_removals, write_cancel_step};
#[cfg(test)]
pub(crate) use sql::ALL;

use restante_core::filter::Filter;
use restante_core::id::{ConsumerId, EndpointId, TenantId};
use restante_core::time::Timestamp;

use crate::control::tenants;
use crate::engine::{Conn, StoreError, values};

/// Makes a consumer. Every event that is committed after this transaction is handed off to it if its
/// filter matches; what is here already, from `start_from` on, follows by [`write_backfill_step`].
///
/// # Errors
/// [`StoreError::Taken`] when the name is.
pub async fn insert(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    new: &NewConsumer,
) -> Result<ConsumerRecord, StoreError> {
    // First of all: it waits for the commits under way, so that what they commit is found below.
    tenants::config_changed(conn, tenant).await?;
    let now = conn.now().await?;
    // Up to the newest receipt there is: all later ones see the consumer when they are committed.
    let newest = match new.start_from {
        Some(_) => conn.fetch_optional(&sql::RECEIPT_NEWEST, values![tenant]).await?,
        None => None,
    };
    let until = newest.map(|row| row.uuid("id")).transpose()?;
    let from = new.start_from.filter(|from| until.is_some_and(|until| until >= *from));
    let values = values![
        tenant,
        new.id,
        new.name.as_str(),
        filter_text(&new.filter),
        new.max_attempts,
        new.enabled,
        new.start.as_str(),
        from,
        from.and(until),
        now,
    ];
    conn.execute(&sql::CONSUMER_INSERT, values).await?;
    by_name(conn, tenant, &new.name).await?.ok_or_else(|| StoreError::Corrupt {
        statement: sql::CONSUMER_INSERT.name,
        column: "name".to_owned(),
    })
}

/// The consumer of that name.
///
/// # Errors
/// What the database ran into.
pub async fn by_name(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    name: &str,
) -> Result<Option<ConsumerRecord>, StoreError> {
    let row = conn.fetch_optional(&sql::CONSUMER_BY_NAME, values![tenant, name]).await?;
    row.map(|row| record::read(tenant, &row)).transpose()
}

/// Every consumer of the tenant that is not deleted, newest first. There are at most
/// `limits::CONSUMERS_PER_TENANT_MAX`.
///
/// # Errors
/// What the database ran into.
pub async fn all(conn: &mut Conn<'_>, tenant: TenantId) -> Result<Vec<ConsumerRecord>, StoreError> {
    let rows = conn.fetch_all(&sql::CONSUMERS, values![tenant]).await?;
    rows.iter().map(|row| record::read(tenant, row)).collect()
}

/// A page of them, newest first, those before an id.
///
/// # Errors
/// What the database ran into.
pub async fn page(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    before: Option<ConsumerId>,
    limit: u32,
) -> Result<Vec<ConsumerRecord>, StoreError> {
    let before = before.map_or(uuid::Uuid::max(), |id| id.0);
    let rows = conn.fetch_all(&sql::CONSUMERS_PAGE, values![tenant, before, limit]).await?;
    rows.iter().map(|row| record::read(tenant, row)).collect()
}

/// Saves what may change of a consumer: filter, attempts, pause. Events that are committed after
/// this transaction go by the new filter; handoffs that exist stay.
///
/// # Errors
/// What the database ran into.
pub async fn update(
    conn: &mut Conn<'_>,
    consumer: &ConsumerRecord,
    filter: &Filter,
    max_attempts: u32,
    enabled: bool,
) -> Result<bool, StoreError> {
    tenants::config_changed(conn, consumer.tenant).await?;
    let now = conn.now().await?;
    let values = values![consumer.tenant, consumer.id, filter_text(filter), max_attempts, enabled, now];
    Ok(conn.execute(&sql::CONSUMER_UPDATE, values).await? == 1)
}

/// Those of the endpoints that are the tenant's and not deleted.
///
/// # Errors
/// What the database ran into.
pub async fn endpoints_known(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoints: &[EndpointId],
) -> Result<Vec<EndpointId>, StoreError> {
    if endpoints.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<uuid::Uuid> = endpoints.iter().map(|endpoint| endpoint.0).collect();
    let rows = conn.fetch_all(&sql::ENDPOINTS_KNOWN, values![tenant, ids]).await?;
    rows.iter().map(|row| Ok(EndpointId(row.uuid("id")?))).collect()
}

/// How long a consumer's last claim may be out of date. Each claim would otherwise wait for the row.
const LAST_CLAIM_PRECISION_SECONDS: i64 = 60;

/// Notes that the consumer claims, to the minute.
pub(crate) async fn note_claim(
    conn: &mut Conn<'_>,
    consumer: &ConsumerRecord,
    now: Timestamp,
) -> Result<(), StoreError> {
    let stale = now.plus_seconds(-LAST_CLAIM_PRECISION_SECONDS);
    if consumer.last_claim_at.is_none_or(|last| last < stale) {
        let values = values![consumer.tenant, consumer.id, now, stale];
        conn.execute(&sql::CONSUMER_NOTE_CLAIM, values).await?;
    }
    Ok(())
}

fn filter_text(filter: &Filter) -> String {
    serde_json::json!(filter).to_string()
}
