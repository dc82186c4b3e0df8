//! A change of the master key file: one at a time, whole or not at all, with the mode and the owner that it
//! had. What is changed in it is the caller's.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use restante_core::seal::KeyFileText;

use super::master_file::{MasterKeyError, read_bytes, sync_folder_of};

/// How often a file is opened again that another command has just replaced.
const OPENED_MAX: usize = 100;

/// Changes the key file. An error of `change` leaves it as it was.
///
/// # Errors
/// When it can't be read, locked or replaced, and what `change` gives.
pub(super) fn change_file<T, E: From<MasterKeyError>>(
    path: &Path,
    change: impl FnOnce(&mut KeyFileText) -> Result<T, E>,
) -> Result<T, E> {
    let fixed = |cause| MasterKeyError::Fixed { path: path.to_path_buf(), cause };
    // A link stays a link, and what it points at is replaced.
    let real = fs::canonicalize(path).map_err(|cause| MasterKeyError::Io {
        path: path.to_path_buf(),
        verb: "read",
        cause,
    })?;
    let (lock, file) = open_locked(&real).map_err(fixed)?;
    let metadata = file.metadata().map_err(fixed)?;
    let bytes = read_bytes(path, file)?;
    let mut text = KeyFileText::read(&bytes)
        .map_err(|cause| MasterKeyError::Text { path: path.to_path_buf(), cause })?;
    let changed = change(&mut text)?;
    replace(&real, text.text().expose().as_bytes(), &metadata).map_err(fixed)?;
    drop(lock);
    Ok(changed)
}

/// Opens the file that stands under this name and locks it. Whoever held it before may have put another
/// file in its place, and then the lock is on one that nobody sees.
fn open_locked(path: &Path) -> io::Result<(File, File)> {
    for _ in 0..OPENED_MAX {
        let lock = File::open(path)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(io::Error::other("another command changes it now")),
            Err(TryLockError::Error(cause)) => return Err(cause),
        }
        let file = File::open(path)?;
        if is_same(&lock.metadata()?, &file.metadata()?) {
            return Ok((lock, file));
        }
    }
    Err(io::Error::other("other commands keep replacing it"))
}

#[cfg(unix)]
fn is_same(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same(_: &fs::Metadata, _: &fs::Metadata) -> bool {
    true
}

/// Writes a new file beside the old one, down to the disk, and puts it in its place.
fn replace(path: &Path, text: &[u8], old: &fs::Metadata) -> io::Result<()> {
    let beside = beside(path);
    // Left by a command that was killed; the lock says that nobody writes it now.
    match fs::remove_file(&beside) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(cause),
        _ => {}
    }
    let written = write_beside(&beside, text, old).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
        return written;
    }
    sync_folder_of(path)
}

fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(path.as_os_str());
    name.push(".new");
    PathBuf::from(name)
}

fn write_beside(path: &Path, text: &[u8], old: &fs::Metadata) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let mut file = options.open(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, fchown};
        let new = file.metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            fchown(&file, Some(old.uid()), Some(old.gid()))?;
        }
    }
    file.set_permissions(old.permissions())?;
    file.write_all(text)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;
    use crate::keys::read_master_keys;

    struct Folder(PathBuf);

    impl Folder {
        fn with(name: &str, mode: u32) -> Self {
            let path =
                std::env::temp_dir().join(format!("restante-key-change-{}-{name}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).unwrap();
            fs::write(path.join("key"), format!("# ours\n{}\n{}\n", "01".repeat(32), "02".repeat(32)))
                .unwrap();
            fs::set_permissions(path.join("key"), fs::Permissions::from_mode(mode)).unwrap();
            Self(path)
        }

        fn key(&self) -> PathBuf {
            self.0.join("key")
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn activate_last(path: &Path) -> Result<bool, MasterKeyError> {
        change_file(path, |text| {
            let last = text.ids().last().unwrap();
            Ok(text.activate(last))
        })
    }

    #[test]
    fn a_change_keeps_the_mode_and_leaves_nothing_beside_the_file() {
        for mode in [0o400, 0o600, 0o640] {
            let folder = Folder::with(&format!("mode-{mode:o}"), mode);
            let before: Vec<_> = read_master_keys(&folder.key()).ok().unwrap().ids().collect();
            assert!(activate_last(&folder.key()).unwrap());
            let after: Vec<_> = read_master_keys(&folder.key()).ok().unwrap().ids().collect();
            assert_eq!(after, [before[1], before[0]]);
            assert_eq!(fs::metadata(folder.key()).unwrap().permissions().mode() & 0o777, mode);
            assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
        }
    }

    #[test]
    fn a_refused_change_leaves_the_file_as_it_was() {
        let folder = Folder::with("refused", 0o600);
        let before = fs::read(folder.key()).unwrap();
        let refused = change_file(&folder.key(), |text| {
            text.ids().last().and_then(|last| text.remove(last)).unwrap();
            Err::<(), _>(MasterKeyError::NotAFile(PathBuf::new()))
        });
        assert!(refused.is_err());
        assert_eq!(fs::read(folder.key()).unwrap(), before);
    }

    #[test]
    fn a_link_stays_one_and_a_half_written_file_of_before_is_no_hindrance() {
        let folder = Folder::with("link", 0o600);
        let link = folder.0.join("link");
        symlink(folder.key(), &link).unwrap();
        fs::write(beside(&folder.key()), "half a k").unwrap();
        activate_last(&link).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(!beside(&folder.key()).exists());
        assert!(read_master_keys(&link).is_ok());
    }

    #[test]
    fn two_commands_do_not_change_it_at_once() {
        let folder = Folder::with("locked", 0o600);
        let held = File::open(folder.key()).unwrap();
        held.lock().unwrap();
        let error = activate_last(&folder.key()).unwrap_err().to_string();
        assert!(error.contains("another command"), "{error}");
        drop(held);
        activate_last(&folder.key()).unwrap();
    }
}
