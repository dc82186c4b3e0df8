//! The commit of a group of deliveries, step by step, inside one transaction.
//!
//! The order of the steps is fixed: keys first, because they decide what else is written; counters
//! last, because two nodes meet there. Rows go in the order of their keys, or two nodes that share
//! keys would lock each other out.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use restante_core::filter::Filter;
use restante_core::handoff::State;
use restante_core::id::{ConsumerId, TenantId};
use restante_core::time::Timestamp;
use uuid::Uuid;

use super::keys::{Holder, Item, Keys, LISTED, in_key_order, repeated_bodies};
use super::record::{Committed, CommittedReceipt, Delivery};
use super::repeats::keep_repeats;
use super::sql;
use crate::engine::{Batch, Conn, Row, StoreError, Together, values};
use crate::holdings;
use crate::rollups::{Lane, Tally};

/// Writes groups. Holds what it last read of the tenants' consumers, with the version it had then.
///
/// A delivery was verified and identified by what was known of its endpoint up to some seconds before.
/// The same version tells whether that still holds: when it is another one the endpoint's own revision is
/// compared, and a delivery whose endpoint has changed is left out, for its caller to judge it anew.
#[derive(Debug)]
pub(crate) struct Writer {
    lane: Lane,
    consumers: HashMap<TenantId, Consumers>,
}

#[derive(Debug)]
struct Consumers {
    config_version: i64,
    known: Vec<(ConsumerId, Filter)>,
}

/// Tenants whose consumers are remembered; more would be read again.
const TENANTS_REMEMBERED: usize = 10_000;

impl Writer {
    pub(crate) fn new(lane: Lane) -> Self {
        Self { lane, consumers: HashMap::new() }
    }

    /// Writes the group and tells what became of each delivery; `None` where its endpoint has changed since
    /// it was verified, so that nothing of it was written. Nothing is durable before COMMIT.
    pub(crate) async fn write(
        &mut self,
        conn: &mut Conn<'_>,
        group: &[Delivery],
    ) -> Result<Vec<Option<Committed>>, StoreError> {
        let suspended = self.read_tenants(conn, group).await?;
        let stale = self.stale(conn, group, &suspended).await?;
        let fresh: Vec<&Delivery> = group
            .iter()
            .enumerate()
            .filter(|(place, _)| !stale.contains(place))
            .map(|(_, delivery)| delivery)
            .collect();
        let written = if fresh.is_empty() { Vec::new() } else { self.write_fresh(conn, &fresh).await? };
        let mut written = written.into_iter();
        Ok((0..group.len()).map(|place| if stale.contains(&place) { None } else { written.next() }).collect())
    }

    async fn write_fresh(
        &mut self,
        conn: &mut Conn<'_>,
        group: &[&Delivery],
    ) -> Result<Vec<Committed>, StoreError> {
        let items = in_key_order(group);
        let repeated = repeated_bodies(conn, group).await?;
        let Keys { first, holders } = Keys::claim(conn, &items, &repeated).await?;

        let mut outcome: Vec<Committed> = group
            .iter()
            .map(|delivery| Committed {
                receipts: Vec::with_capacity(delivery.receipts.len()),
                wake: Vec::new(),
            })
            .collect();
        for (place, delivery) in group.iter().enumerate() {
            for (index, receipt) in delivery.receipts.iter().enumerate() {
                outcome[place].receipts.push(match holders.get(&(place, index)) {
                    None => CommittedReceipt { id: receipt.id, duplicate: false, diverged: false },
                    Some(holder) => CommittedReceipt {
                        id: holder.id,
                        duplicate: true,
                        diverged: delivery.compares_bodies
                            && !holder.listed
                            && holder.body_mac != receipt.body_mac,
                    },
                });
            }
        }

        let mut tally = Tally::default();
        let mut writes = Together::default();
        let kept_for_variants = keep_repeats(conn, &items, &holders, &mut writes, &mut tally).await?;
        keep_payloads(group, &first, &kept_for_variants, &mut writes, &mut tally);
        self.hand_off_known(conn, &items, &holders, &mut tally, &mut outcome).await?;
        self.hand_off_new(conn.now().await?, &items, &first, &mut writes, &mut tally, &mut outcome);
        for item in items.iter().filter(|item| first.contains(&item.receipt.id.0)) {
            let Item { delivery, receipt, .. } = item;
            tally.count(delivery.tenant, delivery.endpoint.0, "accepted", delivery.received_at, 1);
            holdings::shift(&mut tally, delivery.tenant, 1, 0);
            if receipt.reason.is_some() {
                tally.count(delivery.tenant, delivery.endpoint.0, "unreadable", delivery.received_at, 1);
            }
        }
        for delivery in group {
            let metric = if delivery.origin == LISTED { "reconciled" } else { "deliveries" };
            tally.count(delivery.tenant, delivery.endpoint.0, metric, delivery.received_at, 1);
        }
        tally.add_to(&mut writes, self.lane);
        conn.execute_together(writes).await?;
        Ok(outcome)
    }

    /// Reads the versions of the group's tenants, and their consumers where they have changed. Gives the
    /// tenants that are suspended.
    async fn read_tenants(
        &mut self,
        conn: &mut Conn<'_>,
        group: &[Delivery],
    ) -> Result<HashSet<TenantId>, StoreError> {
        if self.consumers.len() > TENANTS_REMEMBERED {
            self.consumers.clear();
        }
        let tenants: BTreeSet<Uuid> = group.iter().map(|delivery| delivery.tenant.0).collect();
        let found = conn
            .fetch_all(&sql::TENANTS_OF_GROUP, values![tenants.iter().copied().collect::<Vec<_>>()])
            .await?;
        if found.len() != tenants.len() {
            // A group with one record of a tenant that was deleted a moment ago is split until that
            // record stands alone.
            return Err(StoreError::Refused {
                statement: sql::TENANTS_OF_GROUP.name,
                detail: "the tenant does not exist any more".to_owned(),
            });
        }
        let mut suspended = HashSet::new();
        for row in found {
            conn.hear_now(row.time("now")?);
            let tenant = TenantId(row.uuid("id")?);
            if row.bool("suspended")? {
                suspended.insert(tenant);
            }
            let config_version = row.int("config_version")?;
            if self.consumers.get(&tenant).is_some_and(|known| known.config_version == config_version) {
                continue;
            }
            let rows = conn.fetch_all(&sql::CONSUMERS_FOR_COMMIT, values![tenant]).await?;
            let known = rows.iter().map(consumer).collect::<Result<Vec<_>, _>>()?;
            self.consumers.insert(tenant, Consumers { config_version, known });
        }
        Ok(suspended)
    }

    /// The places of deliveries whose endpoint is no longer as it was when they were verified. While
    /// nobody has changed anything of the tenant, this asks the database nothing.
    async fn stale(
        &self,
        conn: &mut Conn<'_>,
        group: &[Delivery],
        suspended: &HashSet<TenantId>,
    ) -> Result<HashSet<usize>, StoreError> {
        let mut stale = HashSet::new();
        let mut asked: Vec<(usize, &Delivery, i64)> = Vec::new();
        for (place, delivery) in group.iter().enumerate() {
            let Some(seen) = delivery.seen else { continue };
            let now = self.consumers.get(&delivery.tenant).map(|known| known.config_version);
            if suspended.contains(&delivery.tenant) {
                stale.insert(place);
            } else if now != Some(seen.config_version) {
                asked.push((place, delivery, seen.revision));
            }
        }
        if asked.is_empty() {
            return Ok(stale);
        }
        let batch = Batch::new()
            .ints(0..asked.len() as i64)
            .uuids(asked.iter().map(|(_, delivery, _)| delivery.tenant.0))
            .uuids(asked.iter().map(|(_, delivery, _)| delivery.endpoint.0));
        let mut revisions = HashMap::with_capacity(asked.len());
        for row in conn.fetch_batch(&sql::ENDPOINTS_NOW, batch).await? {
            revisions.insert(usize::try_from(row.int("n")?).unwrap_or(usize::MAX), row.int("revision")?);
        }
        for (number, (place, _, seen)) in asked.iter().enumerate() {
            if revisions.get(&number) != Some(seen) {
                stale.insert(*place);
            }
        }
        Ok(stale)
    }

    fn matching<'a>(&'a self, item: &'a Item<'_>) -> impl Iterator<Item = ConsumerId> + 'a {
        let Item { delivery, receipt, .. } = item;
        self.consumers.get(&delivery.tenant).into_iter().flat_map(|consumers| &consumers.known).filter_map(
            move |(id, filter)| {
                filter
                    .matches(delivery.endpoint, &delivery.provider, receipt.event_type.as_deref())
                    .then_some(*id)
            },
        )
    }

    /// Hands new receipts to the consumers that match. Nobody else knows of them yet, so each is new.
    fn hand_off_new(
        &self,
        now: Timestamp,
        items: &[Item<'_>],
        first: &HashSet<Uuid>,
        writes: &mut Together,
        tally: &mut Tally,
        outcome: &mut [Committed],
    ) {
        let mut rows = Handoffs::new();
        for item in items.iter().filter(|item| first.contains(&item.receipt.id.0)) {
            let state = if item.receipt.reason.is_some() { State::Failed } else { State::Pending };
            for consumer in self.matching(item) {
                tally.shift(item.delivery.tenant, consumer.0, state.as_str(), 1);
                rows.insert((item.delivery.tenant.0, consumer.0, item.receipt.id.0), (state, item.place.0));
            }
        }
        if !rows.is_empty() {
            writes.add(&sql::HANDOFFS_INSERT_NEW, as_batch(&rows, now));
            wake(&rows, outcome);
        }
    }

    /// Hands known receipts that came in by another endpoint to the consumers that match there and
    /// have not had them. A tombstone is handed to nobody.
    async fn hand_off_known(
        &self,
        conn: &mut Conn<'_>,
        items: &[Item<'_>],
        holders: &HashMap<(usize, usize), Holder>,
        tally: &mut Tally,
        outcome: &mut [Committed],
    ) -> Result<(), StoreError> {
        let mut rows = Handoffs::new();
        for item in items {
            let Some(holder) = holders.get(&item.place) else { continue };
            if !holder.stored || holder.endpoint == item.delivery.endpoint.0 {
                continue;
            }
            let state = if holder.reason.is_some() { State::Failed } else { State::Pending };
            for consumer in self.matching(item) {
                rows.entry((item.delivery.tenant.0, consumer.0, holder.id.0))
                    .or_insert((state, item.place.0));
            }
        }
        if rows.is_empty() {
            return Ok(());
        }
        let now = conn.now().await?;
        for row in conn.fetch_batch(&sql::HANDOFFS_INSERT, as_batch(&rows, now)).await? {
            let (tenant, consumer) = (TenantId(row.uuid("tenant_id")?), row.uuid("consumer_id")?);
            let state = State::from_code(row.int("state")?).ok_or_else(|| StoreError::Corrupt {
                statement: sql::HANDOFFS_INSERT.name,
                column: "state".to_owned(),
            })?;
            tally.shift(tenant, consumer, state.as_str(), 1);
        }
        wake(&rows, outcome);
        Ok(())
    }
}

/// Handoffs by tenant, consumer and receipt: their state, and the delivery that they come from.
type Handoffs = BTreeMap<(Uuid, Uuid, Uuid), (State, usize)>;

fn as_batch(rows: &Handoffs, now: Timestamp) -> Batch {
    Batch::new()
        .uuids(rows.keys().map(|key| key.0))
        .uuids(rows.keys().map(|key| key.1))
        .uuids(rows.keys().map(|key| key.2))
        .ints(rows.values().map(|(state, _)| state.code().into()))
        .ints(rows.keys().map(|_| now.micros()))
}

/// Notes whom to wake once it is committed.
fn wake(rows: &Handoffs, outcome: &mut [Committed]) {
    for ((_, consumer, _), (_, place)) in rows {
        let wake = &mut outcome[*place].wake;
        if !wake.contains(&ConsumerId(*consumer)) {
            wake.push(ConsumerId(*consumer));
        }
    }
}

fn consumer(row: &Row) -> Result<(ConsumerId, Filter), StoreError> {
    let filter = serde_json::from_str(&row.text("filter")?).map_err(|_| StoreError::Corrupt {
        statement: sql::CONSUMERS_FOR_COMMIT.name,
        column: "filter".to_owned(),
    })?;
    Ok((ConsumerId(row.uuid("id")?), filter))
}

/// Keeps the requests that a new receipt or a variant points at; a mere repeat's is not kept.
fn keep_payloads(
    group: &[&Delivery],
    first: &HashSet<Uuid>,
    for_variants: &HashSet<usize>,
    writes: &mut Together,
    tally: &mut Tally,
) {
    let kept: Vec<&Delivery> = group
        .iter()
        .enumerate()
        .filter(|(place, delivery)| {
            for_variants.contains(place)
                || delivery.receipts.iter().any(|receipt| first.contains(&receipt.id.0))
        })
        .map(|(_, delivery)| *delivery)
        .collect();
    if kept.is_empty() {
        return;
    }
    for delivery in &kept {
        holdings::shift(tally, delivery.tenant, 0, delivery.payload.stored_bytes());
    }
    let batch = Batch::new()
        .uuids(kept.iter().map(|d| d.tenant.0))
        .uuids(kept.iter().map(|d| d.payload.id.0))
        .ints(kept.iter().map(|d| d.received_at.micros()))
        .blobs(kept.iter().map(|d| d.payload.headers_sealed.clone()))
        .blobs(kept.iter().map(|d| d.payload.body_sealed.clone()))
        .blobs_or_null(kept.iter().map(|d| d.payload.decoded_sealed.clone()));
    writes.add(&sql::PAYLOADS_INSERT, batch);
}
