//! How far the keys of events are gone: within each scope that keys are unique in, the newest event whose key was
//! removed. It is written by the transaction that removes the keys, so that no edit of a policy, whatever its order,
//! makes it untrue. Reconciliation inserts nothing that may be as old.

use std::collections::{BTreeMap, BTreeSet};

use restante_core::id::{EndpointId, TenantId};
use restante_core::time::Timestamp;

use crate::engine::sql::statements;
use crate::engine::{Batch, Conn, StoreError, values};

statements! {
    // Differs in how rows come in, and in the greatest of two.
    /// Notes that keys are gone. It never moves back.
    REMOVED_KEYS_NOTE =
        sqlite "WITH r (value) AS MATERIALIZED (SELECT value FROM jsonb_each($1))
            INSERT INTO removed_keys (tenant_id, provider, scope, newest_at)
            SELECT unhex(r.value->>0), r.value->>1, r.value->>2, r.value->>3 FROM r WHERE true
            ON CONFLICT (tenant_id, provider, scope) DO UPDATE SET newest_at = MAX(removed_keys.newest_at, excluded.newest_at)"
        postgres "INSERT INTO removed_keys (tenant_id, provider, scope, newest_at)
            SELECT * FROM UNNEST($1::uuid[], $2::text[], $3::text[], $4::bigint[])
            ON CONFLICT (tenant_id, provider, scope) DO UPDATE SET newest_at = GREATEST(removed_keys.newest_at, excluded.newest_at)";

    // Differs in the list.
    /// The newest event whose key is gone, in each of some scopes.
    REMOVED_KEYS_IN =
        sqlite "SELECT scope, newest_at FROM removed_keys WHERE tenant_id = $1 AND provider = $2
            AND scope IN (SELECT value FROM json_each($3))"
        postgres "SELECT scope, newest_at FROM removed_keys WHERE tenant_id = $1 AND provider = $2 AND scope = ANY($3)";

    /// The newest event whose key is gone, in every scope that events of an endpoint may have: all but those that are
    /// another endpoint's own.
    REMOVED_KEYS_NEWEST = both
        "SELECT MAX(newest_at) AS newest_at FROM removed_keys WHERE tenant_id = $1 AND provider = $2
            AND (scope = $3 OR substr(scope, 1, 3) <> 'ep_')";
}

/// A key that is removed.
#[derive(Debug, Clone)]
pub(super) struct RemovedKey {
    pub(super) provider: String,
    pub(super) scope: String,
    /// The later one of its commit and its receipt, which are told by two clocks.
    pub(super) at: Timestamp,
}

/// Notes that keys are gone, in the transaction that removes them.
pub(super) async fn note(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    keys: impl IntoIterator<Item = RemovedKey> + Send,
) -> Result<(), StoreError> {
    // Nothing came later than now, whatever a clock that was wrong has said.
    let now = conn.now().await?;
    let mut newest: BTreeMap<(String, String), Timestamp> = BTreeMap::new();
    for key in keys {
        let at = key.at.min(now);
        newest.entry((key.provider, key.scope)).and_modify(|newest| *newest = at.max(*newest)).or_insert(at);
    }
    let batch = Batch::new()
        .uuids(newest.iter().map(|_| tenant.0))
        .texts(newest.keys().map(|key| key.0.clone()))
        .texts(newest.keys().map(|key| key.1.clone()))
        .ints(newest.values().map(|at| at.micros()));
    conn.execute_batch(&REMOVED_KEYS_NOTE, batch).await.map(|_| ())
}

/// The newest event whose key was removed in each of some scopes of a provider's; a scope in which none was is left out.
///
/// # Errors
/// What the database ran into.
pub async fn newest_removed_in(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    provider: &str,
    scopes: BTreeSet<String>,
) -> Result<BTreeMap<String, Timestamp>, StoreError> {
    if scopes.is_empty() {
        return Ok(BTreeMap::new());
    }
    let scopes: Vec<String> = scopes.into_iter().collect();
    let rows = conn.fetch_all(&REMOVED_KEYS_IN, values![tenant, provider, scopes]).await?;
    rows.iter().map(|row| Ok((row.text("scope")?, row.time("newest_at")?))).collect()
}

/// The newest event of a provider's whose key was removed, in any scope that events of this endpoint may have.
///
/// # Errors
/// What the database ran into.
pub async fn newest_removed(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    provider: &str,
    endpoint: EndpointId,
) -> Result<Option<Timestamp>, StoreError> {
    let values = values![tenant, provider, endpoint.to_string()];
    conn.fetch_one(&REMOVED_KEYS_NEWEST, values).await?.time_or_null("newest_at")
}
