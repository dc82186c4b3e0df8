//! A consumer as it is stored and as it is made.

use restante_core::filter::Filter;
use restante_core::id::{ConsumerId, TenantId};
use restante_core::time::Timestamp;
use uuid::Uuid;

use crate::engine::{Row, StoreError};

/// A consumer to be made.
#[derive(Debug, Clone)]
pub struct NewConsumer {
    /// Its id.
    pub id: ConsumerId,
    /// Its name, unique in the tenant: `[a-z0-9-]{1,64}`.
    pub name: String,
    /// Which events it wants.
    pub filter: Filter,
    /// Claims of an event before it is given up.
    pub max_attempts: u32,
    /// Whether claims give events.
    pub enabled: bool,
    /// The text that was asked for: `now`, `beginning`, or a time.
    pub start: String,
    /// The smallest id of what is here already and is to be handed off; `None` for `now`.
    pub start_from: Option<Uuid>,
}

/// A consumer as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsumerRecord {
    /// Whose it is.
    pub tenant: TenantId,
    /// Its id.
    pub id: ConsumerId,
    /// Its name.
    pub name: String,
    /// Which events it wants.
    pub filter: Filter,
    /// Claims of an event before it is given up.
    pub max_attempts: u32,
    /// Whether claims give events.
    pub enabled: bool,
    /// The text that was asked for: `now`, `beginning`, or a time.
    pub start: String,
    /// While what was here before is being handed off: from which id to which.
    pub backfill: Option<(Uuid, Uuid)>,
    /// The last claim, to the minute.
    pub last_claim_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

pub(super) fn read(tenant: TenantId, row: &Row) -> Result<ConsumerRecord, StoreError> {
    let filter = serde_json::from_str(&row.text("filter")?).map_err(|_| row.broken("filter"))?;
    let count = |column| row.int(column).and_then(|n| u32::try_from(n).map_err(|_| row.broken(column)));
    let backfill = row.uuid_or_null("backfill_from")?.zip(row.uuid_or_null("backfill_to")?);
    Ok(ConsumerRecord {
        tenant,
        id: ConsumerId(row.uuid("id")?),
        name: row.text("name")?,
        filter,
        max_attempts: count("max_attempts")?,
        enabled: row.bool("enabled")?,
        start: row.text("start")?,
        backfill,
        last_claim_at: row.time_or_null("last_claim_at")?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
    })
}
