//! Asking for a replay of all that a filter matches.

use restante_core::id::ReplayJobId;
use restante_core::problem::Problem;
use restante_store::control::audit;
use restante_store::replay_jobs::{self, NewReplayJob};
use restante_store::{StoreError, consumers};
use serde_json::json;

use super::filter;
use crate::events::EventFilter;
use crate::replay::text;
use crate::{App, By};

impl App {
    /// Asks for a replay of every event that a filter matches now, to one consumer or to each that wants
    /// it. The sweep works it off, from the newest on.
    ///
    /// # Errors
    /// A consumer that is not there, or a reason that is too long.
    pub async fn create_replay_job(
        &self,
        by: &By,
        asked: EventFilter,
        consumer: Option<String>,
        reason: Option<String>,
    ) -> Result<ReplayJobId, StoreError> {
        let reason = text("/reason", reason)?;
        let (tenant, now) = (by.tenant(), self.clock.now());
        let id = ReplayJobId::new(now, self.random.bytes());
        let filter = filter::write(&asked);
        let detail = json!({ "filter": filter, "consumer": consumer, "reason": reason });
        let line = by.audit(&*self.random, now, "replay.create", id.to_string(), &detail);
        let actor = by.actor();
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    for name in [&asked.consumer, &consumer].into_iter().flatten() {
                        if consumers::by_name(conn, tenant, name).await?.is_none() {
                            let missing = "There is no consumer of this name in this tenant.";
                            return Err(Problem::field("/consumer", missing).into());
                        }
                    }
                    let consumer = match &consumer {
                        Some(name) => consumers::by_name(conn, tenant, name).await?.map(|found| found.id),
                        None => None,
                    };
                    let new = NewReplayJob { id, filter, consumer, actor, reason, created_at: now };
                    replay_jobs::insert(conn, tenant, new).await?;
                    audit::insert(conn, tenant, line).await?;
                    Ok(id)
                })
            })
            .await
    }
}
