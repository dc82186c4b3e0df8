//! A PostgreSQL of one test's own, which the test may kill, fill or set up wrongly. It is made only
//! where `RESTANTE_TEST_POSTGRES_URL` says that tests on PostgreSQL are wanted.

use std::ffi::OsStr;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use super::place::POSTGRES_URL_VARIABLE;

/// The user that PostgreSQL's package makes: as root it refuses to run.
const USER: &str = "postgres";
/// How often a start is tried, since another program may take the port that was free.
const STARTS: u32 = 3;

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A cluster that is running, or was until the test ended it.
pub(crate) struct Cluster {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
}

impl Cluster {
    /// Makes and starts one. `prepare` may put a file system over its folder first. `None` where no
    /// tests on PostgreSQL are wanted, or where its server programs are not found.
    pub(crate) fn start_on<T>(prepare: impl FnOnce(&Path) -> Option<T>) -> Option<(Self, T)> {
        std::env::var(POSTGRES_URL_VARIABLE).ok().filter(|url| !url.is_empty())?;
        let programs = programs()?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        // A short path: that of a socket has at most 107 bytes.
        let folder = PathBuf::from(format!("/tmp/restante-crash-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder).expect("a new folder");
        let prepared = prepare(&folder);
        if prepared.is_none() {
            let _ = fs::remove_dir_all(&folder);
        }
        let prepared = prepared?;
        let mut cluster = Self { programs, folder, port: 0 };
        if is_root() {
            run(Command::new("chown").arg(USER).arg(&cluster.folder));
        }
        let data = cluster.data();
        cluster.run(
            "initdb",
            [
                "-D",
                &data,
                "-U",
                USER,
                "-A",
                "trust",
                "--no-sync",
                "-E",
                "UTF8",
                "--locale=C",
                "--wal-segsize=1",
            ],
        );
        for _ in 0..STARTS {
            cluster.port = free_port();
            if cluster.try_start() {
                return Some((cluster, prepared));
            }
        }
        panic!("PostgreSQL does not start: {}", cluster.log());
    }

    /// The same, on the disk that the temporary folder is on.
    pub(crate) fn start() -> Option<Self> {
        Self::start_on(|_| Some(())).map(|(cluster, ())| cluster)
    }

    /// The URL of its first database, for its superuser.
    pub(crate) fn url(&self) -> String {
        format!("postgres://{USER}@127.0.0.1:{}/postgres", self.port)
    }

    /// SIGKILL to every process of it, so that none of them finishes what it was about.
    pub(crate) fn kill(&self) {
        let id = self.process().expect("it is running");
        let signal = |name: &str| Command::new("kill").args([name, &id]).status();
        // Held first: it would start its children again.
        signal("-STOP").expect("kill starts");
        let _ = Command::new("pkill").args(["-KILL", "-P", &id]).status();
        signal("-KILL").expect("kill starts");
        while Path::new("/proc").join(&id).exists() {
            std::thread::sleep(super::PAUSE);
        }
    }

    /// Starts it again, if it isn't running, and waits until it has recovered.
    pub(crate) fn revive(&self) {
        for _ in 0..super::WAIT_MAX.as_secs() {
            if self.is_up() || self.try_start() {
                return;
            }
            std::thread::sleep(super::PAUSE * 10);
        }
        panic!("PostgreSQL does not start again: {}", self.log());
    }

    fn is_up(&self) -> bool {
        self.command("pg_ctl", ["-D", &self.data(), "status"]).status.success()
            && TcpStream::connect(("127.0.0.1", self.port)).is_ok()
            && self
                .command("pg_isready", ["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()])
                .status
                .success()
    }

    fn try_start(&self) -> bool {
        let folder = self.folder.display().to_string();
        let settings = format!(
            "-p {} -k {folder} -c listen_addresses=127.0.0.1 -c min_wal_size=2MB -c max_wal_size=16MB",
            self.port
        );
        let log = format!("{folder}/log");
        self.command("pg_ctl", ["-D", &self.data(), "-l", &log, "-w", "-s", "start", "-o", &settings])
            .status
            .success()
    }

    /// The process of its postmaster.
    fn process(&self) -> Option<String> {
        let file = fs::read_to_string(self.folder.join("data/postmaster.pid")).ok()?;
        file.lines().next().map(str::to_owned)
    }

    fn data(&self) -> String {
        self.folder.join("data").display().to_string()
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    fn command<'a>(&self, program: &str, arguments: impl IntoIterator<Item = &'a str>) -> Output {
        let program = self.programs.join(program);
        let mut command = Command::new(if is_root() { OsStr::new("runuser") } else { program.as_os_str() });
        if is_root() {
            command.args(["-u", USER, "--"]).arg(&program);
        }
        // A folder that its user may enter.
        command.args(arguments).current_dir("/").output().expect("PostgreSQL's programs start")
    }

    fn run<'a>(&self, program: &str, arguments: impl IntoIterator<Item = &'a str>) {
        let said = self.command(program, arguments);
        assert!(said.status.success(), "{program}: {}", String::from_utf8_lossy(&said.stderr));
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self.command("pg_ctl", ["-D", &self.data(), "-m", "immediate", "-s", "stop"]);
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn run(command: &mut Command) {
    assert!(command.status().expect("it starts").success(), "{command:?}");
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

fn free_port() -> u16 {
    let socket = TcpListener::bind("127.0.0.1:0").expect("a free port");
    socket.local_addr().expect("an address").port()
}

/// The folder with PostgreSQL's server programs: what `pg_config` names, or the newest of Debian's.
fn programs() -> Option<PathBuf> {
    let told = Command::new("pg_config").arg("--bindir").output().ok();
    let told = told.map(|said| PathBuf::from(String::from_utf8_lossy(&said.stdout).trim()));
    let mut found: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
        .collect();
    found.sort();
    told.into_iter().chain(found.into_iter().rev()).find(|folder| folder.join("initdb").is_file())
}
