//! The record of runs: one row a run, and one a run and endpoint. The counts of an endpoint are added by the
//! transactions that remove, so that a run that was killed has told the truth up to there.

use std::collections::BTreeMap;

use restante_core::id::{EndpointId, TenantId};
use restante_core::time::Timestamp;
use uuid::Uuid;

use super::due::Kept;
use crate::engine::sql::statements;
use crate::engine::{Conn, Row, StoreError, values};

/// A run that begins.
#[derive(Debug, Clone)]
pub struct NewRun {
    /// Its id, which sorts by time.
    pub id: Uuid,
    /// `schedule`, `command` or `person`.
    pub cause: &'static str,
    /// Who asked for it.
    pub actor: String,
    /// The time that it takes for now.
    pub at: Timestamp,
    /// When it began.
    pub started_at: Timestamp,
}

/// A run as it is stored, with the sum of what it removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    /// Its id.
    pub id: Uuid,
    /// `schedule`, `command` or `person`.
    pub cause: String,
    /// Who asked for it.
    pub actor: String,
    /// The time that it took for now.
    pub at: Timestamp,
    /// When it began.
    pub started_at: Timestamp,
    /// When its last batch was committed.
    pub seen_at: Timestamp,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// `done`, or why it ended before that.
    pub outcome: Option<String>,
    /// What it removed beside events, as JSON.
    pub beside: Option<String>,
}

/// What a batch adds to the line of an endpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineCounts {
    /// Payloads that were removed.
    pub payloads: u64,
    /// What they took, in bytes.
    pub payload_bytes: u64,
    /// Keys that were removed.
    pub keys: u64,
    /// Handoffs that were given up.
    pub expired: u64,
}

impl LineCounts {
    /// Whether nothing was done.
    pub const fn is_empty(&self) -> bool {
        self.payloads == 0 && self.keys == 0 && self.expired == 0
    }
}

/// What a run did to the events of one endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLine {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// Its name.
    pub name: String,
    /// What was removed.
    pub counts: LineCounts,
    /// What stayed although its time was over, by reason.
    pub kept: BTreeMap<String, u64>,
}

statements! {
    /// Begins a run.
    RETENTION_RUN_INSERT = both
        "INSERT INTO retention_runs (id, cause, actor, at, started_at, seen_at) VALUES ($1, $2, $3, $4, $5, $5)";

    /// Notes that a run is alive.
    RETENTION_RUN_SEEN = both
        "UPDATE retention_runs SET seen_at = $2 WHERE id = $1";

    /// Ends a run.
    RETENTION_RUN_FINISH = both
        "UPDATE retention_runs SET finished_at = $2, seen_at = $2, outcome = $3, beside = $4 WHERE id = $1 AND finished_at IS NULL";

    /// Ends runs that have not been heard of for a while.
    RETENTION_RUNS_CUT_OFF = both
        "UPDATE retention_runs SET finished_at = $1, outcome = $3 WHERE finished_at IS NULL AND seen_at < $2";

    /// The newest runs.
    RETENTION_RUNS_NEWEST = both
        "SELECT id, cause, actor, at, started_at, seen_at, finished_at, outcome, beside FROM retention_runs
            WHERE id < $1 ORDER BY id DESC LIMIT $2";

    /// The newest runs that found something of a tenant's.
    RETENTION_RUNS_OF_TENANT = both
        "SELECT r.id, r.cause, r.actor, r.at, r.started_at, r.seen_at, r.finished_at, r.outcome, r.beside
            FROM (SELECT run_id FROM retention_run_lines WHERE tenant_id = $1 AND run_id < $2
                GROUP BY run_id ORDER BY run_id DESC LIMIT $3) AS l
            JOIN retention_runs AS r ON r.id = l.run_id ORDER BY r.id DESC";

    /// Adds to a line.
    RETENTION_LINE_ADD = both
        "INSERT INTO retention_run_lines (tenant_id, run_id, endpoint_id, payloads, payload_bytes, keys, expired)
            VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (tenant_id, run_id, endpoint_id) DO UPDATE SET
            payloads = retention_run_lines.payloads + excluded.payloads,
            payload_bytes = retention_run_lines.payload_bytes + excluded.payload_bytes,
            keys = retention_run_lines.keys + excluded.keys, expired = retention_run_lines.expired + excluded.expired";

    /// Notes what stayed.
    RETENTION_LINE_KEPT = both
        "INSERT INTO retention_run_lines (tenant_id, run_id, endpoint_id, kept) VALUES ($1, $2, $3, $4)
            ON CONFLICT (tenant_id, run_id, endpoint_id) DO UPDATE SET kept = excluded.kept";

    /// The lines of a run in a tenant.
    RETENTION_LINES = both
        "SELECT l.endpoint_id, e.name, l.payloads, l.payload_bytes, l.keys, l.expired, l.kept FROM retention_run_lines AS l
            JOIN endpoints AS e ON e.tenant_id = l.tenant_id AND e.id = l.endpoint_id
            WHERE l.tenant_id = $1 AND l.run_id = $2 ORDER BY l.endpoint_id LIMIT $3";

    /// The sum of a run over every tenant.
    RETENTION_LINES_SUM = across_tenants "the record of a run is the instance's" both
        "SELECT CAST(COALESCE(SUM(payloads), 0) AS BIGINT) AS payloads, CAST(COALESCE(SUM(payload_bytes), 0) AS BIGINT) AS payload_bytes,
            CAST(COALESCE(SUM(keys), 0) AS BIGINT) AS keys, CAST(COALESCE(SUM(expired), 0) AS BIGINT) AS expired
            FROM tenants AS t CROSS JOIN retention_run_lines AS l WHERE l.tenant_id = t.id AND l.run_id = $1";

    /// Removes the lines of old runs of a tenant.
    RETENTION_LINES_OLD = both
        "DELETE FROM retention_run_lines WHERE tenant_id = $1 AND run_id < $2";

    /// Removes old runs.
    RETENTION_RUNS_OLD = both
        "DELETE FROM retention_runs WHERE id < $1";
}

/// Lines of one run that are shown.
const LINES_MAX: u32 = 1_000;

fn read(row: &Row) -> Result<RunRow, StoreError> {
    Ok(RunRow {
        id: row.uuid("id")?,
        cause: row.text("cause")?,
        actor: row.text("actor")?,
        at: row.time("at")?,
        started_at: row.time("started_at")?,
        seen_at: row.time("seen_at")?,
        finished_at: row.time_or_null("finished_at")?,
        outcome: row.text_or_null("outcome")?,
        beside: row.text_or_null("beside")?,
    })
}

fn counts(row: &Row) -> Result<LineCounts, StoreError> {
    Ok(LineCounts {
        payloads: row.count("payloads")?,
        payload_bytes: row.count("payload_bytes")?,
        keys: row.count("keys")?,
        expired: row.count("expired")?,
    })
}

/// The sums that a run has noted at its end.
fn noted(beside: &str) -> Option<LineCounts> {
    let read: serde_json::Value = serde_json::from_str(beside).ok()?;
    let count = |name: &str| read.get(name)?.as_u64();
    Some(LineCounts {
        payloads: count("payloads")?,
        payload_bytes: count("payload_bytes")?,
        keys: count("keys")?,
        expired: count("expired")?,
    })
}

/// Begins a run.
///
/// # Errors
/// What the database ran into.
pub async fn insert(conn: &mut Conn<'_>, new: &NewRun) -> Result<(), StoreError> {
    let NewRun { id, cause, actor, at, started_at } = new;
    let values = values![*id, *cause, actor.as_str(), *at, *started_at];
    conn.execute(&RETENTION_RUN_INSERT, values).await.map(|_| ())
}

/// Ends a run.
///
/// # Errors
/// What the database ran into.
pub async fn finish(
    conn: &mut Conn<'_>,
    id: Uuid,
    at: Timestamp,
    outcome: &str,
    beside: Option<String>,
) -> Result<(), StoreError> {
    conn.execute(&RETENTION_RUN_FINISH, values![id, at, outcome, beside]).await.map(|_| ())
}

/// Ends the record of runs that were not heard of since `silent_since`: their process is gone.
///
/// # Errors
/// What the database ran into.
pub async fn close_cut_off(
    conn: &mut Conn<'_>,
    now: Timestamp,
    silent_since: Timestamp,
    outcome: &str,
) -> Result<u64, StoreError> {
    conn.execute(&RETENTION_RUNS_CUT_OFF, values![now, silent_since, outcome]).await
}

/// The newest runs from the one before `before` on, each with its sum over every tenant.
///
/// # Errors
/// What the database ran into.
pub async fn newest(
    conn: &mut Conn<'_>,
    before: Option<Uuid>,
    limit: u32,
) -> Result<Vec<(RunRow, LineCounts)>, StoreError> {
    let before = before.unwrap_or(Uuid::max());
    let rows = conn.fetch_all(&RETENTION_RUNS_NEWEST, values![before, limit]).await?;
    let mut runs = Vec::with_capacity(rows.len());
    for row in &rows {
        let run = read(row)?;
        // A run that ended by itself has noted its sums; of the few others the lines are added up.
        let sums = match run.beside.as_deref().and_then(noted) {
            Some(sums) => sums,
            None => counts(&conn.fetch_one(&RETENTION_LINES_SUM, values![run.id]).await?)?,
        };
        runs.push((run, sums));
    }
    Ok(runs)
}

/// The newest runs that found something of a tenant's.
///
/// # Errors
/// What the database ran into.
pub async fn of_tenant(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    before: Option<Uuid>,
    limit: u32,
) -> Result<Vec<RunRow>, StoreError> {
    let before = before.unwrap_or(Uuid::max());
    let rows = conn.fetch_all(&RETENTION_RUNS_OF_TENANT, values![tenant, before, limit]).await?;
    rows.iter().map(read).collect()
}

/// Adds what a batch has done to the line of its endpoint, in the batch's transaction.
///
/// # Errors
/// What the database ran into.
pub async fn add_to_line(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    run: Uuid,
    endpoint: EndpointId,
    add: LineCounts,
) -> Result<(), StoreError> {
    if add.is_empty() {
        return Ok(());
    }
    let now = conn.now().await?;
    let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let LineCounts { payloads, payload_bytes, keys, expired } = add;
    let values =
        values![tenant, run, endpoint, count(payloads), count(payload_bytes), count(keys), count(expired)];
    conn.execute(&RETENTION_LINE_ADD, values).await?;
    conn.execute(&RETENTION_RUN_SEEN, values![run, now]).await.map(|_| ())
}

/// Notes what stayed of an endpoint although its time was over.
///
/// # Errors
/// What the database ran into.
pub async fn keep_reasons(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    run: Uuid,
    endpoint: EndpointId,
    kept: &BTreeMap<Kept, u64>,
) -> Result<(), StoreError> {
    let words: BTreeMap<&str, u64> = kept.iter().map(|(why, count)| (why.as_str(), *count)).collect();
    let text = serde_json::json!(words).to_string();
    conn.execute(&RETENTION_LINE_KEPT, values![tenant, run, endpoint, text]).await.map(|_| ())
}

/// What a run did in a tenant, by endpoint; at most 1,000.
///
/// # Errors
/// What the database ran into.
pub async fn lines_of_run(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    run: Uuid,
) -> Result<Vec<RunLine>, StoreError> {
    let rows = conn.fetch_all(&RETENTION_LINES, values![tenant, run, LINES_MAX]).await?;
    rows.iter()
        .map(|row| {
            let kept = match row.text_or_null("kept")? {
                Some(text) => serde_json::from_str(&text).map_err(|_| row.broken("kept"))?,
                None => BTreeMap::new(),
            };
            Ok(RunLine {
                endpoint: EndpointId(row.uuid("endpoint_id")?),
                name: row.text("name")?,
                counts: counts(row)?,
                kept,
            })
        })
        .collect()
}

/// Removes what is recorded of runs before `before`: the lines of one tenant, or with `None` the runs themselves.
///
/// # Errors
/// What the database ran into.
pub async fn forget_old(
    conn: &mut Conn<'_>,
    tenant: Option<TenantId>,
    before: Uuid,
) -> Result<u64, StoreError> {
    match tenant {
        Some(tenant) => conn.execute(&RETENTION_LINES_OLD, values![tenant, before]).await,
        None => conn.execute(&RETENTION_RUNS_OLD, values![before]).await,
    }
}
