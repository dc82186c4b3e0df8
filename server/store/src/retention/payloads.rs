//! Removing payloads: one short transaction locks some events, looks at them once more, removes the requests of
//! those that may go, and makes tombstones of their receipts.

use std::collections::{BTreeSet, HashSet};

use restante_core::id::TenantId;
use restante_core::time::Timestamp;
use uuid::Uuid;

use super::due::{Cutoffs, Due, Kept, judge};
use super::held::HoldFacts;
use super::sql;
use crate::engine::{Conn, StoreError, values};
use crate::events::PayloadState;
use crate::{failpoint, handoffs};

/// What a batch has done.
#[derive(Debug, Default)]
pub struct Removed {
    /// Events that are tombstones now.
    pub payloads: u64,
    /// Bytes of requests that are gone.
    pub bytes: u64,
    /// Handoffs that were given up.
    pub expired: u64,
    /// What stays although its time is over.
    pub kept: Vec<(Uuid, Kept)>,
}

/// Removes what may go of some events. The caller holds the tenant's configuration still, and has asked its
/// policies and holds again.
///
/// # Errors
/// What the database ran into.
pub async fn remove_payloads(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    receipts: Vec<Uuid>,
    cutoffs: &Cutoffs,
    holds: &HoldFacts,
) -> Result<Removed, StoreError> {
    let mut removed = Removed::default();
    let locked = lock(conn, tenant, receipts).await?;
    let mut judged = judge(conn, tenant, &locked, cutoffs, holds, false).await?;
    if !judged.give_up.is_empty() {
        removed.expired = handoffs::give_up(conn, tenant, judged.give_up).await?;
        judged = judge(conn, tenant, &locked, cutoffs, holds, false).await?;
    }
    removed.kept = judged.kept;
    // Events of a request that were not asked for, of which it may have thousands, are locked as well, or it waits.
    let have: HashSet<Uuid> = locked.iter().map(|due| due.id).collect();
    let missing: Vec<Uuid> = judged
        .go
        .iter()
        .flat_map(|request| &request.receipts)
        .filter(|id| !have.contains(id))
        .copied()
        .collect();
    let also: HashSet<Uuid> = match missing.is_empty() {
        true => HashSet::new(),
        false => lock(conn, tenant, missing).await?.iter().map(|due| due.id).collect(),
    };
    let whole = |id: &Uuid| have.contains(id) || also.contains(id);
    let go = judged.go.into_iter().filter(|request| request.receipts.iter().all(whole));
    let (mut gone, mut requests) = (Vec::new(), BTreeSet::new());
    for request in go {
        requests.insert(request.payload);
        gone.extend(request.receipts);
    }
    let now = conn.now().await?;
    let (payloads, bytes) = entomb(conn, tenant, gone, requests, PayloadState::Removed, now).await?;
    failpoint::pass(failpoint::RETENTION_BATCH).await?;
    removed.payloads = payloads;
    removed.bytes = bytes;
    Ok(removed)
}

async fn lock(conn: &mut Conn<'_>, tenant: TenantId, receipts: Vec<Uuid>) -> Result<Vec<Due>, StoreError> {
    conn.fetch_all(&sql::PAYLOADS_DUE_LOCKED, values![tenant, receipts])
        .await?
        .iter()
        .map(Due::read)
        .collect()
}

/// Removes requests, and the other bytes of their events; gives how many events are tombstones now, and the bytes.
pub(super) async fn entomb(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    receipts: Vec<Uuid>,
    requests: BTreeSet<Uuid>,
    state: PayloadState,
    now: Timestamp,
) -> Result<(u64, u64), StoreError> {
    if receipts.is_empty() {
        return Ok((0, 0));
    }
    let mut maybe: BTreeSet<Uuid> = BTreeSet::new();
    for row in conn.fetch_all(&sql::RETENTION_VARIANTS_OF, values![tenant, receipts.clone()]).await? {
        maybe.insert(row.uuid("payload_id")?);
    }
    let values = values![tenant, receipts.clone(), state.as_str(), now];
    let entombed = conn.execute(&sql::RECEIPTS_ENTOMB, values).await?;
    let mut requests = requests;
    if !maybe.is_empty() {
        conn.execute(&sql::VARIANTS_DELETE, values![tenant, receipts]).await?;
        maybe.retain(|payload| !requests.contains(payload));
        let asked: Vec<Uuid> = maybe.iter().copied().collect();
        for row in conn.fetch_all(&sql::RETENTION_NEEDED, values![tenant, asked]).await? {
            maybe.remove(&row.uuid("id")?);
        }
        requests.append(&mut maybe);
    }
    let mut bytes = 0;
    let requests: Vec<Uuid> = requests.into_iter().collect();
    for row in conn.fetch_all(&sql::PAYLOADS_DELETE, values![tenant, requests]).await? {
        bytes += row.count("bytes")?;
    }
    Ok((entombed, bytes))
}
