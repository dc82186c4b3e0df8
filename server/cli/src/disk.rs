//! How much room is left where the database lies, as the operating system tells it.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use restante_app::administration::health::DiskSpace;

/// The room of the file system that a path is on; `None` when that can't be told.
#[expect(unsafe_code, reason = "the standard library does not tell the room of a file system")]
pub(crate) fn space(path: &Path) -> Option<DiskSpace> {
    let path = CString::new(path.as_os_str().as_bytes()).ok()?;
    let mut told = std::mem::MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: the path ends in NUL and lives through the call, which fills the whole of `told` when it gives 0.
    let told = unsafe {
        if libc::statvfs(path.as_ptr(), told.as_mut_ptr()) != 0 {
            return None;
        }
        told.assume_init()
    };
    let block = told.f_frsize as u64;
    // What is kept for root is no room for this program.
    Some(DiskSpace {
        free: (told.f_bavail as u64).saturating_mul(block),
        total: (told.f_blocks as u64).saturating_mul(block),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_room_and_nothing_has_none() {
        let told = space(&std::env::temp_dir()).unwrap();
        assert!(told.total > 0 && told.free <= told.total);
        assert_eq!(space(Path::new("/nothing/of/this/name")), None);
    }
}
