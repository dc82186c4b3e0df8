//! Checkpoints of SQLite's write-ahead log, kept out of the way of commits.
//!
//! Left to itself, SQLite copies the log into the database inside whichever commit makes it too long,
//! and every sender of that group waits for it. Here a second connection copies in the background; the
//! writer only finishes the short rest between two groups, which lets the log begin anew.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Row as _};
use tokio::sync::{Notify, watch};

use super::sqlite::is_fatal;
use crate::engine::StoreError;

/// Commits after which the background connection looks at the log.
const LOOK_AFTER_COMMITS: u32 = 32;
/// Pages in the log (4 KiB each) from which on the writer lets it begin anew.
const LOG_PAGES_MAX: i64 = 4_000;

/// What the writer and the background connection share.
pub(super) struct Checkpoints {
    shared: Arc<Shared>,
    commits: u32,
    fatal: watch::Sender<Option<String>>,
}

#[derive(Default)]
struct Shared {
    look: Notify,
    rest_is_due: AtomicBool,
}

impl Checkpoints {
    /// Opens the background connection and starts copying.
    pub(super) async fn start(
        options: &SqliteConnectOptions,
        fatal: watch::Sender<Option<String>>,
    ) -> Result<Self, sqlx::Error> {
        let connection = options.connect().await?;
        let shared = Arc::<Shared>::default();
        tokio::spawn(copy(connection, Arc::downgrade(&shared), fatal.clone()));
        Ok(Self { shared, commits: 0, fatal })
    }

    /// Called by the writer after each commit.
    pub(super) async fn after_commit(&mut self, writer: &mut SqliteConnection) {
        self.commits += 1;
        if self.commits >= LOOK_AFTER_COMMITS {
            self.commits = 0;
            self.shared.look.notify_one();
        }
        if self.shared.rest_is_due.swap(false, Ordering::Relaxed) {
            checkpoint(writer, &self.fatal).await;
        }
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        // Wakes the background task, which then finds that nobody needs it.
        self.shared.look.notify_one();
    }
}

async fn copy(
    mut connection: SqliteConnection,
    shared: std::sync::Weak<Shared>,
    fatal: watch::Sender<Option<String>>,
) {
    loop {
        let Some(held) = shared.upgrade() else { return };
        let looked = async { held.look.notified().await };
        looked.await;
        if Arc::strong_count(&held) == 1 {
            return;
        }
        if checkpoint(&mut connection, &fatal).await >= LOG_PAGES_MAX {
            held.rest_is_due.store(true, Ordering::Relaxed);
        }
    }
}

/// Copies what no reader holds back; gives the length of the log in pages. A failure does no harm:
/// the log goes on growing until the next one works, and a full disk shows at the next commit. After
/// a failed fsync alone nobody knows what the disk holds.
async fn checkpoint(connection: &mut SqliteConnection, fatal: &watch::Sender<Option<String>>) -> i64 {
    let done = sqlx::query("PRAGMA wal_checkpoint(PASSIVE)").fetch_one(connection).await;
    match done.and_then(|row| row.try_get::<i64, _>(1)) {
        Ok(pages) => pages,
        Err(error) => {
            let error = StoreError::from_sqlx("checkpoint", error);
            tracing::warn!(error = %error, "a checkpoint failed");
            if is_fatal(&error) {
                fatal.send_replace(Some(error.to_string()));
            }
            0
        }
    }
}
