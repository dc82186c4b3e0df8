//! The machine that a run ran on, in one paragraph: figures mean nothing without it.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::failure::Result;

const SYNCS: u32 = 200;

/// Processor, memory, kernel, disk and programs, as Markdown lines.
pub(crate) fn describe(work_dir: &Path, postgres: &str) -> Result<Vec<String>> {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = field(&cpu, "model name").unwrap_or("unknown processor");
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kibibytes: f64 = field(&memory, "MemTotal")
        .and_then(|value| value.split(' ').next())
        .and_then(|value| value.parse().ok())
        .unwrap_or(0.0);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let hypervisor = if cpu.contains(" hypervisor") { ", a virtual machine" } else { "" };
    Ok(vec![
        format!(
            "- {cores} cores of {model}{hypervisor}, {:.0} GiB memory, Linux {}",
            kibibytes / 1024.0 / 1024.0,
            kernel.trim()
        ),
        format!(
            "- {} file system; a 4 KiB write with fdatasync takes {:.2} ms (median of {SYNCS})",
            file_system(work_dir),
            sync_ms(work_dir)?
        ),
        format!("- {postgres}"),
        format!("- Node.js {}", version("node")),
    ])
}

/// The median time of a small synced write: the price of a commit that goes alone.
fn sync_ms(work_dir: &Path) -> Result<f64> {
    let path = work_dir.join("sync-probe");
    let mut file = File::create(&path)?;
    let mut taken = Vec::new();
    for _ in 0..SYNCS {
        let begun = Instant::now();
        file.write_all(&[7; 4096])?;
        file.sync_data()?;
        taken.push(begun.elapsed().as_secs_f64() * 1000.0);
    }
    fs::remove_file(path)?;
    taken.sort_by(f64::total_cmp);
    Ok(taken[taken.len() / 2])
}

fn file_system(path: &Path) -> String {
    let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
    mounts
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(' ').skip(1);
            Some((fields.next()?, fields.next()?))
        })
        .filter(|(mounted_at, _)| path.starts_with(mounted_at))
        .max_by_key(|(mounted_at, _)| mounted_at.len())
        .map_or_else(|| "unknown".into(), |(_, kind)| kind.to_owned())
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_once(':').map(|(_, value)| value.trim())
}

fn version(program: &str) -> String {
    let output = Command::new(program).arg("--version").output();
    output
        .map_or_else(|_| "unknown".into(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
