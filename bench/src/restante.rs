//! Restante itself, as its users run it: the binary with a data folder or a database URL, bootstrapped by its own
//! command, and asked through its API.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::json;

use crate::check::Stored;
use crate::client::Client;
use crate::failure::{Result, While as _};
use crate::process::Process;
use crate::requests::{Requests, Target};

/// A new endpoint is known everywhere within this.
const KNOWN_WITHIN: Duration = Duration::from_secs(6);
const SECRET: &str = "whsec_b2YgYSBiZW5jaG1hcmsgdGhhdCBndWFyZHMgbm90aGluZw";

/// How the commit is done; the last two need a binary built with the feature `bench`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Commit {
    /// As the product does it.
    Grouped,
    /// One transaction a request.
    Single,
    /// Not at all: the answer comes after verifying and sealing.
    None,
}

/// A server, running until it is dropped.
pub(crate) struct Restante {
    process: Process,
    port: u16,
    api_key: String,
    endpoint_id: String,
}

#[derive(Deserialize)]
struct Bootstrapped {
    api_key: String,
}

#[derive(Deserialize)]
struct Endpoint {
    id: String,
    url: String,
}

#[derive(Deserialize)]
struct Page {
    data: Vec<ListedEvent>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
struct ListedEvent {
    event_id: Option<String>,
    deliveries: u64,
}

impl Restante {
    /// Starts it with a folder of its own under `work_dir`, on SQLite or on the database named by the URL.
    pub(crate) fn start(
        binary: &Path,
        work_dir: &Path,
        name: &str,
        port: u16,
        database_url: Option<&str>,
        commit: Commit,
    ) -> Result<Self> {
        let data_dir = work_dir.join(name);
        std::fs::create_dir(&data_dir).could_not(format!("make {}", data_dir.display()))?;
        let command = |verb: &str| {
            let mut command = Command::new(binary);
            command.arg(verb).current_dir(work_dir).env("RESTANTE_DATA_DIR", &data_dir);
            command.env("RESTANTE_LISTEN", format!("127.0.0.1:{port}"));
            if let Some(url) = database_url {
                command.env("RESTANTE_DATABASE_URL", url);
            }
            command
        };
        let api_key = bootstrap(&mut command("bootstrap"))?;

        let mut serve = command("serve");
        match commit {
            Commit::Grouped => serve.env_remove("RESTANTE_BENCH_COMMIT"),
            Commit::Single => serve.env("RESTANTE_BENCH_COMMIT", "single"),
            Commit::None => serve.env("RESTANTE_BENCH_COMMIT", "none"),
        };
        let log = work_dir.join(format!("{name}.log"));
        let mut process = Process::start(name, &mut serve, &log)?;
        process.wait_until_up(Duration::from_secs(30), &log, || {
            Client::new(port, "").send("GET", "/readyz", None).is_ok_and(|reply| reply.status == 200)
        })?;
        Ok(Self { process, port, api_key, endpoint_id: String::new() })
    }

    /// Makes a Stripe endpoint for one round, so that its events can be listed alone.
    pub(crate) fn new_endpoint(&mut self, name: &str) -> Result<Target> {
        let asked = json!({"name": name, "provider": "stripe", "secrets": [SECRET]});
        let made: Endpoint = self.client().json("POST", "/v1/endpoints", Some(&asked), 201)?;
        let path_at = made.url.find("/in/").ok_or("the endpoint's URL has no /in/")?;
        let target = Target { port: self.port, path: made.url[path_at..].to_owned(), secret: SECRET.into() };
        self.endpoint_id = made.id;

        // A batch commit may fail once when the configuration is new; the round starts when the endpoint answers.
        let begun = Instant::now();
        loop {
            let reply = Client::new(self.port, "").send("HEAD", &target.path, None)?;
            if reply.status == 200 {
                return Ok(target);
            }
            if begun.elapsed() > KNOWN_WITHIN {
                return Err(format!("the new endpoint answers {}", reply.status).into());
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// The events of the newest endpoint, page by page.
    pub(crate) fn stored(&self, requests: &Requests) -> Result<Vec<Stored>> {
        let mut client = self.client();
        let mut stored = Vec::with_capacity(requests.events());
        let mut cursor: Option<String> = None;
        loop {
            let mut path = format!("/v1/events?endpoint={}&limit=250", self.endpoint_id);
            if let Some(cursor) = &cursor {
                path.push_str("&cursor=");
                path.push_str(cursor);
            }
            let page: Page = client.json("GET", &path, None, 200)?;
            stored.extend(page.data.into_iter().map(|event| Stored {
                event_id: event.event_id.unwrap_or_default(),
                deliveries: Some(event.deliveries),
            }));
            cursor = page.next_cursor;
            if cursor.is_none() || stored.len() > requests.count() {
                return Ok(stored);
            }
        }
    }

    /// A client with the tenant's key.
    pub(crate) fn client(&self) -> Client {
        Client::new(self.port, &self.api_key)
    }

    /// The process id.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }
}

fn bootstrap(command: &mut Command) -> Result<String> {
    let mut child = command
        .args(["--tenant", "bench", "--email", "bench@example.test", "--password-stdin", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .could_not("start restante; build it with --features bench")?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(b"a password of a benchmark 4711\n")?;
    }
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("restante bootstrap: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let said: Bootstrapped =
        serde_json::from_slice(&output.stdout).could_not("read what bootstrap printed")?;
    Ok(said.api_key)
}

/// The binary beside this one, where cargo puts both.
pub(crate) fn binary_beside_this() -> Result<PathBuf> {
    let path = std::env::current_exe()?.with_file_name("restante");
    if path.is_file() {
        Ok(path)
    } else {
        Err(format!(
            "{} is missing: start the benchmark with bench/run, or name a binary with --server",
            path.display()
        )
        .into())
    }
}
