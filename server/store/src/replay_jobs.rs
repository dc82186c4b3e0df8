//! Replays of all that a filter matches, as rows that are worked off in steps. A step locks its row, so
//! that two nodes never replay the same stretch.

use restante_core::id::{ConsumerId, ReplayJobId, TenantId};
use restante_core::time::Timestamp;
use uuid::Uuid;

use crate::engine::sql::statements;
use crate::engine::{Conn, Row, StoreError, values};

/// A job to be made.
#[derive(Debug, Clone)]
pub struct NewReplayJob {
    /// Its id.
    pub id: ReplayJobId,
    /// Which events, as JSON.
    pub filter: String,
    /// To whom; `None` for each that wants it.
    pub consumer: Option<ConsumerId>,
    /// Who asked: `key_…` or `usr_…`.
    pub actor: String,
    /// Why, in their words.
    pub reason: Option<String>,
    /// When. What comes later is not part of it.
    pub created_at: Timestamp,
    /// Events that were counted when it was asked for.
    pub matched: u64,
    /// Whether those are all.
    pub matched_all: bool,
}

/// A job as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayJobRow {
    /// Its id.
    pub id: ReplayJobId,
    /// Which events, as JSON.
    pub filter: String,
    /// To whom; `None` for each that wants it.
    pub consumer: Option<ConsumerId>,
    /// The name of that consumer.
    pub consumer_name: Option<String>,
    /// Who asked.
    pub actor: String,
    /// Why.
    pub reason: Option<String>,
    /// When.
    pub created_at: Timestamp,
    /// The last receipt that was looked at.
    pub position: Option<Uuid>,
    /// Events of which a handoff was made pending.
    pub events: u64,
    /// Handoffs that were made pending.
    pub handoffs: u64,
    /// Events that could not be replayed.
    pub refused: u64,
    /// Events that were counted when it was asked for; `None` for a job of an older version.
    pub matched: Option<u64>,
    /// Whether those are all.
    pub matched_all: bool,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// `done`, `cancelled`, or why it could not go on.
    pub outcome: Option<String>,
}

/// What a step has done.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReplayJobStep {
    /// The last receipt that was looked at.
    pub position: Option<Uuid>,
    /// Events of which a handoff was made pending.
    pub events: u64,
    /// Handoffs that were made pending.
    pub handoffs: u64,
    /// Events that could not be replayed.
    pub refused: u64,
}

statements! {
    /// Makes a job.
    REPLAY_JOB_INSERT = both
        "INSERT INTO replay_jobs (tenant_id, id, filter, consumer_id, actor, reason, created_at, matched, matched_all)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";

    /// A job.
    REPLAY_JOB = both
        "SELECT j.id, j.filter, j.consumer_id, c.name, j.actor, j.reason, j.created_at, j.position, j.events, j.handoffs,
            j.refused, j.matched, j.matched_all, j.finished_at, j.outcome FROM replay_jobs AS j
            LEFT JOIN consumers AS c ON c.tenant_id = j.tenant_id AND c.id = j.consumer_id
            WHERE j.tenant_id = $1 AND j.id = $2";

    /// Jobs of a tenant, the newest first.
    REPLAY_JOBS_LIST = both
        "SELECT j.id, j.filter, j.consumer_id, c.name, j.actor, j.reason, j.created_at, j.position, j.events, j.handoffs,
            j.refused, j.matched, j.matched_all, j.finished_at, j.outcome FROM replay_jobs AS j
            LEFT JOIN consumers AS c ON c.tenant_id = j.tenant_id AND c.id = j.consumer_id
            WHERE j.tenant_id = $1 AND j.id < $2 ORDER BY j.id DESC LIMIT $3";

    // Differs in the lock, by which a second node passes over it.
    /// A job that is under way, locked.
    REPLAY_JOB_LOCK =
        sqlite "SELECT id FROM replay_jobs WHERE tenant_id = $1 AND id = $2 AND finished_at IS NULL"
        postgres "SELECT id FROM replay_jobs WHERE tenant_id = $1 AND id = $2 AND finished_at IS NULL
            FOR UPDATE SKIP LOCKED";

    /// Jobs that are under way.
    REPLAY_JOBS_OPEN = across_tenants "the sweep works off the jobs of every tenant" both
        "SELECT tenant_id, id FROM replay_jobs WHERE finished_at IS NULL ORDER BY tenant_id, id LIMIT $1";

    /// What a step has done.
    REPLAY_JOB_STEP = both
        "UPDATE replay_jobs SET position = COALESCE($3, position), events = events + $4, handoffs = handoffs + $5,
            refused = refused + $6 WHERE tenant_id = $1 AND id = $2 AND finished_at IS NULL";

    /// The end of a job.
    REPLAY_JOB_END = both
        "UPDATE replay_jobs SET finished_at = $3, outcome = $4 WHERE tenant_id = $1 AND id = $2 AND finished_at IS NULL";
}

fn read(row: &Row) -> Result<ReplayJobRow, StoreError> {
    Ok(ReplayJobRow {
        id: ReplayJobId(row.uuid("id")?),
        filter: row.text("filter")?,
        consumer: row.uuid_or_null("consumer_id")?.map(ConsumerId),
        consumer_name: row.text_or_null("name")?,
        actor: row.text("actor")?,
        reason: row.text_or_null("reason")?,
        created_at: row.time("created_at")?,
        position: row.uuid_or_null("position")?,
        events: row.count("events")?,
        handoffs: row.count("handoffs")?,
        refused: row.count("refused")?,
        matched: row.int_or_null("matched")?.map(|count| count.try_into().unwrap_or_default()),
        matched_all: row.bool("matched_all")?,
        finished_at: row.time_or_null("finished_at")?,
        outcome: row.text_or_null("outcome")?,
    })
}

/// Makes a job.
///
/// # Errors
/// What the database ran into.
pub async fn insert(conn: &mut Conn<'_>, tenant: TenantId, new: NewReplayJob) -> Result<(), StoreError> {
    let NewReplayJob { id, filter, consumer, actor, reason, created_at, matched, matched_all } = new;
    let matched = i64::try_from(matched).unwrap_or(i64::MAX);
    let values = values![tenant, id.0, filter, consumer, actor, reason, created_at, matched, matched_all];
    conn.execute(&REPLAY_JOB_INSERT, values).await.map(|_| ())
}

/// A job of a tenant.
///
/// # Errors
/// What the database ran into.
pub async fn get(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    id: ReplayJobId,
) -> Result<Option<ReplayJobRow>, StoreError> {
    conn.fetch_optional(&REPLAY_JOB, values![tenant, id.0]).await?.as_ref().map(read).transpose()
}

/// Jobs of a tenant, the newest first, from the one after `after` on.
///
/// # Errors
/// What the database ran into.
pub async fn list(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    after: Option<Uuid>,
    limit: u32,
) -> Result<Vec<ReplayJobRow>, StoreError> {
    let after = after.unwrap_or(Uuid::max());
    conn.fetch_all(&REPLAY_JOBS_LIST, values![tenant, after, limit]).await?.iter().map(read).collect()
}

/// A job that is under way, locked until the transaction ends; `None` when it is over, or another node
/// has it.
///
/// # Errors
/// What the database ran into.
pub async fn lock(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    id: ReplayJobId,
) -> Result<Option<ReplayJobRow>, StoreError> {
    match conn.fetch_optional(&REPLAY_JOB_LOCK, values![tenant, id.0]).await? {
        Some(_) => get(conn, tenant, id).await,
        None => Ok(None),
    }
}

/// Jobs of the whole instance that are under way.
///
/// # Errors
/// What the database ran into.
pub async fn open(conn: &mut Conn<'_>, limit: u32) -> Result<Vec<(TenantId, ReplayJobId)>, StoreError> {
    let rows = conn.fetch_all(&REPLAY_JOBS_OPEN, values![limit]).await?;
    rows.iter().map(|row| Ok((TenantId(row.uuid("tenant_id")?), ReplayJobId(row.uuid("id")?)))).collect()
}

/// Writes down what a step has done.
///
/// # Errors
/// What the database ran into.
pub async fn step(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    id: ReplayJobId,
    step: ReplayJobStep,
) -> Result<(), StoreError> {
    let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let ReplayJobStep { position, events, handoffs, refused } = step;
    let values = values![tenant, id.0, position, count(events), count(handoffs), count(refused)];
    conn.execute(&REPLAY_JOB_STEP, values).await.map(|_| ())
}

/// Ends a job. Gives whether it was under way.
///
/// # Errors
/// What the database ran into.
pub async fn end(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    id: ReplayJobId,
    at: Timestamp,
    outcome: String,
) -> Result<bool, StoreError> {
    Ok(conn.execute(&REPLAY_JOB_END, values![tenant, id.0, at, outcome]).await? == 1)
}
