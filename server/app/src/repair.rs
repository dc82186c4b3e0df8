//! Repair: a receipt whose envelope could not be read gets its key from a person, and goes out.

use restante_core::catalogue::{Catalogue, Scheme};
use restante_core::id::{ReceiptId, TenantId};
use restante_core::limits::{EVENT_ID_BYTES_MAX, EVENT_TEXT_BYTES_MAX};
use restante_core::problem::{Code, FieldError, Problem};
use restante_core::seal::{Place, TenantKeyset, event_binding};
use restante_core::verify::key_of_event_id;
use restante_store::StoreError;
use restante_store::control::{audit, endpoints};
use restante_store::events::{self, Receipt};
use restante_store::handoffs::{self, Repair, Repaired};
use serde_json::{Map, Value, json};

use crate::tenant_keys::unreadable;
use crate::{App, By};

impl App {
    /// Gives a receipt that failed with `envelope` its id, and hands it off. Gives the number of
    /// handoffs that are pending now.
    ///
    /// # Errors
    /// Not found; a conflict where nothing is to be repaired, or that names the receipt which holds
    /// the key already; gone where the payload is.
    pub async fn repair_event(
        &self,
        by: &By,
        id: ReceiptId,
        event_id: String,
        event_type: Option<String>,
    ) -> Result<usize, StoreError> {
        check(&event_id, event_type.as_deref())?;
        let (tenant, now) = (by.tenant(), self.clock.now());
        let keys = self.tenant_keys(tenant).await?;
        let receipt = self
            .store
            .read(move |conn| Box::pin(events::by_id(conn, tenant, id)))
            .await?
            .ok_or_else(|| Problem::not_found("event"))?;
        if receipt.reason.is_none() {
            return Err(Problem::new(
                Code::Conflict,
                "The id of this event was read, so there is nothing to repair. Replay hands it out again.",
            )
            .into());
        }
        let event_key = self.repaired_key(tenant, &keys, &receipt, &event_id, event_type.as_deref()).await?;
        // The digest is bound to the key, which for such a receipt only a repair changes, once.
        let bound_to = |key: &str| {
            Place::receipt_sha256(id, event_binding(tenant, &receipt.provider, &receipt.scope, key))
        };
        let before = bound_to(&receipt.event_key);
        let digest = keys.open(&before, &receipt.sha256_sealed).map_err(|why| unreadable(&before, &why))?;
        let detail = json!({ "event_id": event_id, "type": event_type });
        let line = by.audit(&*self.random, now, "event.repair", id.to_string(), &detail);
        let repair = Repair {
            receipt: id,
            sha256_sealed: keys.seal(&bound_to(&event_key), &digest, self.random.bytes()),
            event_key,
            event_id,
            event_type,
        };
        let repaired = self
            .store
            .write(move |conn| {
                Box::pin(async move {
                    let repaired = handoffs::repair(conn, tenant, repair).await?;
                    if let Repaired::HandedOff(_) = &repaired {
                        audit::insert(conn, tenant, line).await?;
                    }
                    Ok(repaired)
                })
            })
            .await?;
        match repaired {
            Repaired::HandedOff(pending) => {
                self.wake(&pending);
                Ok(pending.len())
            }
            Repaired::KeyIsHeldBy(holder) => Err(Problem::new(
                Code::Conflict,
                format!(
                    "The receipt {holder} already holds this id. If this is the same event, settle it here; \
                     nothing was changed."
                ),
            )
            .into()),
        }
    }
}

impl App {
    /// The key that the receipt would have got, had its id been read. Where the endpoint is gone or can't
    /// be read any more, the id alone makes it, as for most providers.
    async fn repaired_key(
        &self,
        tenant: TenantId,
        keys: &TenantKeyset,
        receipt: &Receipt,
        event_id: &str,
        event_type: Option<&str>,
    ) -> Result<String, StoreError> {
        let id = receipt.endpoint;
        let row = self.store.read(move |conn| Box::pin(endpoints::get(conn, tenant, id))).await?;
        let scheme = row.and_then(|row| {
            let mut options: Map<String, Value> = serde_json::from_str(&row.options).ok()?;
            if let Some(sealed) = &row.options_sealed {
                let secret = keys.open_secret(&Place::endpoint_options(id), sealed).ok()?;
                options.extend(serde_json::from_slice::<Map<String, Value>>(secret.expose()).ok()?);
            }
            Scheme::compile(Catalogue::builtin().get(&row.provider)?, &options).ok()
        });
        Ok(scheme
            .map_or_else(|| key_of_event_id(event_id), |scheme| scheme.repaired_key(event_id, event_type)))
    }
}

fn check(event_id: &str, event_type: Option<&str>) -> Result<(), Problem> {
    let mut errors = Vec::new();
    let mut within = |pointer: &str, text: &str, bytes_max: usize| {
        if text.is_empty() || text.len() > bytes_max || text.contains('\0') {
            let detail = format!("It needs 1 to {bytes_max} bytes, and can't hold the character NUL.");
            errors.push(FieldError { pointer: pointer.to_owned(), detail });
        }
    };
    within("/event_id", event_id, EVENT_ID_BYTES_MAX);
    if let Some(event_type) = event_type {
        within("/type", event_type, EVENT_TEXT_BYTES_MAX);
    }
    if errors.is_empty() { Ok(()) } else { Err(Problem::fields(errors)) }
}
