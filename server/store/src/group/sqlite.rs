//! The committer's transactions on SQLite.

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _};
use tokio::sync::watch;

use super::checkpoint::Checkpoints;
use super::waiting::Waiters;
use super::{Kept, Transactions, wait_sqlite};
use crate::benching::{self, Commits};
use crate::engine::{Conn, StoreError, Turns};
use crate::store::BoxFuture;

/// The one connection that writes.
pub(super) struct SqliteCommitter {
    options: SqliteConnectOptions,
    connection: SqliteConnection,
    fatal: watch::Sender<Option<String>>,
    checkpoints: Checkpoints,
    turns: Turns,
    /// Who waits for the disk; `None`: each commit does.
    waiters: Option<Waiters>,
}

impl SqliteCommitter {
    pub(super) async fn open(
        options: &SqliteConnectOptions,
        is_guest: bool,
        fatal: watch::Sender<Option<String>>,
    ) -> Result<Self, StoreError> {
        let open = |error| StoreError::from_sqlx("open the writer", error);
        // A transaction a request also waits by itself, or it would be compared with half of a group commit.
        let waits_apart = benching::commits() != Commits::Single;
        let own = if waits_apart {
            options.clone().synchronous(SqliteSynchronous::Normal)
        } else {
            options.clone()
        };
        let connection = own.connect().await.map_err(open)?;
        let checkpoints = Checkpoints::start(options, fatal.clone()).await.map_err(open)?;
        let file = options.get_filename();
        let turns = Turns::of(file, is_guest);
        let waiters = waits_apart.then(|| wait_sqlite::start(file, fatal.clone())).transpose();
        let waiters = waiters.map_err(|error| open(sqlx::Error::Io(error)))?;
        Ok(Self { options: own, connection, fatal, checkpoints, turns, waiters })
    }
}

/// Whether a write to the disk failed in a way after which nobody knows what the file holds: the file
/// system may show pages as written that are not, and SQLite would go on with them. A full disk is
/// none of these; it leaves the last commit as it was.
pub(super) fn is_fatal(error: &StoreError) -> bool {
    let detail = error.to_string();
    // SQLITE_IOERR_FSYNC 1034, _DIR_FSYNC 1290, _TRUNCATE 1546, SQLITE_CORRUPT 11.
    ["(1034)", "(1290)", "(1546)", "(11)"].iter().any(|code| detail.contains(code))
}

impl Transactions for SqliteCommitter {
    fn begin(&mut self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async {
            if let Some(reason) = self.fatal.borrow().clone() {
                // The process is about to end. Until then nobody gets a 2xx for what it can't vouch for.
                return Err(StoreError::Unavailable { statement: "begin", detail: reason });
            }
            self.turns.wait().await;
            let begun = Conn::sqlite(&mut self.connection).control("begin", "BEGIN IMMEDIATE").await;
            if begun.is_err() && self.connection.ping().await.is_err() {
                // The worker thread is gone; a new one finds the file as the last commit left it.
                self.connection =
                    self.options.connect().await.map_err(|error| StoreError::from_sqlx("reopen", error))?;
            }
            begun
        })
    }

    fn conn(&mut self) -> Result<Conn<'_>, StoreError> {
        Ok(Conn::sqlite(&mut self.connection))
    }

    fn commit(&mut self) -> BoxFuture<'_, Result<Kept, StoreError>> {
        Box::pin(async {
            let committed = Conn::sqlite(&mut self.connection).control("commit", "COMMIT").await;
            self.turns.ended();
            let Err(error) = committed else {
                self.checkpoints.after_commit(&mut self.connection).await;
                return Ok(match self.waiters {
                    Some(_) => Kept::OnceFlushed(wait_sqlite::SESSION),
                    None => Kept::Already,
                });
            };
            self.rollback().await;
            Err(StoreError::CommitUnknown { detail: error.to_string() })
        })
    }

    fn waiters(&self) -> Option<Waiters> {
        self.waiters.clone()
    }

    fn failed(&self, error: &StoreError) {
        if is_fatal(error) {
            self.fatal.send_replace(Some(error.to_string()));
        }
    }

    fn rollback(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            // SQLite rolls back by itself after some failures; then there is nothing left to roll back.
            let _ = Conn::sqlite(&mut self.connection).control("rollback", "ROLLBACK").await;
            self.turns.ended();
        })
    }

    // SQLite's planner takes the index that answers most of a condition, without statistics.
    fn grown(&mut self, _receipts: usize) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Pools;
    use crate::testing::TestStore;

    fn commit_failed(code: u32) -> StoreError {
        StoreError::CommitUnknown { detail: format!("commit: disk I/O error ({code})") }
    }

    #[tokio::test]
    async fn after_a_failed_fsync_nothing_is_begun_any_more() {
        let t = TestStore::sqlite().await;
        let Pools::Sqlite { writer, .. } = Pools::open(t.options()).await.unwrap() else { panic!("SQLite") };
        let (fatal, heard) = watch::channel(None);
        let mut committer = SqliteCommitter::open(&writer, false, fatal).await.unwrap();
        // A full disk (13), and a write that the system refused (778), leave the last commit as it was.
        for code in [13, 778] {
            committer.failed(&commit_failed(code));
            committer.begin().await.unwrap();
            committer.rollback().await;
            assert!(heard.borrow().is_none(), "{code}");
        }
        committer.failed(&commit_failed(1034));
        assert!(heard.borrow().as_ref().is_some_and(|reason| reason.contains("1034")));
        assert!(committer.begin().await.is_err());
    }
}
