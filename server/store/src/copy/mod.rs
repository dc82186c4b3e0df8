//! Moving an instance from SQLite into an empty PostgreSQL: every table, in stretches of its primary key, each
//! in one transaction with the note of how far it came. It may be killed and run again. Which tables and
//! columns there are is read from the two databases, which a test holds equal; so a new table is copied
//! without a word here.

mod cell;
mod plan;
mod source;
mod target;

use std::path::Path;
use std::time::Duration;

use restante_core::time::Timestamp;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _, Row as _};

use crate::engine::StoreError;
use crate::failpoint;
use plan::Table;
use target::Target;

/// Rows of one step.
const ROWS_PER_STEP: usize = 2_000;
/// Bytes after which a step ends.
const BYTES_PER_STEP: usize = 8 * 1024 * 1024;

/// Tables that stay where they are: what migrations note, servers that run, and the progress of copies.
const LEFT_OUT: [&str; 3] = ["_sqlx_migrations", "nodes", "copy_progress"];

/// Why a copy does not go on.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The target holds an instance, or the copy of another one.
    #[error(
        "the PostgreSQL database is not empty: it holds {0}. Make an empty one: \
         CREATE DATABASE restante OWNER restante ENCODING 'UTF8' TEMPLATE template0"
    )]
    NotEmpty(&'static str),
    /// Rows are missing, or too many.
    #[error(
        "the table {table} has {source_rows} rows in SQLite and {target_rows} in PostgreSQL. Something changed one of \
         them during the copy: drop the PostgreSQL database, make an empty one, and begin anew"
    )]
    Miscounted {
        /// The table.
        table: String,
        /// Rows in SQLite.
        source_rows: i64,
        /// Rows in PostgreSQL.
        target_rows: i64,
    },
    /// The databases do not have the same tables.
    #[error("the two databases do not fit together: {0}")]
    Unlike(String),
    /// One of the databases.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Where a copy is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyStep {
    /// The table.
    pub table: String,
    /// Rows of it that are there now.
    pub rows: i64,
}

/// A copy that is under way.
pub struct Copying {
    source: SqliteConnection,
    target: Target,
    tables: Vec<Table>,
}

impl Copying {
    /// Opens both databases, which have their tables already, and prepares the target: it has to be empty,
    /// or to hold the beginning of this very copy.
    ///
    /// # Errors
    /// When it is not, or one of them can't be opened.
    pub async fn begin(sqlite: &Path, postgres: &str) -> Result<Self, CopyError> {
        let failed = |error| StoreError::from_sqlx("open SQLite", error);
        let options = SqliteConnectOptions::new()
            .filename(sqlite)
            .read_only(true)
            .busy_timeout(Duration::from_secs(15))
            .statement_cache_capacity(0);
        let mut source = options.connect().await.map_err(failed)?;
        let mut target = Target::open(postgres).await?;
        let tables = plan::tables(&mut source, &mut target.connection).await?;
        let id = source::instance_id(&mut source).await?;
        target.prepare(&id, &tables).await?;
        Ok(Self { source, target, tables })
    }

    /// Copies all that is not there yet. `progress` hears after each step.
    ///
    /// # Errors
    /// What a database ran into; what is copied stays.
    pub async fn run(&mut self, mut progress: impl FnMut(&CopyStep)) -> Result<(), CopyError> {
        for table in &self.tables {
            let mut at = self.target.progress_of(&table.name).await?;
            while !at.finished {
                let rows = source::step(&mut self.source, table, at.position.as_deref()).await?;
                at.finished = rows.is_empty();
                at.rows += i64::try_from(rows.len()).unwrap_or(i64::MAX);
                if let Some(last) = rows.last() {
                    at.position = Some(table.key_of(last));
                }
                self.target.connection_begin().await?;
                self.target.insert(table, rows).await?;
                self.target.note(&table.name, &at).await?;
                failpoint::pass(failpoint::COPY).await?;
                self.target.connection_commit().await?;
                progress(&CopyStep { table: table.name.clone(), rows: at.rows });
            }
        }
        Ok(())
    }

    /// Compares the numbers of rows of every table.
    ///
    /// # Errors
    /// [`CopyError::Miscounted`].
    pub async fn compare(&mut self) -> Result<i64, CopyError> {
        let mut all = 0;
        for table in &self.tables {
            let source_rows = source::count(&mut self.source, table).await?;
            let target_rows = self.target.count(table).await?;
            if source_rows != target_rows {
                return Err(CopyError::Miscounted { table: table.name.clone(), source_rows, target_rows });
            }
            all += target_rows;
        }
        Ok(all)
    }

    /// Ends the copy: the target may be served from now on, and the source says that it was moved.
    ///
    /// # Errors
    /// What a database ran into.
    pub async fn finish(mut self, sqlite: &Path, at: Timestamp) -> Result<(), CopyError> {
        let failed = |error| StoreError::from_sqlx("mark what was moved", error);
        let options = SqliteConnectOptions::new().filename(sqlite).busy_timeout(Duration::from_secs(15));
        let mut writing = options.connect().await.map_err(failed)?;
        // The source first: at no moment may both be served.
        sqlx::query::<sqlx::Sqlite>("PRAGMA synchronous = FULL")
            .execute(&mut writing)
            .await
            .map_err(failed)?;
        let mark = "INSERT INTO instance (name, value) VALUES ('moved_at', ?1)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value";
        sqlx::query::<sqlx::Sqlite>(mark)
            .bind(at.micros().to_string())
            .execute(&mut writing)
            .await
            .map_err(failed)?;
        writing.close().await.map_err(failed)?;
        self.target.forget_progress().await?;
        let _ = self.source.close().await;
        let _ = self.target.connection.close().await;
        Ok(())
    }
}

/// A number that a query answers.
fn number(row: &sqlx::sqlite::SqliteRow) -> Result<i64, StoreError> {
    row.try_get(0).map_err(|error| StoreError::from_sqlx("count", error))
}
