//! A page of a provider's list: what is known of it, and the one transaction that writes it.

use std::collections::{BTreeMap, BTreeSet};

use restante_core::id::{EndpointId, ReceiptId, ReconciliationRunId, TenantId, uuid_v7_floor};
use restante_core::reconcile::may_have_been_here;
use restante_core::time::Timestamp;

use super::sql::{
    RECONCILIATION_KNOWN, RECONCILIATION_RECEIVED, RECONCILIATION_RENEW, RECONCILIATION_RUN_PAGE,
    RECONCILIATION_TYPES_ADD, RECONCILIATION_UNPROCESSED,
};
use crate::deliveries::{Committed, Delivery, Writer};
use crate::engine::{Batch, Conn, StoreError, values};
use crate::failpoint;
use crate::retention::newest_removed_in;
use crate::rollups::Lane;

/// The right to run an endpoint's reconciliation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// The tenant.
    pub tenant: TenantId,
    /// The endpoint.
    pub endpoint: EndpointId,
    /// The holder's number.
    pub epoch: i64,
    /// The run.
    pub run: ReconciliationRunId,
    /// How long the holder may be silent.
    pub lease_seconds: u32,
}

impl Hold {
    /// Demands within a write that the caller still holds the endpoint, and prolongs its lease.
    pub(super) async fn demand(&self, conn: &mut Conn<'_>) -> Result<(), StoreError> {
        let now = conn.now().await?;
        let until = now.plus_seconds(i64::from(self.lease_seconds));
        let values = values![self.tenant, self.endpoint, self.epoch, until, now];
        match conn.execute(&RECONCILIATION_RENEW, values).await? {
            1 => Ok(()),
            _ => Err(StoreError::Stale),
        }
    }
}

/// A key that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The key.
    pub event_key: String,
    /// Within what it is unique.
    pub scope: String,
}

/// An event that is here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownEvent {
    /// Its receipt.
    pub receipt: ReceiptId,
    /// Its type.
    pub event_type: Option<String>,
    /// Whether it ever came by webhook.
    pub delivered: bool,
}

/// What is here under the given keys, each by its place.
///
/// # Errors
/// What the database ran into.
pub async fn known_events(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    provider: &str,
    asked: &[Asked],
) -> Result<Vec<Option<KnownEvent>>, StoreError> {
    let mut known = vec![None; asked.len()];
    if asked.is_empty() {
        return Ok(known);
    }
    let batch = Batch::new()
        .ints(0..asked.len() as i64)
        .uuids(asked.iter().map(|_| tenant.0))
        .texts(asked.iter().map(|one| one.event_key.clone()))
        .texts(asked.iter().map(|_| provider.to_owned()))
        .texts(asked.iter().map(|one| one.scope.clone()));
    for row in conn.fetch_batch(&RECONCILIATION_KNOWN, batch).await? {
        let place = usize::try_from(row.int("n")?).unwrap_or(usize::MAX);
        if let Some(slot) = known.get_mut(place) {
            *slot = Some(KnownEvent {
                receipt: ReceiptId(row.uuid("id")?),
                event_type: row.text_or_null("type")?,
                delivered: row.text("origin")? == "delivery" || row.bool("delivered")?,
            });
        }
    }
    Ok(known)
}

/// How long after it happened an event that came by webhook is looked for.
const ARRIVAL_SECONDS_MAX: i64 = 10 * 60;
/// How much earlier than it happened one may have come, by another clock.
const EARLIER_SECONDS_MAX: i64 = 60;

/// How many events that happened in a stretch, its beginning left out, came to an endpoint by webhook, at most so many.
///
/// # Errors
/// What the database ran into.
pub async fn received_between(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoint: EndpointId,
    from: Timestamp,
    to: Timestamp,
    most: u32,
) -> Result<u64, StoreError> {
    let first = uuid_v7_floor(from.plus_seconds(-EARLIER_SECONDS_MAX));
    let last = uuid_v7_floor(to.plus_seconds(ARRIVAL_SECONDS_MAX));
    let values = values![tenant, endpoint, first, last, from, to, most];
    conn.fetch_one(&RECONCILIATION_RECEIVED, values).await?.count("count")
}

/// All that a page writes.
#[derive(Debug, Clone, Default)]
pub struct PageWrite {
    /// Whether only a part of the page is written, after which it is read again from its beginning.
    pub is_part: bool,
    /// Events that are not here, each as a delivery of its own.
    pub deliveries: Vec<Delivery>,
    /// When each of them happened, by the provider.
    pub happened: Vec<Option<Timestamp>>,
    /// Receipts that are here.
    pub known: Vec<ReceiptId>,
    /// By type: how many were listed, and how many of them ever came by webhook.
    pub types: BTreeMap<String, (u64, u64)>,
    /// The entries of the page.
    pub listed: u64,
    /// Those that the provider was asked to send again.
    pub redelivered: u64,
    /// Objects that no event told of.
    pub missing: u64,
    /// Those that are here as something else.
    pub mismatched: u64,
    /// Those that could not be read.
    pub failed: u64,
    /// Those that are not here and may have been, since they are older than the keys that are held.
    pub too_old: u64,
    /// Where the next page is.
    pub position: Option<String>,
    /// Events that were missing so far, a few, as JSON; the caller adds to what it had.
    pub found: String,
    /// Events not processed so far, by consumer.
    pub unprocessed: BTreeMap<String, u64>,
}

/// What became of a page.
#[derive(Debug, Default)]
pub struct PageDone {
    /// What became of each delivery.
    pub committed: Vec<Committed>,
    /// New events.
    pub inserted: u64,
    /// Events that were here, those among them that came while the page was read.
    pub known: u64,
    /// Events not processed so far, by consumer.
    pub unprocessed: BTreeMap<String, u64>,
}

/// Writes a page: its receipts, its counters and the place of the next one, together. An endpoint that has
/// changed since the page was prepared, keys of its events that were removed meanwhile, and a lease that was lost,
/// leave nothing of it.
///
/// # Errors
/// [`StoreError::Stale`] when the endpoint or the keys have changed or the caller has lost it; or what the database
/// ran into.
pub async fn write_page(conn: &mut Conn<'_>, hold: &Hold, page: PageWrite) -> Result<PageDone, StoreError> {
    let mut done = PageDone { unprocessed: page.unprocessed, ..PageDone::default() };
    let mut known = page.known;
    if !page.deliveries.is_empty() {
        // As every commit does: tenants first, then keys in their order.
        let written = Writer::new(Lane::Other).write(conn, &page.deliveries).await?;
        for committed in written {
            let committed = committed.ok_or(StoreError::Stale)?;
            for receipt in &committed.receipts {
                if receipt.duplicate {
                    known.push(receipt.id);
                } else {
                    done.inserted += 1;
                }
            }
            done.committed.push(committed);
        }
        demand_newer(conn, &page.deliveries, &page.happened, &done.committed).await?;
    }
    done.known = known.len() as u64;
    if !known.is_empty() {
        let receipts: Vec<uuid::Uuid> = known.iter().map(|receipt| receipt.0).collect();
        for row in conn.fetch_all(&RECONCILIATION_UNPROCESSED, values![hold.tenant, receipts]).await? {
            *done.unprocessed.entry(row.text("name")?).or_default() += row.count("count")?;
        }
    }
    // The holder's row comes before what only the holder writes.
    hold.demand(conn).await?;
    if !page.types.is_empty() {
        let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let batch = Batch::new()
            .uuids(page.types.iter().map(|_| hold.tenant.0))
            .uuids(page.types.iter().map(|_| hold.endpoint.0))
            .texts(page.types.keys().cloned())
            .ints(page.types.values().map(|(listed, _)| count(*listed)))
            .ints(page.types.values().map(|(_, delivered)| count(*delivered)))
            .uuids(page.types.iter().map(|_| hold.run.0));
        conn.execute_batch(&RECONCILIATION_TYPES_ADD, batch).await?;
    }
    let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let unprocessed = serde_json::to_string(&done.unprocessed).unwrap_or_else(|_| "{}".to_owned());
    let values = values![
        hold.tenant,
        hold.endpoint,
        hold.run,
        page.position,
        count(page.listed),
        count(done.known),
        count(done.inserted),
        count(page.redelivered),
        count(page.missing),
        count(page.mismatched),
        count(page.failed),
        count(page.too_old),
        page.found,
        unprocessed,
        i64::from(!page.is_part),
    ];
    if conn.execute(&RECONCILIATION_RUN_PAGE, values).await? != 1 {
        return Err(StoreError::Stale);
    }
    failpoint::pass(failpoint::RECONCILIATION_PAGE).await?;
    Ok(done)
}

/// Demands that each event which came in is newer than the keys that were removed. This is asked after the insertion:
/// it waited for a transaction that was removing its key, and now what that one noted is seen.
async fn demand_newer(
    conn: &mut Conn<'_>,
    deliveries: &[Delivery],
    happened: &[Option<Timestamp>],
    committed: &[Committed],
) -> Result<(), StoreError> {
    let Some(first) = deliveries.first() else { return Ok(()) };
    let scopes: BTreeSet<String> =
        deliveries.iter().flat_map(|one| &one.receipts).map(|receipt| receipt.scope.clone()).collect();
    let removed = newest_removed_in(conn, first.tenant, &first.provider, scopes).await?;
    let all = deliveries.iter().zip(committed).enumerate();
    for (place, (delivery, committed)) in all {
        let at = happened.get(place).copied().flatten();
        for (asked, done) in delivery.receipts.iter().zip(&committed.receipts) {
            if !done.duplicate && may_have_been_here(at, removed.get(&asked.scope).copied()) {
                return Err(StoreError::Stale);
            }
        }
    }
    Ok(())
}
