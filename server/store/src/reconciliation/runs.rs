//! Runs: asked for or due, claimed by one node at a time, ended or left to the next.

use restante_core::id::{EndpointId, ReconciliationRunId, TenantId};
use restante_core::reconcile::keys_held_from;
use restante_core::time::Timestamp;
use uuid::Uuid;

use super::page::Hold;
use super::settings::{self, ReconciliationRow};
use super::sql::{
    RECONCILIATION_CHECKPOINT, RECONCILIATION_CLAIM, RECONCILIATION_LOCK, RECONCILIATION_NOW,
    RECONCILIATION_RELEASE, RECONCILIATION_RUN, RECONCILIATION_RUN_BEGIN, RECONCILIATION_RUN_END,
    RECONCILIATION_RUN_INSERT, RECONCILIATION_RUN_OPEN, RECONCILIATION_RUN_TRY, RECONCILIATION_RUNS,
    RECONCILIATION_RUNS_FORGET, RECONCILIATION_TYPES_NEVER, RECONCILIATIONS_DUE,
};
use crate::engine::{Conn, Row, StoreError, values};
use crate::retention::newest_removed;

/// Runs that are kept of each endpoint.
const RUNS_KEPT: u32 = 1_000;
/// Types that are named of those that never come by webhook.
const TYPES_MAX: u32 = 200;
/// How much longer than its length a lease may reach before a clock must have been set back.
const LEASE_SECONDS_BEYOND: i64 = 3_600;

/// A run to be made.
#[derive(Debug, Clone)]
pub struct NewRun {
    /// Its id.
    pub id: ReconciliationRunId,
    /// `due`, `wide` or `asked`.
    pub cause: &'static str,
    /// Who asked.
    pub actor: Option<String>,
    /// From where on, where a person says so.
    pub from: Option<Timestamp>,
    /// Up to where, where a person says so.
    pub to: Option<Timestamp>,
    /// Whether it may find that everything is missing.
    pub trusting: bool,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    /// Its id.
    pub id: ReconciliationRunId,
    /// `due`, `wide` or `asked`.
    pub cause: String,
    /// Who asked for it.
    pub actor: Option<String>,
    /// When it was made.
    pub asked_at: Timestamp,
    /// Whether it may find that everything is missing.
    pub trusting: bool,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// The beginning of the stretch that it looks at.
    pub from: Option<Timestamp>,
    /// Its end.
    pub to: Option<Timestamp>,
    /// Where it would begin if the keys of all events since then were still here; `None` where it begins there.
    pub wanted_from: Option<Timestamp>,
    /// Where the next page is.
    pub position: Option<String>,
    /// Pages that were read.
    pub pages: u64,
    /// How often it began with the first page again.
    pub restarts: u64,
    /// Entries that the provider listed.
    pub listed: u64,
    /// Those that were here already.
    pub known: u64,
    /// Those that were not, and are now.
    pub inserted: u64,
    /// Those that the provider was asked to send again.
    pub redelivered: u64,
    /// Objects that no event told of.
    pub missing: u64,
    /// Those that are here as something else.
    pub mismatched: u64,
    /// Those that could not be read or stored.
    pub failed: u64,
    /// Those that are not here and may have been, since they are older than the keys that are held.
    pub too_old: u64,
    /// Tries of the present page that went wrong.
    pub tries: u64,
    /// `done`, `failed` or `refused`.
    pub outcome: Option<String>,
    /// What went wrong last.
    pub error: Option<String>,
    /// Events that were missing, a few, as JSON.
    pub found: String,
    /// Events that are here and not processed, by consumer, as JSON.
    pub unprocessed: String,
}

/// A run that the caller has to do now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedRun {
    /// The right to do it.
    pub hold: Hold,
    /// The run.
    pub run: RunRow,
    /// What is set for the endpoint.
    pub settings: ReconciliationRow,
}

/// Endpoints of the whole instance that a run is due of.
///
/// # Errors
/// What the database ran into.
pub async fn due(conn: &mut Conn<'_>, limit: u32) -> Result<Vec<(TenantId, EndpointId)>, StoreError> {
    let now = conn.now().await?;
    let beyond = now.plus_seconds(LEASE_SECONDS_BEYOND);
    let rows = conn.fetch_all(&RECONCILIATIONS_DUE, values![now, beyond, limit]).await?;
    rows.iter()
        .map(|row| Ok((TenantId(row.uuid("tenant_id")?), EndpointId(row.uuid("endpoint_id")?))))
        .collect()
}

/// Makes a run that a person asks for, and has it begin soon. Gives it.
///
/// # Errors
/// What the database ran into; `None` when nothing is set for the endpoint.
pub async fn ask(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoint: EndpointId,
    new: NewRun,
) -> Result<Option<RunRow>, StoreError> {
    let now = conn.now().await?;
    if settings::settings(conn, tenant, endpoint).await?.is_none() {
        return Ok(None);
    }
    let id = new.id;
    insert(conn, tenant, endpoint, new, now).await?;
    conn.execute(&RECONCILIATION_NOW, values![tenant, endpoint, now]).await?;
    get(conn, tenant, endpoint, id).await
}

async fn insert(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoint: EndpointId,
    new: NewRun,
    now: Timestamp,
) -> Result<(), StoreError> {
    let NewRun { id, cause, actor, from, to, trusting } = new;
    let values = values![tenant, endpoint, id, cause, actor, now, from, to, trusting];
    conn.execute(&RECONCILIATION_RUN_INSERT, values).await.map(|_| ())
}

/// Gives the caller the run of an endpoint that is to be done now: one that was begun and left, one that was
/// asked for, or a new one when it is due (`new`, and from where on it looks, are given for that). Its stretch begins
/// after every event of `provider` whose key was removed, however far back it was to begin.
///
/// # Errors
/// What the database ran into.
pub async fn claim(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoint: EndpointId,
    provider: &str,
    lease_seconds: u32,
    new: impl FnOnce(&ReconciliationRow, Timestamp) -> NewRun + Send,
    from: impl FnOnce(&ReconciliationRow, &RunRow, Timestamp) -> Timestamp + Send,
) -> Result<Option<ClaimedRun>, StoreError> {
    let now = conn.now().await?;
    let row = conn.fetch_optional(&RECONCILIATION_LOCK, values![tenant, endpoint]).await?;
    let Some(mut row) = row.as_ref().map(settings::read).transpose()? else { return Ok(None) };
    let longest = now.plus_seconds(i64::from(lease_seconds) + LEASE_SECONDS_BEYOND);
    if row.lease_until.is_some_and(|until| until > now && until <= longest) || row.due_at > now {
        return Ok(None);
    }
    let mut open = open(conn, tenant, endpoint).await?;
    if open.is_none() {
        if !row.enabled || row.stopped.is_some() {
            return Ok(None);
        }
        insert(conn, tenant, endpoint, new(&row, now), now).await?;
        open = self::open(conn, tenant, endpoint).await?;
    }
    let Some(run) = open else { return Ok(None) };
    // One that was begun keeps its stretch, unless keys went meanwhile.
    let begun = run.started_at.and(run.wanted_from.or(run.from));
    let to = run.to.unwrap_or(now);
    let wanted = begun.unwrap_or_else(|| from(&row, &run, now)).min(to);
    let held = newest_removed(conn, tenant, provider, endpoint).await?.map(keys_held_from);
    let from = held.map_or(wanted, |held| wanted.max(held)).min(to);
    let wanted = (from > wanted).then_some(wanted);
    let begin = values![tenant, endpoint, run.id, now, from, to, wanted];
    conn.execute(&RECONCILIATION_RUN_BEGIN, begin).await?;
    row.lease_epoch += 1;
    let until = now.plus_seconds(i64::from(lease_seconds));
    conn.execute(&RECONCILIATION_CLAIM, values![tenant, endpoint, row.lease_epoch, until]).await?;
    let hold = Hold { tenant, endpoint, epoch: row.lease_epoch, run: run.id, lease_seconds };
    let run = get(conn, tenant, endpoint, run.id).await?.unwrap_or(run);
    Ok(Some(ClaimedRun { hold, run, settings: row }))
}

async fn open(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoint: EndpointId,
) -> Result<Option<RunRow>, StoreError> {
    let row = conn.fetch_optional(&RECONCILIATION_RUN_OPEN, values![tenant, endpoint]).await?;
    row.as_ref().map(read).transpose()
}

/// A run of an endpoint.
///
/// # Errors
/// What the database ran into.
pub async fn get(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoint: EndpointId,
    id: ReconciliationRunId,
) -> Result<Option<RunRow>, StoreError> {
    let row = conn.fetch_optional(&RECONCILIATION_RUN, values![tenant, endpoint, id]).await?;
    row.as_ref().map(read).transpose()
}

/// The newest runs of an endpoint, from the one before `before` on.
///
/// # Errors
/// What the database ran into.
pub async fn newest(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoint: EndpointId,
    before: Option<Uuid>,
    limit: u32,
) -> Result<Vec<RunRow>, StoreError> {
    let before = before.unwrap_or(Uuid::max());
    conn.fetch_all(&RECONCILIATION_RUNS, values![tenant, endpoint, before, limit])
        .await?
        .iter()
        .map(read)
        .collect()
}

/// Types that were listed and never came by webhook: the type, how many, and the last run that listed it.
///
/// # Errors
/// What the database ran into.
pub async fn types(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoint: EndpointId,
) -> Result<Vec<(String, u64, ReconciliationRunId)>, StoreError> {
    let rows = conn.fetch_all(&RECONCILIATION_TYPES_NEVER, values![tenant, endpoint, TYPES_MAX]).await?;
    rows.iter()
        .map(|row| Ok((row.text("type")?, row.count("listed")?, ReconciliationRunId(row.uuid("listed_by")?))))
        .collect()
}

/// Notes that a page could not be had, and gives the endpoint back until it is tried again.
///
/// # Errors
/// [`StoreError::Stale`] when the caller has lost it.
pub async fn retry(
    conn: &mut Conn<'_>,
    hold: &Hold,
    why: String,
    counts: bool,
    again_at: Timestamp,
) -> Result<(), StoreError> {
    hold.demand(conn).await?;
    let values = values![hold.tenant, hold.endpoint, hold.run, i64::from(counts), 0_i64, why];
    conn.execute(&RECONCILIATION_RUN_TRY, values).await?;
    give_back(conn, hold, Some(again_at)).await
}

/// Has a run begin with the first page again.
///
/// # Errors
/// [`StoreError::Stale`] when the caller has lost it.
pub async fn restart(conn: &mut Conn<'_>, hold: &Hold, why: String) -> Result<(), StoreError> {
    hold.demand(conn).await?;
    let values = values![hold.tenant, hold.endpoint, hold.run, 1_i64, 1_i64, why];
    conn.execute(&RECONCILIATION_RUN_TRY, values).await.map(|_| ())
}

/// Gives an endpoint back in the middle of a run, because the server stops. It is due at once.
///
/// # Errors
/// What the database ran into.
pub async fn release(conn: &mut Conn<'_>, hold: &Hold) -> Result<(), StoreError> {
    give_back(conn, hold, None).await
}

async fn give_back(conn: &mut Conn<'_>, hold: &Hold, due_at: Option<Timestamp>) -> Result<(), StoreError> {
    let values = values![hold.tenant, hold.endpoint, hold.epoch, due_at];
    conn.execute(&RECONCILIATION_RELEASE, values).await.map(|_| ())
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEnd {
    /// `done`, `failed` or `refused`.
    pub outcome: &'static str,
    /// Why it failed, or what there is to say.
    pub error: Option<String>,
    /// Everything up to here has been looked at.
    pub checkpoint: Option<Timestamp>,
    /// When it looked further back than it had to.
    pub wide_at: Option<Timestamp>,
    /// Why no run begins by itself any more.
    pub stop: Option<String>,
    /// When the next run is due.
    pub due_at: Timestamp,
}

/// Ends a run and gives the endpoint back.
///
/// # Errors
/// [`StoreError::Stale`] when the caller has lost it.
pub async fn end(conn: &mut Conn<'_>, hold: &Hold, end: RunEnd) -> Result<(), StoreError> {
    hold.demand(conn).await?;
    let now = conn.now().await?;
    let RunEnd { outcome, error, checkpoint, wide_at, stop, due_at } = end;
    let (tenant, endpoint) = (hold.tenant, hold.endpoint);
    conn.execute(&RECONCILIATION_RUN_END, values![tenant, endpoint, hold.run, now, outcome, error]).await?;
    if let Some(checkpoint) = checkpoint {
        conn.execute(&RECONCILIATION_CHECKPOINT, values![tenant, endpoint, checkpoint, wide_at]).await?;
    }
    if let Some(why) = stop {
        settings::stop(conn, tenant, endpoint, &why).await?;
    }
    conn.execute(&RECONCILIATION_RUNS_FORGET, values![tenant, endpoint, RUNS_KEPT]).await?;
    // One that waits behind this one begins at once.
    let due_at = if open(conn, tenant, endpoint).await?.is_some() { now } else { due_at };
    give_back(conn, hold, Some(due_at)).await
}

fn read(row: &Row) -> Result<RunRow, StoreError> {
    Ok(RunRow {
        id: ReconciliationRunId(row.uuid("id")?),
        cause: row.text("cause")?,
        actor: row.text_or_null("actor")?,
        asked_at: row.time("asked_at")?,
        trusting: row.bool("trusting")?,
        started_at: row.time_or_null("started_at")?,
        finished_at: row.time_or_null("finished_at")?,
        from: row.time_or_null("from_at")?,
        to: row.time_or_null("to_at")?,
        wanted_from: row.time_or_null("wanted_from")?,
        position: row.text_or_null("position")?,
        pages: row.count("pages")?,
        restarts: row.count("restarts")?,
        listed: row.count("listed")?,
        known: row.count("known")?,
        inserted: row.count("inserted")?,
        redelivered: row.count("redelivered")?,
        missing: row.count("missing")?,
        mismatched: row.count("mismatched")?,
        failed: row.count("failed")?,
        too_old: row.count("too_old")?,
        tries: row.count("tries")?,
        outcome: row.text_or_null("outcome")?,
        error: row.text_or_null("error")?,
        found: row.text("found")?,
        unprocessed: row.text("unprocessed")?,
    })
}
