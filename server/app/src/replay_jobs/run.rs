//! Working off a replay of many. A step is one short transaction: it locks the job, looks at a stretch of
//! the list, replays what matches, and writes down how far it came.

use restante_core::id::{ConsumerId, ReceiptId, ReplayId, ReplayJobId, TenantId, uuid_v7_floor};
use restante_core::problem::Code;
use restante_core::time::Timestamp;
use restante_store::events::{self, EventQuery};
use restante_store::handoffs::{self, NewReplay};
use restante_store::replay_jobs::{self, ReplayJobRow, ReplayJobStep};
use restante_store::{Conn, StoreError, consumers};

use uuid::Uuid;

use super::{DONE, ReplayOf, filter};
use crate::App;
use crate::events::EventFilter;

/// Events of one step. Few, so that on SQLite deliveries wait for it for some milliseconds only.
const EVENTS_PER_STEP: u32 = 25;

impl App {
    /// Does one step of a job. Gives whether more is left to do now.
    ///
    /// # Errors
    /// What the database ran into; then the step is done anew later.
    pub(crate) async fn step_replay_job(
        &self,
        tenant: TenantId,
        id: ReplayJobId,
    ) -> Result<bool, StoreError> {
        let now = self.clock.now();
        let ids: Vec<ReplayId> =
            (0..EVENTS_PER_STEP).map(|_| ReplayId::new(now, self.random.bytes())).collect();
        let (more, wake) = self
            .store
            .write(move |conn| {
                Box::pin(async move {
                    let Some(job) = replay_jobs::lock(conn, tenant, id).await? else {
                        return Ok((false, Vec::new()));
                    };
                    match step(conn, tenant, &job, ids).await? {
                        Ok(Stepped { step, more, wake }) => {
                            replay_jobs::step(conn, tenant, id, step).await?;
                            if !more {
                                replay_jobs::end(conn, tenant, id, now, DONE.to_owned()).await?;
                            }
                            Ok((more, wake))
                        }
                        Err(why) => {
                            replay_jobs::end(conn, tenant, id, now, why.to_owned()).await?;
                            Ok((false, Vec::new()))
                        }
                    }
                })
            })
            .await?;
        self.wake(&wake);
        Ok(more)
    }
}

/// What a step has done.
struct Stepped {
    step: ReplayJobStep,
    more: bool,
    wake: Vec<ConsumerId>,
}

/// One stretch, or a sentence that says why the job can't go on.
async fn step(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    job: &ReplayJobRow,
    ids: Vec<ReplayId>,
) -> Result<Result<Stepped, &'static str>, StoreError> {
    let Some(of) = filter::read(&job.filter) else {
        return Ok(Err("Its filter can't be read by this version."));
    };
    let gone = "The consumer was deleted meanwhile.";
    let to = match job.consumer {
        Some(id) => match consumers::all(conn, tenant).await?.into_iter().find(|one| one.id == id) {
            Some(found) => Some(found),
            None => return Ok(Err(gone)),
        },
        None => None,
    };
    let stretch = match of {
        ReplayOf::Events(picked) => Some(next_picked(picked, job.position)),
        ReplayOf::Matching(filter) => next_matching(conn, tenant, job, filter).await?,
    };
    let Some(Stretch { receipts, position, more }) = stretch else { return Ok(Err(gone)) };
    let mut done = ReplayJobStep { position, ..ReplayJobStep::default() };
    let mut wake = Vec::new();
    for (receipt, id) in receipts.into_iter().zip(ids) {
        let new = NewReplay { id, receipt, actor: job.actor.clone(), reason: job.reason.clone() };
        match handoffs::replay(conn, tenant, new, to.clone()).await {
            Ok(pending) => {
                done.events += u64::from(!pending.is_empty());
                done.handoffs += pending.len() as u64;
                wake.extend(pending);
            }
            Err(StoreError::Problem(problem))
                if matches!(problem.code, Code::NotFound | Code::Gone | Code::Conflict) =>
            {
                done.refused += 1;
            }
            Err(error) => return Err(error),
        }
    }
    wake.sort();
    wake.dedup();
    Ok(Ok(Stepped { more, step: done, wake }))
}

/// The events that one step replays, in the order in which everyone locks handoffs: that of receipts.
struct Stretch {
    receipts: Vec<ReceiptId>,
    position: Option<Uuid>,
    more: bool,
}

/// The next ones of those that were picked, the oldest first.
fn next_picked(mut picked: Vec<ReceiptId>, position: Option<Uuid>) -> Stretch {
    picked.sort_unstable();
    picked.dedup();
    picked.retain(|id| position.is_none_or(|position| id.0 > position));
    let more = picked.len() > EVENTS_PER_STEP as usize;
    picked.truncate(EVENTS_PER_STEP as usize);
    Stretch { position: picked.last().map(|id| id.0), receipts: picked, more }
}

/// The next ones that match, the newest first; `None` when the consumer of the filter is gone.
async fn next_matching(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    job: &ReplayJobRow,
    asked: EventFilter,
) -> Result<Option<Stretch>, StoreError> {
    let named = match &asked.consumer {
        Some(name) => match consumers::by_name(conn, tenant, name).await? {
            Some(found) => Some(found.id),
            None => return Ok(None),
        },
        None => None,
    };
    // What came in the very millisecond in which it was asked for is still part of it.
    let asked_at = Timestamp::from_micros(job.created_at.micros().saturating_add(1_000));
    let until = asked.received_before.map_or(asked_at, |before| before.min(asked_at));
    let query = EventQuery {
        endpoint: asked.endpoint,
        provider: asked.provider,
        event_type: asked.event_type,
        event_id: asked.event_id,
        state: asked.state,
        consumer: named,
        from: asked.received_after.map(uuid_v7_floor),
        until: Some(uuid_v7_floor(until)),
        after: job.position,
        limit: EVENTS_PER_STEP,
    };
    let page = events::list(conn, tenant, &query).await?;
    let mut receipts: Vec<ReceiptId> = page.receipts.iter().map(|receipt| receipt.id).collect();
    receipts.sort_unstable();
    Ok(Some(Stretch { receipts, position: page.next, more: page.next.is_some() }))
}
