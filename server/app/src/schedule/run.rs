//! One run of a job: claim it, work, give signs of life, and write down how it ended. When the lease is
//! lost the work is dropped where it stands, and nothing is written: another node goes on with the run.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use restante_core::id::JobRunId;
use restante_core::time::Timestamp;
use restante_store::StoreError;
use restante_store::jobs::{self as rows, ClaimedRun, JobClaim, JobEnd, JobLease};
use tokio::sync::watch;

use super::clock_watch::ClockWatch;
use super::{Job, JobFault, Report, Work, cron};
use crate::App;

const DONE: &str = "done";
const FAILED: &str = "failed";
const REFUSED: &str = "refused";

/// How a look at a job ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Looked {
    /// There is nothing to do now, or another node does it.
    Nothing,
    /// A run came to its end, whatever it was.
    Ran(&'static str),
    /// The lease was lost meanwhile.
    Lost,
}

impl App {
    /// Runs what is to be done of a job now, if anything is.
    ///
    /// # Errors
    /// What the database ran into; then the run is left to whoever claims it next.
    pub(super) async fn run_job(
        &self,
        job: &'static Job,
        node: &str,
        clock: Option<&ClockWatch>,
        stop: watch::Receiver<bool>,
    ) -> Result<Looked, StoreError> {
        let Some(claimed) = self.claim_job(job, node).await? else { return Ok(Looked::Nothing) };
        let asked = claimed.slot_at.is_none();
        // Who asks for a run has looked at the clock.
        let distrust = match clock {
            Some(clock) if job.deletes && !asked => self.distrust(clock, claimed.now).await?,
            _ => None,
        };
        let done = match distrust {
            Some(why) => Err(JobFault::Refused(why)),
            None => {
                let work = Work { app: self.clone(), lease: claimed.lease.clone(), stop };
                tokio::select! {
                    done = AssertUnwindSafe((job.work)(work)).catch_unwind() => done.unwrap_or_else(|_| {
                        Err(JobFault::Failed("It broke off within; the log of the server says where.".to_owned()))
                    }),
                    () = self.keep_lease(job, &claimed.lease) => {
                        tracing::warn!(job = job.name, "a job was taken over by another node");
                        return Ok(Looked::Lost);
                    }
                }
            }
        };
        let (outcome, end) = ending(done);
        match &end.error {
            Some(why) => tracing::warn!(job = job.name, outcome, why, "a job did not come to its end"),
            None => tracing::debug!(job = job.name, "a job is done"),
        }
        let lease = claimed.lease.clone();
        let held =
            self.store.write(move |conn| Box::pin(async move { rows::end(conn, &lease, end).await })).await?;
        Ok(if held { Looked::Ran(outcome) } else { Looked::Lost })
    }

    /// Why nothing may be removed by the time: it has jumped since this process began, or, as far as anybody can tell,
    /// before that.
    async fn distrust(&self, clock: &ClockWatch, now: Timestamp) -> Result<Option<String>, StoreError> {
        let node = self.clock.now();
        if let Some(why) = clock.distrust(now, node) {
            return Ok(Some(why));
        }
        let seen = self.store.read(|conn| Box::pin(restante_store::retention::seen(conn))).await?;
        Ok(crate::retention::clock_doubt(node, now, seen))
    }

    async fn claim_job(&self, job: &'static Job, node: &str) -> Result<Option<ClaimedRun>, StoreError> {
        let run = JobRunId::new(self.clock.now(), self.random.bytes());
        let node = node.to_owned();
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    let next = |after| cron::next(job.cron, after);
                    let lease_seconds = job.lease_seconds;
                    let claim = JobClaim { job: job.name, run, node: &node, lease_seconds, next: &next };
                    rows::claim(conn, claim).await
                })
            })
            .await
    }

    /// Gives signs of life for as long as the lease is held. What the database can't do for a while is
    /// tried again: the work goes on until somebody else has the job.
    async fn keep_lease(&self, job: &Job, lease: &JobLease) {
        let every = Duration::from_secs(u64::from(job.lease_seconds) / 3);
        loop {
            tokio::time::sleep(every).await;
            let (lease, seconds) = (lease.clone(), job.lease_seconds);
            let renewed = self
                .store
                .write(move |conn| Box::pin(async move { rows::renew(conn, &lease, seconds).await }))
                .await;
            match renewed {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => tracing::warn!(job = job.name, %error, "the lease of a job was not renewed"),
            }
        }
    }
}

fn ending(done: Result<Report, JobFault>) -> (&'static str, JobEnd) {
    let (outcome, report, error) = match done {
        Ok(report) => (DONE, serde_json::to_string(&report).ok(), None),
        Err(JobFault::Failed(why)) => (FAILED, None, Some(why)),
        Err(JobFault::Refused(why)) => (REFUSED, None, Some(why)),
    };
    (outcome, JobEnd { outcome, report, error })
}
