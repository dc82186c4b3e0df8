//! Repeats: deliveries of an event that is known. They are counted on its receipt; the first hundred are logged, and of
//! later ones the latest of each endpoint, since holds ask by which endpoints an event came, and retention when it came
//! last. A few of other bytes are kept beside it; their own requests are not kept.

use std::collections::{BTreeMap, HashMap, HashSet};

use restante_core::id::DeliveryId;
use restante_core::limits;
use uuid::Uuid;

use super::keys::{Holder, Item};
use super::sql;
use crate::engine::{Batch, Conn, StoreError, Together, values};
use crate::rollups::Tally;

/// Counts repeats on their receipts and logs them; keeps other bytes as variants, a few.
/// Gives the deliveries whose payload a variant needs.
pub(super) async fn keep_repeats(
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
    let mut latest = BTreeMap::new();
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
        } else {
            // Items of one key come in the order in which they arrived.
            let endpoint = (delivery.tenant.0, holder.id.0, delivery.endpoint.0);
            latest.insert(endpoint, (item, holder.id, same_body));
        }
    }
    logged.extend(latest.values().copied());
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
    if !latest.is_empty() {
        let batch = Batch::new()
            .uuids(latest.keys().map(|key| key.0))
            .uuids(latest.keys().map(|key| key.1))
            .uuids(latest.keys().map(|key| key.2))
            .uuids(latest.values().map(|(item, _, _)| item.receipt.id.0));
        writes.add(&sql::DELIVERIES_SUPERSEDE, batch);
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
