//! The schedule: what the program does by itself at set times. `jobs.rs` lists the jobs; the database
//! decides which node runs a slot, once (`restante_store::jobs`); `runner.rs` ticks; `run.rs` does one run
//! and stops when its lease is lost; `clock_watch.rs` keeps jobs that delete from believing a clock that
//! has jumped. What must be done within seconds (leases that run out) is the sweep's, not a job's.

mod administer;
mod clock_watch;
mod cron;
mod jobs;
mod look_around;
mod run;
mod runner;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use restante_store::jobs::JobLease;
use restante_store::{BoxFuture, Conn, StoreError, jobs as rows};
use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, watch};

use crate::App;
pub use administer::{JobRun, ScheduledJob};
pub use jobs::JOBS;
pub use runner::run_schedule;

/// A job of the schedule.
pub struct Job {
    /// Its name in addresses and in the database; it never changes.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it does, in a sentence.
    pub about: &'static str,
    /// When: seconds, minutes, hours, day of the month, month, day of the week; in UTC.
    pub cron: &'static str,
    /// When, in words.
    pub when: &'static str,
    /// Whether it removes what is too old by the clock, so that it must not believe one that has jumped.
    pub deletes: bool,
    /// How long its holder may be silent before another node goes on with it.
    pub lease_seconds: u32,
    /// The work. It is done in short transactions, is safe to be dropped at any point, and to be done twice.
    pub work: fn(Work) -> BoxFuture<'static, Result<Report, JobFault>>,
}

/// What a job works with.
#[derive(Clone)]
pub struct Work {
    /// The instance.
    pub app: App,
    /// The right to do it.
    pub lease: JobLease,
    /// Becomes true when the server stops. A long job comes to a good end soon then.
    pub stop: watch::Receiver<bool>,
}

impl Work {
    /// Whether the server stops.
    pub fn stops(&self) -> bool {
        *self.stop.borrow()
    }

    /// Demands within a write that this node still holds the job.
    ///
    /// # Errors
    /// [`StoreError::Stale`] when another node has taken over.
    pub async fn demand(&self, conn: &mut Conn<'_>) -> Result<(), StoreError> {
        rows::demand(conn, &self.lease).await
    }
}

/// What a run did, for the people who read it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// What was counted, in words and in the order in which it is shown.
    pub counts: Vec<(String, u64)>,
    /// What else there is to say, a sentence each.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl Report {
    /// A report of one figure.
    pub fn of(what: &str, count: u64) -> Self {
        Self::default().and(what, count)
    }

    /// With another figure.
    #[must_use]
    pub fn and(mut self, what: &str, count: u64) -> Self {
        self.counts.push((what.to_owned(), count));
        self
    }

    /// With a sentence.
    #[must_use]
    pub fn saying(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}

/// Why a run did not come to its end.
#[derive(Debug)]
pub enum JobFault {
    /// It must not run now; the sentence says why and what to do.
    Refused(String),
    /// It failed. The next run goes on.
    Failed(String),
}

impl From<StoreError> for JobFault {
    fn from(error: StoreError) -> Self {
        Self::Failed(format!("The database could not do its part: {error}."))
    }
}

/// Wakes this node's runner before its next tick.
#[derive(Debug, Clone, Default)]
pub struct ScheduleWake(Arc<Notify>);

impl ScheduleWake {
    /// Has the runner look for something to do now.
    pub fn wake(&self) {
        self.0.notify_one();
    }

    async fn woken(&self) {
        self.0.notified().await;
    }
}

/// The first slot of a job after a moment.
pub(crate) fn next_slot(name: &str, after: restante_core::time::Timestamp) -> restante_core::time::Timestamp {
    job(name).map_or(after, |job| cron::next(job.cron, after))
}

/// The job of a name.
pub fn job(name: &str) -> Option<&'static Job> {
    JOBS.iter().find(|job| job.name == name)
}
