//! A copy of an SQLite database, taken while it is served. It is of one moment, lies on the disk when this is
//! over, and says of itself that it is a copy.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use restante_core::time::Timestamp;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, Row as _};

use crate::engine::StoreError;

/// How long a copy waits for a lock of the server's.
const BUSY_MAX: Duration = Duration::from_secs(15);

/// Why there is no copy. Nothing is left of what was begun.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// There is something already.
    #[error(
        "{0} is there already: a backup never replaces one. Name another file, as with the date in its name"
    )]
    Exists(PathBuf),
    /// The file of a copy that was cut off.
    #[error(
        "{0} is there: another backup is being written, or was cut off. In the second case remove that file"
    )]
    Partial(PathBuf),
    /// The database has faults, or the copy has.
    #[error("the copy is not sound, and was removed: {0}. Run `restante check`")]
    Unsound(String),
    /// The file system.
    #[error("{path} can't be written: {cause}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn failed(step: &'static str) -> impl FnOnce(sqlx::Error) -> BackupError {
    move |error| BackupError::Store(StoreError::from_sqlx(step, error))
}

/// Copies the database in `from` to the new file `to`; gives its size in bytes.
///
/// # Errors
/// When `to` is there already, and when the copy is not whole, sound and on the disk.
pub async fn backup_sqlite(from: &Path, to: &Path, at: Timestamp) -> Result<u64, BackupError> {
    if fs::symlink_metadata(to).is_ok() {
        return Err(BackupError::Exists(to.to_path_buf()));
    }
    let mut partial = OsString::from(to.as_os_str());
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    let io_at = |path: &Path| {
        let path = path.to_path_buf();
        move |cause| BackupError::Io { path, cause }
    };
    // SQLite copies into an empty file as well, and this one is nobody else's from its first byte on.
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&partial) {
        Ok(_) => {}
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
            return Err(BackupError::Partial(partial));
        }
        Err(cause) => return Err(io_at(&partial)(cause)),
    }
    let written = async {
        copy(from, &partial).await?;
        finish(&partial, at).await?;
        let file = File::open(&partial).map_err(io_at(&partial))?;
        file.sync_all().map_err(io_at(&partial))?;
        // Unlike a rename, a link never replaces what came there meanwhile.
        fs::hard_link(&partial, to).map_err(io_at(to))?;
        fs::remove_file(&partial).map_err(io_at(&partial))?;
        let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(io_at(folder))?;
        file.metadata().map(|metadata| metadata.len()).map_err(io_at(to))
    };
    let written = written.await;
    if written.is_err() {
        let _ = fs::remove_file(&partial);
    }
    written
}

async fn copy(from: &Path, to: &Path) -> Result<(), BackupError> {
    let source = SqliteConnectOptions::new().filename(from).read_only(true).busy_timeout(BUSY_MAX);
    let mut source = source.connect().await.map_err(failed("open SQLite"))?;
    let name = to.to_str().ok_or_else(|| BackupError::Io {
        path: to.to_path_buf(),
        cause: io::Error::other("its name is not UTF-8"),
    })?;
    // One read transaction: the copy is of the moment at which it began, whatever is written meanwhile.
    let copied = sqlx::query::<sqlx::Sqlite>("VACUUM INTO ?1").bind(name).execute(&mut source).await;
    let closed = source.close().await;
    copied.map_err(failed("copy"))?;
    closed.map_err(failed("close SQLite"))
}

/// Marks the copy as one, and looks whether it is sound.
async fn finish(path: &Path, at: Timestamp) -> Result<(), BackupError> {
    let options = SqliteConnectOptions::new()
        .filename(path)
        // One file, with nothing beside it.
        .journal_mode(SqliteJournalMode::Delete)
        .synchronous(SqliteSynchronous::Full);
    let mut connection = options.connect().await.map_err(failed("open the copy"))?;
    let mark = "INSERT INTO instance (name, value) VALUES ('backup_taken_at', ?1)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    let marked =
        sqlx::query::<sqlx::Sqlite>(mark).bind(at.micros().to_string()).execute(&mut connection).await;
    marked.map_err(failed("mark the copy"))?;
    let faults = integrity(&mut connection).await?;
    connection.close().await.map_err(failed("close the copy"))?;
    match faults.first() {
        None => Ok(()),
        Some(fault) => Err(BackupError::Unsound(fault.clone())),
    }
}

/// What SQLite finds wrong with a database, a few lines at most.
pub(crate) async fn integrity(connection: &mut SqliteConnection) -> Result<Vec<String>, StoreError> {
    let failed = |error| StoreError::from_sqlx("check the database", error);
    let rows = sqlx::query::<sqlx::Sqlite>("PRAGMA integrity_check(20)")
        .fetch_all(&mut *connection)
        .await
        .map_err(failed)?;
    let mut faults: Vec<String> = rows.iter().filter_map(|row| row.try_get::<String, _>(0).ok()).collect();
    faults.retain(|line| line != "ok");
    let broken =
        sqlx::query::<sqlx::Sqlite>("SELECT \"table\", parent FROM pragma_foreign_key_check LIMIT 20");
    for row in broken.fetch_all(&mut *connection).await.map_err(failed)? {
        let name = |at: usize| row.try_get::<String, _>(at).unwrap_or_default();
        faults.push(format!("a row of {} refers to a row of {} that is not there", name(0), name(1)));
    }
    Ok(faults)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::engine::Url;
    use crate::testing::{START, TestStore};

    fn files(t: &TestStore) -> (PathBuf, PathBuf) {
        let Url::Sqlite(from) = &t.options().url else { panic!("SQLite") };
        (from.clone(), from.with_file_name("copy.db"))
    }

    #[tokio::test]
    async fn a_copy_is_whole_its_owners_alone_and_marked() {
        let t = TestStore::sqlite().await;
        t.execute("INSERT INTO instance (name, value) VALUES ('a', 'b')").await;
        let (from, to) = files(&t);
        let bytes = backup_sqlite(&from, &to, START).await.unwrap();
        let metadata = fs::metadata(&to).unwrap();
        assert_eq!((metadata.len(), metadata.permissions().mode() & 0o777), (bytes, 0o600));
        let options = SqliteConnectOptions::new().filename(&to).read_only(true);
        let mut copy = options.connect().await.unwrap();
        let count =
            sqlx::query::<sqlx::Sqlite>("SELECT COUNT(*) FROM instance").fetch_one(&mut copy).await.unwrap();
        assert_eq!(count.get::<i64, _>(0), 2, "what was there, and the mark");
        assert_eq!(t.count("instance").await, 1, "the database itself has no mark");
        let leavings = fs::read_dir(to.parent().unwrap()).unwrap().filter_map(Result::ok);
        assert!(!leavings.into_iter().any(|entry| entry.file_name().to_string_lossy().contains("copy.db.")));
    }

    #[tokio::test]
    async fn a_copy_replaces_nothing() {
        let t = TestStore::sqlite().await;
        let (from, to) = files(&t);
        fs::write(&to, "mine").unwrap();
        assert!(matches!(backup_sqlite(&from, &to, START).await, Err(BackupError::Exists(_))));
        assert_eq!(fs::read(&to).unwrap(), b"mine");
        let other = to.with_file_name("other.db");
        fs::write(to.with_file_name("other.db.partial"), "").unwrap();
        assert!(matches!(backup_sqlite(&from, &other, START).await, Err(BackupError::Partial(_))));
        assert!(!other.exists());
    }

    #[tokio::test]
    async fn of_a_database_that_is_none_nothing_is_left() {
        let t = TestStore::sqlite().await;
        let (from, to) = files(&t);
        let none = from.with_file_name("none.db");
        assert!(backup_sqlite(&none, &to, START).await.is_err());
        fs::write(&none, "no database at all, and long enough to be looked at").unwrap();
        assert!(backup_sqlite(&none, &to, START).await.is_err());
        assert!(!to.exists() && !to.with_file_name("copy.db.partial").exists());
    }
}
