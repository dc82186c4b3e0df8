//! The operator's master keys on disk: found, read only when nobody else can read them, and made
//! once, for an instance that holds nothing yet. The text of the file is `restante_core`'s matter.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use restante_core::seal::{KEY_FILE_BYTES_MAX, KeyFileError, KeyRing, read_key_file, write_key_file};
use restante_core::secret::Secret;
use zeroize::Zeroizing;

use crate::random::Random;

/// The file in the data folder when no other is named.
const FILE_NAME: &str = "master.key";

/// The master keys, and where they came from.
pub struct MasterKeys {
    /// The keys.
    pub ring: KeyRing,
    /// Their file.
    pub path: PathBuf,
    /// Whether it was made just now.
    pub created: bool,
}

/// Why there are no master keys. The texts say what to do, and hold nothing of a key.
#[derive(Debug, thiserror::Error)]
pub enum MasterKeyError {
    /// The file that was named is not there.
    #[error(
        "the master key file {0} is not there: mount it, or make one with `umask 077; openssl rand -hex 32 > {0}`"
    )]
    NamedIsMissing(PathBuf),
    /// The file in the data folder is gone, but not what was sealed with it.
    #[error(
        "the master key file {0} is not there, but the database holds data that is sealed with it: put the file \
         back from its copy, or name its place with RESTANTE_MASTER_KEY_FILE"
    )]
    Lost(PathBuf),
    /// Others may read or change it.
    #[error("the master key file {0} can be read or changed by others: run `chmod 600 {0}`")]
    Open(PathBuf),
    /// It is another user's.
    #[error("the master key file {0} belongs to another user: make it belong to the user that runs restante")]
    Foreign(PathBuf),
    /// It is no ordinary file, or larger than any key file.
    #[error("{0} is not a master key file: it has to be a file of at most {KEY_FILE_BYTES_MAX} bytes")]
    NotAFile(PathBuf),
    /// It can't be changed from here.
    #[error(
        "the master key file {path} can't be changed here ({cause}): change it where it comes from, as the manual \
         says under \"The master key\""
    )]
    Fixed {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// It can't be read or made.
    #[error("the master key file {path} can't be {verb}: {cause}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        verb: &'static str,
        /// What the system said.
        cause: io::Error,
    },
    /// Its text is not right.
    #[error("the master key file {path} can't be used: {cause}")]
    Text {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: KeyFileError,
    },
}

/// Loads the master keys from the file that the operator named, else from the data folder. There, and
/// only while the instance holds nothing sealed, a missing file is made.
///
/// A named file is never made: it is missing because a mount is, or on one of several nodes that
/// must all have the same.
///
/// # Errors
/// With a sentence for the operator.
pub fn load_master_keys(
    named: Option<&Path>,
    data_folder: &Path,
    instance_is_empty: bool,
    random: &dyn Random,
) -> Result<MasterKeys, MasterKeyError> {
    let path = named.map_or_else(|| data_folder.join(FILE_NAME), Path::to_path_buf);
    match File::open(&path) {
        Ok(file) => Ok(MasterKeys { ring: read(&path, file)?, path, created: false }),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
            if named.is_some() {
                Err(MasterKeyError::NamedIsMissing(path))
            } else if instance_is_empty {
                Ok(MasterKeys { ring: create(&path, random)?, path, created: true })
            } else {
                Err(MasterKeyError::Lost(path))
            }
        }
        Err(cause) => Err(MasterKeyError::Io { path, verb: "read", cause }),
    }
}

/// Reads the master keys from a file that is there.
///
/// # Errors
/// With a sentence for the operator.
pub fn read_master_keys(path: &Path) -> Result<KeyRing, MasterKeyError> {
    let file = File::open(path).map_err(|cause| MasterKeyError::Io {
        path: path.to_path_buf(),
        verb: "read",
        cause,
    })?;
    read(path, file)
}

fn read(path: &Path, file: File) -> Result<KeyRing, MasterKeyError> {
    let bytes = read_bytes(path, file)?;
    read_key_file(&bytes).map_err(|cause| MasterKeyError::Text { path: path.to_path_buf(), cause })
}

/// The bytes of a key file, when it is one and nobody else can read it.
pub(super) fn read_bytes(path: &Path, file: File) -> Result<Zeroizing<Vec<u8>>, MasterKeyError> {
    let failed = |cause| MasterKeyError::Io { path: path.to_path_buf(), verb: "read", cause };
    // The open file is looked at, not the path, which might be another file by now.
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() || metadata.len() > KEY_FILE_BYTES_MAX {
        return Err(MasterKeyError::NotAFile(path.to_path_buf()));
    }
    check_owner(path, &metadata)?;
    let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default()));
    file.take(KEY_FILE_BYTES_MAX).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// Read for the group is allowed: secrets that systemd and Kubernetes hand to a service have it.
#[cfg(unix)]
fn check_owner(path: &Path, metadata: &std::fs::Metadata) -> Result<(), MasterKeyError> {
    use std::os::unix::fs::MetadataExt;

    if metadata.mode() & 0o037 != 0 {
        return Err(MasterKeyError::Open(path.to_path_buf()));
    }
    // Where /proc is missing, the mode has to do.
    let own = std::fs::metadata("/proc/self").map(|process| process.uid()).ok();
    if metadata.uid() != 0 && own.is_some_and(|own| own != metadata.uid()) {
        return Err(MasterKeyError::Foreign(path.to_path_buf()));
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_owner(_: &Path, _: &std::fs::Metadata) -> Result<(), MasterKeyError> {
    Ok(())
}

fn create(path: &Path, random: &dyn Random) -> Result<KeyRing, MasterKeyError> {
    let text = write_key_file(&Secret::new(random.bytes()));
    write_new(path, text.expose().as_bytes()).map_err(|cause| MasterKeyError::Io {
        path: path.to_path_buf(),
        verb: "made",
        cause,
    })?;
    // What was written is what counts from now on, so that is what is used.
    read_master_keys(path)
}

/// Writes a file that must not be there yet, down to the disk: what is sealed later must not outlive
/// its key.
pub(super) fn write_new(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut file = options.open(path)?;
    let written = file.write_all(text).and_then(|()| file.sync_all());
    if written.is_err() {
        // Half a key file would stand in the way of the next start.
        let _ = std::fs::remove_file(path);
        return written;
    }
    sync_folder_of(path)
}

/// The entry of a file is on disk only when its folder is.
pub(super) fn sync_folder_of(path: &Path) -> io::Result<()> {
    match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;
    use std::sync::atomic::{AtomicU32, Ordering};

    use crate::random::SystemRandom;

    /// A folder of its own for each test, which goes with it.
    struct Folder(PathBuf);

    impl Folder {
        fn new() -> Self {
            static NEXT: AtomicU32 = AtomicU32::new(0);
            let number = NEXT.fetch_add(1, Ordering::SeqCst);
            let path = std::env::temp_dir().join(format!("restante-keys-{}-{number}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn write(&self, name: &str, text: &str, mode: u32) -> PathBuf {
            let path = self.0.join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            path
        }

        fn load(&self, named: Option<&Path>, empty: bool) -> Result<MasterKeys, MasterKeyError> {
            load_master_keys(named, &self.0.join("data"), empty, &SystemRandom)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn key(byte: &str) -> String {
        byte.repeat(32)
    }

    #[test]
    fn the_first_start_makes_a_key_for_the_owner_alone_and_the_next_one_finds_it() {
        let folder = Folder::new();
        let made = folder.load(None, true).ok().unwrap();
        assert!(made.created);
        let mode = fs::metadata(&made.path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        for empty in [true, false] {
            let found = folder.load(None, empty).ok().unwrap();
            assert!(!found.created);
            assert_eq!(found.ring.active_id(), made.ring.active_id());
        }
    }

    #[test]
    fn a_lost_key_is_never_replaced_once_something_is_sealed() {
        let folder = Folder::new();
        let error = folder.load(None, false).err().unwrap();
        assert!(matches!(error, MasterKeyError::Lost(_)));
        assert!(error.to_string().contains("RESTANTE_MASTER_KEY_FILE"), "{error}");
        assert!(!folder.0.join("data").exists());
    }

    #[test]
    fn a_named_file_is_used_and_never_made() {
        let folder = Folder::new();
        let path = folder.write("named", &key("a1"), 0o400);
        assert_eq!(folder.load(Some(&path), false).ok().unwrap().path, path);
        let missing = folder.0.join("missing");
        assert!(matches!(folder.load(Some(&missing), true), Err(MasterKeyError::NamedIsMissing(_))));
        assert!(!missing.exists());
    }

    #[test]
    fn a_file_that_others_can_read_or_change_is_refused_with_the_command_that_mends_it() {
        let folder = Folder::new();
        for mode in [0o604, 0o644, 0o666, 0o620, 0o602, 0o601] {
            let path = folder.write("open", &key("a1"), mode);
            let error = folder.load(Some(&path), false).err().unwrap();
            assert!(matches!(error, MasterKeyError::Open(_)), "{mode:o}");
            assert!(error.to_string().ends_with(&format!("chmod 600 {}`", path.display())), "{error}");
            fs::remove_file(path).unwrap();
        }
        for mode in [0o600, 0o400, 0o440, 0o640] {
            let path = folder.write("closed", &key("a1"), mode);
            assert!(folder.load(Some(&path), false).is_ok(), "{mode:o}");
            fs::remove_file(path).unwrap();
        }
    }

    #[test]
    fn what_is_no_key_file_is_refused_without_showing_it() {
        let folder = Folder::new();
        let path = folder.write("wrong", &format!("{}\nhunter2", key("a1")), 0o600);
        let error = folder.load(Some(&path), false).err().unwrap().to_string();
        assert!(error.contains("line 2") && !error.contains("hunter2"), "{error}");
        let large = folder.write("large", &"#".repeat(65 * 1024), 0o600);
        for no_file in [&large, &folder.0] {
            assert!(matches!(folder.load(Some(no_file), false), Err(MasterKeyError::NotAFile(_))));
        }
        let empty = folder.write("empty", "", 0o600);
        assert!(matches!(folder.load(Some(&empty), false), Err(MasterKeyError::Text { .. })));
    }

    #[test]
    fn a_file_that_appears_meanwhile_is_not_overwritten() {
        let folder = Folder::new();
        let path = folder.write("there", &key("a1"), 0o600);
        assert!(matches!(create(&path, &SystemRandom), Err(MasterKeyError::Io { verb: "made", .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), key("a1"));
    }
}
