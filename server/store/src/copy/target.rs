//! The side that is filled.

use std::str::FromStr as _;

use sqlx::postgres::{PgConnectOptions, PgConnection, PgRow};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Row as _};
use uuid::Uuid;

use super::CopyError;
use super::cell::{Cell, read_key, write_key};
use super::plan::{Kind, Table};
use super::source::except_marks;
use crate::engine::StoreError;

/// How far a table is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Progress {
    pub(super) position: Option<Vec<Cell>>,
    pub(super) rows: i64,
    pub(super) finished: bool,
}

pub(super) struct Target {
    pub(super) connection: PgConnection,
}

fn failed(step: &'static str) -> impl FnOnce(sqlx::Error) -> CopyError {
    move |error| CopyError::Store(StoreError::from_sqlx(step, error))
}

impl Target {
    pub(super) async fn open(url: &str) -> Result<Self, CopyError> {
        let options = PgConnectOptions::from_str(url)
            .map_err(|_| CopyError::Unlike("the URL of PostgreSQL can't be read".to_owned()))?
            .application_name("restante copy")
            .options([("synchronous_commit", "on")])
            .statement_cache_capacity(0);
        Ok(Self { connection: options.connect().await.map_err(failed("open PostgreSQL"))? })
    }

    async fn run(&mut self, step: &'static str, text: String) -> Result<(), CopyError> {
        let done = sqlx::raw_sql(AssertSqlSafe(text)).execute(&mut self.connection).await;
        done.map(|_| ()).map_err(failed(step))
    }

    async fn row(&mut self, step: &'static str, text: String) -> Result<Option<PgRow>, CopyError> {
        sqlx::query::<sqlx::Postgres>(AssertSqlSafe(text))
            .fetch_optional(&mut self.connection)
            .await
            .map_err(failed(step))
    }

    pub(super) async fn connection_begin(&mut self) -> Result<(), CopyError> {
        self.run("begin", "BEGIN".to_owned()).await
    }

    pub(super) async fn connection_commit(&mut self) -> Result<(), CopyError> {
        self.run("commit", "COMMIT".to_owned()).await
    }

    /// Demands an empty database, or one that holds the beginning of the copy from this instance. What
    /// migrations have put into an empty one goes: the source has its own.
    pub(super) async fn prepare(&mut self, instance: &str, tables: &[Table]) -> Result<(), CopyError> {
        self.connection_begin().await?;
        // Two copies at once would both find it empty.
        self.run("lock", "LOCK TABLE copy_progress IN EXCLUSIVE MODE".to_owned()).await?;
        let begun = self.row("look", "SELECT source FROM copy_progress LIMIT 1".to_owned()).await?;
        if let Some(row) = begun {
            let source: String = row.try_get(0).map_err(failed("look"))?;
            if source != instance {
                return Err(CopyError::NotEmpty("a copy of another instance"));
            }
            return self.connection_commit().await;
        }
        for (table, what) in [
            ("tenants", "tenants"),
            ("users", "people"),
            ("receipts", "events"),
            ("nodes", "a server that runs, or ran until a short time ago"),
        ] {
            if self.row("look", format!("SELECT 1 FROM \"{table}\" LIMIT 1")).await?.is_some() {
                return Err(CopyError::NotEmpty(what));
            }
        }
        let names: Vec<String> = tables.iter().map(|table| format!("\"{}\"", table.name)).collect();
        self.run("empty the tables", format!("TRUNCATE {}", names.join(", "))).await?;
        for table in tables {
            let text = "INSERT INTO copy_progress (table_name, source, position, rows, finished)
                VALUES ($1, $2, NULL, 0, FALSE)";
            let query = sqlx::query::<sqlx::Postgres>(text).bind(table.name.as_str()).bind(instance);
            query.execute(&mut self.connection).await.map_err(failed("note the beginning"))?;
        }
        self.connection_commit().await
    }

    pub(super) async fn progress_of(&mut self, table: &str) -> Result<Progress, CopyError> {
        let text = "SELECT position, rows, finished FROM copy_progress WHERE table_name = $1";
        let query = sqlx::query::<sqlx::Postgres>(text).bind(table);
        let row = query.fetch_optional(&mut self.connection).await.map_err(failed("read the progress"))?;
        let Some(row) = row else {
            return Err(CopyError::Unlike(format!(
                "the copy was begun by a version without the table {table}"
            )));
        };
        let position: Option<String> = row.try_get(0).map_err(failed("read the progress"))?;
        let position = match position {
            Some(text) => Some(read_key(&text).ok_or_else(|| {
                CopyError::Unlike(format!("the note of how far the table {table} is can't be read"))
            })?),
            None => None,
        };
        let rows = row.try_get(1).map_err(failed("read the progress"))?;
        let finished = row.try_get(2).map_err(failed("read the progress"))?;
        Ok(Progress { position, rows, finished })
    }

    pub(super) async fn note(&mut self, table: &str, at: &Progress) -> Result<(), CopyError> {
        let text = "UPDATE copy_progress SET position = $2, rows = $3, finished = $4 WHERE table_name = $1";
        let position = at.position.as_deref().map(write_key);
        let query =
            sqlx::query::<sqlx::Postgres>(text).bind(table).bind(position).bind(at.rows).bind(at.finished);
        query.execute(&mut self.connection).await.map(|_| ()).map_err(failed("note the progress"))
    }

    /// Inserts rows with one statement: an array for each column.
    pub(super) async fn insert(&mut self, table: &Table, rows: Vec<Vec<Cell>>) -> Result<(), CopyError> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut columns: Vec<Vec<Cell>> =
            table.columns.iter().map(|_| Vec::with_capacity(rows.len())).collect();
        for row in rows {
            for (column, cell) in columns.iter_mut().zip(row) {
                column.push(cell);
            }
        }
        let arrays: Vec<String> = table
            .columns
            .iter()
            .enumerate()
            .map(|(place, (_, kind))| {
                let element = match kind {
                    Kind::Uuid => "uuid",
                    Kind::Bytes => "bytea",
                    Kind::Number => "bigint",
                    Kind::Bool => "boolean",
                    Kind::Text => "text",
                };
                format!("CAST(${} AS {element}[])", place + 1)
            })
            .collect();
        let names = table.names(false);
        let text = format!(
            "INSERT INTO \"{}\" ({names}) SELECT * FROM UNNEST({}) AS u ({names})",
            table.name,
            arrays.join(", ")
        );
        // Every name in it comes from the schema, and every value is bound.
        let mut query = sqlx::query::<sqlx::Postgres>(AssertSqlSafe(text));
        for ((name, kind), cells) in table.columns.iter().zip(columns) {
            let unfit = || CopyError::Unlike(format!("a value of {}.{name} does not fit", table.name));
            query =
                match kind {
                    Kind::Uuid => {
                        query.bind(cells.into_iter().map(uuid).collect::<Option<Vec<_>>>().ok_or_else(unfit)?)
                    }
                    Kind::Bytes => query
                        .bind(cells.into_iter().map(bytes).collect::<Option<Vec<_>>>().ok_or_else(unfit)?),
                    Kind::Number => query
                        .bind(cells.into_iter().map(whole).collect::<Option<Vec<_>>>().ok_or_else(unfit)?),
                    Kind::Bool => query.bind(
                        cells
                            .into_iter()
                            .map(|cell| whole(cell).map(|number| number.map(|number| number != 0)))
                            .collect::<Option<Vec<_>>>()
                            .ok_or_else(unfit)?,
                    ),
                    Kind::Text => query
                        .bind(cells.into_iter().map(string).collect::<Option<Vec<_>>>().ok_or_else(unfit)?),
                };
        }
        query.execute(&mut self.connection).await.map(|_| ()).map_err(failed("copy rows"))
    }

    pub(super) async fn count(&mut self, table: &Table) -> Result<i64, CopyError> {
        let text = format!("SELECT COUNT(*) FROM \"{}\"{}", table.name, except_marks(&table.name));
        let row = self.row("count", text).await?;
        row.map_or(Ok(0), |row| row.try_get(0).map_err(failed("count")))
    }

    pub(super) async fn forget_progress(&mut self) -> Result<(), CopyError> {
        // What PostgreSQL plans by is worth having before the first event comes.
        self.run("end the copy", "DELETE FROM copy_progress".to_owned()).await?;
        self.run("take statistics", "ANALYZE".to_owned()).await
    }
}

fn uuid(cell: Cell) -> Option<Option<Uuid>> {
    match cell {
        Cell::Null => Some(None),
        Cell::Blob(bytes) => Uuid::from_slice(&bytes).ok().map(Some),
        _ => None,
    }
}

fn bytes(cell: Cell) -> Option<Option<Vec<u8>>> {
    match cell {
        Cell::Null => Some(None),
        Cell::Blob(bytes) => Some(Some(bytes)),
        _ => None,
    }
}

fn whole(cell: Cell) -> Option<Option<i64>> {
    match cell {
        Cell::Null => Some(None),
        Cell::Int(number) => Some(Some(number)),
        _ => None,
    }
}

fn string(cell: Cell) -> Option<Option<String>> {
    match cell {
        Cell::Null => Some(None),
        Cell::Text(text) => Some(Some(text)),
        _ => None,
    }
}
