//! The processes of a run: started with their output in a file, stopped when the run ends or is interrupted, and
//! asked what processor time and memory they took.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::{Result, While as _};

/// Clock ticks a second in /proc; Linux shows 100 whatever the kernel's own tick is.
const TICKS_A_SECOND: f64 = 100.0;
/// A machine that works no more than this beside a run is idle: the kernel's own threads take some.
pub(crate) const OTHER_CORES_MAX: f64 = 0.2;
const IDLE_SAMPLE: Duration = Duration::from_millis(250);
/// Time to stop in before a process is killed.
const STOP_WITHIN: Duration = Duration::from_secs(15);

/// What must be stopped when a person interrupts the run.
static RUNNING: Mutex<Vec<u32>> = Mutex::new(Vec::new());
static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Variables that every process gets.
static VARIABLES: Mutex<Vec<(&'static str, OsString)>> = Mutex::new(Vec::new());

/// Sets a variable for every process that is started from here on.
pub(crate) fn set_for_all(name: &'static str, value: &OsStr) {
    VARIABLES.lock().unwrap_or_else(PoisonError::into_inner).push((name, value.to_owned()));
}

/// A process of this run; stopped when it is dropped.
pub(crate) struct Process {
    name: String,
    child: Child,
    stop_signal: &'static str,
}

impl Process {
    /// Starts `command`, its standard output and error in `log`, its input closed.
    pub(crate) fn start(name: &str, command: &mut Command, log: &Path) -> Result<Self> {
        let file = File::create(log).could_not(format!("write {}", log.display()))?;
        command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        command.envs(VARIABLES.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned());
        let child = command.spawn().could_not(format!("start {name} ({:?})", command.get_program()))?;
        running().push(child.id());
        Ok(Self { name: name.to_owned(), child, stop_signal: "-TERM" })
    }

    /// Stops it by this signal rather than SIGTERM.
    pub(crate) fn stopped_by(mut self, signal: &'static str) -> Self {
        self.stop_signal = signal;
        self
    }

    /// The process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until `is_up` says so; an error when the process ends or takes longer than `limit`.
    pub(crate) fn wait_until_up(
        &mut self,
        limit: Duration,
        log: &Path,
        mut is_up: impl FnMut() -> bool,
    ) -> Result<()> {
        let begun = Instant::now();
        loop {
            if is_up() {
                return Ok(());
            }
            let ended = self.child.try_wait()?;
            if ended.is_some() || begun.elapsed() > limit {
                let said = fs::read_to_string(log).unwrap_or_default();
                let tail: Vec<_> = said.lines().rev().take(20).collect();
                let tail: Vec<_> = tail.into_iter().rev().collect();
                let how = ended
                    .map_or_else(|| "did not come up in time".into(), |status| format!("ended: {status}"));
                return Err(format!("{} {how}\n{}", self.name, tail.join("\n")).into());
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn stop(&mut self) {
        signal(self.stop_signal, &[self.id()]);
        let begun = Instant::now();
        while begun.elapsed() < STOP_WITHIN {
            match self.child.try_wait() {
                Ok(None) => thread::sleep(Duration::from_millis(20)),
                Ok(Some(_)) | Err(_) => break,
            }
        }
        // Does nothing to a process that has ended.
        drop(self.child.kill());
        drop(self.child.wait());
        let id = self.id();
        running().retain(|running| *running != id);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop();
    }
}

fn running() -> std::sync::MutexGuard<'static, Vec<u32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn signal(signal: &str, ids: &[u32]) {
    let ids = ids.iter().map(u32::to_string);
    drop(Command::new("kill").arg(signal).args(ids).stderr(Stdio::null()).status());
}

/// On an interrupt: stops every process of the run, removes its folder and ends with exit status 130.
pub(crate) fn stop_all_when_interrupted(work_dir: &Path) -> Result<()> {
    let work_dir = work_dir.to_owned();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    thread::Builder::new().name("interrupt".into()).spawn(move || {
        let interrupted = runtime.block_on(async {
            use tokio::signal::unix::{SignalKind, signal};
            let mut terminate = signal(SignalKind::terminate())?;
            tokio::select! {
                asked = tokio::signal::ctrl_c() => asked,
                _ = terminate.recv() => Ok::<(), std::io::Error>(()),
            }
        });
        if interrupted.is_ok() {
            IS_INTERRUPTED.store(true, Ordering::SeqCst);
            let ids = running().clone();
            signal("-TERM", &ids);
            let begun = Instant::now();
            while begun.elapsed() < STOP_WITHIN
                && ids.iter().any(|id| state(*id).is_some_and(|state| state != 'Z'))
            {
                thread::sleep(Duration::from_millis(50));
            }
            signal("-KILL", &ids);
            drop(fs::remove_dir_all(&work_dir));
            std::process::exit(130);
        }
    })?;
    Ok(())
}

/// Lets the interrupt do its work: what fails meanwhile fails because of it, and isn't worth a word.
pub(crate) fn stay_out_of_an_interrupt() {
    // The signal and its effects come at the same moment.
    thread::sleep(Duration::from_millis(100));
    while IS_INTERRUPTED.load(Ordering::SeqCst) {
        thread::park();
    }
}

/// Processor seconds of the calling thread so far; 0 where the kernel doesn't tell.
pub(crate) fn thread_cpu_seconds() -> f64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds: f64 = text.split(' ').next().and_then(|field| field.parse().ok()).unwrap_or(0.0);
    nanoseconds / 1e9
}

/// Processor seconds that the whole machine has spent on work so far, interrupts included.
pub(crate) fn machine_cpu_seconds() -> f64 {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let fields = text.lines().next().unwrap_or_default().split_whitespace().skip(1);
    // user, nice, system, (idle, iowait,) irq, softirq, steal
    let busy = fields.take(8).enumerate().filter(|(place, _)| !matches!(place, 3 | 4));
    busy.filter_map(|(_, field)| field.parse::<f64>().ok()).sum::<f64>() / TICKS_A_SECOND
}

/// Waits until the machine is idle, or for so long; `false` when it never was.
pub(crate) fn wait_until_idle(limit: Duration) -> bool {
    let begun = Instant::now();
    loop {
        let (before, sampled_from) = (machine_cpu_seconds(), Instant::now());
        thread::sleep(IDLE_SAMPLE);
        let cores = (machine_cpu_seconds() - before) / sampled_from.elapsed().as_secs_f64();
        if cores <= OTHER_CORES_MAX {
            return true;
        }
        if begun.elapsed() > limit {
            return false;
        }
    }
}

/// Processor seconds of a process and of its children, the running ones and those that have ended.
pub(crate) fn tree_cpu_seconds(id: u32) -> f64 {
    let own = stat_fields(id).map_or(0.0, |fields| {
        fields.iter().skip(11).take(4).filter_map(|field| field.parse::<f64>().ok()).sum::<f64>()
    });
    let children: f64 = children(id).into_iter().map(tree_cpu_seconds).sum();
    own / TICKS_A_SECOND + children
}

/// The largest resident memory of a process and its running children since `forget_peak`, in bytes. Shared pages
/// count once a process, so this is meant for programs of one process.
pub(crate) fn peak_bytes(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let kibibytes: u64 = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.split_whitespace().next())
        .and_then(|field| field.parse().ok())
        .unwrap_or(0);
    kibibytes * 1024 + children(id).into_iter().map(peak_bytes).sum::<u64>()
}

/// Lets the kernel measure the largest resident memory from now on; what it doesn't let us do stays undone.
pub(crate) fn forget_peak(id: u32) {
    if let Ok(mut file) = File::options().write(true).open(format!("/proc/{id}/clear_refs")) {
        drop(file.write_all(b"5"));
    }
    children(id).into_iter().for_each(forget_peak);
}

fn children(id: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|field| field.parse().ok()).collect()
}

/// The fields of /proc/ID/stat from the state on: what stands before may hold spaces.
fn stat_fields(id: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(") ")?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

fn state(id: u32) -> Option<char> {
    stat_fields(id)?.first()?.chars().next()
}
