//! A command of the operator beside a busy server, on SQLite.
//!
//! SQLite's lock is fair to nobody: a server that commits one group after another leaves it free for
//! microseconds, and a second process that looks ten times a second may never find it so. Such a
//! process therefore leaves a file beside the database, and while it lies there the server waits a
//! moment between two groups.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long the server leaves the lock to a guest: a little more than SQLite's longest pause between
/// two looks at it (100 ms).
const PAUSE: Duration = Duration::from_millis(120);
/// An older file was left by a command that was killed.
const STAY_MAX: Duration = Duration::from_secs(60);

fn mark_of(database: &Path) -> PathBuf {
    let mut name = OsString::from(database.as_os_str());
    name.push("-guest");
    PathBuf::from(name)
}

/// The file of a guest, which goes with this.
#[derive(Debug)]
pub(crate) struct Guest {
    mark: PathBuf,
}

impl Guest {
    /// Asks the server for room. Without the file the guest still works, with more patience.
    pub(crate) fn announce(database: &Path) -> Self {
        let mark = mark_of(database);
        if let Err(error) = std::fs::write(&mark, b"") {
            tracing::warn!(error = %error, "the server can't be asked for room");
        }
        Self { mark }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        // A file that stays is ignored after a minute.
        let _ = std::fs::remove_file(&self.mark);
    }
}

/// The server's side.
#[derive(Debug)]
pub(crate) struct Host {
    mark: PathBuf,
}

impl Host {
    pub(crate) fn of(database: &Path) -> Self {
        Self { mark: mark_of(database) }
    }

    /// Waits a moment while there is a guest. Costs one look at the folder otherwise.
    pub(crate) async fn make_room(&self) {
        let Ok(file) = std::fs::metadata(&self.mark) else { return };
        let age = file.modified().ok().and_then(|since| since.elapsed().ok()).unwrap_or_default();
        if age < STAY_MAX {
            tokio::time::sleep(PAUSE).await;
        } else {
            let _ = std::fs::remove_file(&self.mark);
        }
    }
}
