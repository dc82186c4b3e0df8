//! Opening a database by its URL: connections with the settings that durability rests on, read back
//! and not assumed, and the migrations.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use sqlx::migrate::Migrator;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};
use sqlx::sqlite::{
    SqliteAutoVacuum, SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePool,
    SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{ConnectOptions as _, Connection as _, Row as _};

use super::{Engine, Guest, StoreError};

static MIGRATIONS_SQLITE: Migrator = sqlx::migrate!("../../migrations/sqlite");
static MIGRATIONS_POSTGRES: Migrator = sqlx::migrate!("../../migrations/postgres");

/// The number of the last migration that this program knows for an engine, and how many it knows.
pub(crate) fn migrations_known(engine: Engine) -> (u64, u64) {
    let known = match engine {
        Engine::Sqlite => &MIGRATIONS_SQLITE,
        Engine::Postgres => &MIGRATIONS_POSTGRES,
    };
    let latest = known.iter().map(|migration| migration.version).max().unwrap_or(0);
    (u64::try_from(latest).unwrap_or(0), known.iter().count() as u64)
}

/// The first SQLite release without the fault that could corrupt a write-ahead log when a
/// checkpoint meets a commit (sqlite.org/wal.html, "The WAL-reset bug").
const SQLITE_VERSION_MIN: (u32, u32, u32) = (3, 51, 3);
/// PostgreSQL 14, as `server_version_num` writes it.
const POSTGRES_VERSION_MIN: i64 = 140_000;
/// How long an SQLite connection waits for another process's write (an operator's command).
const SQLITE_BUSY_MAX: Duration = Duration::from_millis(1_500);
/// The same for a command beside a server, whose commits leave little room.
const SQLITE_GUEST_BUSY_MAX: Duration = Duration::from_secs(15);
/// How long a caller waits for a free connection.
const POOL_WAIT_MAX: Duration = Duration::from_secs(1);
/// Connections that read from SQLite beside the one that writes.
const SQLITE_READERS: u32 = 4;

/// Pages that a connection keeps in memory, in KiB as `cache_size` takes them (negative). What is not among them is
/// in the system's own cache as a rule, which costs a copy; so this need hold no more than the inner pages of
/// the indexes and their newest leaves.
const SQLITE_WRITER_CACHE: &str = "-24576";
const SQLITE_READER_CACHE: &str = "-6144";

/// Where the database is.
#[derive(Clone, PartialEq, Eq)]
pub enum Url {
    /// A file.
    Sqlite(PathBuf),
    /// A server; the text may hold a password.
    Postgres(String),
}

impl std::fmt::Debug for Url {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Postgres(_) => f.write_str("postgres://[secret]"),
        }
    }
}

impl FromStr for Url {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Self::Postgres(text.to_owned()));
        }
        match text.strip_prefix("sqlite://").or_else(|| text.strip_prefix("sqlite:")) {
            Some(path) if !path.is_empty() => Ok(Self::Sqlite(PathBuf::from(path))),
            _ => Err(
                "The database URL must begin with postgres:// (a PostgreSQL server) or sqlite: (a file). \
                      Leave it out to use SQLite in the data folder."
                    .to_owned(),
            ),
        }
    }
}

/// How to open.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where the database is.
    pub url: Url,
    /// Accept a PostgreSQL that does not write to disk before it answers. Only tests and demos do.
    pub allow_volatile: bool,
    /// Whether this is a command that may run beside a server. On SQLite it asks the server for room.
    pub beside_a_server: bool,
    /// Connections to PostgreSQL at most, the committer's included.
    pub postgres_connections_max: u32,
}

impl Options {
    /// The usual settings for a database.
    pub const fn new(url: Url) -> Self {
        Self { url, allow_volatile: false, beside_a_server: false, postgres_connections_max: 16 }
    }
}

/// The connections of an open database.
#[derive(Debug)]
pub(crate) enum Pools {
    /// One connection that writes (taken by the writer task) and a pool that reads.
    Sqlite { writer: Box<SqliteConnectOptions>, readers: SqlitePool, guest: Option<Guest> },
    /// A pool, and the options from which the committer and the listener open their own connections.
    Postgres { pool: PgPool },
}

fn unavailable(step: &'static str) -> impl FnOnce(sqlx::Error) -> StoreError {
    move |error| StoreError::from_sqlx(step, error)
}

fn refuse(step: &'static str, detail: String) -> StoreError {
    StoreError::Unavailable { statement: step, detail }
}

impl Pools {
    pub(crate) const fn engine(&self) -> Engine {
        match self {
            Self::Sqlite { .. } => Engine::Sqlite,
            Self::Postgres { .. } => Engine::Postgres,
        }
    }

    pub(crate) async fn open(options: &Options) -> Result<Self, StoreError> {
        match &options.url {
            Url::Sqlite(path) => open_sqlite(path, options.beside_a_server).await,
            Url::Postgres(url) => open_postgres(url, options).await,
        }
    }
}

async fn open_sqlite(path: &std::path::Path, beside_a_server: bool) -> Result<Pools, StoreError> {
    let guest = beside_a_server.then(|| Guest::announce(path));
    let any = SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        // A commit is on the disk before it is answered. NORMAL would lose the last ones with the power;
        // the committer alone uses it, and flushes by itself (`group::wait_sqlite`).
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(if beside_a_server { SQLITE_GUEST_BUSY_MAX } else { SQLITE_BUSY_MAX })
        .pragma("mmap_size", "0")
        // Checkpoints are `group::checkpoint`'s; a process without a committer leaves them to the next one.
        .pragma("wal_autocheckpoint", "0")
        .statement_cache_capacity(200)
        .optimize_on_close(false, None);
    // Takes effect in an empty file alone: retention gives space back in steps. Not for readers: it writes.
    let writer = any
        .clone()
        .create_if_missing(true)
        .auto_vacuum(SqliteAutoVacuum::Incremental)
        .pragma("cache_size", SQLITE_WRITER_CACHE);
    let mut first = writer.connect().await.map_err(unavailable("open SQLite"))?;
    check_sqlite(&mut first).await?;
    MIGRATIONS_SQLITE.run(&mut first).await.map_err(migration_failed)?;
    first.close().await.map_err(unavailable("open SQLite"))?;
    let readers = SqlitePoolOptions::new()
        .max_connections(SQLITE_READERS)
        .acquire_timeout(POOL_WAIT_MAX)
        .connect_with(any.read_only(true).pragma("cache_size", SQLITE_READER_CACHE))
        .await
        .map_err(unavailable("open SQLite for reading"))?;
    Ok(Pools::Sqlite { writer: Box::new(writer), readers, guest })
}

fn is_sqlite_sound(version: &str) -> bool {
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let mut next = || parts.next().unwrap_or(0);
    (next(), next(), next()) >= SQLITE_VERSION_MIN
}

async fn check_sqlite(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let step = "check SQLite";
    let read = |text: &'static str| sqlx::query(text);
    let version: String = read("SELECT sqlite_version()")
        .fetch_one(&mut *connection)
        .await
        .and_then(|row| row.try_get(0))
        .map_err(unavailable(step))?;
    if !is_sqlite_sound(&version) {
        return Err(refuse(step, format!("SQLite {version} can lose data; 3.51.3 or newer is needed")));
    }
    let journal: String = read("PRAGMA journal_mode")
        .fetch_one(&mut *connection)
        .await
        .and_then(|row| row.try_get(0))
        .map_err(unavailable(step))?;
    if journal != "wal" {
        return Err(refuse(
            step,
            format!(
                "the journal mode is {journal} where a write-ahead log is needed; the file system may not support it"
            ),
        ));
    }
    for (pragma, text, wanted) in [
        ("synchronous", "PRAGMA synchronous", 2_i64),
        ("foreign_keys", "PRAGMA foreign_keys", 1),
        ("mmap_size", "PRAGMA mmap_size", 0),
    ] {
        let row = read(text).fetch_optional(&mut *connection).await.map_err(unavailable(step))?;
        let value: i64 = row.map_or(Ok(0), |row| row.try_get(0)).map_err(unavailable(step))?;
        if value != wanted {
            return Err(refuse(step, format!("{pragma} is {value} where {wanted} is needed")));
        }
    }
    Ok(())
}

async fn open_postgres(url: &str, options: &Options) -> Result<Pools, StoreError> {
    // sqlx's own words could hold a part of the URL, and with it the password.
    let connect = PgConnectOptions::from_str(url)
        .map_err(|_| {
            refuse(
                "open PostgreSQL",
                "the URL can't be read; it looks like postgres://user:password@host:5432/database".to_owned(),
            )
        })?
        .application_name("restante")
        .statement_cache_capacity(200);
    let mut first = connect.connect().await.map_err(unavailable("open PostgreSQL"))?;
    check_postgres(&mut first, options.allow_volatile).await?;
    MIGRATIONS_POSTGRES.run(&mut first).await.map_err(migration_failed)?;
    first.close().await.map_err(unavailable("open PostgreSQL"))?;
    let pool = PgPoolOptions::new()
        .max_connections(options.postgres_connections_max)
        .acquire_timeout(POOL_WAIT_MAX)
        .test_before_acquire(false)
        .connect_with(connect.options([
            // An answer is due within four seconds, so a statement that takes two is as good as lost.
            ("statement_timeout", "2s"),
            ("synchronous_commit", "on"),
            ("default_transaction_isolation", "read committed"),
            // A cut cable is noticed in seconds instead of minutes.
            ("tcp_user_timeout", "5000"),
            ("tcp_keepalives_idle", "5"),
            // Every statement here is a look-up by index. A plan made while a table was still empty
            // would read it whole, and be kept while it grows; so those plans are switched off.
            ("plan_cache_mode", "force_generic_plan"),
            ("enable_seqscan", "off"),
            ("enable_hashjoin", "off"),
            ("enable_mergejoin", "off"),
            ("jit", "off"),
        ]))
        .await
        .map_err(unavailable("open PostgreSQL"))?;
    Ok(Pools::Postgres { pool })
}

async fn check_postgres(connection: &mut PgConnection, allow_volatile: bool) -> Result<(), StoreError> {
    let step = "check PostgreSQL";
    let settings = sqlx::query(
        "SELECT current_setting('server_version_num') AS version, current_setting('fsync') AS fsync, \
         current_setting('full_page_writes') AS full_page_writes, current_setting('server_encoding') AS encoding",
    )
    .fetch_one(&mut *connection)
    .await
    .map_err(unavailable(step))?;
    let text = |name: &str| settings.try_get::<String, _>(name).map_err(unavailable(step));
    let version = text("version")?;
    if version.parse::<i64>().unwrap_or(0) < POSTGRES_VERSION_MIN {
        return Err(refuse(step, format!("PostgreSQL 14 or newer is needed, and this one is {version}")));
    }
    if text("encoding")? != "UTF8" {
        return Err(refuse(step, "the database's encoding must be UTF8".to_owned()));
    }
    for name in ["fsync", "full_page_writes"] {
        if text(name)? != "on" && !allow_volatile {
            return Err(refuse(
                step,
                format!(
                    "{name} is off, so an acknowledged event could be lost with the power. \
                     Turn it on, or set RESTANTE_ALLOW_VOLATILE=1 where losing events does no harm"
                ),
            ));
        }
    }
    Ok(())
}

fn migration_failed(error: sqlx::migrate::MigrateError) -> StoreError {
    use sqlx::migrate::MigrateError;
    let detail = match error {
        MigrateError::VersionMissing(version) => format!(
            "the database was made by a newer Restante (migration {version} is not known here); run that version"
        ),
        MigrateError::VersionMismatch(version) => {
            format!(
                "migration {version} was applied with another text; this binary doesn't belong to this database"
            )
        }
        other => other.to_string(),
    };
    StoreError::Unavailable { statement: "migrate", detail }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestStore, say_skipped};

    #[test]
    fn sqlite_releases_that_can_lose_data_are_told_from_sound_ones() {
        for sound in ["3.51.3", "3.52.0", "3.100.0", "4.0.0"] {
            assert!(is_sqlite_sound(sound), "{sound}");
        }
        for old in ["3.51.2", "3.46.0", "3.9.9", "2.8.17", "", "rubbish"] {
            assert!(!is_sqlite_sound(old), "{old}");
        }
    }

    #[tokio::test]
    async fn a_file_that_others_opened_less_safely_is_opened_safely() {
        let t = TestStore::sqlite().await;
        let options = t.options().clone();
        t.store.clone().close().await;
        t.execute("PRAGMA journal_mode = DELETE").await;
        let Pools::Sqlite { writer, .. } = Pools::open(&options).await.unwrap() else { panic!("SQLite") };
        let mut connection = writer.connect().await.unwrap();
        check_sqlite(&mut connection).await.unwrap();
        let mode = sqlx::query("PRAGMA journal_mode").fetch_one(&mut connection).await.unwrap();
        assert_eq!(mode.get::<String, _>(0), "wal");
    }

    #[tokio::test]
    async fn a_session_waits_for_the_disk_whatever_the_postgres_database_is_set_to() {
        let Some(t) = TestStore::postgres().await else {
            return say_skipped("a_session_waits_for_the_disk_whatever_the_postgres_database_is_set_to");
        };
        t.execute(
            "DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' SET synchronous_commit = off'; END $$",
        )
        .await;
        let shown = "SELECT current_setting('synchronous_commit')";
        let elsewhere = sqlx::query(shown).fetch_one(&mut t.postgres_connection().await).await.unwrap();
        assert_eq!(elsewhere.get::<String, _>(0), "off", "it is what others get");
        let Pools::Postgres { pool } = Pools::open(t.options()).await.unwrap() else { panic!("PostgreSQL") };
        let here = sqlx::query(shown).fetch_one(&pool).await.unwrap();
        assert_eq!(here.get::<String, _>(0), "on");
    }
}
