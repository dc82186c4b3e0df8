//! Erasing now: the payload of one event, or all of a tenant's, without waiting for its time. What was still to be
//! done about it ends. The key stays, so that the event can't come in as a new one.

use std::collections::BTreeSet;

use restante_core::id::{ReceiptId, TenantId};
use restante_core::problem::{Code, Problem};
use uuid::Uuid;

use super::due::Due;
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
    let endpoint = row.uuid("endpoint_id")?;
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
    for hold in holds::active_holds(conn, tenant).await? {
        let all = hold.endpoint.is_none() && hold.receipt.is_none();
        let of_endpoint = hold.receipt.is_none() && hold.endpoint.is_some_and(|held| held.0 == endpoint);
        if all || of_endpoint || hold.receipt.is_some_and(|held| receipts.contains(&held.0)) {
            let detail =
                format!("It is held since {}: {} Release the hold first.", hold.created_at, hold.reason);
            return Err(Problem::new(Code::Conflict, detail).into());
        }
    }
    take(conn, tenant, receipts, BTreeSet::from([due.payload]), actor).await
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
    let handoffs = handoffs::end_all(conn, tenant, receipts, actor, NOTE).await?;
    Ok(Erased { events, bytes, handoffs, ..Erased::default() })
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
    let held = holds::active_holds(conn, tenant).await?;
    if held.iter().any(|hold| hold.endpoint.is_none() && hold.receipt.is_none()) {
        let detail = "The tenant is held. Release the hold first.";
        return Err(Problem::new(Code::Conflict, detail).into());
    }
    let endpoints: BTreeSet<Uuid> =
        held.iter().filter(|hold| hold.receipt.is_none()).filter_map(|hold| Some(hold.endpoint?.0)).collect();
    let events: BTreeSet<Uuid> = held.iter().filter_map(|hold| Some(hold.receipt?.0)).collect();
    let rows = conn.fetch_all(&sql::RECEIPTS_TO_ERASE, values![tenant, after, until, limit]).await?;
    let mut requests = BTreeSet::new();
    for row in &rows {
        requests.insert(row.uuid("payload_id")?);
    }
    let last = rows.last().map(|row| row.uuid("id")).transpose()?;
    let mut members: Vec<(Uuid, Uuid)> = Vec::new();
    for row in &rows {
        members.push((row.uuid("id")?, row.uuid("payload_id")?));
    }
    let asked: Vec<Uuid> = requests.iter().copied().collect();
    for row in conn.fetch_all(&sql::RETENTION_SIBLINGS, values![tenant, asked]).await? {
        let member = (row.uuid("id")?, row.uuid("payload_id")?);
        if !members.contains(&member) {
            members.push(member);
        }
    }
    let ids: Vec<Uuid> = members.iter().map(|(id, _)| *id).collect();
    let mut stays: BTreeSet<Uuid> = BTreeSet::new();
    let mut locked = BTreeSet::new();
    for row in conn.fetch_all(&sql::PAYLOADS_DUE_LOCKED, values![tenant, ids.clone()]).await? {
        locked.insert(row.uuid("id")?);
    }
    let of: Vec<(Uuid, Uuid)> = conn
        .fetch_all(&sql::ENDPOINTS_OF_EVENTS, values![tenant, ids])
        .await?
        .iter()
        .map(|row| Ok::<_, StoreError>((row.uuid("id")?, row.uuid("endpoint_id")?)))
        .collect::<Result<_, _>>()?;
    for (id, endpoint) in of {
        if !locked.contains(&id) || events.contains(&id) || endpoints.contains(&endpoint) {
            stays.extend(members.iter().filter(|(member, _)| *member == id).map(|(_, payload)| *payload));
        }
    }
    requests.retain(|payload| !stays.contains(payload));
    let (go, kept): (Vec<_>, Vec<_>) =
        members.into_iter().partition(|(_, payload)| requests.contains(payload));
    let receipts: Vec<Uuid> = go.into_iter().map(|(id, _)| id).collect();
    let mut erased = match receipts.is_empty() {
        true => Erased::default(),
        false => take(conn, tenant, receipts, requests, actor).await?,
    };
    erased.held = kept.len() as u64;
    erased.last = last;
    Ok(erased)
}
