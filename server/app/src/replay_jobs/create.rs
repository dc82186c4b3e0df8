//! Asking for a replay of many, and counting first what it would be of.

use restante_core::id::ReplayJobId;
use restante_core::limits::PAGE_SIZE_MAX;
use restante_core::problem::Problem;
use restante_store::control::audit;
use restante_store::events;
use restante_store::replay_jobs::{self, NewReplayJob};
use restante_store::{StoreError, consumers};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{ReplayOf, filter};
use crate::idempotency::Once;
use crate::replay::text;
use crate::{App, By, Made, Repeat};

/// A replay that is asked for.
#[derive(Debug, Clone)]
pub struct NewReplays {
    /// Which events.
    pub of: ReplayOf,
    /// To whom; `None` for each that wants them.
    pub consumer: Option<String>,
    /// Why, in the words of who asks.
    pub reason: Option<String>,
}

/// A replay that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplaysAsked {
    /// Its id.
    pub id: ReplayJobId,
    /// Events that it would be of, when it was asked for.
    pub count: u64,
    /// Whether those are all; a count looks at a bounded number of events.
    pub complete: bool,
}

impl App {
    /// How many of the tenant's events a replay would be of, and whether that is all of them.
    ///
    /// # Errors
    /// Too many that were picked, or none; a consumer of the filter that is not there.
    pub async fn count_replays(&self, by: &By, of: &ReplayOf) -> Result<(u64, bool), StoreError> {
        match of {
            ReplayOf::Matching(filter) => self.count_events(by, filter.clone()).await,
            ReplayOf::Events(ids) => {
                if ids.is_empty() || ids.len() > PAGE_SIZE_MAX as usize {
                    let detail = format!("Name 1 to {PAGE_SIZE_MAX} events; these are {}.", ids.len());
                    return Err(Problem::field("/events", detail).into());
                }
                let (tenant, mut ids) = (by.tenant(), ids.clone());
                ids.sort_unstable();
                ids.dedup();
                let found = self
                    .store
                    .read(move |conn| Box::pin(async move { events::by_ids(conn, tenant, &ids).await }))
                    .await?;
                Ok((found.len() as u64, true))
            }
        }
    }

    /// Asks for a replay of many, to one consumer or to each that wants them. The sweep works it off, matching
    /// events from the newest on.
    ///
    /// # Errors
    /// A consumer that is not there, a reason that is too long, too many events that were picked.
    pub async fn create_replay_job(
        &self,
        by: &By,
        asked: NewReplays,
        repeat: Option<Repeat>,
    ) -> Result<Made<ReplaysAsked>, StoreError> {
        let NewReplays { of, consumer, reason } = asked;
        let reason = text("/reason", reason)?;
        let (count, complete) = self.count_replays(by, &of).await?;
        let (tenant, now) = (by.tenant(), self.clock.now());
        let keys = self.tenant_keys(tenant).await?;
        let once = Once::new(self, by, repeat, &keys, now);
        let id = ReplayJobId::new(now, self.random.bytes());
        let filter = filter::write(&of);
        let detail = json!({ "filter": filter, "consumer": consumer, "reason": reason });
        let line = by.audit(&*self.random, now, "replay.create", id.to_string(), &detail);
        let actor = by.actor();
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    // Only who may come twice has to wait for the tenant's turn.
                    if once.is_asked()
                        && let Some(made) = once.begin(conn).await?
                    {
                        return Ok(made);
                    }
                    let consumer = match &consumer {
                        Some(name) => {
                            Some(consumers::by_name(conn, tenant, name).await?.ok_or_else(|| {
                                Problem::field(
                                    "/consumer",
                                    "There is no consumer of this name in this tenant.",
                                )
                            })?)
                        }
                        None => None,
                    };
                    let new = NewReplayJob {
                        id,
                        filter,
                        consumer: consumer.map(|found| found.id),
                        actor,
                        reason,
                        created_at: now,
                        matched: count,
                        matched_all: complete,
                    };
                    replay_jobs::insert(conn, tenant, new).await?;
                    audit::insert(conn, tenant, line).await?;
                    once.keep(conn, ReplaysAsked { id, count, complete }).await
                })
            })
            .await
    }
}
