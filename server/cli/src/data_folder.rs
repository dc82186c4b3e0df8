//! The data folder: made when it is missing, for its owner alone, on a disk that keeps what is
//! written, and used by one server at a time.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::say;

/// Nobody else may look into the folder or read its files.
const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
const LOCK_FILE: &str = "server.lock";

/// Held by a server for as long as it uses the folder.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

/// Makes the folder when it is missing.
///
/// # Errors
/// When it can't be made or is no folder.
pub(crate) fn make(folder: &Path) -> Result<(), Failure> {
    if folder.is_dir() {
        return Ok(());
    }
    fs::DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder).map_err(|error| {
        Failure::new(format!(
            "The data folder {} can't be made: {error}. RESTANTE_DATA_DIR names another place.",
            folder.display()
        ))
    })
}

/// Makes the database's file when it is missing, so that it is its owner's alone from the first
/// byte on. SQLite gives the files beside it the same mode.
///
/// # Errors
/// When the file can't be made or its mode not be set.
pub(crate) fn make_database_file(path: &Path) -> Result<(), Failure> {
    let failed =
        |error: io::Error| Failure::new(format!("The database {} can't be opened: {error}.", path.display()));
    let file = OpenOptions::new().create(true).append(true).mode(FILE_MODE).open(path).map_err(failed)?;
    let mode = file.metadata().map_err(failed)?.permissions().mode();
    if mode & 0o077 != 0 {
        file.set_permissions(Permissions::from_mode(FILE_MODE)).map_err(failed)?;
    }
    Ok(())
}

/// Takes the folder for one server.
///
/// # Errors
/// When another server has it.
pub(crate) fn lock(folder: &Path) -> Result<Lock, Failure> {
    let path = folder.join(LOCK_FILE);
    let failed =
        |error: io::Error| Failure::new(format!("The file {} can't be locked: {error}.", path.display()));
    let file = OpenOptions::new().create(true).append(true).mode(FILE_MODE).open(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(Lock { _file: file }),
        Err(fs::TryLockError::WouldBlock) => Err(Failure::new(format!(
            "Another restante serves from {}. An SQLite database is for one server; stop that one, name another \
             folder with RESTANTE_DATA_DIR, or use PostgreSQL for several servers.",
            folder.display()
        ))),
        Err(fs::TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// Refuses a folder whose file system may lose what was written, unless that is allowed.
///
/// # Errors
/// On memory and network file systems.
pub(crate) fn check_durable(folder: &Path, allow_volatile: bool) -> Result<(), Failure> {
    // Where the system doesn't tell, nothing is refused.
    let Ok(mounts) = fs::read_to_string("/proc/self/mountinfo") else { return Ok(()) };
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    let Some(kind) = file_system(&mounts, &folder) else { return Ok(()) };
    let Some(why) = why_volatile(&kind) else { return Ok(()) };
    let what = format!("The data folder {} is on {kind}: {why}.", folder.display());
    if allow_volatile {
        say::note(&format!(
            "Warning: {what} RESTANTE_ALLOW_VOLATILE allows it; do this where losing events does no harm."
        ));
        return Ok(());
    }
    Err(Failure::new(format!(
        "{what} Name a folder on a local disk with RESTANTE_DATA_DIR, or set RESTANTE_ALLOW_VOLATILE=1 where losing \
         events does no harm."
    )))
}

fn why_volatile(kind: &str) -> Option<&'static str> {
    match kind {
        "tmpfs" | "ramfs" => Some("what is written there goes when the machine stops"),
        "nfs" | "nfs4" | "cifs" | "smb3" | "smbfs" | "afs" | "ceph" | "9p" | "fuse.sshfs"
        | "fuse.glusterfs" => {
            Some("a network file system keeps neither the locks nor the order of writes that SQLite rests on")
        }
        _ => None,
    }
}

/// The kind of the file system that holds a path: that of the longest mount point above it, and of
/// several at one point the last (proc_pid_mountinfo(5)).
fn file_system(mounts: &str, path: &Path) -> Option<String> {
    let mut found: Option<(usize, String)> = None;
    for line in mounts.lines() {
        let Some((before, after)) = line.split_once(" - ") else { continue };
        let Some(point) = before.split(' ').nth(4).map(unescaped) else { continue };
        let Some(kind) = after.split(' ').next() else { continue };
        let length = point.as_os_str().len();
        if path.starts_with(&point) && found.as_ref().is_none_or(|(longest, _)| length >= *longest) {
            found = Some((length, kind.to_owned()));
        }
    }
    found.map(|(_, kind)| kind)
}

/// Blanks and backslashes of a mount point are written as three octal digits.
fn unescaped(text: &str) -> PathBuf {
    let [space, tab, newline, backslash] = ["\\040", "\\011", "\\012", "\\134"];
    text.replace(space, " ").replace(tab, "\t").replace(newline, "\n").replace(backslash, "\\").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 28 0:21 / /sys rw,nosuid - sysfs sysfs rw
28 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
40 28 0:35 / /tmp rw - tmpfs tmpfs rw
41 40 0:36 / /tmp/with\\040space rw - nfs4 server:/x rw
42 28 0:37 / /over rw - ext4 /dev/vdb rw
43 28 0:38 / /over rw master:2 propagate_from:3 - tmpfs tmpfs rw
rubbish
";

    fn kind(path: &str) -> Option<String> {
        file_system(MOUNTS, Path::new(path))
    }

    #[test]
    fn the_longest_mount_point_above_a_path_counts() {
        assert_eq!(kind("/var/lib/restante").as_deref(), Some("ext4"));
        assert_eq!(kind("/tmp/data").as_deref(), Some("tmpfs"));
        assert_eq!(kind("/tmpdata").as_deref(), Some("ext4"));
        assert_eq!(kind("/tmp/with space/data").as_deref(), Some("nfs4"));
        assert_eq!(kind("/over/data").as_deref(), Some("tmpfs"));
        assert_eq!(file_system("", Path::new("/x")), None);
    }

    #[test]
    fn memory_and_network_are_volatile_and_disks_are_not() {
        for kind in ["tmpfs", "nfs4", "cifs"] {
            assert!(why_volatile(kind).is_some(), "{kind}");
        }
        for kind in ["ext4", "xfs", "btrfs", "zfs", "overlay"] {
            assert!(why_volatile(kind).is_none(), "{kind}");
        }
    }

    #[test]
    fn a_folder_is_its_owners_alone_and_for_one_server() {
        let mut random = [0_u8; 8];
        getrandom::fill(&mut random).unwrap();
        let top = std::env::temp_dir().join(format!("restante-folder-{}", hex::encode(random)));
        let folder = top.join("deep/data");
        make(&folder).unwrap();
        make(&folder).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder), 0o700);
        let database = folder.join("restante.db");
        fs::write(&database, "").unwrap();
        fs::set_permissions(&database, Permissions::from_mode(0o644)).unwrap();
        make_database_file(&database).unwrap();
        assert_eq!(mode(&database), 0o600);
        let held = lock(&folder).unwrap();
        let refused = lock(&folder).unwrap_err().to_string();
        assert!(refused.contains("RESTANTE_DATA_DIR"), "{refused}");
        drop(held);
        lock(&folder).unwrap();
        fs::remove_dir_all(&top).unwrap();
    }
}
