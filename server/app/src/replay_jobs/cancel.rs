//! Stopping a replay of many: what is replayed stays replayed, the rest is left alone.

use restante_core::id::ReplayJobId;
use restante_core::problem::{Code, Problem};
use restante_store::StoreError;
use restante_store::control::audit;
use restante_store::replay_jobs;
use serde_json::json;

use super::{CANCELLED, not_found};
use crate::{App, By};

impl App {
    /// Stops a replay of many.
    ///
    /// # Errors
    /// Not found; a conflict when it is over.
    pub async fn cancel_replay_job(&self, by: &By, id: ReplayJobId) -> Result<(), StoreError> {
        let (tenant, now) = (by.tenant(), self.clock.now());
        let line = by.audit(&*self.random, now, "replay.cancel", id.to_string(), &json!({}));
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    replay_jobs::get(conn, tenant, id).await?.ok_or_else(not_found)?;
                    if !replay_jobs::end(conn, tenant, id, now, CANCELLED.to_owned()).await? {
                        return Err(Problem::new(Code::Conflict, "This replay is over already.").into());
                    }
                    audit::insert(conn, tenant, line).await
                })
            })
            .await
    }
}
