//! A throw-away PostgreSQL cluster for one run, with the durability that PostgreSQL has out of the box: `fsync` and
//! `synchronous_commit` on. It listens on loopback alone, trusts whoever can reach that port, and is removed afterwards.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::failure::{Result, While as _};
use crate::process::Process;

/// The cluster, running until it is dropped.
pub(crate) struct Postgres {
    process: Process,
    bin_dir: PathBuf,
    port: u16,
    owner: Option<Owner>,
}

#[derive(Clone, Copy)]
struct Owner {
    user: u32,
    group: u32,
}

impl Postgres {
    /// Makes a cluster under `work_dir` and starts it. As root it belongs to the user `postgres`, since PostgreSQL
    /// refuses to run as root.
    pub(crate) fn start(work_dir: &Path, port: u16) -> Result<Self> {
        let bin_dir = bin_dir()?;
        let owner = owner()?;
        let data_dir = work_dir.join("postgres");
        fs::create_dir(&data_dir).could_not(format!("make {}", data_dir.display()))?;
        fs::set_permissions(&data_dir, fs::Permissions::from_mode(0o700))?;
        if let Some(Owner { user, group }) = owner {
            chown(&data_dir, Some(user), Some(group)).could_not("give the cluster to the user postgres")?;
        }

        let mut initdb = as_owner(bin_dir.join("initdb"), owner, &data_dir);
        initdb.args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]);
        run(initdb.arg("-D").arg(&data_dir)).could_not("make a PostgreSQL cluster")?;

        let mut postgres = as_owner(bin_dir.join("postgres"), owner, &data_dir);
        postgres.arg("-D").arg(&data_dir).args(["-p", &port.to_string()]);
        // Several contenders with a pool each need more connections than the default 100. All else is the default.
        for setting in ["listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=300"] {
            postgres.args(["-c", setting]);
        }
        let log = work_dir.join("postgres.log");
        let process = Process::start("postgres", &mut postgres, &log)?.stopped_by("-INT"); // fast: asks no client to leave first
        let mut cluster = Self { process, bin_dir, port, owner };
        let ready = cluster.bin_dir.join("pg_isready");
        cluster.process.wait_until_up(Duration::from_secs(30), &log, || {
            let port = port.to_string();
            run(Command::new(&ready).args(["-q", "-h", "127.0.0.1", "-p", &port])).is_ok()
        })?;
        Ok(cluster)
    }

    /// Makes an empty database and tells its URL.
    pub(crate) fn create_database(&self, name: &str) -> Result<String> {
        self.query("postgres", &format!("CREATE DATABASE {name}"))?;
        Ok(format!("postgres://postgres@127.0.0.1:{}/{name}?sslmode=disable", self.port))
    }

    /// Runs SQL through psql; the rows come back as lines.
    pub(crate) fn query(&self, database: &str, sql: &str) -> Result<String> {
        let mut psql = Command::new(self.bin_dir.join("psql"));
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-U", "postgres"]);
        run(psql.args(["-p", &self.port.to_string(), "-d", database, "-c", sql]))
    }

    /// Writes out what earlier rounds left in memory, so that no round pays for another one's checkpoint.
    pub(crate) fn checkpoint(&self) -> Result<()> {
        self.query("postgres", "CHECKPOINT").map(drop)
    }

    /// The process id of the postmaster.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// What `postgres --version` says, and the settings that decide about durability.
    pub(crate) fn describe(&self) -> Result<String> {
        let version =
            run(as_owner(self.bin_dir.join("postgres"), self.owner, Path::new("/")).arg("--version"))?;
        let durability = self.query(
            "postgres",
            "SELECT string_agg(name || '=' || setting, ', ' ORDER BY name) FROM pg_settings \
             WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes', 'wal_sync_method')",
        )?;
        Ok(format!("{}, {}", version.trim(), durability.trim()))
    }
}

/// Where the server's programs are: as `pg_config` says, else the newest under Debian's folder.
fn bin_dir() -> Result<PathBuf> {
    let mut candidates = Vec::new();
    if let Ok(said) = run(Command::new("pg_config").arg("--bindir")) {
        candidates.push(PathBuf::from(said.trim()));
    }
    let mut debian: Vec<_> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .map(|version| version.path().join("bin"))
        .collect();
    debian.sort_by_key(|path| {
        let version = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        std::cmp::Reverse(version.and_then(|name| name.parse::<u32>().ok()))
    });
    candidates.extend(debian);
    candidates
        .into_iter()
        .find(|path| path.join("initdb").is_file() && path.join("postgres").is_file())
        .ok_or_else(|| "found no PostgreSQL server; on Debian or Ubuntu: apt-get install postgresql".into())
}

/// The user `postgres` when this runs as root, else whoever runs it.
fn owner() -> Result<Option<Owner>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let user = status
        .lines()
        .find_map(|line| line.strip_prefix("Uid:"))
        .and_then(|rest| rest.split_whitespace().next());
    if user != Some("0") {
        return Ok(None);
    }
    let users = fs::read_to_string("/etc/passwd")?;
    let line = users
        .lines()
        .find(|line| line.starts_with("postgres:"))
        .ok_or("PostgreSQL doesn't run as root, and there is no user postgres")?;
    let fields: Vec<_> = line.split(':').collect();
    match (fields.get(2).map(|field| field.parse()), fields.get(3).map(|field| field.parse())) {
        (Some(Ok(user)), Some(Ok(group))) => Ok(Some(Owner { user, group })),
        _ => Err("can't read the user postgres in /etc/passwd".into()),
    }
}

fn as_owner(program: PathBuf, owner: Option<Owner>, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(dir);
    if let Some(Owner { user, group }) = owner {
        command.uid(user).gid(group);
    }
    command
}

fn run(command: &mut Command) -> Result<String> {
    let output = command.output().could_not(format!("start {:?}", command.get_program()))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned().into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
