//! The sweep: what time alone moves within seconds. Leases that have run out become due again, or failed after their
//! last attempt, within seconds; what a new consumer is still owed is handed off; replays of many are worked off; what a deleted
//! one still held is cancelled; answers to repeated requests go after their day, and so do sessions and
//! links of people that have run out. Each pass is bounded, safe to run twice, to be killed, and to run
//! on several nodes at once: whatever it does stands in short transactions, each of which finds for
//! itself what is left to do.
//!
//! What fails for one consumer is left to the next pass, and costs the others nothing.

#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use restante_store::{StoreError, consumers, handoffs, replay_jobs};
use tokio::sync::watch;

use crate::{App, figures};

/// The pause between two passes.
const EVERY: Duration = Duration::from_secs(1);
/// Passes after which the time is noted by which retention tells a clock that has leapt.
const ALIVE_EVERY_PASSES: u64 = 60;
/// Consumers that one pass looks after, of each kind.
const CONSUMERS_PER_PASS: u32 = 200;
/// Replays of many that one pass works on.
const REPLAYS_PER_PASS: u32 = 50;
/// How long one pass goes on; what is left waits for the next.
const PASS_MAX: Duration = Duration::from_secs(2);

/// What a pass did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Events that are due again because a lease ran out.
    pub expired: u64,
    /// Events that failed because their last lease ran out.
    pub failed: u64,
    /// Handoffs that were made of what was here before a consumer.
    pub handed_off: u64,
    /// Handoffs that were cancelled because their consumer was deleted.
    pub cancelled: u64,
    /// Kept answers that went after their day.
    pub answers: u64,
    /// Sessions, marks of browsers and links of people that had run out.
    pub forgotten: u64,
}

/// What a pass over several consumers has done, and the first thing that went wrong.
struct Tried<T> {
    done: T,
    failed: Option<StoreError>,
}

impl<T> Tried<T> {
    const fn new(done: T) -> Self {
        Self { done, failed: None }
    }

    /// The result of one step, unless it went wrong.
    fn note<S>(&mut self, step: Result<S, StoreError>) -> Option<S> {
        match step {
            Ok(step) => Some(step),
            Err(error) => {
                self.failed.get_or_insert(error);
                None
            }
        }
    }

    fn end(self) -> Result<T, StoreError> {
        self.failed.map_or(Ok(self.done), Err)
    }
}

impl App {
    /// One pass over everything.
    ///
    /// # Errors
    /// What the database ran into first; everything else is done all the same.
    pub async fn sweep(&self) -> Result<Swept, StoreError> {
        let leases = self.sweep_leases().await;
        let handed_off = self.sweep_backfills().await;
        let replays = self.sweep_replay_jobs().await;
        let cancelled = self.sweep_deleted().await;
        let answers = self.expire_kept_answers(PASS_MAX).await;
        let forgotten = self.forget_what_ran_out().await;
        replays?;
        Ok(Swept {
            handed_off: handed_off?,
            cancelled: cancelled?,
            answers: answers?,
            forgotten: forgotten?,
            ..leases?
        })
    }

    async fn sweep_leases(&self) -> Result<Swept, StoreError> {
        let mut tried = Tried::new(Swept::default());
        let found =
            self.store.read(|conn| Box::pin(handoffs::with_run_out_leases(conn, CONSUMERS_PER_PASS))).await?;
        for (tenant, consumer, max_attempts) in found {
            let step = self
                .store
                .write(move |conn| Box::pin(handoffs::expire(conn, tenant, consumer, max_attempts)))
                .await;
            let Some(expired) = tried.note(step) else { continue };
            tried.done.expired += expired.pending;
            tried.done.failed += expired.failed;
            if expired.pending > 0 {
                self.wake(&[consumer]);
            }
        }
        figures::handoffs_retried(tried.done.expired);
        figures::handoffs_failed(tried.done.failed);
        tried.end()
    }

    async fn sweep_backfills(&self) -> Result<u64, StoreError> {
        let began = Instant::now();
        let mut tried = Tried::new(0);
        let found = self
            .store
            .read(|conn| Box::pin(consumers::unfinished_backfills(conn, CONSUMERS_PER_PASS)))
            .await?;
        for (tenant, consumer) in found {
            loop {
                let step = self
                    .store
                    .write(move |conn| Box::pin(consumers::write_backfill_step(conn, tenant, consumer)))
                    .await;
                let Some(step) = tried.note(step) else { break };
                tried.done += step.handed_off;
                if step.handed_off > 0 {
                    self.wake(&[consumer]);
                }
                if step.done || began.elapsed() > PASS_MAX {
                    break;
                }
            }
        }
        tried.end()
    }

    pub(crate) async fn sweep_deleted(&self) -> Result<u64, StoreError> {
        let began = Instant::now();
        let mut tried = Tried::new(0);
        let found = self
            .store
            .read(|conn| Box::pin(consumers::unfinished_removals(conn, CONSUMERS_PER_PASS)))
            .await?;
        for (tenant, consumer) in found {
            loop {
                let step = self
                    .store
                    .write(move |conn| Box::pin(consumers::write_cancel_step(conn, tenant, consumer)))
                    .await;
                let Some(step) = tried.note(step) else { break };
                tried.done += step.cancelled;
                if step.done || began.elapsed() > PASS_MAX {
                    break;
                }
            }
        }
        tried.end()
    }

    /// Works replays of many off, a little of each, so that one of a million events holds up none of the
    /// others. Gives the number of steps.
    pub(crate) async fn sweep_replay_jobs(&self) -> Result<u64, StoreError> {
        let began = Instant::now();
        let mut tried = Tried::new(0);
        let mut open = self.store.read(|conn| Box::pin(replay_jobs::open(conn, REPLAYS_PER_PASS))).await?;
        while !open.is_empty() && began.elapsed() < PASS_MAX {
            let mut left = Vec::new();
            for (tenant, id) in open {
                if let Some(more) = tried.note(self.step_replay_job(tenant, id).await) {
                    tried.done += 1;
                    if more {
                        left.push((tenant, id));
                    }
                }
            }
            open = left;
        }
        tried.end()
    }

    /// A pass of the background task: what must be done within seconds. The rest are jobs of the schedule.
    async fn pass(&self, number: u64) {
        told(self.sweep_leases().await);
        told(self.sweep_backfills().await);
        told(self.sweep_replay_jobs().await);
        if number.is_multiple_of(ALIVE_EVERY_PASSES) {
            told(self.note_alive().await);
        }
    }
}

/// One kind that fails keeps no other from its turn.
fn told<T>(swept: Result<T, StoreError>) {
    if let Err(error) = swept {
        tracing::warn!(%error, "a sweep was not finished; the next one goes on");
    }
}

/// Sweeps each second, and hears other nodes, until it is told to stop.
pub async fn run_sweeps(app: App, mut stop: watch::Receiver<bool>) {
    let hearing = app.clone();
    let hear = app.store.listen(move |consumer| hearing.wakeups.wake(consumer));
    let sweep = async {
        let mut number = 0_u64;
        loop {
            app.pass(number).await;
            number = number.wrapping_add(1);
            tokio::time::sleep(EVERY).await;
        }
    };
    let stopped = async {
        // A sender that is gone has nothing more to say than stop.
        while !*stop.borrow_and_update() && stop.changed().await.is_ok() {}
    };
    tokio::select! {
        () = hear => {}
        () = sweep => {}
        () = stopped => {}
    }
    // Nobody is to wait on while the server stops.
    app.wakeups.close();
}
