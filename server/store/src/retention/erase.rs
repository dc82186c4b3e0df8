//! Erasing now: the payload of one event, or all of a tenant's, without waiting for its time. What was still to be
//! done about it ends. The key stays, so that the event can't come in as a new one.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use restante_core::id::{ReceiptId, TenantId};
use restante_core::problem::{Code, Problem};
use restante_core::time::Timestamp;
use uuid::Uuid;

use super::due::Due;
use super::held::{HoldFacts, held_among};
use super::holds::HoldRow;
use super::lives::REFUSALS_OLD;
use super::payloads::entomb;
use super::{holds, sql};
use crate::engine::{Conn, StoreError, values};
use crate::events::PayloadState;
use crate::handoffs;

/// What an erasure did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Erased {
    /// Events whose payload is erased.
    pub events: u64,
    /// Bytes that went.
    pub bytes: u64,
    /// Handoffs that ended because of it.
    pub handoffs: u64,
    /// Events that stay because they are held.
    pub held: u64,
    /// Events that somebody had locked at that moment; another look takes them.
    pub busy: u64,
    /// Samples of refused requests that went.
    pub refusals: u64,
    /// The last one that was looked at; `None` when none is left.
    pub last: Option<Uuid>,
}

const NOTE: &str = "The payload was erased.";

/// Erases the payload of an event. With `whole_request` the other events of its request go as well.
///
/// # Errors
/// Not found; a conflict where it is held, or where its request holds other events and they may not go; gone where
/// the payload is already.
pub async fn erase(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    receipt: ReceiptId,
    whole_request: bool,
    actor: &str,
) -> Result<Erased, StoreError> {
    let row = conn.fetch_optional(&sql::RECEIPT_TO_ERASE, values![tenant, receipt]).await?;
    let row = row.ok_or_else(|| Problem::not_found("event"))?;
    let due = Due::read(&row)?;
    if row.text("payload_state")? != "stored" {
        return Err(Problem::new(Code::Gone, "The payload of this event is no longer kept.").into());
    }
    let siblings = conn.fetch_all(&sql::RETENTION_SIBLINGS, values![tenant, vec![due.payload]]).await?;
    let mut receipts: Vec<Uuid> = siblings.iter().map(|row| row.uuid("id")).collect::<Result<_, _>>()?;
    if !receipts.contains(&due.id) {
        receipts.push(due.id);
    }
    let others = receipts.len() - 1;
    if others > 0 && !whole_request {
        let detail = format!(
            "This event came in one request with {others} others, which are sealed together and would be erased with \
             it. Say whole_request to erase all of them."
        );
        return Err(Problem::new(Code::Conflict, detail).into());
    }
    for row in conn.fetch_all(&sql::RETENTION_VARIANTS_IN, values![tenant, vec![due.payload]]).await? {
        if !receipts.contains(&row.uuid("receipt_id")?) {
            let detail =
                "The request of this event also holds other bytes of an earlier event. Erase that one first.";
            return Err(Problem::new(Code::Conflict, detail).into());
        }
    }
    let held = holds::active_holds(conn, tenant).await?;
    let covered = held_among(conn, tenant, &HoldFacts::of(&held), &receipts).await?;
    if !covered.is_empty() {
        return Err(refusal(&held, &covered, row.uuid("endpoint_id")?).into());
    }
    take(conn, tenant, receipts, BTreeSet::from([due.payload]), actor).await
}

/// Which hold is in the way: the event's own, the tenant's, its endpoint's, or else that of an endpoint by which it
/// came again.
fn refusal(held: &[HoldRow], covered: &HashSet<Uuid>, endpoint: Uuid) -> Problem {
    let wide = |hold: &&HoldRow| hold.receipt.is_none();
    let own = held.iter().find(|hold| hold.receipt.is_some_and(|held| covered.contains(&held.0)));
    let hold = own
        .or_else(|| held.iter().filter(wide).find(|hold| hold.endpoint.is_none()))
        .or_else(|| {
            held.iter().filter(wide).find(|hold| hold.endpoint.is_some_and(|held| held.0 == endpoint))
        })
        .or_else(|| held.iter().find(wide));
    let detail = match hold {
        Some(hold) => {
            format!("It has been held since {} (“{}”). Release the hold first.", hold.created_at, hold.reason)
        }
        None => "It is held. Release the hold first.".to_owned(),
    };
    Problem::new(Code::Conflict, detail)
}

async fn take(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    receipts: Vec<Uuid>,
    requests: BTreeSet<Uuid>,
    actor: &str,
) -> Result<Erased, StoreError> {
    let now = conn.now().await?;
    let (events, bytes) = entomb(conn, tenant, receipts.clone(), requests, PayloadState::Erased, now).await?;
    let handoffs = handoffs::end_all(conn, tenant, receipts.clone(), actor, NOTE).await?;
    // A refused request that was entered later holds the same bytes once more.
    let refusals = conn.execute(&sql::REFUSALS_OF_EVENTS, values![tenant, receipts]).await?;
    Ok(Erased { events, bytes, handoffs, refusals, ..Erased::default() })
}

/// Erases the samples of refused requests of a tenant that came before a moment; what is held stays. The caller holds
/// the tenant's configuration still.
///
/// # Errors
/// What the database ran into.
pub async fn erase_refusals(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    before: Timestamp,
) -> Result<u64, StoreError> {
    conn.execute(&REFUSALS_OLD, values![tenant, before]).await
}

/// Erases the next stored payloads of a tenant, from the one after `after` up to `until`; what is held stays. The
/// caller holds the tenant's configuration still.
///
/// # Errors
/// What the database ran into.
pub async fn erase_some(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    after: Uuid,
    until: Uuid,
    limit: u32,
    actor: &str,
) -> Result<Erased, StoreError> {
    let holds = HoldFacts::of(&holds::active_holds(conn, tenant).await?);
    if holds.tenant {
        let detail = "The tenant is held. Release the hold first.";
        return Err(Problem::new(Code::Conflict, detail).into());
    }
    let rows = conn.fetch_all(&sql::RECEIPTS_TO_ERASE, values![tenant, after, until, limit]).await?;
    let Some(last) = rows.last() else { return Ok(Erased::default()) };
    let last = last.uuid("id")?;
    // Each event with its request, and with them all other events of these requests.
    let mut request_of: BTreeMap<Uuid, Uuid> = BTreeMap::new();
    for row in &rows {
        request_of.insert(row.uuid("id")?, row.uuid("payload_id")?);
    }
    let asked: BTreeSet<Uuid> = request_of.values().copied().collect();
    let asked: Vec<Uuid> = asked.into_iter().collect();
    for row in conn.fetch_all(&sql::RETENTION_SIBLINGS, values![tenant, asked.clone()]).await? {
        request_of.insert(row.uuid("id")?, row.uuid("payload_id")?);
    }
    let ids: Vec<Uuid> = request_of.keys().copied().collect();
    let mut locked = HashSet::new();
    for row in conn.fetch_all(&sql::PAYLOADS_DUE_LOCKED, values![tenant, ids.clone()]).await? {
        locked.insert(row.uuid("id")?);
    }
    // A request may also hold other bytes of an event that came before, and that one may be held.
    let mut needed_by: Vec<(Uuid, Uuid)> = Vec::new();
    for row in conn.fetch_all(&sql::RETENTION_VARIANTS_IN, values![tenant, asked]).await? {
        needed_by.push((row.uuid("receipt_id")?, row.uuid("payload_id")?));
    }
    let mut everyone = ids;
    everyone.extend(needed_by.iter().map(|(owner, _)| *owner));
    let covered = held_among(conn, tenant, &holds, &everyone).await?;
    let needed = needed_by.into_iter().filter(|(owner, _)| covered.contains(owner));
    let needed: HashSet<Uuid> = needed.map(|(_, payload)| payload).collect();
    let (mut held, mut busy) = (needed, HashSet::new());
    for (id, payload) in &request_of {
        if covered.contains(id) {
            held.insert(*payload);
        } else if !locked.contains(id) {
            busy.insert(*payload);
        }
    }
    let (mut receipts, mut requests) = (Vec::new(), BTreeSet::new());
    let mut counts = Erased { last: Some(last), ..Erased::default() };
    for (id, payload) in request_of {
        if held.contains(&payload) {
            counts.held += 1;
        } else if busy.contains(&payload) {
            counts.busy += 1;
        } else {
            receipts.push(id);
            requests.insert(payload);
        }
    }
    if receipts.is_empty() {
        return Ok(counts);
    }
    let Erased { held, busy, last, .. } = counts;
    Ok(Erased { held, busy, last, ..take(conn, tenant, receipts, requests, actor).await? })
}
