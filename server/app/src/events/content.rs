//! From sealed rows to the bytes of events. Each request is opened once, however many of its events
//! are wanted; little is held at a time, because a request may be thousands of times larger than the
//! event in it.

use std::collections::HashMap;

use bytes::Bytes;
use restante_core::id::{PayloadId, ReceiptId, ReplayId, TenantId};
use restante_core::request::HeaderList;
use restante_core::seal::{Place, SealError, TenantKeyset, event_binding};
use restante_store::StoreError;
use restante_store::events::{self, PayloadRecord, PayloadState, Receipt, Slice};
use restante_store::handoffs::{self, Lease, ReplayRecord};

use super::{Content, Event};
use crate::App;

/// Sealed bytes that are read together.
const BYTES_AT_ONCE: usize = 4 * 1024 * 1024;

/// Why an event's bytes can't be had, for people.
pub(crate) type Unopened = &'static str;

/// A request, opened as far as it was asked for.
struct Opened {
    headers: HeaderList,
    body: Option<Bytes>,
    decoded: Option<Bytes>,
}

impl App {
    /// Events with their bytes, by their ids. One that can't be opened has a reason in its place.
    ///
    /// # Errors
    /// What the database ran into.
    pub(crate) async fn events_with_content(
        &self,
        tenant: TenantId,
        keys: &TenantKeyset,
        ids: &[ReceiptId],
    ) -> Result<HashMap<ReceiptId, Result<Event, Unopened>>, StoreError> {
        let wanted = ids.to_vec();
        let receipts = self
            .store
            .read(move |conn| Box::pin(async move { events::by_ids(conn, tenant, &wanted).await }))
            .await?;
        let mut contents = self.contents(tenant, keys, &receipts).await?;
        Ok(receipts
            .into_iter()
            .map(|receipt| {
                let id = receipt.id;
                let content = contents.remove(&id).unwrap_or(Err("The payload is not there."));
                (id, content.map(|content| event(tenant, keys, receipt, Some(content))))
            })
            .collect())
    }

    /// The bytes of receipts.
    pub(crate) async fn contents(
        &self,
        tenant: TenantId,
        keys: &TenantKeyset,
        receipts: &[Receipt],
    ) -> Result<HashMap<ReceiptId, Result<Content, Unopened>>, StoreError> {
        let mut contents = HashMap::with_capacity(receipts.len());
        for chunk in chunks(receipts) {
            let wanted: Vec<PayloadId> = chunk.iter().map(|(payload, _)| *payload).collect();
            let records = self
                .store
                .read(move |conn| Box::pin(async move { events::payloads(conn, tenant, &wanted).await }))
                .await?;
            let records: HashMap<PayloadId, PayloadRecord> =
                records.into_iter().map(|record| (record.id, record)).collect();
            for (payload, receipts) in chunk {
                for (id, content) in open_for(keys, records.get(&payload), &receipts) {
                    contents.insert(id, content);
                }
            }
        }
        Ok(contents)
    }

    /// The replays that made these leases' events pending.
    pub(crate) async fn replays_of(
        &self,
        tenant: TenantId,
        leases: &[Lease],
    ) -> Result<HashMap<ReplayId, ReplayRecord>, StoreError> {
        let ids: Vec<ReplayId> = leases.iter().filter_map(|lease| lease.replay).collect();
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let found = self
            .store
            .read(move |conn| Box::pin(async move { handoffs::replays_by_id(conn, tenant, &ids).await }))
            .await?;
        Ok(found.into_iter().map(|replay| (replay.id, replay)).collect())
    }
}

/// An event of its parts.
pub(crate) fn event(
    tenant: TenantId,
    keys: &TenantKeyset,
    receipt: Receipt,
    content: Option<Content>,
) -> Event {
    let binding = event_binding(tenant, &receipt.provider, &receipt.scope, &receipt.event_key);
    let place = Place::receipt_sha256(receipt.id, binding);
    let sha256 = keys.open(&place, &receipt.sha256_sealed).ok().and_then(|bytes| bytes.try_into().ok());
    Event { receipt, sha256, content, replay: None }
}

type ByPayload<'r> = (PayloadId, Vec<&'r Receipt>);

/// The receipts by the request that holds them, in portions that are small enough. The size of a
/// request that holds several is not known here, so each is a portion of its own.
fn chunks(receipts: &[Receipt]) -> Vec<Vec<ByPayload<'_>>> {
    let mut by_payload: Vec<ByPayload<'_>> = Vec::new();
    let mut places: HashMap<PayloadId, usize> = HashMap::new();
    for receipt in receipts.iter().filter(|receipt| receipt.payload_state == PayloadState::Stored) {
        let place = *places.entry(receipt.payload).or_insert_with(|| {
            by_payload.push((receipt.payload, Vec::new()));
            by_payload.len() - 1
        });
        by_payload[place].1.push(receipt);
    }
    let mut chunks: Vec<Vec<ByPayload<'_>>> = Vec::new();
    let mut room = 0;
    for entry in by_payload {
        let alone = entry.1.first().is_some_and(|receipt| receipt.payload.0 != receipt.id.0);
        let size = entry.1.first().map_or(0, |receipt| receipt.slice.length);
        match chunks.last_mut() {
            Some(chunk) if !alone && size <= room => {
                room -= size;
                chunk.push(entry);
            }
            _ => {
                room = if alone { 0 } else { BYTES_AT_ONCE.saturating_sub(size) };
                chunks.push(vec![entry]);
            }
        }
    }
    chunks
}

/// Opens a request and cuts its events out of it.
fn open_for(
    keys: &TenantKeyset,
    record: Option<&PayloadRecord>,
    receipts: &[&Receipt],
) -> Vec<(ReceiptId, Result<Content, Unopened>)> {
    let Some(record) = record else {
        let gone = "The payload is not there.";
        return receipts.iter().map(|receipt| (receipt.id, Err(gone))).collect();
    };
    let slices: Vec<Slice> = receipts.iter().map(|receipt| receipt.slice).collect();
    let opened = open(keys, record, &slices);
    receipts
        .iter()
        .map(|receipt| {
            let content = opened.as_ref().map_err(|why| *why).and_then(|opened| opened.cut(receipt.slice));
            (receipt.id, content)
        })
        .collect()
}

/// Opens what the slices need of a request.
fn open(keys: &TenantKeyset, record: &PayloadRecord, slices: &[Slice]) -> Result<Opened, Unopened> {
    let id = record.id;
    let headers = open_one(keys, &Place::payload_headers(id), &record.headers_sealed)?;
    let headers = HeaderList::decode(&headers).ok_or("The headers are damaged.")?;
    let body = if slices.iter().any(|slice| !slice.decoded) {
        Some(open_one(keys, &Place::payload_body(id), &record.body_sealed)?.into())
    } else {
        None
    };
    let decoded = match &record.decoded_sealed {
        Some(sealed) if slices.iter().any(|slice| slice.decoded) => {
            Some(open_one(keys, &Place::payload_decoded(id), sealed)?.into())
        }
        _ => None,
    };
    Ok(Opened { headers, body, decoded })
}

fn open_one(keys: &TenantKeyset, place: &Place, sealed: &[u8]) -> Result<Vec<u8>, Unopened> {
    keys.open(place, sealed).map_err(|error| {
        if let SealError::KeyDestroyed { .. } = error {
            return "The key of the payload was destroyed, and the payload is erased with it.";
        }
        let column = place.column().label();
        tracing::error!(column, row = %place.row(), %error, "a sealed payload can't be opened");
        "The payload is damaged: what is stored can't be opened."
    })
}

impl Opened {
    /// The event's own bytes. A copy where the request holds others too, so that it can go.
    fn cut(&self, slice: Slice) -> Result<Content, Unopened> {
        let whole = if slice.decoded { &self.decoded } else { &self.body };
        let range = slice.offset..slice.offset.saturating_add(slice.length);
        let part = whole.as_ref().filter(|whole| whole.get(range.clone()).is_some());
        let whole = part.ok_or("The payload is damaged: the event's place in it is not there.")?;
        let body =
            if slice.length == whole.len() { whole.clone() } else { Bytes::copy_from_slice(&whole[range]) };
        Ok(Content { headers: self.headers.clone(), body })
    }
}

/// The bytes of one slice of a request, and with `whole` all of its body.
pub(super) fn open_slice(
    keys: &TenantKeyset,
    record: &PayloadRecord,
    slice: Slice,
    whole: bool,
) -> Result<Content, Unopened> {
    let whole_body = Slice { decoded: false, offset: 0, length: 0 };
    let opened = open(keys, record, &[if whole { whole_body } else { slice }])?;
    match (whole, opened.body) {
        (true, Some(body)) => Ok(Content { headers: opened.headers, body }),
        (_, body) => Opened { body, ..opened }.cut(slice),
    }
}
