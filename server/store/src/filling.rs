//! Fills a database for measurements: what is there is repeated into the past, row by row, by statements
//! that the database runs on its own. The rows are those that the product wrote, with other ids and times,
//! so that tables, indexes and counters have the form that they would have after months of traffic. Compiled
//! only under the feature `bench`.
//!
//! What it leaves out: the copies' payloads are cut to a stub, since sealed bytes are bound to their row and
//! could not be opened under another id. Pages open one payload at a time; those of the originals can be.

use std::str::FromStr as _;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Row as _};

use crate::engine::{Engine, Options, StoreError, Url};

/// Tables that grow with the traffic, and what their rows are in the order of.
const TABLES: [(&str, &str); 9] = [
    ("payloads", "id"),
    ("receipts", "id"),
    ("deliveries", "receipt_id"),
    ("variants", "receipt_id"),
    ("handoffs", "receipt_id"),
    ("attempts", "receipt_id"),
    ("replays", "id"),
    ("settlements", "id"),
    ("audit_log", "id"),
];
/// Bytes of a copy's sealed header and body.
const STUB_BYTES: u32 = 64;
const MINUTE_MILLIS: i64 = 60_000;

/// A connection of our own: no pool's limits hold here.
enum Bulk {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

/// Repeats all traffic `copies` times, each time `minutes_apart` further in the past. No server may run.
///
/// # Errors
/// What the database ran into; then it is of no use any more.
pub async fn multiply(options: &Options, copies: u32, minutes_apart: u32) -> Result<(), StoreError> {
    let mut bulk = Bulk::open(&options.url).await?;
    let shift = Shift {
        engine: bulk.engine(),
        copies,
        millis: i64::from(minutes_apart).saturating_mul(MINUTE_MILLIS),
    };
    // Indexes are built anew at the end, which takes a tenth of the time.
    let indexes = bulk.texts(shift.engine.indexes()).await?;
    for index in &indexes {
        let name = index.split_whitespace().skip_while(|word| *word != "INDEX").nth(1).unwrap_or_default();
        bulk.run(&format!("DROP INDEX {name}")).await?;
    }
    for (table, order) in TABLES {
        let columns = bulk.texts(&shift.engine.columns(table)).await?;
        bulk.run(&shift.rows(table, &columns, order)).await?;
    }
    for statement in shift.counters() {
        bulk.run(&statement).await?;
    }
    for index in &indexes {
        bulk.run(index).await?;
    }
    bulk.finish().await
}

impl Engine {
    /// A query for the definitions of the indexes of tables that grow.
    const fn indexes(self) -> &'static str {
        match self {
            Self::Sqlite => {
                "SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN \
                 ('receipts', 'handoffs', 'attempts', 'deliveries', 'replays', 'settlements', 'audit_log')"
            }
            Self::Postgres => {
                "SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE NOT indisprimary AND indrelid IN \
                 ('receipts'::regclass, 'handoffs'::regclass, 'attempts'::regclass, 'deliveries'::regclass, \
                  'replays'::regclass, 'settlements'::regclass, 'audit_log'::regclass)"
            }
        }
    }

    fn columns(self, table: &str) -> String {
        match self {
            Self::Sqlite => format!("SELECT name FROM pragma_table_info('{table}')"),
            Self::Postgres => format!(
                "SELECT CAST(attname AS text) FROM pg_attribute \
                 WHERE attrelid = '{table}'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
            ),
        }
    }
}

/// How copies differ from what they are of.
struct Shift {
    engine: Engine,
    copies: u32,
    millis: i64,
}

impl Shift {
    /// The numbers of the copies, as a table `copy (k)`.
    fn copy(&self) -> String {
        let copies = self.copies;
        match self.engine {
            Engine::Sqlite => format!(
                "(WITH RECURSIVE copy (k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM copy WHERE k < {copies}) \
                 SELECT k FROM copy) AS copy"
            ),
            Engine::Postgres => format!("generate_series(1, {copies}) AS copy (k)"),
        }
    }

    fn rows(&self, table: &str, columns: &[String], order: &str) -> String {
        let values: Vec<String> = columns.iter().map(|column| self.value(column)).collect();
        let place = columns.iter().position(|column| column == order).map_or(1, |at| at + 1);
        format!(
            "INSERT INTO {table} ({}) SELECT {} FROM {table}, {} ORDER BY {place}",
            columns.join(", "),
            values.join(", "),
            self.copy()
        )
    }

    /// What a column of a copy holds.
    fn value(&self, column: &str) -> String {
        match column {
            "id" | "receipt_id" | "payload_id" | "replay_id" => self.moved_id(column),
            "event_key" | "event_id" => format!("{column} || '~' || k"),
            "headers_sealed" | "body_sealed" => format!("substr({column}, 1, {STUB_BYTES})"),
            "body_mac" => match self.engine {
                Engine::Sqlite => "unhex(printf('%08x', k) || substr(hex(body_mac), 9))".to_owned(),
                Engine::Postgres => "int4send(CAST(k AS int)) || substr(body_mac, 5)".to_owned(),
            },
            "at" => self.moved_time(column),
            column if column.ends_with("_at") => self.moved_time(column),
            other => other.to_owned(),
        }
    }

    fn moved_time(&self, column: &str) -> String {
        format!("{column} - k * CAST({} AS bigint)", self.millis.saturating_mul(1_000))
    }

    /// An id whose first 48 bits are milliseconds (RFC 9562, version 7), moved by as much as the times.
    fn moved_id(&self, column: &str) -> String {
        let millis = self.millis;
        match self.engine {
            // SQLite reads no number in hexadecimal, so its digits are added up.
            Engine::Sqlite => {
                let digit = |place: u32| {
                    format!(
                        "((instr('0123456789ABCDEF', substr(hex({column}), {}, 1)) - 1) << {})",
                        place + 1,
                        44 - 4 * place
                    )
                };
                let time = (0..12).map(digit).collect::<Vec<_>>().join(" + ");
                format!(
                    "CASE WHEN {column} IS NOT NULL THEN \
                     unhex(printf('%012X', {time} - k * {millis}) || substr(hex({column}), 13)) END"
                )
            }
            Engine::Postgres => {
                let hex = format!("replace(CAST({column} AS text), '-', '')");
                format!(
                    "CAST(lpad(to_hex(CAST(CAST('x' || left({hex}, 12) AS bit(48)) AS bigint) - k * CAST({millis} AS bigint)), \
                     12, '0') || substr({hex}, 13) AS uuid)"
                )
            }
        }
    }

    /// Counters by minute and hour move with what they count; those of what is now grow.
    fn counters(&self) -> Vec<String> {
        let moved = |grain: u32, micros: i64| {
            format!(
                "INSERT INTO rollups (tenant_id, grain, at, subject, metric, shard, count) \
                 SELECT tenant_id, grain, slot, subject, metric, shard, SUM(count) FROM \
                 (SELECT tenant_id, grain, ({}) / {micros} * {micros} AS slot, subject, metric, shard, count \
                  FROM rollups, {} WHERE grain = {grain}) AS moved \
                 WHERE TRUE GROUP BY tenant_id, grain, slot, subject, metric, shard \
                 ON CONFLICT (tenant_id, grain, at, subject, metric, shard) DO UPDATE \
                 SET count = rollups.count + excluded.count",
                self.moved_time("at"),
                self.copy()
            )
        };
        vec![
            moved(1, 60_000_000),
            moved(2, 3_600_000_000),
            format!("UPDATE rollups SET count = count * {} WHERE grain = 0", u64::from(self.copies) + 1),
        ]
    }
}

impl Bulk {
    async fn open(url: &Url) -> Result<Self, StoreError> {
        let failed = |error| StoreError::from_sqlx("open for filling", error);
        match url {
            Url::Sqlite(path) => {
                // What breaks here is begun anew, so nothing waits for the disk.
                let options = SqliteConnectOptions::new()
                    .filename(path)
                    .journal_mode(SqliteJournalMode::Off)
                    .synchronous(SqliteSynchronous::Off)
                    .pragma("cache_size", "-1000000");
                Ok(Self::Sqlite(options.connect().await.map_err(failed)?))
            }
            Url::Postgres(url) => {
                let options = PgConnectOptions::from_str(url).map_err(failed)?;
                let options = options.options([
                    ("synchronous_commit", "off"),
                    ("work_mem", "512MB"),
                    ("maintenance_work_mem", "1GB"),
                ]);
                Ok(Self::Postgres(options.connect().await.map_err(failed)?))
            }
        }
    }

    const fn engine(&self) -> Engine {
        match self {
            Self::Sqlite(_) => Engine::Sqlite,
            Self::Postgres(_) => Engine::Postgres,
        }
    }

    async fn run(&mut self, text: &str) -> Result<(), StoreError> {
        let sql = AssertSqlSafe(text.to_owned());
        match self {
            Self::Sqlite(connection) => sqlx::raw_sql(sql).execute(connection).await.map(drop),
            Self::Postgres(connection) => sqlx::raw_sql(sql).execute(connection).await.map(drop),
        }
        .map_err(|error| StoreError::from_sqlx("fill", error))
    }

    async fn texts(&mut self, text: &str) -> Result<Vec<String>, StoreError> {
        let sql = AssertSqlSafe(text.to_owned());
        match self {
            Self::Sqlite(connection) => {
                let rows = sqlx::query(sql).fetch_all(connection).await;
                rows.and_then(|rows| rows.iter().map(|row| row.try_get(0)).collect())
            }
            Self::Postgres(connection) => {
                let rows = sqlx::query(sql).fetch_all(connection).await;
                rows.and_then(|rows| rows.iter().map(|row| row.try_get(0)).collect())
            }
        }
        .map_err(|error| StoreError::from_sqlx("read for filling", error))
    }

    /// Leaves the database as a server expects it.
    async fn finish(mut self) -> Result<(), StoreError> {
        let closed = |error| StoreError::from_sqlx("close after filling", error);
        match &mut self {
            Self::Sqlite(_) => self.run("ANALYZE; PRAGMA journal_mode = WAL").await?,
            Self::Postgres(_) => {
                self.run("VACUUM ANALYZE").await?;
                self.run("CHECKPOINT").await?;
            }
        }
        match self {
            Self::Sqlite(connection) => connection.close().await,
            Self::Postgres(connection) => connection.close().await,
        }
        .map_err(closed)
    }
}
