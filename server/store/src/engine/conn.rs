//! One open transaction or read connection of either engine, and the three ways to run a statement.

use sqlx::sqlite::SqliteConnection;

use super::held::{Asked, Held};
use super::row::Inner;
use super::{Batch, Engine, Row, Sql, StoreError, Together, Value};

/// A connection in use. Statements run on it one after another.
pub struct Conn<'c> {
    inner: ConnInner<'c>,
    /// The database's time in this transaction, asked once.
    now: Option<restante_core::time::Timestamp>,
}

enum ConnInner<'c> {
    Sqlite(&'c mut SqliteConnection),
    Postgres(&'c mut Held),
}

type Result<T> = std::result::Result<T, StoreError>;

/// Builds the query of one engine with its arguments bound.
macro_rules! bound_sqlite {
    ($sql:expr, $values:expr) => {{
        let mut query = sqlx::query::<sqlx::Sqlite>($sql.text(Engine::Sqlite));
        for value in $values {
            query = match value {
                Value::Int(v) => query.bind(v),
                Value::Text(v) => query.bind(v),
                Value::Blob(v) => query.bind(v),
                Value::Uuid(v) => query.bind(v),
                Value::Bool(v) => query.bind(v),
                Value::Uuids(v) => query.bind(super::batch::json_of_uuids(&v)),
                Value::Texts(v) => query.bind(super::batch::json_of_texts(&v)),
            };
        }
        query
    }};
}

macro_rules! bound_postgres {
    ($sql:expr, $values:expr) => {{
        let mut query = sqlx::query::<sqlx::Postgres>($sql.text(Engine::Postgres));
        for value in $values {
            query = match value {
                Value::Int(v) => query.bind(v),
                Value::Text(v) => query.bind(v),
                Value::Blob(v) => query.bind(v),
                Value::Uuid(v) => query.bind(v),
                Value::Bool(v) => query.bind(v),
                Value::Uuids(v) => query.bind(v),
                Value::Texts(v) => query.bind(v),
            };
        }
        query
    }};
}

impl<'c> Conn<'c> {
    pub(crate) const fn sqlite(connection: &'c mut SqliteConnection) -> Self {
        Self { inner: ConnInner::Sqlite(connection), now: None }
    }

    pub(crate) const fn postgres(held: &'c mut Held) -> Self {
        Self { inner: ConnInner::Postgres(held), now: None }
    }

    /// Fixes the time that [`Conn::now`] tells.
    pub(crate) const fn at(mut self, now: Option<restante_core::time::Timestamp>) -> Self {
        self.now = now;
        self
    }

    /// Which engine this is.
    pub const fn engine(&self) -> Engine {
        match self.inner {
            ConnInner::Sqlite(_) => Engine::Sqlite,
            ConnInner::Postgres(_) => Engine::Postgres,
        }
    }

    /// The database's time, the same throughout one transaction. Leases and due times are decided
    /// by it, never by a node's clock: on PostgreSQL several nodes share it.
    pub async fn now(&mut self) -> Result<restante_core::time::Timestamp> {
        if let Some(now) = self.now {
            return Ok(now);
        }
        let row = self.fetch_one(&super::DATABASE_NOW, vec![]).await?;
        let now = row.time("now")?;
        self.now = Some(now);
        Ok(now)
    }

    /// Runs a statement and tells how many rows it changed.
    pub async fn execute(&mut self, sql: &'static Sql, values: Vec<Value>) -> Result<u64> {
        match &mut self.inner {
            ConnInner::Sqlite(c) => bound_sqlite!(sql, values)
                .execute(&mut **c)
                .await
                .map(|done| done.rows_affected())
                .map_err(|error| StoreError::from_sqlx(sql.name, error)),
            ConnInner::Postgres(held) => {
                let answer = bound_postgres!(sql, values).execute(held.asks(Asked::Statement)?);
                let said = Asked::Statement.in_time(answer).await;
                held.hears(sql.name, said).map(|done| done.rows_affected())
            }
        }
    }

    /// Runs a statement and gives all rows. The statement bounds their number.
    pub async fn fetch_all(&mut self, sql: &'static Sql, values: Vec<Value>) -> Result<Vec<Row>> {
        let row = |inner| Row { statement: sql.name, inner };
        match &mut self.inner {
            ConnInner::Sqlite(c) => bound_sqlite!(sql, values)
                .fetch_all(&mut **c)
                .await
                .map(|rows| rows.into_iter().map(Inner::Sqlite).map(row).collect())
                .map_err(|error| StoreError::from_sqlx(sql.name, error)),
            ConnInner::Postgres(held) => {
                let answer = bound_postgres!(sql, values).fetch_all(held.asks(Asked::Statement)?);
                let said = Asked::Statement.in_time(answer).await;
                held.hears(sql.name, said)
                    .map(|rows| rows.into_iter().map(Inner::Postgres).map(row).collect())
            }
        }
    }

    /// Runs a statement and gives its first row, if there is one.
    pub async fn fetch_optional(&mut self, sql: &'static Sql, values: Vec<Value>) -> Result<Option<Row>> {
        Ok(self.fetch_all(sql, values).await?.into_iter().next())
    }

    /// Runs a statement that always has a row, such as an aggregate.
    pub async fn fetch_one(&mut self, sql: &'static Sql, values: Vec<Value>) -> Result<Row> {
        self.fetch_optional(sql, values)
            .await?
            .ok_or_else(|| StoreError::Corrupt { statement: sql.name, column: "(no row)".to_owned() })
    }

    /// Runs a statement over many rows at once (see [`Batch`]) and tells how many rows it changed.
    pub async fn execute_batch(&mut self, sql: &'static Sql, batch: Batch) -> Result<u64> {
        match &mut self.inner {
            ConnInner::Sqlite(c) => {
                let (json, bytes) = batch.into_json();
                let query = sqlx::query::<sqlx::Sqlite>(sql.text(Engine::Sqlite)).bind(json).bind(bytes);
                let done = query.execute(&mut **c).await.map(|done| done.rows_affected());
                done.map_err(|error| StoreError::from_sqlx(sql.name, error))
            }
            ConnInner::Postgres(held) => {
                let query = batch.bind_arrays(sqlx::query(sql.text(Engine::Postgres)));
                let said = Asked::Statement.in_time(query.execute(held.asks(Asked::Statement)?)).await;
                held.hears(sql.name, said).map(|done| done.rows_affected())
            }
        }
    }

    /// As [`Conn::execute_batch`], for a statement that answers rows. Those of SQLite are gathered
    /// (see `engine::gathered`) where there may be many.
    pub async fn fetch_batch(&mut self, sql: &'static Sql, batch: Batch) -> Result<Vec<Row>> {
        let row = |inner| Row { statement: sql.name, inner };
        match &mut self.inner {
            ConnInner::Sqlite(c) => {
                let (json, bytes) = batch.into_json();
                let answered = sqlx::query::<sqlx::Sqlite>(sql.text(Engine::Sqlite))
                    .bind(json)
                    .bind(bytes)
                    .fetch_all(&mut **c)
                    .await
                    .map_err(|error| StoreError::from_sqlx(sql.name, error))?;
                let rows: Vec<Row> = answered.into_iter().map(Inner::Sqlite).map(row).collect();
                if sql.is_gathered() { super::gathered::spread(sql.name, &rows) } else { Ok(rows) }
            }
            ConnInner::Postgres(held) => {
                let query = batch.bind_arrays(sqlx::query(sql.text(Engine::Postgres)));
                let said = Asked::Statement.in_time(query.fetch_all(held.asks(Asked::Statement)?)).await;
                held.hears(sql.name, said)
                    .map(|rows| rows.into_iter().map(Inner::Postgres).map(row).collect())
            }
        }
    }

    /// Runs writes that don't depend on each other in one go.
    pub(crate) async fn execute_together(&mut self, writes: Together) -> Result<()> {
        let Some((first, _)) = writes.parts.first() else { return Ok(()) };
        let (name, text) = (first.name, writes.text(self.engine()));
        match &mut self.inner {
            ConnInner::Sqlite(c) => {
                let mut query = sqlx::query::<sqlx::Sqlite>(text);
                for (_, batch) in writes.parts {
                    let (json, bytes) = batch.into_json();
                    query = query.bind(json).bind(bytes);
                }
                let done = query.execute(&mut **c).await.map(|_| ());
                done.map_err(|error| StoreError::from_sqlx(name, error))
            }
            ConnInner::Postgres(held) => {
                let mut query = sqlx::query::<sqlx::Postgres>(text);
                for (_, batch) in writes.parts {
                    query = batch.bind_arrays(query);
                }
                let said = Asked::Statement.in_time(query.execute(held.asks(Asked::Statement)?)).await;
                held.hears(name, said).map(|_| ())
            }
        }
    }

    /// Hears the database's time from a statement that tells it along with something else.
    pub(crate) fn hear_now(&mut self, now: restante_core::time::Timestamp) {
        self.now.get_or_insert(now);
    }

    /// BEGIN, COMMIT, SAVEPOINT and their like, which take no values.
    pub(crate) async fn control(&mut self, name: &'static str, text: &'static str) -> Result<()> {
        match &mut self.inner {
            ConnInner::Sqlite(c) => {
                let done = sqlx::raw_sql(text).execute(&mut **c).await.map(|_| ());
                done.map_err(|error| StoreError::from_sqlx(name, error))
            }
            ConnInner::Postgres(held) => {
                let asked = if text == "COMMIT" { Asked::Commit } else { Asked::Statement };
                if text.starts_with("BEGIN") {
                    held.set_in_transaction(true);
                }
                let said = asked.in_time(sqlx::raw_sql(text).execute(held.asks(asked)?)).await;
                let done = held.hears(name, said).map(|_| ());
                if matches!(text, "COMMIT" | "ROLLBACK") && done.is_ok() {
                    held.set_in_transaction(false);
                }
                done
            }
        }
    }
}
