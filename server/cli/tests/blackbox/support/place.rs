//! Where the servers of one test keep their data: a folder, and on PostgreSQL a database. Both go with
//! the test.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

use super::Cluster;
use crate::postgres::Database;

/// The variable that names a PostgreSQL server on which tests may create and drop databases.
pub(super) const POSTGRES_URL_VARIABLE: &str = "RESTANTE_TEST_POSTGRES_URL";
/// The password of every owner.
pub(crate) const PASSWORD: &str = "correct horse battery staple";

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A folder with or without a database beside it.
pub(crate) struct Place {
    folder: PathBuf,
    database: Option<Database>,
    files: AtomicU32,
}

impl Place {
    /// A folder in which the data is kept in SQLite.
    pub(crate) fn sqlite() -> Self {
        Self::with(None)
    }

    /// A folder and a new database of the test server; `None` when there is no test server.
    pub(crate) fn postgres() -> Option<Self> {
        let server = std::env::var(POSTGRES_URL_VARIABLE).ok().filter(|url| !url.is_empty())?;
        Some(Self::with(Some(Database::create(&server))))
    }

    /// A folder and the database of a server that the test has for itself.
    pub(crate) fn on(cluster: &Cluster) -> Self {
        Self::with(Some(Database::existing(cluster.url())))
    }

    fn with(database: Option<Database>) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("restante-blackbox-{}-{number}", std::process::id()));
        // An earlier process of the same id may have been killed.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a new folder");
        Self { folder, database, files: AtomicU32::new(0) }
    }

    /// Where the files are: the database, the master key, the logs of the servers.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The database, when it is PostgreSQL's.
    pub(crate) const fn database(&self) -> Option<&Database> {
        self.database.as_ref()
    }

    /// A name for a new file in the folder.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}-{}", self.files.fetch_add(1, Ordering::Relaxed)))
    }

    /// The program, with the settings of this place and no others.
    pub(crate) fn command(&self) -> Command {
        self.command_under(&[])
    }

    /// The same, run by another program that gets it as its last argument, as `strace -f` does.
    pub(crate) fn command_under(&self, wrapper: &[&str]) -> Command {
        let mut words = wrapper.iter().copied().chain([env!("CARGO_BIN_EXE_restante")]);
        let mut command = Command::new(words.next().expect("the program at least"));
        command.args(words);
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("RESTANTE_"))
        {
            command.env_remove(name);
        }
        command.current_dir(&self.folder).env("RESTANTE_DATA_DIR", &self.folder);
        // A machine's temporary folder may be in its memory, which no test minds.
        command.env("RESTANTE_ALLOW_VOLATILE", "1");
        if let Some(database) = &self.database {
            command.env("RESTANTE_DATABASE_URL", database.url());
        }
        command
    }

    /// Runs a command to its end with `input` on its standard input; gives what it printed.
    ///
    /// # Panics
    /// When it ends without success.
    pub(crate) fn run(&self, arguments: &[&str], input: &str) -> String {
        let mut command = self.command();
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
        let said = child.wait_with_output().expect("an end");
        let complaint = String::from_utf8_lossy(&said.stderr);
        assert!(said.status.success(), "restante {arguments:?}: {}: {complaint}", said.status);
        String::from_utf8(said.stdout).expect("text")
    }

    /// Makes a tenant, beside running servers or before the first; gives its API key with every scope.
    pub(crate) fn bootstrap(&self, tenant: &str) -> String {
        let email = format!("owner@{tenant}.test");
        let arguments = ["bootstrap", "--tenant", tenant, "--email", &email, "--password-stdin", "--json"];
        let made = tokio::task::block_in_place(|| self.run(&arguments, PASSWORD));
        let made: Value = serde_json::from_str(&made).expect("JSON");
        made["api_key"].as_str().expect("a key").to_owned()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What stays of a temporary folder does no harm.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
