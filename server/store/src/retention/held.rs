//! Which events a hold covers. An event is held by itself, by the endpoint that it came by first, and by each endpoint
//! that its sender delivered it to again: to whoever asks what came in there, that delivery is one of them.

use std::collections::HashSet;

use restante_core::id::{EndpointId, TenantId};
use uuid::Uuid;

use super::holds::HoldRow;
use crate::engine::sql::statements;
use crate::engine::{Conn, StoreError, values};

/// What is held.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HoldFacts {
    /// Everything of the tenant.
    pub tenant: bool,
    /// Everything of endpoints.
    pub endpoints: HashSet<EndpointId>,
    /// Single events.
    pub receipts: HashSet<Uuid>,
}

impl HoldFacts {
    /// What these holds come to.
    pub fn of(holds: &[HoldRow]) -> Self {
        let mut held = Self::default();
        for hold in holds {
            match (hold.endpoint, hold.receipt) {
                (_, Some(receipt)) => _ = held.receipts.insert(receipt.0),
                (Some(endpoint), None) => _ = held.endpoints.insert(endpoint),
                (None, None) => held.tenant = true,
            }
        }
        held
    }
}

statements! {
    // Differs in the list.
    /// Those of some events that came by an endpoint that is held, be it as a repeat.
    EVENTS_OF_HELD_ENDPOINTS =
        sqlite "SELECT x.id FROM json_each($2) AS r CROSS JOIN receipts AS x ON x.tenant_id = $1 AND x.id = unhex(r.value)
            WHERE EXISTS (SELECT 1 FROM retention_holds AS h WHERE h.tenant_id = $1 AND h.receipt_id IS NULL
                AND h.released_at IS NULL AND (h.endpoint_id = x.endpoint_id OR h.endpoint_id IN
                    (SELECT d.endpoint_id FROM deliveries AS d WHERE d.tenant_id = $1 AND d.receipt_id = x.id)))"
        postgres "SELECT x.id FROM UNNEST($2::uuid[]) AS r (id) JOIN receipts AS x ON x.tenant_id = $1 AND x.id = r.id
            WHERE EXISTS (SELECT 1 FROM retention_holds AS h WHERE h.tenant_id = $1 AND h.receipt_id IS NULL
                AND h.released_at IS NULL AND (h.endpoint_id = x.endpoint_id OR h.endpoint_id IN
                    (SELECT d.endpoint_id FROM deliveries AS d WHERE d.tenant_id = $1 AND d.receipt_id = x.id)))";
}

/// Those of some events that are held.
pub(super) async fn held_among(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    holds: &HoldFacts,
    receipts: &[Uuid],
) -> Result<HashSet<Uuid>, StoreError> {
    if holds.tenant {
        return Ok(receipts.iter().copied().collect());
    }
    let mut held: HashSet<Uuid> = receipts.iter().filter(|id| holds.receipts.contains(id)).copied().collect();
    if !holds.endpoints.is_empty() && !receipts.is_empty() {
        let values = values![tenant, receipts.to_vec()];
        for row in conn.fetch_all(&EVENTS_OF_HELD_ENDPOINTS, values).await? {
            held.insert(row.uuid("id")?);
        }
    }
    Ok(held)
}
