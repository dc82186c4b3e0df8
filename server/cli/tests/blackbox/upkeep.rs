//! Backups, restored databases and the move to PostgreSQL, with the built program.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::stories::{FAILPOINT, deliver};
use crate::support::{Api, Place, Sender, Server};

fn ran(place: &Place, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = place.command();
    command.args(arguments).envs(variables.iter().copied()).stdin(Stdio::null());
    tokio::task::block_in_place(|| command.output().expect("the program starts"))
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn done(place: &Place, arguments: &[&str]) -> String {
    let output = ran(place, arguments, &[]);
    assert!(output.status.success(), "{arguments:?}: {}", said(&output));
    said(&output)
}

/// A command that must not succeed, or a server that must not serve; gives what it said.
fn refused(place: &Place, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let output = ran(place, arguments, &[&[("RESTANTE_LISTEN", "127.0.0.1:0")][..], variables].concat());
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", said(&output));
    let said = said(&output);
    assert!(!said.contains(" listens on http://") && !said.contains("panicked"), "{said}");
    said
}

async fn send(server: &Server, sender: &Sender, ids: &[&str]) {
    for id in ids {
        let (outcome, _) = deliver(server, sender, &sender.signed(id, None)).await;
        assert_eq!(outcome, "accepted", "{id}");
    }
}

async fn ids(api: &Api) -> Vec<String> {
    let events = api.events().await;
    let mut ids: Vec<String> =
        events.iter().map(|event| event["event_id"].as_str().expect("an id").to_owned()).collect();
    ids.sort();
    ids
}

/// Puts another database in the place of a stopped server's.
fn restore(place: &Place, copy: &Path) {
    for name in ["restante.db", "restante.db-wal", "restante.db-shm"] {
        let _ = fs::remove_file(place.folder().join(name));
    }
    fs::copy(copy, place.folder().join("restante.db")).expect("a copy");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_is_taken_beside_the_server_and_served_once_that_is_acknowledged() {
    let place = Place::sqlite();
    let server = Server::start(&place).await;
    let api = server.tenant(&place, "acme");
    let sender = api.endpoint("stripe").await;
    send(&server, &sender, &["evt_1", "evt_2"]).await;
    let copy = place.folder().join("copy.backup");
    let name = copy.display().to_string();
    done(&place, &["backup", &name]);
    assert_eq!(fs::metadata(&copy).expect("a copy").permissions().mode() & 0o777, 0o600);
    assert!(refused(&place, &["backup", &name], &[]).contains("is there already"));
    send(&server, &sender, &["evt_3"]).await;
    server.stop().await;

    restore(&place, &copy);
    let said = refused(&place, &["serve"], &[]);
    assert!(said.contains("is a backup of") && said.contains("--acknowledge-restore"), "{said}");
    assert!(refused(&place, &["check"], &[]).contains("is a backup of"));
    let said = done(&place, &["check", "--acknowledge-restore"]);
    assert!(said.contains("Events that were acknowledged since then are gone"), "{said}");
    assert!(done(&place, &["check", "--acknowledge-restore"]).contains("nothing to acknowledge"));
    assert!(done(&place, &["check"]).contains("Nothing is wrong"));
    let server = Server::start(&place).await;
    let api = api.at(&server);
    assert_eq!(ids(&api).await, ["evt_1", "evt_2"]);
    // The provider sends it again, and it is new.
    send(&server, &sender, &["evt_3"]).await;
    server.stop().await;
    Server::start(&place).await.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_file_in_the_place_of_the_database_is_not_served() {
    let place = Place::sqlite();
    let server = Server::start(&place).await;
    let api = server.tenant(&place, "acme");
    let sender = api.endpoint("stripe").await;
    send(&server, &sender, &["evt_1"]).await;
    server.stop().await;
    let copy = place.folder().join("by-hand");
    let log =
        |path: &Path| path.with_file_name(format!("{}-wal", path.file_name().unwrap_or_default().display()));
    let database = place.folder().join("restante.db");
    // Both files of a stopped server: the events of its last moments stand in the log.
    fs::copy(&database, &copy).expect("a copy of a stopped server's file");
    fs::copy(log(&database), log(&copy)).expect("a copy of its log");
    Server::start(&place).await.stop().await;

    restore(&place, &copy);
    fs::copy(log(&copy), log(&database)).expect("its log");
    let said = refused(&place, &["serve"], &[]);
    assert!(said.contains("older than what this instance had acknowledged"), "{said}");
    done(&place, &["check", "--acknowledge-restore"]);
    let server = Server::start(&place).await;
    assert_eq!(ids(&api.at(&server)).await, ["evt_1"]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_end_of_the_write_ahead_log_is_noticed() {
    let place = Place::sqlite();
    let server = Server::start(&place).await;
    let api = server.tenant(&place, "acme");
    let sender = api.endpoint("stripe").await;
    let wal = place.folder().join("restante.db-wal");
    send(&server, &sender, &["evt_1"]).await;
    let before = fs::metadata(&wal).expect("a log").len();
    send(&server, &sender, &["evt_2", "evt_3", "evt_4"]).await;
    server.kill();
    let mut bytes = fs::read(&wal).expect("a log");
    let middle = usize::try_from(before).expect("a length") + 100;
    assert!(bytes.len() > middle, "the last events stand in the log alone");
    bytes[middle] ^= 1;
    fs::write(&wal, bytes).expect("a log");
    let said = refused(&place, &["serve"], &[]);
    assert!(said.contains("older than what this instance had acknowledged"), "{said}");
}

postgres_alone!(of_postgres_the_backup_command_makes_none_and_says_what_does, |place| async {
    let said = refused(&place, &["backup", "copy.dump"], &[]);
    assert!(said.contains("pg_dump --format=custom") && said.contains("No backup was made"), "{said}");
    assert!(!said.contains("postgres://"), "{said}");
    assert!(done(&place, &["check"]).contains("pg_amcheck"));
});

/// What is compared of each event.
async fn shown(api: &Api) -> Vec<[Value; 4]> {
    let events = api.events().await;
    events
        .iter()
        .map(|event| ["id", "body", "headers", "deliveries"].map(|name| event[name].clone()))
        .collect()
}

postgres_alone!(
    #[cfg_attr(not(feature = "failpoints"), ignore = "needs the feature failpoints")]
    an_instance_moves_to_postgres_in_steps_that_may_be_killed,
    |target| async {
        let place = Place::sqlite();
        let url = target.database().expect("PostgreSQL").url().to_owned();
        let server = Server::start(&place).await;
        let api = server.tenant(&place, "acme");
        let sender = api.endpoint("stripe").await;
        send(&server, &sender, &["evt_1", "evt_2", "evt_3"]).await;
        deliver(&server, &sender, &sender.signed("evt_1", None)).await;
        let claimed = api.claim("default", &json!({ "max": 1 })).await;
        assert_eq!(api.ack("default", &claimed).await, ["acked"]);
        let before = shown(&api).await;
        let file = place.folder().join("target-url");
        fs::write(&file, format!("{url}\n")).expect("a file");
        let copy = ["copy", "--to-file", &file.display().to_string()];
        assert!(refused(&place, &copy, &[]).contains("A server runs on"));
        server.stop().await;

        for step in [1, 7, 20] {
            let killed = ran(&place, &copy, &[(FAILPOINT, &format!("copy:abort@{step}"))]);
            assert!(!killed.status.success());
            let on_target = [("RESTANTE_DATABASE_URL", url.as_str())];
            assert!(refused(&place, &["serve"], &on_target).contains("has not come to its end"));
        }
        let said = done(&place, &copy);
        assert!(said.contains("as many of each table as in SQLite") && !said.contains(&url), "{said}");
        assert!(refused(&place, &["serve"], &[]).contains("was moved to PostgreSQL"));
        assert!(refused(&place, &copy, &[]).contains("was moved to PostgreSQL"));

        let server = Server::start_with(&place, &[("RESTANTE_DATABASE_URL", &url)]).await;
        let api = api.at(&server);
        assert_eq!(shown(&api).await, before);
        assert_eq!(api.claim("default", &json!({ "max": 10 })).await.len(), 2, "what was acked stays done");
        let (outcome, _) = deliver(&server, &sender, &sender.signed("evt_2", None)).await;
        assert_eq!(outcome, "duplicate");
        send(&server, &sender, &["evt_4"]).await;
        server.stop().await;

        // Another instance does not go on top of it.
        let other = Place::sqlite();
        let key = place.folder().join("master.key");
        fs::copy(key, other.folder().join("master.key")).expect("the same master key");
        Server::start(&other).await.stop().await;
        let said = refused(&other, &["copy", "--to", &url], &[]);
        assert!(said.contains("not empty"), "{said}");
        Server::start(&other).await.stop().await;
    }
);
