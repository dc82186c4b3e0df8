//! What tests of every crate stand on: a fresh database of either engine, a clock that is moved by
//! hand, and [`both_engines!`](crate::both_engines), which runs one test on both. It is compiled
//! only with the feature `testing`, never into the program.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that can't prepare its database has to end there"
)]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use restante_core::time::{Clock, Timestamp};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _, SqliteConnection};

use crate::engine::{Engine, Options, Url};
use crate::store::Store;

/// The variable that names a PostgreSQL server on which tests may create and drop databases.
pub const POSTGRES_URL_VARIABLE: &str = "RESTANTE_TEST_POSTGRES_URL";

/// When the clock of a test starts: 2026-11-30T12:00:00Z.
pub const START: Timestamp = Timestamp::from_seconds(1_796_040_000);

/// A clock that stands still until a test moves it. Clones show the same time.
#[derive(Debug, Clone)]
pub struct TestClock(Arc<AtomicI64>);

impl Default for TestClock {
    fn default() -> Self {
        Self(Arc::new(AtomicI64::new(START.micros())))
    }
}

impl TestClock {
    /// Moves the time forwards, or backwards.
    pub fn advance_seconds(&self, seconds: i64) {
        self.set(self.now().plus_seconds(seconds));
    }

    /// Sets the time.
    pub fn set(&self, now: Timestamp) {
        self.0.store(now.micros(), Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}

/// A store on a database of its own, which goes when this is dropped.
#[derive(Debug)]
pub struct TestStore {
    /// The open store. Its statements see the time of `clock`.
    pub store: Store,
    /// The time.
    pub clock: TestClock,
    database: Database,
}

/// What has to be removed in the end.
#[derive(Debug)]
struct Database {
    options: Options,
    /// The folder of the SQLite file.
    folder: Option<PathBuf>,
    /// The server and the name of the PostgreSQL database.
    server: Option<(String, String)>,
}

impl TestStore {
    /// A store on a new SQLite file in a folder of its own.
    pub async fn sqlite() -> Self {
        let folder = std::env::temp_dir().join(format!("restante-{}", unique_name()));
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        let options = Options::new(Url::Sqlite(folder.join("restante.db")));
        Self::open(Database { options, folder: Some(folder), server: None }).await
    }

    /// A store on a new database of the test server; `None` when there is no test server.
    pub async fn postgres() -> Option<Self> {
        let server = std::env::var(POSTGRES_URL_VARIABLE).ok().filter(|url| !url.is_empty())?;
        let name = format!("test_{}", unique_name());
        on_postgres(&server, format!("CREATE DATABASE {name}")).await;
        let (base, _) = server.rsplit_once('/').expect("a URL that ends in /database");
        let mut options = Options::new(Url::Postgres(format!("{base}/{name}")));
        options.allow_volatile = true;
        options.postgres_connections_max = 8;
        Some(Self::open(Database { options, folder: None, server: Some((server, name)) }).await)
    }

    async fn open(database: Database) -> Self {
        let clock = TestClock::default();
        let store = Store::open_with_clock(&database.options, Some(Arc::new(clock.clone())))
            .await
            .unwrap_or_else(|error| panic!("the test database can't be opened: {error}"));
        Self { store, clock, database }
    }

    /// Which database it is.
    pub fn engine(&self) -> Engine {
        self.store.engine()
    }

    /// How to open the same database once more, as a second node or an operator's command does.
    pub fn options(&self) -> &Options {
        &self.database.options
    }

    /// A second store on the same database, as another node holds it.
    pub async fn second(&self) -> Store {
        Store::open_with_clock(self.options(), Some(Arc::new(self.clock.clone())))
            .await
            .unwrap_or_else(|error| panic!("the test database can't be opened again: {error}"))
    }

    /// Runs any SQL text, to prepare what no verb makes.
    pub async fn execute(&self, sql: &str) {
        let text = AssertSqlSafe(sql.to_owned());
        match self.engine() {
            Engine::Sqlite => {
                sqlx::raw_sql(text).execute(&mut self.sqlite_connection().await).await.map(|_| ())
            }
            Engine::Postgres => {
                sqlx::raw_sql(text).execute(&mut self.postgres_connection().await).await.map(|_| ())
            }
        }
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    /// The number that a query answers in its first row, as `SELECT COUNT(*) FROM receipts` does.
    pub async fn number(&self, sql: &str) -> i64 {
        let text = AssertSqlSafe(sql.to_owned());
        match self.engine() {
            Engine::Sqlite => sqlx::query(text)
                .fetch_one(&mut self.sqlite_connection().await)
                .await
                .and_then(|row| row.try_get_unchecked(0)),
            Engine::Postgres => sqlx::query(text)
                .fetch_one(&mut self.postgres_connection().await)
                .await
                // How wide a number is, is the table's matter.
                .and_then(|row| {
                    row.try_get::<i64, _>(0)
                        .or_else(|_| row.try_get::<i32, _>(0).map(i64::from))
                        .or_else(|_| row.try_get::<i16, _>(0).map(i64::from))
                }),
        }
        .unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// Rows of a table.
    pub async fn count(&self, table: &str) -> i64 {
        self.number(&format!("SELECT COUNT(*) FROM {table}")).await
    }

    /// Whether a text stands anywhere in the database in clear: in the bytes of the SQLite files, or
    /// in any column of any table of PostgreSQL (bytes are looked for in hex).
    pub async fn holds(&self, canary: &str) -> bool {
        match (&self.options().url, &self.database.folder) {
            (Url::Sqlite(_), Some(folder)) => std::fs::read_dir(folder)
                .expect("the temporary folder")
                .filter_map(Result::ok)
                .filter_map(|entry| std::fs::read(entry.path()).ok())
                .any(|bytes| bytes.windows(canary.len()).any(|window| window == canary.as_bytes())),
            _ => {
                let hex: String = canary.bytes().map(|byte| format!("{byte:02x}")).collect();
                for table in self.tables().await {
                    let found = format!(
                        "SELECT COUNT(*) FROM {table} AS t WHERE strpos(CAST(t AS text), '{canary}') > 0 \
                         OR strpos(CAST(t AS text), '{hex}') > 0"
                    );
                    if self.number(&found).await > 0 {
                        return true;
                    }
                }
                false
            }
        }
    }

    pub(crate) async fn sqlite_connection(&self) -> SqliteConnection {
        let Url::Sqlite(path) = &self.options().url else { panic!("this is no SQLite") };
        SqliteConnection::connect(&format!("sqlite:{}", path.display())).await.expect("the test database")
    }

    pub(crate) async fn postgres_connection(&self) -> PgConnection {
        let Url::Postgres(url) = &self.options().url else { panic!("this is no PostgreSQL") };
        PgConnection::connect(url).await.expect("the test database")
    }

    async fn tables(&self) -> Vec<String> {
        let mut connection = self.postgres_connection().await;
        sqlx::query("SELECT CAST(tablename AS text) FROM pg_tables WHERE schemaname = 'public'")
            .fetch_all(&mut connection)
            .await
            .expect("the list of tables")
            .iter()
            .filter_map(|row| row.try_get(0).ok())
            .collect()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            // What stays of a temporary folder does no harm.
            let _ = std::fs::remove_dir_all(folder);
        }
        if let Some((server, name)) = self.server.take() {
            // In a thread of its own: a runtime can't wait inside another one.
            let drop_it = std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                if let Ok(runtime) = runtime {
                    runtime.block_on(on_postgres(&server, format!("DROP DATABASE {name} WITH (FORCE)")));
                }
            });
            let _ = drop_it.join();
        }
    }
}

async fn on_postgres(server: &str, sql: String) {
    let mut connection = PgConnection::connect(server)
        .await
        .unwrap_or_else(|error| panic!("{POSTGRES_URL_VARIABLE} names no server that answers: {error}"));
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.expect("the test server's consent");
}

fn unique_name() -> String {
    let mut random = [0_u8; 8];
    getrandom::fill(&mut random).expect("randomness");
    random.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Says in the test's output that it did not run.
pub fn say_skipped(name: &str) {
    tracing::warn!(name, "skipped: {POSTGRES_URL_VARIABLE} is not set");
}

/// Defines one test for both engines: `name::sqlite` and `name::postgres`. The second one ends at
/// once where there is no test server; `.ci/test` leaves it out by its name and counts it.
///
/// ```ignore
/// both_engines!(a_repeat_keeps_the_first_id, |t| async {
///     assert_eq!(t.count("receipts").await, 0);
/// });
/// ```
#[macro_export]
macro_rules! both_engines {
    ($(#[$meta:meta])* $name:ident, |$t:ident| async $body:block) => {
        $(#[$meta])*
        mod $name {
            #[allow(unused_imports, clippy::allow_attributes, reason = "a test may need nothing from around it")]
            use super::*;

            async fn on($t: $crate::testing::TestStore) $body

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite() {
                on($crate::testing::TestStore::sqlite().await).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() {
                match $crate::testing::TestStore::postgres().await {
                    Some(t) => on(t).await,
                    None => $crate::testing::say_skipped(concat!(module_path!(), "::postgres")),
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    crate::both_engines!(a_new_database_is_empty_and_answers, |t| async {
        assert_eq!(t.count("receipts").await, 0);
        t.execute("INSERT INTO instance (name, value) VALUES ('a', 'canary-in-clear')").await;
        assert_eq!(t.number("SELECT COUNT(*) FROM instance").await, 1);
        assert!(t.holds("canary-in-clear").await);
        assert!(!t.holds("canary-that-is-not-there").await);
    });
}
