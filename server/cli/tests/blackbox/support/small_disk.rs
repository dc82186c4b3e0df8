//! A disk that can be filled.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A small file system in memory, over a folder. It goes with this.
pub(crate) struct SmallDisk {
    folder: PathBuf,
    bytes: usize,
}

impl SmallDisk {
    /// Needs the right to mount, which root has outside of most containers.
    pub(crate) fn over(folder: &Path, bytes: usize) -> Option<Self> {
        let size = format!("size={bytes}");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder);
        let mounted = mount.output().is_ok_and(|said| said.status.success());
        mounted.then(|| Self { folder: folder.to_path_buf(), bytes })
    }

    fn ballast(&self) -> PathBuf {
        self.folder.join("ballast")
    }

    /// Leaves no room.
    pub(crate) fn fill(&self) {
        let mut file = fs::File::create(self.ballast()).expect("a file");
        let block = [0x42; 4_096];
        for _ in 0..=self.bytes / block.len() {
            if file.write_all(&block).is_err() {
                return;
            }
        }
        panic!("the disk is larger than it was made");
    }

    /// Gives back what [`fill`](Self::fill) took.
    pub(crate) fn make_room(&self) {
        fs::remove_file(self.ballast()).expect("the ballast is there");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily, since the log of a server may still be open.
        let _ = Command::new("umount").arg("-l").arg(&self.folder).status();
    }
}
