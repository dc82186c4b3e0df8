//! Holds: what retention and erasure leave alone, whatever the policies say, until somebody releases it.

use restante_core::id::{EndpointId, HoldId, ReceiptId};
use restante_core::limits::NOTE_BYTES_MAX;
use restante_core::problem::Problem;
use restante_core::time::Timestamp;
use restante_store::control::{audit, tenants};
use restante_store::retention::{self, HOLDS_MAX, HoldRow, NewHold};
use restante_store::{StoreError, events};
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use crate::idempotency::Once;
use crate::{App, By, Made, Repeat};

/// What is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// Everything of the tenant.
    Tenant,
    /// The events of an endpoint.
    Endpoint(EndpointId),
    /// One event.
    Event(ReceiptId),
}

/// A hold as it was made. The form is also what kept answers hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// Its id.
    pub id: HoldId,
    /// The endpoint whose events are held.
    pub endpoint: Option<EndpointId>,
    /// The event that is held.
    pub event: Option<ReceiptId>,
    /// Why.
    pub reason: String,
    /// Who said so.
    pub created_by: String,
    /// When.
    pub created_at: Timestamp,
}

/// A reason that a person gives.
pub(super) fn reason(text: &str) -> Result<String, Problem> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Problem::field("/reason", "Say why, for those who look at it later."));
    }
    if text.len() > NOTE_BYTES_MAX {
        return Err(Problem::field("/reason", format!("A reason has at most {NOTE_BYTES_MAX} bytes.")));
    }
    Ok(text.to_owned())
}

impl App {
    /// Holds something.
    ///
    /// # Errors
    /// Not found; a fault of the reason; that there are too many holds.
    pub async fn hold(
        &self,
        by: &By,
        held: Held,
        why: &str,
        repeat: Option<Repeat>,
    ) -> Result<Made<Hold>, StoreError> {
        let why = reason(why)?;
        let (tenant, now) = (by.tenant(), self.clock.now());
        let keys = self.tenant_keys(tenant).await?;
        let once = Once::new(self, by, repeat, &keys, now);
        let id = HoldId::new(now, self.random.bytes());
        let (endpoint, receipt, subject) = match held {
            Held::Tenant => (None, None, tenant.to_string()),
            Held::Endpoint(id) => (Some(id), None, id.to_string()),
            Held::Event(id) => (None, Some(id), id.to_string()),
        };
        let new = NewHold { id: id.0, endpoint, receipt, reason: why.clone(), actor: by.actor(), at: now };
        let detail = json!({ "hold": id, "reason": why });
        let line = by.audit(&*self.random, now, "retention.hold", subject, &detail);
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    if let Some(made) = once.begin(conn).await? {
                        return Ok(made);
                    }
                    // Waits for a batch that is under way, and the next one sees the hold.
                    tenants::config_changed(conn, tenant).await?;
                    // Its deletion may have begun while this waited: then a hold would promise what is gone.
                    if tenants::by_id(conn, tenant).await?.is_none() {
                        return Err(Problem::not_found("tenant").into());
                    }
                    // The events of an endpoint that was deleted are still here, and may be held.
                    if let Some(endpoint) = new.endpoint
                        && retention::facts(conn, tenant, Some(endpoint), now).await?.endpoints.is_empty()
                    {
                        return Err(Problem::not_found("endpoint").into());
                    }
                    if let Some(receipt) = new.receipt
                        && events::by_id(conn, tenant, receipt).await?.is_none()
                    {
                        return Err(Problem::not_found("event").into());
                    }
                    if retention::active_holds(conn, tenant).await?.len() >= HOLDS_MAX as usize {
                        let detail = format!(
                            "A tenant has at most {HOLDS_MAX} holds at once. Hold the endpoint or the tenant instead."
                        );
                        return Err(Problem::field("/reason", detail).into());
                    }
                    retention::hold(conn, tenant, &new).await?;
                    audit::insert(conn, tenant, line).await?;
                    let NewHold { endpoint, receipt, reason, actor, at, .. } = new;
                    let made =
                        Hold { id, endpoint, event: receipt, reason, created_by: actor, created_at: at };
                    once.keep(conn, made).await
                })
            })
            .await
    }

    /// Releases a hold. What is due goes with the next run.
    ///
    /// # Errors
    /// Not found, also when it is released already.
    pub async fn release_hold(&self, by: &By, id: HoldId) -> Result<(), StoreError> {
        let (tenant, now, actor) = (by.tenant(), self.clock.now(), by.actor());
        let line = by.audit(&*self.random, now, "retention.release", id.to_string(), &json!({}));
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    tenants::config_changed(conn, tenant).await?;
                    if !retention::release(conn, tenant, id.0, &actor, now).await? {
                        return Err(Problem::not_found("hold").into());
                    }
                    audit::insert(conn, tenant, line).await
                })
            })
            .await
    }

    /// The holds of the caller's tenant, released ones too, newest first.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn holds(&self, by: &By, before: Option<Uuid>, limit: u32) -> Result<Vec<HoldRow>, StoreError> {
        let tenant = by.tenant();
        self.store.read(move |conn| Box::pin(retention::holds(conn, tenant, before, limit))).await
    }
}
