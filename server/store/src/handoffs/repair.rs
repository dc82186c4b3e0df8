//! Repair: a receipt whose envelope could not be read gets the key that a person gives it, and goes
//! to the consumers as a new event would. The unique key decides here as well: another receipt may
//! hold that key already.

use restante_core::id::{ConsumerId, EndpointId, ReceiptId, TenantId};
use restante_core::problem::{Code, Problem};

use super::sql;
use crate::consumers::{self, endpoints_of_repeats};
use crate::engine::{Conn, StoreError, values};
use crate::rollups::{Lane, Tally};

/// What a repair writes.
#[derive(Debug, Clone)]
pub struct Repair {
    /// What is repaired.
    pub receipt: ReceiptId,
    /// The key that it gets.
    pub event_key: String,
    /// The id that people see.
    pub event_id: String,
    /// The type, if it has one.
    pub event_type: Option<String>,
    /// The SHA-256 of the event's bytes, sealed anew beside the new key.
    pub sha256_sealed: Vec<u8>,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repaired {
    /// These consumers have something to claim.
    HandedOff(Vec<ConsumerId>),
    /// The key belongs to this receipt; nothing was changed.
    KeyIsHeldBy(ReceiptId),
}

/// Repairs a receipt.
///
/// # Errors
/// Not found, a conflict where nothing is to be repaired, gone where the payload is;
/// [`StoreError::Taken`] when someone else takes the key at this moment.
pub async fn repair(conn: &mut Conn<'_>, tenant: TenantId, new: Repair) -> Result<Repaired, StoreError> {
    conn.fetch_one(&sql::TENANT_HELD, values![tenant]).await?;
    let row = conn.fetch_optional(&sql::RECEIPT_TO_REPAIR, values![tenant, new.receipt]).await?;
    let row = row.ok_or_else(|| Problem::not_found("event"))?;
    if row.text_or_null("reason")?.is_none() {
        return Err(Problem::new(
            Code::Conflict,
            "The id of this event was read, so there is nothing to repair; replay hands it out again.",
        )
        .into());
    }
    if row.text("payload_state")? != "stored" {
        return Err(Problem::new(
            Code::Gone,
            "The payload of this event is no longer kept, so there is nothing to hand off.",
        )
        .into());
    }
    let (provider, scope) = (row.text("provider")?, row.text("scope")?);
    let values = values![tenant, new.event_key.as_str(), provider.as_str(), scope];
    if let Some(holder) = conn.fetch_optional(&sql::RECEIPT_HOLDING, values).await? {
        return Ok(Repaired::KeyIsHeldBy(ReceiptId(holder.uuid("id")?)));
    }
    let event_type = new.event_type.clone();
    let values = values![tenant, new.receipt, new.event_key, new.event_id, new.event_type, new.sha256_sealed];
    conn.execute(&sql::RECEIPT_REPAIR, values).await?;
    let mut endpoints = vec![EndpointId(row.uuid("endpoint_id")?)];
    endpoints.extend(endpoints_of_repeats(conn, tenant, &[new.receipt]).await?.into_iter().map(|(_, by)| by));
    let wake = hand_off(conn, tenant, new.receipt, &endpoints, &provider, event_type.as_deref()).await?;
    Ok(Repaired::HandedOff(wake))
}

/// Makes pending what waited for the repair, and hands the receipt to those that match only now.
async fn hand_off(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    receipt: ReceiptId,
    endpoints: &[EndpointId],
    provider: &str,
    event_type: Option<&str>,
) -> Result<Vec<ConsumerId>, StoreError> {
    let now = conn.now().await?;
    let mut tally = Tally::default();
    let mut wake = Vec::new();
    let mut consumers = consumers::all(conn, tenant).await?;
    consumers.sort_by_key(|consumer| consumer.id);
    for consumer in consumers {
        let values = values![tenant, consumer.id, receipt, now];
        if conn.execute(&sql::HANDOFF_REPAIR, values).await? == 1 {
            tally.shift(tenant, consumer.id.0, "failed", -1);
        } else {
            let matches =
                endpoints.iter().any(|endpoint| consumer.filter.matches(*endpoint, provider, event_type));
            let values = values![tenant, consumer.id, receipt, now, None::<uuid::Uuid>];
            if !matches || conn.execute(&sql::HANDOFF_INSERT, values).await? == 0 {
                continue;
            }
        }
        tally.shift(tenant, consumer.id.0, "pending", 1);
        wake.push(consumer.id);
    }
    tally.write(conn, Lane::Other).await?;
    Ok(wake)
}
