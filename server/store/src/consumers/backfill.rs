//! Handing a new consumer what was here before it, in steps that can be interrupted and repeated:
//! each notes in its own transaction how far it came, and a handoff that exists is left alone.
//!
//! A tombstone is handed to nobody, and what waits for repair begins as failed, as at its receipt.

use std::collections::HashSet;

use restante_core::filter::Filter;
use restante_core::handoff::State;
use restante_core::id::{ConsumerId, EndpointId, ReceiptId, TenantId};
use uuid::Uuid;

use super::sql;
use crate::deliveries::HANDOFFS_INSERT;
use crate::engine::{Batch, Conn, Row, StoreError, values};
use crate::rollups::{Lane, Tally};

/// Receipts that one step looks at.
const STEP_RECEIPTS: u32 = 500;

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackfillStep {
    /// Handoffs that it made.
    pub handed_off: u64,
    /// Nothing is left to do.
    pub done: bool,
}

/// Consumers of any tenant that have steps left.
///
/// # Errors
/// What the database ran into.
pub async fn unfinished_backfills(
    conn: &mut Conn<'_>,
    limit: u32,
) -> Result<Vec<(TenantId, ConsumerId)>, StoreError> {
    conn.fetch_all(&sql::CONSUMERS_BACKFILLING, values![limit]).await?.iter().map(consumer_of_row).collect()
}

pub(super) fn consumer_of_row(row: &Row) -> Result<(TenantId, ConsumerId), StoreError> {
    Ok((TenantId(row.uuid("tenant_id")?), ConsumerId(row.uuid("id")?)))
}

struct Found {
    receipt: Uuid,
    state: State,
    due_at: i64,
}

/// Does the next step of a consumer.
///
/// # Errors
/// What the database ran into; then the step will be done again.
pub async fn write_backfill_step(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    consumer: ConsumerId,
) -> Result<BackfillStep, StoreError> {
    let Some(state) = conn.fetch_optional(&sql::CONSUMER_BACKFILL, values![tenant, consumer]).await? else {
        return Ok(BackfillStep { handed_off: 0, done: true });
    };
    let filter: Filter = serde_json::from_str(&state.text("filter")?).map_err(|_| state.broken("filter"))?;
    let (from, to) = (state.uuid("backfill_from")?, state.uuid("backfill_to")?);
    let rows = conn.fetch_all(&sql::RECEIPTS_TO_BACKFILL, values![tenant, from, to, STEP_RECEIPTS]).await?;
    let wanted = wanted(conn, tenant, &filter, &rows).await?;
    let handed_off = hand_off(conn, tenant, consumer, &wanted).await?;
    let last = match rows.last() {
        Some(row) if rows.len() == STEP_RECEIPTS as usize => Some(row.uuid("id")?),
        _ => None,
    };
    // The next step begins with the last receipt of this one, whose handoff is then there already.
    let rest = last.filter(|last| *last < to);
    conn.execute(&sql::CONSUMER_BACKFILLED, values![tenant, consumer, rest, rest.map(|_| to)]).await?;
    Ok(BackfillStep { handed_off, done: rest.is_none() })
}

/// The receipts that the consumer wants, by any endpoint that they came in by.
async fn wanted(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    filter: &Filter,
    rows: &[Row],
) -> Result<Vec<Found>, StoreError> {
    let (mut wanted, mut perhaps) = (Vec::new(), Vec::new());
    for row in rows {
        if row.text("payload_state")? != "stored" {
            continue;
        }
        let endpoint = EndpointId(row.uuid("endpoint_id")?);
        if matches(filter, endpoint, row)? {
            wanted.push(found(row)?);
        } else if !filter.endpoints.is_empty() && row.int("deliveries")? > 1 {
            perhaps.push(row);
        }
    }
    if perhaps.is_empty() {
        return Ok(wanted);
    }
    let ids = perhaps.iter().map(|row| row.uuid("id").map(ReceiptId)).collect::<Result<Vec<_>, _>>()?;
    let came_in_by = endpoints_of_repeats(conn, tenant, &ids).await?;
    for row in perhaps {
        let receipt = ReceiptId(row.uuid("id")?);
        for endpoint in &filter.endpoints {
            if came_in_by.contains(&(receipt, *endpoint)) && matches(filter, *endpoint, row)? {
                wanted.push(found(row)?);
                break;
            }
        }
    }
    Ok(wanted)
}

/// By which endpoints receipts came in after their first delivery.
pub(crate) async fn endpoints_of_repeats(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    receipts: &[ReceiptId],
) -> Result<HashSet<(ReceiptId, EndpointId)>, StoreError> {
    let ids: Vec<Uuid> = receipts.iter().map(|receipt| receipt.0).collect();
    let rows = conn.fetch_all(&sql::ENDPOINTS_OF_REPEATS, values![tenant, ids]).await?;
    rows.iter()
        .map(|row| Ok((ReceiptId(row.uuid("receipt_id")?), EndpointId(row.uuid("endpoint_id")?))))
        .collect()
}

fn matches(filter: &Filter, endpoint: EndpointId, row: &Row) -> Result<bool, StoreError> {
    Ok(filter.matches(endpoint, &row.text("provider")?, row.text_or_null("type")?.as_deref()))
}

fn found(row: &Row) -> Result<Found, StoreError> {
    let waits_for_repair = row.text_or_null("reason")?.is_some();
    Ok(Found {
        receipt: row.uuid("id")?,
        state: if waits_for_repair { State::Failed } else { State::Pending },
        // Due since it came, so that older events are claimed first, also before what comes meanwhile.
        due_at: row.int("received_at")?,
    })
}

async fn hand_off(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    consumer: ConsumerId,
    found: &[Found],
) -> Result<u64, StoreError> {
    if found.is_empty() {
        return Ok(0);
    }
    let batch = Batch::new()
        .uuids(found.iter().map(|_| tenant.0))
        .uuids(found.iter().map(|_| consumer.0))
        .uuids(found.iter().map(|found| found.receipt))
        .ints(found.iter().map(|found| found.state.code().into()))
        .ints(found.iter().map(|found| found.due_at));
    let mut tally = Tally::default();
    let made = conn.fetch_batch(&HANDOFFS_INSERT, batch).await?;
    for row in &made {
        let state = State::from_code(row.int("state")?).ok_or_else(|| row.broken("state"))?;
        tally.shift(tenant, consumer.0, state.as_str(), 1);
    }
    tally.write(conn, Lane::Other).await?;
    Ok(made.len() as u64)
}
