//! The schedule as administrators see it: every job with its last and next run, its runs, run now, pause.

use restante_core::id::{JobRunId, UserId};
use restante_core::problem::Problem;
use restante_core::time::Timestamp;
use restante_store::control::instance_audit;
use restante_store::jobs::{self as rows, JobRow, JobRunRow};
use restante_store::{StoreError, control::people};
use serde_json::json;

use super::{JOBS, Job, Report, cron, job};
use crate::App;
use crate::administration::administrator;
use crate::people::Actor;

/// Runs of a job that its page shows.
const RUNS_SHOWN: u32 = 50;

/// A job with where it stands.
pub struct ScheduledJob {
    /// The job.
    pub job: &'static Job,
    /// Its next slot.
    pub next: Timestamp,
    /// Whether its slots are passed over.
    pub paused: bool,
    /// When somebody asked for a run that has not begun.
    pub asked_at: Option<Timestamp>,
    /// Whether a run is under way.
    pub running: bool,
    /// Its newest run.
    pub last: Option<JobRun>,
}

/// A run with what it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRun {
    /// The run.
    pub row: JobRunRow,
    /// What it did.
    pub report: Option<Report>,
    /// The address of the person who asked for it.
    pub asked_by: Option<String>,
}

impl From<JobRunRow> for JobRun {
    fn from(row: JobRunRow) -> Self {
        let report = row.report.as_deref().and_then(|report| serde_json::from_str(report).ok());
        Self { asked_by: row.asked_by.clone(), row, report }
    }
}

impl App {
    /// Every job of the schedule.
    ///
    /// # Errors
    /// `missing-scope` for who is no administrator.
    pub async fn schedule(&self, actor: &Actor) -> Result<Vec<ScheduledJob>, StoreError> {
        let actor = actor.clone();
        self.store
            .read(move |conn| {
                Box::pin(async move {
                    administrator(conn, &actor).await?;
                    let now = conn.now().await?;
                    let known = rows::all(conn).await?;
                    let mut jobs = Vec::with_capacity(JOBS.len());
                    for job in JOBS {
                        let row = known.iter().find(|row| row.name == job.name);
                        let last = rows::runs(conn, job.name, 1).await?.into_iter().next().map(JobRun::from);
                        jobs.push(scheduled(job, row, last, now));
                    }
                    Ok(jobs)
                })
            })
            .await
    }

    /// A job with its newest runs, at most 50.
    ///
    /// # Errors
    /// `missing-scope` for who is no administrator; not found.
    pub async fn scheduled_job(
        &self,
        actor: &Actor,
        name: &str,
    ) -> Result<(ScheduledJob, Vec<JobRun>), StoreError> {
        let (actor, job) = (actor.clone(), job(name).ok_or_else(not_found)?);
        self.store
            .read(move |conn| {
                Box::pin(async move {
                    administrator(conn, &actor).await?;
                    let now = conn.now().await?;
                    let known = rows::all(conn).await?;
                    let row = known.iter().find(|row| row.name == job.name);
                    let mut runs: Vec<JobRun> =
                        rows::runs(conn, job.name, RUNS_SHOWN).await?.into_iter().map(JobRun::from).collect();
                    let ids = runs.iter().filter_map(|run| run.asked_by.as_deref()?.parse::<UserId>().ok());
                    let ids: Vec<uuid::Uuid> = ids.map(|user| user.0).collect();
                    if !ids.is_empty() {
                        let names = people::emails(conn, ids).await?;
                        for run in &mut runs {
                            let id = run.asked_by.as_deref().and_then(|id| id.parse::<UserId>().ok());
                            if let Some((_, email)) = names.iter().find(|(user, _)| Some(*user) == id) {
                                run.asked_by = Some(email.clone());
                            }
                        }
                    }
                    Ok((scheduled(job, row, runs.first().cloned(), now), runs))
                })
            })
            .await
    }

    /// One run of a job.
    ///
    /// # Errors
    /// `missing-scope` for who is no administrator; not found.
    pub async fn job_run(&self, actor: &Actor, id: JobRunId) -> Result<JobRun, StoreError> {
        let actor = actor.clone();
        self.store
            .read(move |conn| {
                Box::pin(async move {
                    administrator(conn, &actor).await?;
                    Ok(rows::run(conn, id).await?.ok_or_else(not_found)?.into())
                })
            })
            .await
    }

    /// Has a job run now, on whichever node is first.
    ///
    /// # Errors
    /// `missing-scope` for who is no administrator; not found.
    pub async fn ask_job(&self, actor: &Actor, name: &str) -> Result<(), StoreError> {
        let job = job(name).ok_or_else(not_found)?;
        let now = self.clock.now();
        let line = actor.line(&*self.random, now, "job.run", job.name.to_owned(), &json!({}));
        let (actor, first) = (actor.clone(), cron::next(job.cron, now));
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    administrator(conn, &actor).await?;
                    rows::register(conn, job.name, first).await?;
                    rows::ask(conn, job.name, actor.name()).await?;
                    instance_audit::insert(conn, line).await
                })
            })
            .await?;
        self.schedule_wake.wake();
        Ok(())
    }

    /// Pauses a job, or has it go on. A run under way is not touched.
    ///
    /// # Errors
    /// `missing-scope` for who is no administrator; not found.
    pub async fn pause_job(&self, actor: &Actor, name: &str, paused: bool) -> Result<(), StoreError> {
        let job = job(name).ok_or_else(not_found)?;
        let now = self.clock.now();
        let action = if paused { "job.pause" } else { "job.resume" };
        let line = actor.line(&*self.random, now, action, job.name.to_owned(), &json!({}));
        let (actor, first) = (actor.clone(), cron::next(job.cron, now));
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    administrator(conn, &actor).await?;
                    rows::register(conn, job.name, first).await?;
                    if rows::pause(conn, job.name, paused).await? {
                        instance_audit::insert(conn, line).await?;
                    }
                    Ok(())
                })
            })
            .await
    }
}

fn scheduled(job: &'static Job, row: Option<&JobRow>, last: Option<JobRun>, now: Timestamp) -> ScheduledJob {
    ScheduledJob {
        job,
        next: row.map_or_else(|| cron::next(job.cron, now), |row| row.due_at),
        paused: row.is_some_and(|row| row.paused),
        asked_at: row.and_then(|row| row.asked_at),
        running: row.is_some_and(|row| row.run.is_some()),
        last,
    }
}

fn not_found() -> Problem {
    Problem::not_found("job")
}
