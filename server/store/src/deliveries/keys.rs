//! Who is first of each key in a group, and who holds the keys of the others. The unique key of the table decides.

use std::collections::{HashMap, HashSet};

use restante_core::id::ReceiptId;
use uuid::Uuid;

use super::record::{Delivery, NewReceipt};
use super::sql;
use crate::engine::{Batch, Conn, StoreError};

/// The origin of an event that a provider listed.
pub(super) const LISTED: &str = "reconciliation";

/// How often it is asked who holds a key before the sender is told to come back.
const ASKED_MAX: usize = 4;

/// A receipt of the group with the delivery that it came in.
#[derive(Clone, Copy)]
pub(super) struct Item<'g> {
    /// Its place in the group: delivery and receipt.
    pub(super) place: (usize, usize),
    pub(super) delivery: &'g Delivery,
    pub(super) receipt: &'g NewReceipt,
}

/// The receipt that holds a key which was taken.
pub(super) struct Holder {
    pub(super) id: ReceiptId,
    pub(super) body_mac: Vec<u8>,
    pub(super) endpoint: Uuid,
    pub(super) stored: bool,
    pub(super) reason: Option<String>,
    pub(super) variants: u64,
    pub(super) deliveries: u64,
    /// It came from the provider's list, which may render an event differently from a delivery.
    pub(super) listed: bool,
}

/// The group's receipts in the order of their keys.
pub(super) fn in_key_order<'g>(group: &[&'g Delivery]) -> Vec<Item<'g>> {
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

/// What became of the keys of a group.
#[derive(Default)]
pub(super) struct Keys {
    /// The ids of the receipts that were first.
    pub(super) first: HashSet<Uuid>,
    /// Who holds the keys of the others, by their place in the group.
    pub(super) holders: HashMap<(usize, usize), Holder>,
}

impl Keys {
    /// Claims the keys of all items. A receipt that retention removes at this very moment leaves its key free, and
    /// then it is asked anew: a sender gets a duplicate or a new event, and no error.
    ///
    /// # Errors
    /// What the database ran into, and [`StoreError::Unavailable`] when it told neither several times.
    pub(super) async fn claim(
        conn: &mut Conn<'_>,
        items: &[Item<'_>],
        repeated: &HashSet<Uuid>,
    ) -> Result<Self, StoreError> {
        let mut keys = Self::default();
        for _ in 0..ASKED_MAX {
            let open: Vec<Item<'_>> = items.iter().filter(|item| !keys.knows(item)).copied().collect();
            if open.is_empty() {
                return Ok(keys);
            }
            keys.ask(conn, &open, repeated).await?;
        }
        if items.iter().all(|item| keys.knows(item)) {
            return Ok(keys);
        }
        Err(StoreError::Unavailable {
            statement: sql::RECEIPTS_CLAIM.name,
            detail: "receipts were removed again and again at this very moment".to_owned(),
        })
    }

    fn knows(&self, item: &Item<'_>) -> bool {
        self.first.contains(&item.receipt.id.0) || self.holders.contains_key(&item.place)
    }

    async fn ask(
        &mut self,
        conn: &mut Conn<'_>,
        items: &[Item<'_>],
        repeated: &HashSet<Uuid>,
    ) -> Result<(), StoreError> {
        let now = conn.now().await?.micros();
        for row in conn.fetch_batch(&sql::RECEIPTS_CLAIM, rows(items, repeated, now)).await? {
            let id = row.uuid("id")?;
            let Some(place) = row.int_or_null("n")? else {
                self.first.insert(id);
                continue;
            };
            let Some(item) = usize::try_from(place).ok().and_then(|place| items.get(place)) else { continue };
            let holder = Holder {
                id: ReceiptId(id),
                body_mac: row.blob("body_mac")?,
                endpoint: row.uuid("endpoint_id")?,
                stored: row.text("payload_state")? == "stored",
                reason: row.text_or_null("reason")?,
                variants: row.count("variants")?,
                deliveries: row.count("deliveries")?,
                listed: row.text("origin")? == LISTED,
            };
            self.holders.insert(item.place, holder);
        }
        Ok(())
    }
}

/// The receipts as rows of the table.
fn rows(items: &[Item<'_>], repeated: &HashSet<Uuid>, now: i64) -> Batch {
    let deliveries = || items.iter().map(|item| item.delivery);
    let receipts = || items.iter().map(|item| item.receipt);
    Batch::new()
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
        .ints(receipts().map(|_| now))
}

/// The receipts whose very bytes came before under another id that the signature doesn't cover.
pub(super) async fn repeated_bodies(
    conn: &mut Conn<'_>,
    group: &[&Delivery],
) -> Result<HashSet<Uuid>, StoreError> {
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
