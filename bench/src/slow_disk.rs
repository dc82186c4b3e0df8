//! A disk that flushes slower than this machine's: a small library, compiled for the run, that lets
//! every measured program wait a little longer in `fsync` and `fdatasync`. A machine for development
//! often flushes in a tenth of a millisecond, a disk over a network in one to four, and how much a
//! group commit gains depends on just that.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::failure::{Result, While as _};
use crate::process;

const SOURCE: &str = include_str!("slow_disk.c");

/// From here on, every program that is started flushes slower by `extra`. Needs a C compiler.
pub(crate) fn slow_down(work_dir: &Path, extra: Duration) -> Result<()> {
    let (source, library) = (work_dir.join("slow_disk.c"), work_dir.join("slow_disk.so"));
    std::fs::write(&source, SOURCE)?;
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&library)
        .arg(&source)
        .arg("-ldl")
        .status()
        .could_not("start the C compiler `cc`")?;
    if !compiled.success() {
        return Err("the C compiler could not make the library that slows flushes down".into());
    }
    process::set_for_all("LD_PRELOAD", library.as_os_str());
    process::set_for_all("BENCH_FLUSH_EXTRA_MICROSECONDS", extra.as_micros().to_string().as_ref());
    Ok(())
}
