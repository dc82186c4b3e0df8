//! Starts that must not succeed: each is refused before the server listens, with a sentence that says
//! what to do, and leaves the data as it was.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;
use std::time::Duration;

use crate::support::{Place, Server};

/// How often is looked whether a server has ended.
const LOOKS_MAX: u32 = 3_000;

/// Starts a server that has to end by itself with this status; gives what it said.
fn refused(place: &Place, status: i32, variables: &[(&str, &str)]) -> String {
    let mut command = place.command();
    command.env("RESTANTE_LISTEN", "127.0.0.1:0").envs(variables.iter().copied()).arg("serve");
    let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts");
    // One that serves would go on for ever.
    let mut looks = (0..LOOKS_MAX).map(|_| std::thread::sleep(Duration::from_millis(10)));
    let ended = looks.any(|()| child.try_wait().expect("a child").is_some());
    if !ended {
        child.kill().expect("it is there");
    }
    let said = child.wait_with_output().expect("an end");
    let sentence = String::from_utf8(said.stderr).expect("text");
    assert!(ended, "it serves: {sentence}");
    assert_eq!(said.status.code(), Some(status), "{sentence}");
    assert!(!sentence.contains(" listens on http://"), "it never listened: {sentence}");
    assert!(!sentence.contains("panicked"), "{sentence}");
    sentence
}

#[test]
fn a_port_that_is_taken_is_named_with_the_setting_that_changes_it() {
    let place = Place::sqlite();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("an address").to_string();
    for setting in ["RESTANTE_LISTEN", "RESTANTE_METRICS_LISTEN"] {
        let said = refused(&place, 1, &[(setting, &address)]);
        assert!(said.contains(&address) && said.contains(setting), "{said}");
    }
    assert!(fs::read_dir(place.folder()).expect("a folder").next().is_none(), "and no data was made");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_server_on_one_sqlite_folder_is_refused_and_the_first_goes_on() {
    let place = Place::sqlite();
    let server = Server::start(&place).await;
    let api = server.tenant(&place, "acme");
    let said = refused(&place, 1, &[]);
    assert!(said.contains("RESTANTE_DATA_DIR") && said.contains("PostgreSQL"), "{said}");
    let sender = api.endpoint("github").await;
    sender.send(server.address(), &sender.signed("id-1", None)).await.expect("an answer").expect(200);
    // However the first one ends, the folder is free afterwards.
    server.kill();
    Server::start(&place).await.stop().await;
}

both_databases!(without_the_right_master_key_no_server_starts, |place| async {
    let server = Server::start(&place).await;
    let api = server.tenant(&place, "acme");
    let sender = api.endpoint("github").await;
    let stored =
        sender.send(server.address(), &sender.signed("id-1", None)).await.expect("an answer").expect(200);
    server.stop().await;
    let key = place.folder().join("master.key");
    let right = fs::read_to_string(&key).expect("a key");
    let put = |text: &str, mode: u32| {
        fs::write(&key, text).expect("a file");
        fs::set_permissions(&key, fs::Permissions::from_mode(mode)).expect("a mode");
    };

    fs::remove_file(&key).expect("a key");
    assert!(refused(&place, 1, &[]).contains("master.key"), "a missing one");
    assert!(!key.exists(), "no new key is made over what is sealed");
    let other = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    put(other, 0o600);
    let said = refused(&place, 1, &[]);
    assert!(said.to_lowercase().contains("master key") && !said.contains(other), "another one: {said}");
    put("no key at all", 0o600);
    assert!(!refused(&place, 1, &[]).contains("no key at all"), "rubbish");
    put(&right, 0o644);
    assert!(refused(&place, 1, &[]).contains("chmod 600"), "one that others can read");
    let elsewhere = place.folder().join("elsewhere.key").display().to_string();
    let said = refused(&place, 1, &[("RESTANTE_MASTER_KEY_FILE", &elsewhere)]);
    assert!(said.contains(&elsewhere), "one that is named and not there: {said}");

    put(&right, 0o600);
    let server = Server::start(&place).await;
    assert_eq!(api.at(&server).event(&stored["id"]).await["id"], stored["id"]);
    server.stop().await;
});

#[test]
fn a_setting_that_does_not_exist_or_can_not_be_is_refused_by_its_name() {
    let place = Place::sqlite();
    for (variable, value, hint) in [
        ("RESTANTE_LISTN", "127.0.0.1:0", "RESTANTE_LISTEN"),
        ("RESTANTE_NONSENSE", "x", "RESTANTE_NONSENSE"),
        ("RESTANTE_LISTEN", "8080", "RESTANTE_LISTEN"),
        ("RESTANTE_PUBLIC_URL", "http://hooks.example.com", "https://"),
        ("RESTANTE_TRUSTED_PROXIES", "10.0.0.0/33", "RESTANTE_TRUSTED_PROXIES"),
        ("RESTANTE_DATABASE_URL", "mysql://u:canary@h/d", "postgres://"),
        ("RESTANTE_CONNECTIONS_MAX", "0", "RESTANTE_CONNECTIONS_MAX"),
    ] {
        let said = refused(&place, 2, &[(variable, value)]);
        assert!(said.contains(hint) && !said.contains("canary"), "{variable}: {said}");
    }
    fs::write(place.folder().join("restante.toml"), "listen = \"127.0.0.1:0\"\ncolour = \"red\"\n")
        .expect("a file");
    let said = refused(&place, 2, &[]);
    assert!(said.contains("restante.toml") && said.contains("colour"), "{said}");
}

#[test]
fn a_folder_in_memory_is_refused_unless_it_is_allowed() {
    let folder = std::path::Path::new("/dev/shm");
    if !folder.is_dir() {
        return crate::support::say_skipped(
            "a_folder_in_memory_is_refused_unless_it_is_allowed",
            "no /dev/shm",
        );
    }
    let place = Place::sqlite();
    let data = folder.join(format!("restante-blackbox-{}", std::process::id())).display().to_string();
    let said = refused(&place, 1, &[("RESTANTE_DATA_DIR", &data), ("RESTANTE_ALLOW_VOLATILE", "0")]);
    assert!(said.contains("RESTANTE_ALLOW_VOLATILE") && said.contains("tmpfs"), "{said}");
    let _ = fs::remove_dir_all(&data);
}

postgres_alone!(a_database_of_a_newer_version_is_refused, |place| async {
    Server::start(&place).await.stop().await;
    let database = place.database().expect("a database");
    // A migration that this program does not know.
    database.rows(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
         VALUES (9999, 'of the future', true, ''::bytea, 0)",
    );
    let said = refused(&place, 1, &[]);
    assert!(said.contains("newer"), "{said}");
    // The one that made it is not in its way.
    database.rows("DELETE FROM _sqlx_migrations WHERE version = 9999");
    Server::start(&place).await.stop().await;
});
