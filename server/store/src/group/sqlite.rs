//! The committer's transactions on SQLite.

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _};
use tokio::sync::watch;

use super::Transactions;
use super::checkpoint::Checkpoints;
use crate::engine::{Conn, Host, StoreError};
use crate::store::BoxFuture;

/// The one connection that writes.
pub(super) struct SqliteCommitter {
    options: SqliteConnectOptions,
    connection: SqliteConnection,
    fatal: watch::Sender<Option<String>>,
    checkpoints: Checkpoints,
    host: Host,
}

impl SqliteCommitter {
    pub(super) async fn open(
        options: &SqliteConnectOptions,
        fatal: watch::Sender<Option<String>>,
    ) -> Result<Self, StoreError> {
        let open = |error| StoreError::from_sqlx("open the writer", error);
        let connection = options.connect().await.map_err(open)?;
        let checkpoints = Checkpoints::start(options).await.map_err(open)?;
        let host = Host::of(options.get_filename());
        Ok(Self { options: options.clone(), connection, fatal, checkpoints, host })
    }

    /// After a write to the disk has failed, the file system may show pages as written that are
    /// not; SQLite would go on with them. Stopping is the only answer that loses nothing.
    fn stop_if_the_disk_failed(&self, error: &StoreError) {
        let detail = error.to_string();
        // SQLITE_IOERR_FSYNC 1034, _DIR_FSYNC 1290, _WRITE 778, _TRUNCATE 1546, SQLITE_CORRUPT 11.
        if ["(1034)", "(1290)", "(1546)", "(11)"].iter().any(|code| detail.contains(code)) {
            self.fatal.send_replace(Some(detail));
        }
    }
}

impl Transactions for SqliteCommitter {
    fn begin(&mut self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async {
            self.host.make_room().await;
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

    fn commit(&mut self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async {
            let committed = Conn::sqlite(&mut self.connection).control("commit", "COMMIT").await;
            let Err(error) = committed else {
                self.checkpoints.after_commit(&mut self.connection).await;
                return Ok(());
            };
            self.stop_if_the_disk_failed(&error);
            self.rollback().await;
            Err(StoreError::CommitUnknown { detail: error.to_string() })
        })
    }

    fn rollback(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            // SQLite rolls back by itself after some failures; then there is nothing left to roll back.
            let _ = Conn::sqlite(&mut self.connection).control("rollback", "ROLLBACK").await;
        })
    }

    // SQLite's planner takes the index that answers most of a condition, without statistics.
    fn grown(&mut self, _receipts: usize) {}
}
