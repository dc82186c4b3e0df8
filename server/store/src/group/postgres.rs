//! The committer's transactions on PostgreSQL.

use sqlx::PgPool;

use super::statistics::Growth;
use super::wait_postgres::FlushSession;
use super::waiting::Waiters;
use super::{Kept, Transactions};
use crate::engine::{Conn, Held, StoreError};
use crate::store::BoxFuture;

/// Keeps one connection of the pool for itself. When it fails, the next group takes another.
pub(super) struct PostgresCommitter {
    pool: PgPool,
    connection: Option<Held>,
    /// Who waits for the disk; `None`: each commit does.
    session: Option<FlushSession>,
    /// The session that was there when the transaction was begun, and will wait for it.
    waits: Option<u64>,
    growth: Growth,
}

impl PostgresCommitter {
    pub(super) fn new(pool: PgPool, session: Option<FlushSession>) -> Self {
        Self { growth: Growth::new(pool.clone()), pool, connection: None, session, waits: None }
    }

    fn broken() -> StoreError {
        StoreError::Unavailable { statement: "commit", detail: "there is no connection".to_owned() }
    }
}

impl Transactions for PostgresCommitter {
    fn begin(&mut self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async {
            if self.connection.is_none() {
                self.connection = Some(Held::acquire(&self.pool).await?);
            }
            self.waits = self.session.as_ref().and_then(FlushSession::now);
            let text = match self.waits {
                Some(_) => "BEGIN; SET LOCAL synchronous_commit TO off",
                None => "BEGIN",
            };
            let begun = self.conn()?.control("begin", text).await;
            if begun.is_err() {
                self.connection = None;
            }
            begun
        })
    }

    fn conn(&mut self) -> Result<Conn<'_>, StoreError> {
        self.connection.as_mut().map(Conn::postgres).ok_or_else(Self::broken)
    }

    fn commit(&mut self) -> BoxFuture<'_, Result<Kept, StoreError>> {
        Box::pin(async {
            match self.conn()?.control("commit", "COMMIT").await {
                Ok(()) => Ok(self.waits.map_or(Kept::Already, Kept::OnceFlushed)),
                Err(error) => {
                    self.connection = None;
                    Err(StoreError::CommitUnknown { detail: error.to_string() })
                }
            }
        })
    }

    fn waiters(&self) -> Option<Waiters> {
        self.session.as_ref().map(FlushSession::waiters)
    }

    fn failed(&self, _: &StoreError) {}

    fn rollback(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let rolled_back = match self.conn() {
                Ok(mut conn) => conn.control("rollback", "ROLLBACK").await,
                Err(error) => Err(error),
            };
            if rolled_back.is_err() {
                self.connection = None;
            }
        })
    }

    fn grown(&mut self, receipts: usize) {
        self.growth.add(receipts);
    }
}
