//! Replay and settlement: what a person or an application decides about a handoff that is over.

use restante_core::handoff::{Settlement, State};
use restante_core::id::{ReceiptId, ReplayId, uuid_v7};
use restante_core::limits::NOTE_BYTES_MAX;
use restante_core::problem::Problem;
use restante_store::control::audit;
use restante_store::handoffs::{self, NewReplay, NewSettlement};
use restante_store::{StoreError, consumers};
use serde_json::json;

use crate::consumers::not_found;
use crate::idempotency::Once;
use crate::{App, By, Made, Repeat};

/// What is to be settled.
#[derive(Debug, Clone)]
pub struct Settle {
    /// At which consumer.
    pub consumer: String,
    /// As what.
    pub settlement: Settlement,
    /// Why.
    pub note: Option<String>,
}

impl App {
    /// Makes an event pending again: at one consumer, also when it never had it, or without one at
    /// each that had it or whose filter matches it. Gives the number of handoffs that are pending
    /// now; a leased one stays as it is and doesn't count.
    ///
    /// # Errors
    /// Not found, a conflict where a repair has to come first, gone where the payload is.
    pub async fn replay_event(
        &self,
        by: &By,
        id: ReceiptId,
        consumer: Option<String>,
        reason: Option<String>,
        repeat: Option<Repeat>,
    ) -> Result<Made<usize>, StoreError> {
        let reason = text("/reason", reason)?;
        let (tenant, now) = (by.tenant(), self.clock.now());
        let keys = self.tenant_keys(tenant).await?;
        let once = Once::new(self, by, repeat, &keys, now);
        let detail = json!({ "consumer": consumer, "reason": reason });
        let line = by.audit(&*self.random, now, "event.replay", id.to_string(), &detail);
        let new =
            NewReplay { id: ReplayId::new(now, self.random.bytes()), receipt: id, actor: by.actor(), reason };
        let (made, pending) = self
            .store
            .write(move |conn| {
                Box::pin(async move {
                    // Only who may come twice has to wait for the tenant's turn.
                    if once.is_asked()
                        && let Some(made) = once.begin(conn).await?
                    {
                        return Ok((made, Vec::new()));
                    }
                    let consumer = match consumer {
                        Some(name) => {
                            Some(consumers::by_name(conn, tenant, &name).await?.ok_or_else(not_found)?)
                        }
                        None => None,
                    };
                    let pending = handoffs::replay(conn, tenant, new, consumer).await?;
                    if !pending.is_empty() {
                        audit::insert(conn, tenant, line).await?;
                    }
                    Ok((once.keep(conn, pending.len()).await?, pending))
                })
            })
            .await?;
        self.wake(&pending);
        Ok(made)
    }

    /// Settles a failed or uncertain handoff: it was done after all, or it never will be.
    ///
    /// # Errors
    /// Not found; a conflict where the handoff waits for nobody.
    pub async fn settle_event(&self, by: &By, id: ReceiptId, asked: Settle) -> Result<State, StoreError> {
        let note = text("/note", asked.note)?;
        let (tenant, now) = (by.tenant(), self.clock.now());
        let state = asked.settlement.state();
        let detail = json!({ "consumer": asked.consumer, "state": state, "note": note });
        let line = by.audit(&*self.random, now, "event.settle", id.to_string(), &detail);
        let new = NewSettlement {
            id: uuid_v7(now, self.random.bytes()),
            receipt: id,
            settlement: asked.settlement,
            actor: by.actor(),
            note,
        };
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    let consumer = consumers::by_name(conn, tenant, &asked.consumer).await?;
                    let consumer = consumer.ok_or_else(not_found)?;
                    let state = handoffs::settle(conn, tenant, &consumer, new).await?;
                    audit::insert(conn, tenant, line).await?;
                    Ok(state)
                })
            })
            .await
    }
}

/// A text that a person gives: within its limit, and without the NUL that PostgreSQL can't hold.
pub(crate) fn text(pointer: &str, text: Option<String>) -> Result<Option<String>, Problem> {
    let Some(text) = text else { return Ok(None) };
    if text.len() > NOTE_BYTES_MAX {
        return Err(Problem::field(pointer, format!("At most {NOTE_BYTES_MAX} bytes.")));
    }
    if text.contains('\0') {
        return Err(Problem::field(pointer, "A text can't hold the character NUL."));
    }
    Ok(Some(text))
}
