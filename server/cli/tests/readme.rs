//! The README's walk, pasted: the blocks under `<!-- walk -->` run one after the other in one bash,
//! in an empty folder, against the real program, and what they print is what the README says.
//! Only the address differs, so that the tests need no port of their own choice.
#![expect(clippy::expect_used, clippy::panic, reason = "a test ends at what it did not expect")]

// As much of PostgreSQL's protocol as makes a database.
#[path = "support/postgres.rs"]
#[expect(dead_code, reason = "other tests ask it for more")]
mod postgres;

use std::fs::{self, File};
use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The address in the README.
const WRITTEN: &str = "127.0.0.1:8080";
/// How often is looked whether the server is ready; each look takes curl a moment.
const LOOKS_MAX: u32 = 600;

/// The blocks under a marker, as they stand there.
fn blocks(page: &str, marker: &str) -> Vec<String> {
    page.split(marker)
        .skip(1)
        .map(|rest| {
            let code = rest.trim_start().strip_prefix("```sh\n").expect("a block of sh under the marker");
            code.split_once("```").expect("the end of the block").0.to_owned()
        })
        .collect()
}

/// A folder with a server in it. Both go in the end.
struct Walk {
    folder: PathBuf,
    address: String,
    database_url: Option<String>,
    server: Child,
}

impl Walk {
    fn begin(name: &str, database_url: Option<&str>) -> Self {
        let folder = std::env::temp_dir().join(format!("restante-readme-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).expect("a new folder");
        let socket = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = socket.local_addr().expect("an address").to_string();
        drop(socket);
        let log = File::create(folder.join("server.log")).expect("a log");
        let mut command = command(env!("CARGO_BIN_EXE_restante"), &folder, &address, database_url);
        let server = command.arg("serve").stdin(Stdio::null()).stderr(log).spawn().expect("the server");
        let walk = Self { folder, address, database_url: database_url.map(str::to_owned), server };
        let look = format!(
            "for i in $(seq {LOOKS_MAX}); do curl -sf http://{WRITTEN}/readyz && exit 0; sleep 0.1; done; exit 1"
        );
        walk.bash(&look);
        walk
    }

    /// Runs a text in bash as if it was pasted, and gives what it printed.
    fn bash(&self, text: &str) -> String {
        let text = text.replace(WRITTEN, &self.address);
        let program = Path::new(env!("CARGO_BIN_EXE_restante")).parent().expect("a folder");
        let path = format!("{}:{}", program.display(), std::env::var("PATH").expect("a path"));
        let mut command = command("bash", &self.folder, &self.address, self.database_url.as_deref());
        let mut bash = command
            .args(["-e", "-u", "-o", "pipefail"])
            .env("PATH", path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("bash");
        bash.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("bash reads");
        let said = bash.wait_with_output().expect("an end");
        let printed = String::from_utf8_lossy(&said.stdout).into_owned();
        if !said.status.success() {
            let log = fs::read_to_string(self.folder.join("server.log")).unwrap_or_default();
            panic!("the walk ended with {}:\n{text}\n{printed}\n{log}", said.status);
        }
        printed
    }
}

impl Drop for Walk {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A program with no settings but the address, the database, and that a temporary folder will do.
fn command(program: &str, folder: &Path, address: &str, database_url: Option<&str>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("RESTANTE_")) {
        command.env_remove(name);
    }
    command.current_dir(folder).env("RESTANTE_LISTEN", address).env("RESTANTE_ALLOW_VOLATILE", "1");
    if let Some(url) = database_url {
        command.env("RESTANTE_DATABASE_URL", url);
    }
    command
}

fn walk(name: &str, database_url: Option<&str>) {
    let page =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")).expect("README.md");
    assert_eq!(blocks(&page, "<!-- walk: server -->"), ["cargo run --release -- serve\n"]);
    let steps = blocks(&page, "<!-- walk -->");
    assert!(steps.len() >= 6, "the steps are there");
    let walk = Walk::begin(name, database_url);
    let printed = walk.bash(&steps.concat());

    let lines: Vec<&str> = printed.lines().collect();
    let [endpoint, first, second, forged, claimed, acked, again, events, stats] = lines.as_slice() else {
        panic!("one line an answer: {lines:#?}");
    };
    let read =
        |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap_or_else(|_| panic!("{line}"));
    let (first, second, claimed) = (read(first), read(second), read(claimed));
    assert!(read(endpoint)["url"].as_str().expect("a URL").contains("/in/"));
    assert_eq!((&first["status"], &second["status"]), (&"accepted".into(), &"duplicate".into()));
    assert_eq!(first["id"], second["id"]);
    assert_eq!((&read(forged)["status"], &read(forged)["reason"]), (&401.into(), &"signature".into()));
    assert_eq!(claimed["events"].as_array().expect("a list").len(), 1);
    assert_eq!(
        (&claimed["events"][0]["id"], &claimed["events"][0]["event_id"]),
        (&first["id"], &"evt_1".into())
    );
    assert_eq!(read(acked)["results"][0]["status"], "acked");
    assert_eq!(read(again)["events"], serde_json::json!([]));
    let events = read(events);
    assert_eq!(events["data"].as_array().expect("a list").len(), 1, "nothing of the forged request");
    assert_eq!(events["data"][0]["deliveries"], 2);
    assert_eq!(read(stats)["consumers"][0]["processed"], 1);
}

#[test]
fn the_walk_works_as_pasted_on_sqlite() {
    walk("sqlite", None);
}

#[test]
fn the_walk_works_as_pasted_on_postgres() {
    let Ok(server) = std::env::var("RESTANTE_TEST_POSTGRES_URL") else { return };
    let database = postgres::Database::create(&server);
    walk("postgres", Some(database.url()));
    let receipts = database.rows("SELECT count(*) FROM receipts");
    assert_eq!(receipts, [["1"]], "the walk went to this database");
}
