//! The committer's transactions on PostgreSQL.

use sqlx::pool::PoolConnection;
use sqlx::{Connection as _, PgPool, Postgres};
use tokio::sync::watch;

use super::Transactions;
use super::statistics::Growth;
use crate::engine::{Conn, StoreError};
use crate::store::BoxFuture;

/// Keeps one connection of the pool for itself; a broken one is dropped, and the next group takes another.
pub(super) struct PostgresCommitter {
    pool: PgPool,
    connection: Option<PoolConnection<Postgres>>,
    growth: Growth,
    /// Nothing is sent: PostgreSQL stops by itself when its disk fails. Dropped, it says that the
    /// committer is gone.
    _fatal: watch::Sender<Option<String>>,
}

impl PostgresCommitter {
    pub(super) fn new(pool: PgPool, fatal: watch::Sender<Option<String>>) -> Self {
        Self { growth: Growth::new(pool.clone()), pool, connection: None, _fatal: fatal }
    }

    fn broken() -> StoreError {
        StoreError::Unavailable { statement: "commit", detail: "there is no connection".to_owned() }
    }

    /// A connection in an unknown state goes back to nobody.
    async fn drop_connection(&mut self) {
        if let Some(connection) = self.connection.take() {
            let _ = connection.detach().close_hard().await;
        }
    }
}

impl Transactions for PostgresCommitter {
    fn begin(&mut self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async {
            if self.connection.is_none() {
                let taken = self.pool.acquire().await;
                self.connection = Some(taken.map_err(|error| StoreError::from_sqlx("acquire", error))?);
            }
            let begun = self.conn()?.control("begin", "BEGIN").await;
            if begun.is_err() {
                self.drop_connection().await;
            }
            begun
        })
    }

    fn conn(&mut self) -> Result<Conn<'_>, StoreError> {
        self.connection.as_mut().map(|connection| Conn::postgres(connection)).ok_or_else(Self::broken)
    }

    fn commit(&mut self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async {
            match self.conn()?.control("commit", "COMMIT").await {
                Ok(()) => Ok(()),
                Err(error) => {
                    self.drop_connection().await;
                    Err(StoreError::CommitUnknown { detail: error.to_string() })
                }
            }
        })
    }

    fn failed(&self, _: &StoreError) {}

    fn rollback(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let rolled_back = match self.conn() {
                Ok(mut conn) => conn.control("rollback", "ROLLBACK").await,
                Err(error) => Err(error),
            };
            if rolled_back.is_err() {
                self.drop_connection().await;
            }
        })
    }

    fn grown(&mut self, receipts: usize) {
        self.growth.add(receipts);
    }
}
