//! The hand-written handler of `bench/handwritten`: Node.js, Express and pg on the same PostgreSQL.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::check::Stored;
use crate::client::Client;
use crate::failure::{Result, While as _};
use crate::postgres::Postgres;
use crate::process::Process;
use crate::requests::Target;
use crate::settings::Settings;

const SECRET: &str = "whsec_of_a_benchmark_that_guards_nothing";

/// The handler, running until it is dropped.
pub(crate) struct Handwritten {
    process: Process,
    database: String,
    port: u16,
}

impl Handwritten {
    /// Starts it on a database of its own.
    pub(crate) fn start(
        settings: &Settings,
        work_dir: &Path,
        postgres: &Postgres,
        name: &str,
        port: u16,
        is_explicit_transaction: bool,
    ) -> Result<Self> {
        let folder = folder();
        install(&folder)?;
        let database = name.replace('-', "_");
        let url = postgres.create_database(&database)?;
        let schema = fs::read_to_string(folder.join("schema.sql")).could_not("read the handler's schema")?;
        postgres.query(&database, &schema)?;

        let mut node = Command::new("node");
        node.arg(folder.join("server.mjs"))
            .env("NODE_ENV", "production")
            .env("DATABASE_URL", url)
            .env("WEBHOOK_SECRET", SECRET)
            .env("PORT", port.to_string())
            .env("POOL_SIZE", settings.handwritten_pool.to_string())
            .env("WORKERS", settings.handwritten_workers.to_string())
            .env("COMMIT", if is_explicit_transaction { "transaction" } else { "statement" });
        let log = work_dir.join(format!("{name}.log"));
        let mut process = Process::start(name, &mut node, &log)?;
        process.wait_until_up(Duration::from_secs(20), &log, || {
            Client::new(port, "").send("GET", "/", None).is_ok()
        })?;
        Ok(Self { process, database, port })
    }

    /// Where its requests go.
    pub(crate) fn target(&self) -> Target {
        Target { port: self.port, path: "/webhooks/stripe".into(), secret: SECRET.into() }
    }

    /// The events whose ids begin so. The handler has no interface to ask, so its table is.
    pub(crate) fn stored(&self, postgres: &Postgres, id_prefix: &str) -> Result<Vec<Stored>> {
        let sql = format!("SELECT event_id FROM webhook_receipts WHERE starts_with(event_id, '{id_prefix}')");
        let rows = postgres.query(&self.database, &sql)?;
        Ok(rows.lines().map(|line| Stored { event_id: line.to_owned(), deliveries: None }).collect())
    }

    /// The process id.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("handwritten")
}

/// Installs express and pg as the lock file names them, once.
fn install(folder: &Path) -> Result<()> {
    if folder.join("node_modules/express").is_dir() && folder.join("node_modules/pg").is_dir() {
        return Ok(());
    }
    let installed = Command::new("npm")
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"])
        .current_dir(folder)
        .output()
        .could_not("start npm; the hand-written handler needs Node.js 20 or newer")?;
    if !installed.status.success() {
        return Err(format!("npm ci failed: {}", String::from_utf8_lossy(&installed.stderr)).into());
    }
    Ok(())
}
