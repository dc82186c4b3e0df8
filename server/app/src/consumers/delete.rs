//! Deleting a consumer: at once nobody hands off to it and nobody claims of it; what it still held is
//! cancelled right after, in steps, and what does not fit into this call is left to the sweep.

use std::time::{Duration, Instant};

use restante_core::id::{ConsumerId, TenantId};
use restante_store::control::audit;
use restante_store::{StoreError, consumers, stats};
use serde_json::json;

use super::not_found;
use crate::{App, By};

/// How long the call goes on cancelling before it leaves the rest to the sweep.
const CANCELS_FOR: Duration = Duration::from_secs(3);

impl App {
    /// Deletes a consumer and gives the number of handoffs that are cancelled with it.
    ///
    /// # Errors
    /// Not found.
    pub async fn delete_consumer(&self, by: &By, name: &str) -> Result<u64, StoreError> {
        let (tenant, now, name) = (by.tenant(), self.clock.now(), name.to_owned());
        let line = by.audit(&*self.random, now, "consumer.delete", name.clone(), &json!({}));
        let (id, held) = self
            .store
            .write(move |conn| {
                Box::pin(async move {
                    let consumer = consumers::by_name(conn, tenant, &name).await?.ok_or_else(not_found)?;
                    if !consumers::delete(conn, &consumer).await? {
                        return Err(not_found().into());
                    }
                    audit::insert(conn, tenant, line).await?;
                    let gauges = stats::gauges(conn, tenant).await?;
                    let held = gauges.get(consumer.id.0, "pending") + gauges.get(consumer.id.0, "leased");
                    Ok((consumer.id, held))
                })
            })
            .await?;
        // Who waits for events of it has nothing to wait for any more.
        self.wake(&[id]);
        Ok(self.cancel_what_is_left(tenant, id).await.unwrap_or(held))
    }

    /// Gives how many were cancelled, or `None` when some are left. The consumer is deleted; a fault
    /// here only leaves more to the sweep.
    async fn cancel_what_is_left(&self, tenant: TenantId, consumer: ConsumerId) -> Option<u64> {
        let began = Instant::now();
        let mut cancelled = 0;
        while began.elapsed() < CANCELS_FOR {
            let step = self
                .store
                .write(move |conn| Box::pin(consumers::write_cancel_step(conn, tenant, consumer)))
                .await;
            match step {
                Ok(step) => {
                    cancelled += step.cancelled;
                    if step.done {
                        return Some(cancelled);
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "what a deleted consumer held is cancelled later");
                    return None;
                }
            }
        }
        None
    }
}
