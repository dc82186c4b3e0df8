//! The schedule's rows: which slot of a job is due, who runs it, and what became of each run.
//!
//! Everything here is decided by the database's time in one short transaction. A holder has a lease with a
//! number that rises with each holder (the epoch); what it writes counts only while that number is the
//! row's, so a node that was paused for an hour and wakes up changes nothing.

use restante_core::id::JobRunId;
use restante_core::time::Timestamp;

use crate::engine::sql::statements;
use crate::engine::{Conn, Row, StoreError, values};

/// Runs that are kept of each job. The most frequent job runs each minute, so this is two days of it: a
/// slot within them is never run twice, even when the database's clock was set back.
const RUNS_KEPT: u32 = 3_000;
/// Runs that a list gives.
const LISTED_MAX: u32 = 100;

/// A job as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRow {
    /// Its name in the program.
    pub name: String,
    /// The next slot.
    pub due_at: Timestamp,
    /// Whether its slots are passed over.
    pub paused: bool,
    /// When a person asked for a run that has not begun.
    pub asked_at: Option<Timestamp>,
    /// Until when its holder may go on without a sign of life; `None` while nobody holds it.
    pub lease_until: Option<Timestamp>,
    /// The run under way.
    pub run: Option<JobRunId>,
    lease_epoch: i64,
    asked_by: Option<String>,
}

/// A run as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRunRow {
    /// Its id.
    pub id: JobRunId,
    /// Its job.
    pub job: String,
    /// The slot; `None` when a person asked for it.
    pub slot_at: Option<Timestamp>,
    /// Who asked: `usr_…`.
    pub asked_by: Option<String>,
    /// Slots before this one that nobody ran.
    pub missed: u64,
    /// The node that ran it last.
    pub node: String,
    /// How often another holder went on with it.
    pub takeovers: u64,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// `done`, `failed` or `refused`.
    pub outcome: Option<String>,
    /// What it did, as JSON.
    pub report: Option<String>,
    /// Why it failed or was refused, in a sentence.
    pub error: Option<String>,
}

/// The right to run a job. It is handed to every write that must not happen twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobLease {
    /// The job.
    pub job: String,
    /// The holder's number.
    pub epoch: i64,
    /// The run.
    pub run: JobRunId,
}

/// A run that the caller has to do now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedRun {
    /// The right to do it.
    pub lease: JobLease,
    /// The slot; `None` when a person asked for it.
    pub slot_at: Option<Timestamp>,
    /// Whether another holder began it.
    pub taken_over: bool,
    /// Slots before this one that nobody ran.
    pub missed: u64,
    /// The database's time.
    pub now: Timestamp,
}

/// What a claim needs to know of the job.
pub struct JobClaim<'a> {
    /// The job.
    pub job: &'static str,
    /// The id that a new run gets.
    pub run: JobRunId,
    /// Who claims.
    pub node: &'a str,
    /// How long the holder may be silent.
    pub lease_seconds: u32,
    /// The first slot after a moment.
    pub next: &'a (dyn Fn(Timestamp) -> Timestamp + Send + Sync),
}

statements! {
    // Differs in the lock, by which a second node waits for the first one's claim and then sees it.
    /// A job, locked.
    JOB_LOCK =
        sqlite "SELECT name, due_at, paused, asked_at, asked_by, lease_epoch, lease_until, run_id FROM jobs WHERE name = $1"
        postgres "SELECT name, due_at, paused, asked_at, asked_by, lease_epoch, lease_until, run_id FROM jobs
            WHERE name = $1 FOR UPDATE";

    /// Makes a job known, with its first slot.
    JOB_INSERT = both
        "INSERT INTO jobs (name, due_at) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING";

    /// Every job.
    JOBS = both
        "SELECT name, due_at, paused, asked_at, asked_by, lease_epoch, lease_until, run_id FROM jobs ORDER BY name";

    /// Gives a job to a holder.
    JOB_CLAIM = both
        "UPDATE jobs SET due_at = $2, asked_at = $3, asked_by = $4, lease_epoch = $5, lease_until = $6, run_id = $7
            WHERE name = $1";

    /// Moves the next slot, where the clock was set back or the slot was run before.
    JOB_DUE = both
        "UPDATE jobs SET due_at = $2 WHERE name = $1";

    /// A sign of life of the holder.
    JOB_RENEW = both
        "UPDATE jobs SET lease_until = $3 WHERE name = $1 AND lease_epoch = $2 AND run_id IS NOT NULL";

    // Differs in the lock: what a holder writes and a take-over must not pass each other.
    /// Whether a holder still is one.
    JOB_HELD =
        sqlite "SELECT lease_epoch FROM jobs WHERE name = $1 AND lease_epoch = $2 AND run_id IS NOT NULL"
        postgres "SELECT lease_epoch FROM jobs WHERE name = $1 AND lease_epoch = $2 AND run_id IS NOT NULL FOR SHARE";

    /// Takes a job from its holder, whose work is done.
    JOB_RELEASE = both
        "UPDATE jobs SET lease_until = NULL, run_id = NULL WHERE name = $1 AND lease_epoch = $2 AND run_id IS NOT NULL";

    /// Notes that a person wants a job run now.
    JOB_ASK = both
        "UPDATE jobs SET asked_at = COALESCE(asked_at, $2), asked_by = COALESCE(asked_by, $3) WHERE name = $1";

    /// Pauses a job, or has it go on.
    JOB_PAUSE = both
        "UPDATE jobs SET paused = $2 WHERE name = $1 AND paused <> $2";

    /// Begins a run; nothing when its slot was run before.
    JOB_RUN_INSERT = both
        "INSERT INTO job_runs (id, job, slot_at, asked_by, missed, node, started_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
            ON CONFLICT (job, slot_at) DO NOTHING";

    /// Hands a run to another holder.
    JOB_RUN_TAKE = both
        "UPDATE job_runs SET node = $2, takeovers = takeovers + 1 WHERE id = $1 AND finished_at IS NULL";

    /// Ends a run.
    JOB_RUN_END = both
        "UPDATE job_runs SET finished_at = $2, outcome = $3, report = $4, error = $5
            WHERE id = $1 AND finished_at IS NULL";

    /// A run.
    JOB_RUN = both
        "SELECT id, job, slot_at, asked_by, missed, node, takeovers, started_at, finished_at, outcome, report, error
            FROM job_runs WHERE id = $1";

    /// The newest runs of a job.
    JOB_RUNS = both
        "SELECT id, job, slot_at, asked_by, missed, node, takeovers, started_at, finished_at, outcome, report, error
            FROM job_runs WHERE job = $1 ORDER BY id DESC LIMIT $2";

    /// Removes runs but for the newest ones.
    JOB_RUNS_FORGET = both
        "DELETE FROM job_runs WHERE job = $1 AND finished_at IS NOT NULL
            AND id < (SELECT id FROM job_runs WHERE job = $1 ORDER BY id DESC LIMIT 1 OFFSET $2)";
}

/// Makes a job known; nothing when it is already.
///
/// # Errors
/// What the database ran into.
pub async fn register(conn: &mut Conn<'_>, job: &str, first: Timestamp) -> Result<(), StoreError> {
    conn.execute(&JOB_INSERT, values![job, first]).await.map(|_| ())
}

/// Every job that a node has made known.
///
/// # Errors
/// What the database ran into.
pub async fn all(conn: &mut Conn<'_>) -> Result<Vec<JobRow>, StoreError> {
    conn.fetch_all(&JOBS, values![]).await?.iter().map(read_job).collect()
}

/// Gives the caller what is to be done of a job now: a run whose holder was lost, one that a person asked
/// for, or a slot that is due. Of several slots that were missed the last one is run, once.
///
/// # Errors
/// What the database ran into.
pub async fn claim(conn: &mut Conn<'_>, claim: JobClaim<'_>) -> Result<Option<ClaimedRun>, StoreError> {
    let JobClaim { job, run, node, lease_seconds, next } = claim;
    let now = conn.now().await?;
    let row = conn.fetch_optional(&JOB_LOCK, values![job]).await?;
    let Some(row) = row.as_ref().map(read_job).transpose()? else {
        register(conn, job, next(now)).await?;
        return Ok(None);
    };
    // A lease that reaches further than any can was given by a clock that has been set back since.
    let longest = now.plus_seconds(2 * i64::from(lease_seconds));
    if row.lease_until.is_some_and(|until| until > now && until <= longest) {
        return Ok(None);
    }
    let epoch = row.lease_epoch + 1;
    let until = now.plus_seconds(i64::from(lease_seconds));
    // So was a next slot beyond the next one.
    let due = row.due_at.min(next(now));
    if let Some(run) = row.run {
        let known = conn.fetch_optional(&JOB_RUN, values![run]).await?;
        let begun = known.as_ref().map(read_run).transpose()?.filter(|run| run.finished_at.is_none());
        if let Some(begun) = begun {
            let values = values![job, row.due_at, row.asked_at, row.asked_by, epoch, until, run];
            conn.execute(&JOB_CLAIM, values).await?;
            conn.execute(&JOB_RUN_TAKE, values![run, node]).await?;
            let lease = JobLease { job: job.to_owned(), epoch, run };
            let (slot_at, missed) = (begun.slot_at, begun.missed);
            return Ok(Some(ClaimedRun { lease, slot_at, taken_over: true, missed, now }));
        }
    }
    let lease = JobLease { job: job.to_owned(), epoch, run };
    if row.asked_at.is_some() {
        let begin = values![run, job, None::<i64>, row.asked_by, 0_i64, node, now];
        conn.execute(&JOB_RUN_INSERT, begin).await?;
        let values = values![job, due, None::<i64>, None::<String>, epoch, until, run];
        conn.execute(&JOB_CLAIM, values).await?;
        return Ok(Some(ClaimedRun { lease, slot_at: None, taken_over: false, missed: 0, now }));
    }
    if due > now || row.paused {
        if due != row.due_at || (row.paused && due <= now) {
            let due = if due <= now { next(now) } else { due };
            conn.execute(&JOB_DUE, values![job, due]).await?;
        }
        return Ok(None);
    }
    let (slot, missed) = last_slot(due, now, next);
    let begin = values![run, job, slot, None::<String>, missed, node, now];
    if conn.execute(&JOB_RUN_INSERT, begin).await? == 0 {
        conn.execute(&JOB_DUE, values![job, next(now)]).await?;
        return Ok(None);
    }
    let values = values![job, next(now), None::<i64>, None::<String>, epoch, until, run];
    conn.execute(&JOB_CLAIM, values).await?;
    let missed = u64::from(missed);
    Ok(Some(ClaimedRun { lease, slot_at: Some(slot), taken_over: false, missed, now }))
}

/// Slots that are counted of those that were missed; beyond it "at least".
const MISSED_COUNTED_MAX: u32 = 1_000;

/// The last slot that is due, and how many due ones lie before it. After a stop of months they are not
/// all walked through: then the first due slot stands for them.
fn last_slot(
    due: Timestamp,
    now: Timestamp,
    next: &(dyn Fn(Timestamp) -> Timestamp + Send + Sync),
) -> (Timestamp, u32) {
    let (mut slot, mut missed) = (due, 0);
    while missed < MISSED_COUNTED_MAX {
        let following = next(slot);
        if following > now || following <= slot {
            return (slot, missed);
        }
        (slot, missed) = (following, missed + 1);
    }
    (slot, missed)
}

/// A sign of life. Gives whether the caller still holds the job; if not, it stops.
///
/// # Errors
/// What the database ran into.
pub async fn renew(conn: &mut Conn<'_>, lease: &JobLease, lease_seconds: u32) -> Result<bool, StoreError> {
    let until = conn.now().await?.plus_seconds(i64::from(lease_seconds));
    Ok(conn.execute(&JOB_RENEW, values![lease.job.as_str(), lease.epoch, until]).await? == 1)
}

/// Demands within a write of a job that it still holds its lease, so that a holder that was lost and has
/// come back changes nothing.
///
/// # Errors
/// [`StoreError::Stale`] when another holder has taken over.
pub async fn demand(conn: &mut Conn<'_>, lease: &JobLease) -> Result<(), StoreError> {
    match conn.fetch_optional(&JOB_HELD, values![lease.job.as_str(), lease.epoch]).await? {
        Some(_) => Ok(()),
        None => Err(StoreError::Stale),
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobEnd {
    /// `done`, `failed` or `refused`.
    pub outcome: &'static str,
    /// What it did, as JSON.
    pub report: Option<String>,
    /// Why it failed or was refused.
    pub error: Option<String>,
}

/// Ends a run and gives the job back. Gives whether the caller still held it; if not, nothing is written.
///
/// # Errors
/// What the database ran into.
pub async fn end(conn: &mut Conn<'_>, lease: &JobLease, end: JobEnd) -> Result<bool, StoreError> {
    if conn.execute(&JOB_RELEASE, values![lease.job.as_str(), lease.epoch]).await? == 0 {
        return Ok(false);
    }
    let now = conn.now().await?;
    let JobEnd { outcome, report, error } = end;
    conn.execute(&JOB_RUN_END, values![lease.run, now, outcome, report, error]).await?;
    conn.execute(&JOB_RUNS_FORGET, values![lease.job.as_str(), RUNS_KEPT]).await?;
    Ok(true)
}

/// Notes that a person wants a job run now. Gives whether there is such a job.
///
/// # Errors
/// What the database ran into.
pub async fn ask(conn: &mut Conn<'_>, job: &str, by: String) -> Result<bool, StoreError> {
    let now = conn.now().await?;
    Ok(conn.execute(&JOB_ASK, values![job, now, by]).await? == 1)
}

/// Pauses a job or has it go on. Gives whether that was a change.
///
/// # Errors
/// What the database ran into.
pub async fn pause(conn: &mut Conn<'_>, job: &str, paused: bool) -> Result<bool, StoreError> {
    Ok(conn.execute(&JOB_PAUSE, values![job, paused]).await? == 1)
}

/// A run.
///
/// # Errors
/// What the database ran into.
pub async fn run(conn: &mut Conn<'_>, id: JobRunId) -> Result<Option<JobRunRow>, StoreError> {
    conn.fetch_optional(&JOB_RUN, values![id]).await?.as_ref().map(read_run).transpose()
}

/// The newest runs of a job, at most 100.
///
/// # Errors
/// What the database ran into.
pub async fn runs(conn: &mut Conn<'_>, job: &str, limit: u32) -> Result<Vec<JobRunRow>, StoreError> {
    conn.fetch_all(&JOB_RUNS, values![job, limit.min(LISTED_MAX)]).await?.iter().map(read_run).collect()
}

fn read_job(row: &Row) -> Result<JobRow, StoreError> {
    Ok(JobRow {
        name: row.text("name")?,
        due_at: row.time("due_at")?,
        paused: row.bool("paused")?,
        asked_at: row.time_or_null("asked_at")?,
        asked_by: row.text_or_null("asked_by")?,
        lease_epoch: row.int("lease_epoch")?,
        lease_until: row.time_or_null("lease_until")?,
        run: row.uuid_or_null("run_id")?.map(JobRunId),
    })
}

fn read_run(row: &Row) -> Result<JobRunRow, StoreError> {
    Ok(JobRunRow {
        id: JobRunId(row.uuid("id")?),
        job: row.text("job")?,
        slot_at: row.time_or_null("slot_at")?,
        asked_by: row.text_or_null("asked_by")?,
        missed: row.count("missed")?,
        node: row.text("node")?,
        takeovers: row.count("takeovers")?,
        started_at: row.time("started_at")?,
        finished_at: row.time_or_null("finished_at")?,
        outcome: row.text_or_null("outcome")?,
        report: row.text_or_null("report")?,
        error: row.text_or_null("error")?,
    })
}

#[cfg(test)]
#[path = "jobs_tests.rs"]
mod tests;
