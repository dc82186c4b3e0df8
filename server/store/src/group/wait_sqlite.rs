//! Waiting for the disk on SQLite: the write-ahead log is flushed here instead of in each COMMIT.
//!
//! The writer runs with `synchronous=NORMAL`: SQLite writes a commit to the log and leaves out the flush that
//! `FULL` does there, and nothing else (sqlite.org/pragma.html#pragma_synchronous). This thread does that very
//! flush before anybody is answered, while the writer goes on with the next group. The flushes that keep the
//! database whole, before a checkpoint and after it, stay SQLite's own.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use tokio::sync::{mpsc, oneshot, watch};

use super::waiting::{Flushed, Waiters, Waiting, channel};
use crate::engine::StoreError;

/// The one session that there is: nobody else keeps the files of an embedded database.
pub(super) const SESSION: u64 = 0;

/// Starts the thread for a database's file, and gives the way to it. It ends with the last way to it.
///
/// The thread does nothing but flush. Callers are answered by a task of the runtime: it wakes them where they run,
/// while a thread from outside would have to rouse a worker for each of them.
pub(super) fn start(database: &Path, fatal: watch::Sender<Option<String>>) -> io::Result<Waiters> {
    let (waiters, waiting) = channel();
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    let mut log = Log { path: PathBuf::from(log), file: None };
    let (asks, asked) = std::sync::mpsc::channel::<oneshot::Sender<Result<u64, StoreError>>>();
    std::thread::Builder::new().name("flush".to_owned()).spawn(move || {
        while let Ok(ask) = asked.recv() {
            // Who asked is gone only when everything ends.
            let _ = ask.send(flush(&mut log, &fatal));
        }
    })?;
    tokio::spawn(run(waiting, asks));
    Ok(waiters)
}

async fn run(
    mut waiting: mpsc::Receiver<Waiting>,
    flusher: std::sync::mpsc::Sender<oneshot::Sender<Result<u64, StoreError>>>,
) {
    while let Some(first) = waiting.recv().await {
        let groups = Flushed::gather(first, &mut waiting);
        let done = if groups.is_empty() { Ok(SESSION) } else { flushed_by(&flusher).await };
        groups.answer(done).await;
    }
}

async fn flushed_by(
    flusher: &std::sync::mpsc::Sender<oneshot::Sender<Result<u64, StoreError>>>,
) -> Result<u64, StoreError> {
    let gone = || StoreError::CommitUnknown { detail: "the thread that flushes has ended".to_owned() };
    let (ask, answered) = oneshot::channel();
    flusher.send(ask).map_err(|_| gone())?;
    answered.await.map_err(|_| gone())?
}

/// After a failed flush nobody knows what the disk holds, and a later one that succeeds says nothing of it: the
/// system may have forgotten what it could not write (wiki.postgresql.org/wiki/Fsync_Errors).
fn flush(log: &mut Log, fatal: &watch::Sender<Option<String>>) -> Result<u64, StoreError> {
    if fatal.borrow().is_none()
        && let Err(error) = log.flush()
    {
        fatal.send_replace(Some(format!("the write-ahead log could not be flushed: {error}")));
    }
    match fatal.borrow().clone() {
        None => Ok(SESSION),
        Some(detail) => Err(StoreError::CommitUnknown { detail }),
    }
}

/// The write-ahead log. It is one file for as long as the database is open, which the writer keeps it; and SQLite
/// holds no lock on it that closing ours would give up, as it would on the database's own file.
struct Log {
    path: PathBuf,
    file: Option<File>,
}

impl Log {
    fn flush(&mut self) -> io::Result<()> {
        let file = match self.file.take() {
            Some(file) => file,
            // A file that can be written to, since some systems flush no other.
            None => File::options().write(true).open(&self.path)?,
        };
        let file = self.file.insert(file);
        if !is_same(file, &self.path)? {
            return Err(io::Error::other("the write-ahead log was replaced under a running server"));
        }
        file.sync_data()
    }
}

#[cfg(unix)]
fn is_same(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;

    let (ours, there) = (file.metadata()?, std::fs::metadata(path)?);
    Ok((ours.dev(), ours.ino()) == (there.dev(), there.ino()))
}

#[cfg(not(unix))]
fn is_same(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::waiting::Callers;

    async fn told(waiters: &Waiters) -> Result<(), StoreError> {
        let (answer, answered) = tokio::sync::oneshot::channel();
        let committed = crate::deliveries::Committed { receipts: Vec::new(), wake: Vec::new() };
        let callers = Callers { deliveries: vec![(answer, Ok(committed))], ..Callers::default() };
        assert!(waiters.send(Waiting::Group { callers, session: SESSION }).await.is_ok());
        answered.await.unwrap().map(drop)
    }

    #[tokio::test]
    async fn after_a_flush_that_failed_nobody_is_told_that_it_was_kept() {
        let folder = std::env::temp_dir().join(format!("restante-flush-{}", uuid::Uuid::now_v7()));
        std::fs::create_dir_all(&folder).unwrap();
        let (fatal, heard) = watch::channel(None);
        let waiters = start(&folder.join("restante.db"), fatal).unwrap();
        let log = folder.join("restante.db-wal");
        std::fs::write(&log, b"log").unwrap();
        told(&waiters).await.unwrap();
        // Another file in its place: what was written to the first is in none that has a name.
        std::fs::rename(&log, folder.join("away")).unwrap();
        std::fs::write(&log, b"log").unwrap();
        assert!(matches!(told(&waiters).await, Err(StoreError::CommitUnknown { .. })));
        assert!(heard.borrow().is_some());
        // As good as new, and still nobody knows.
        std::fs::rename(folder.join("away"), &log).unwrap();
        assert!(matches!(told(&waiters).await, Err(StoreError::CommitUnknown { .. })));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
