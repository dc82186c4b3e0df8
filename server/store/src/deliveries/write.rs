//! The commit of a group of deliveries, step by step, inside one transaction.
//!
//! The order of the steps is fixed: keys first, because they decide what else is written; counters
//! last, because two nodes meet there. Rows go in the order of their keys, or two nodes that share
//! keys would lock each other out.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use restante_core::filter::Filter;
use restante_core::handoff::State;
use restante_core::id::{ConsumerId, DeliveryId, ReceiptId, TenantId};
use restante_core::limits;
use restante_core::time::Timestamp;
use uuid::Uuid;

use super::record::{Committed, CommittedReceipt, Delivery, NewReceipt};
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

/// The origin of an event that a provider listed.
const LISTED: &str = "reconciliation";

/// A receipt of the group with the delivery that it came in.
#[derive(Clone, Copy)]
struct Item<'g> {
    /// Its place in the group: delivery and receipt.
    place: (usize, usize),
    delivery: &'g Delivery,
    receipt: &'g NewReceipt,
}

/// The receipt that holds a key which was taken.
struct Holder {
    id: ReceiptId,
    body_mac: Vec<u8>,
    endpoint: Uuid,
    stored: bool,
    reason: Option<String>,
    variants: u64,
    deliveries: u64,
    /// It came from the provider's list, which may render an event differently from a delivery.
    listed: bool,
}

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
        let (first, holders) = keys(conn, &items, &repeated).await?;

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
            writes.add(&sql::HANDOFFS_INSERT, as_batch(&rows, now));
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

fn in_key_order<'g>(group: &[&'g Delivery]) -> Vec<Item<'g>> {
    let mut items: Vec<Item<'_>> = group
        .iter()
        .enumerate()
        .flat_map(|(place, &delivery)| {
            delivery.receipts.iter().enumerate().map(move |(index, receipt)| Item {
                place: (place, index),
                delivery,
                receipt,
            })
        })
        .collect();
    // A stable sort: of two records with one key, the one that came first stays first.
    items.sort_by(|a, b| key_of(a).cmp(&key_of(b)));
    items
}

fn key_of<'g>(item: &Item<'g>) -> (Uuid, &'g str, &'g str, &'g str) {
    (item.delivery.tenant.0, &item.receipt.event_key, &item.delivery.provider, &item.receipt.scope)
}

/// The receipts whose very bytes came before under another id that the signature doesn't cover.
async fn repeated_bodies(conn: &mut Conn<'_>, group: &[&Delivery]) -> Result<HashSet<Uuid>, StoreError> {
    let mut repeated = HashSet::new();
    let mut asked = Vec::new();
    let mut seen = HashSet::new();
    for delivery in group {
        for receipt in delivery.receipts.iter().filter(|receipt| receipt.id_unsigned) {
            if !seen.insert((delivery.tenant.0, delivery.endpoint.0, &receipt.body_mac)) {
                repeated.insert(receipt.id.0);
            }
            asked.push((delivery, receipt));
        }
    }
    if asked.is_empty() {
        return Ok(repeated);
    }
    let batch = Batch::new()
        .ints(0..asked.len() as i64)
        .uuids(asked.iter().map(|(delivery, _)| delivery.tenant.0))
        .uuids(asked.iter().map(|(delivery, _)| delivery.endpoint.0))
        .blobs(asked.iter().map(|(_, receipt)| receipt.body_mac.clone()));
    for row in conn.fetch_batch(&sql::REPEATED_BODIES, batch).await? {
        let place = usize::try_from(row.int("n")?).unwrap_or(usize::MAX);
        if let Some((_, receipt)) = asked.get(place) {
            repeated.insert(receipt.id.0);
        }
    }
    Ok(repeated)
}

/// Who is first of each key, and who holds the keys of the others. A receipt that retention removes between the
/// two questions leaves its key free, and then the question is asked anew: a sender gets a duplicate or a
/// new event, and no error.
async fn keys(
    conn: &mut Conn<'_>,
    items: &[Item<'_>],
    repeated: &HashSet<Uuid>,
) -> Result<(HashSet<Uuid>, HashMap<(usize, usize), Holder>), StoreError> {
    let (mut first, mut holders) = (HashSet::new(), HashMap::new());
    for _ in 0..KEYS_ASKED_MAX {
        let is_open =
            |item: &&Item<'_>| !first.contains(&item.receipt.id.0) && !holders.contains_key(&item.place);
        let open: Vec<Item<'_>> = items.iter().filter(is_open).copied().collect();
        if open.is_empty() {
            return Ok((first, holders));
        }
        first.extend(claim_keys(conn, &open, repeated).await?);
        let late: Vec<&Item<'_>> = open.iter().filter(|item| !first.contains(&item.receipt.id.0)).collect();
        find_holders(conn, &late, &mut holders).await?;
    }
    Err(StoreError::Unavailable {
        statement: sql::RECEIPTS_HOLDING.name,
        detail: "receipts were removed again and again at this very moment".to_owned(),
    })
}

/// How often it is asked who holds a key before the sender is told to come back.
const KEYS_ASKED_MAX: usize = 4;

/// The unique key decides who is first; this gives the ids of those that were.
async fn claim_keys(
    conn: &mut Conn<'_>,
    items: &[Item<'_>],
    repeated: &HashSet<Uuid>,
) -> Result<HashSet<Uuid>, StoreError> {
    if items.is_empty() {
        return Ok(HashSet::new());
    }
    let now = conn.now().await?.micros();
    let deliveries = || items.iter().map(|item| item.delivery);
    let receipts = || items.iter().map(|item| item.receipt);
    let batch = Batch::new()
        .uuids(deliveries().map(|d| d.tenant.0))
        .uuids(receipts().map(|r| r.id.0))
        .texts(deliveries().map(|d| d.provider.clone()))
        .texts(receipts().map(|r| r.scope.clone()))
        .texts(receipts().map(|r| r.event_key.clone()))
        .texts_or_null(receipts().map(|r| r.event_id.clone()))
        .uuids(deliveries().map(|d| d.endpoint.0))
        .texts_or_null(receipts().map(|r| r.event_type.clone()))
        .texts_or_null(receipts().map(|r| r.account.clone()))
        .texts_or_null(receipts().map(|r| r.api_version.clone()))
        .bools_or_null(receipts().map(|r| r.livemode))
        .ints_or_null(receipts().map(|r| r.occurred_at.map(|at| at.micros())))
        .ints(deliveries().map(|d| d.received_at.micros()))
        .texts(deliveries().map(|d| d.origin.to_owned()))
        .texts(receipts().map(|r| r.decoder.clone()))
        .uuids_or_null(deliveries().map(|d| d.secret.map(|id| id.0)))
        .uuids(deliveries().map(|d| d.payload.id.0))
        .bools(receipts().map(|r| r.slice_decoded))
        .ints(receipts().map(|r| r.slice_offset.into()))
        .ints(receipts().map(|r| r.slice_length.into()))
        .texts_or_null(receipts().map(|r| r.content_type.clone()))
        .blobs(receipts().map(|r| r.body_mac.clone()))
        .blobs(receipts().map(|r| r.sha256_sealed.clone()))
        .bools(receipts().map(|r| repeated.contains(&r.id.0)))
        .bools(receipts().map(|r| r.ambiguous))
        .bools(receipts().map(|r| r.id_unsigned))
        .texts(receipts().map(|r| r.weak.clone()))
        .texts_or_null(receipts().map(|r| r.reason.map(str::to_owned)))
        .ints(receipts().map(|_| now));
    conn.fetch_batch(&sql::RECEIPTS_INSERT, batch).await?.iter().map(|row| row.uuid("id")).collect()
}

/// Notes who holds the keys of those that were not first, by their place in the group.
async fn find_holders(
    conn: &mut Conn<'_>,
    late: &[&Item<'_>],
    holders: &mut HashMap<(usize, usize), Holder>,
) -> Result<(), StoreError> {
    if late.is_empty() {
        return Ok(());
    }
    let batch = Batch::new()
        .ints(0..late.len() as i64)
        .uuids(late.iter().map(|item| item.delivery.tenant.0))
        .texts(late.iter().map(|item| item.receipt.event_key.clone()))
        .texts(late.iter().map(|item| item.delivery.provider.clone()))
        .texts(late.iter().map(|item| item.receipt.scope.clone()));
    for row in conn.fetch_batch(&sql::RECEIPTS_HOLDING, batch).await? {
        let place = usize::try_from(row.int("n")?).unwrap_or(usize::MAX);
        let Some(item) = late.get(place) else { continue };
        holders.insert(
            item.place,
            Holder {
                id: ReceiptId(row.uuid("id")?),
                body_mac: row.blob("body_mac")?,
                endpoint: row.uuid("endpoint_id")?,
                stored: row.text("payload_state")? == "stored",
                reason: row.text_or_null("reason")?,
                variants: row.count("variants")?,
                deliveries: row.count("deliveries")?,
                listed: row.text("origin")? == LISTED,
            },
        );
    }
    Ok(())
}

/// Counts repeats on their receipts and logs them; keeps other bytes as variants, a few.
/// Gives the deliveries whose payload a variant needs.
async fn keep_repeats(
    conn: &mut Conn<'_>,
    items: &[Item<'_>],
    holders: &HashMap<(usize, usize), Holder>,
    writes: &mut Together,
    tally: &mut Tally,
) -> Result<HashSet<usize>, StoreError> {
    #[derive(Default)]
    struct Repeats {
        deliveries: i64,
        variants: i64,
        diverged: bool,
    }
    let mut counts: BTreeMap<(Uuid, Uuid), Repeats> = BTreeMap::new();
    let mut logged = Vec::new();
    let mut kept = HashSet::new();
    for item in items {
        let Some(holder) = holders.get(&item.place) else { continue };
        let Item { delivery, receipt, .. } = item;
        tally.count(delivery.tenant, delivery.endpoint.0, "duplicates", delivery.received_at, 1);
        let same_body = holder.body_mac == receipt.body_mac;
        let count = counts.entry((delivery.tenant.0, holder.id.0)).or_default();
        count.deliveries += 1;
        if delivery.compares_bodies && !same_body {
            // The first delivery of a listed event is kept beside it, and is no divergence.
            count.diverged |= !holder.listed;
            let room = limits::VARIANTS_PER_RECEIPT_MAX as i64 - holder.variants as i64 - count.variants;
            if holder.stored && room > 0 && keep_variant(conn, item, holder).await? {
                count.variants += 1;
                kept.insert(item.place.0);
            }
        }
        if holder.deliveries as i64 + count.deliveries <= limits::DELIVERIES_LOGGED_PER_RECEIPT_MAX as i64 {
            logged.push((item, holder.id, same_body));
        }
    }
    if counts.is_empty() {
        return Ok(kept);
    }
    let batch = Batch::new()
        .uuids(counts.keys().map(|key| key.0))
        .uuids(counts.keys().map(|key| key.1))
        .ints(counts.values().map(|count| count.deliveries))
        .ints(counts.values().map(|count| count.variants))
        .bools(counts.values().map(|count| count.diverged));
    writes.add(&sql::RECEIPTS_COUNT_REPEATS, batch);
    if !logged.is_empty() {
        let batch = Batch::new()
            .uuids(logged.iter().map(|(item, _, _)| item.delivery.tenant.0))
            .uuids(logged.iter().map(|(_, receipt, _)| receipt.0))
            // The id that the receipt would have had is free, unique and in the order of time.
            .uuids(logged.iter().map(|(item, _, _)| DeliveryId(item.receipt.id.0).0))
            .uuids(logged.iter().map(|(item, _, _)| item.delivery.endpoint.0))
            .ints(logged.iter().map(|(item, _, _)| item.delivery.received_at.micros()))
            .texts(logged.iter().map(|(item, _, _)| item.delivery.origin.to_owned()))
            .bools(logged.iter().map(|(_, _, same_body)| *same_body))
            .uuids_or_null(logged.iter().map(|(item, _, _)| item.delivery.secret.map(|id| id.0)))
            .texts_or_null(logged.iter().map(|(item, _, _)| item.delivery.request_id.clone()));
        writes.add(&sql::DELIVERIES_INSERT, batch);
    }
    Ok(kept)
}

/// Keeps the bytes of a delivery that differ from the receipt's, unless they are kept already.
async fn keep_variant(conn: &mut Conn<'_>, item: &Item<'_>, holder: &Holder) -> Result<bool, StoreError> {
    let Item { delivery, receipt, .. } = item;
    for row in conn.fetch_all(&sql::VARIANTS_OF, values![delivery.tenant, holder.id]).await? {
        if row.blob("body_mac")? == receipt.body_mac {
            return Ok(false);
        }
    }
    let variant = values![
        delivery.tenant,
        holder.id,
        receipt.id,
        delivery.received_at,
        receipt.body_mac.clone(),
        delivery.payload.id,
        receipt.slice_decoded,
        receipt.slice_offset,
        receipt.slice_length,
    ];
    conn.execute(&sql::VARIANT_INSERT, variant).await?;
    Ok(true)
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
