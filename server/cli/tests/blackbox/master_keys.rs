//! The master key is changed while events come in, with a kill in the middle; and refused where that would
//! put something out of reach.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::stories::FAILPOINT;
use crate::support::{Load, Place, Server, Traffic};

fn ran(mut command: Command, arguments: &[&str]) -> Output {
    tokio::task::block_in_place(|| command.args(arguments).output().expect("the program starts"))
}

fn keys(place: &Place, arguments: &[&str]) -> Output {
    ran(place.command(), &[&["keys"], arguments].concat())
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn done(place: &Place, arguments: &[&str]) -> String {
    let output = keys(place, arguments);
    assert!(output.status.success(), "keys {arguments:?}: {}", said(&output));
    String::from_utf8(output.stdout).expect("text")
}

fn refused(place: &Place, arguments: &[&str]) -> String {
    let output = keys(place, arguments);
    assert_eq!(output.status.code(), Some(1), "keys {arguments:?}: {}", said(&output));
    said(&output)
}

fn listed(place: &Place) -> Value {
    serde_json::from_str(&done(place, &["list", "--json"])).expect("JSON")
}

/// The id, and how many keys of tenants it wraps, of each master key.
fn wraps(place: &Place) -> Vec<(String, u64)> {
    let listed = listed(place);
    let keys = listed["master_keys"].as_array().expect("keys").iter();
    let read = |key: &Value| Some((key["id"].as_str()?.to_owned(), key["tenant_keys"].as_u64()?));
    keys.map(|key| read(key).expect("a key")).collect()
}

/// The lines of a key file that are keys.
fn keys_in(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).expect("a key file");
    let lines = text.lines().filter_map(|line| line.split_whitespace().next());
    lines.filter(|word| !word.starts_with('#')).map(str::to_owned).collect()
}

both_databases!(
    #[cfg_attr(not(feature = "failpoints"), ignore = "needs the feature failpoints")]
    the_master_key_is_changed_under_load_and_a_kill_in_between_costs_nothing,
    |place| async {
        let server = Server::start(&place).await;
        let traffic = Traffic::of(server.tenant(&place, "acme")).await;
        let mut load = Load::begin(&traffic, &[&server]);
        load.acknowledged(20).await;
        let file = place.folder().join("master.key");
        let old = wraps(&place)[0].0.clone();

        let new = done(&place, &["add"]).trim().to_owned();
        assert_eq!(wraps(&place), [(old.clone(), 3), (new.clone(), 0)]);
        assert!(refused(&place, &["retire", &old, "--no-backup-needs-it"]).contains("active"));
        done(&place, &["activate", &new]);
        assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o600);
        // The server that went on running wraps by the new one from now on, and so do commands.
        assert_eq!(listed(&place)["servers"][0]["master_keys"][0], new.as_str());
        place.bootstrap("beta");
        assert_eq!(wraps(&place), [(new.clone(), 3), (old.clone(), 3)]);
        assert!(refused(&place, &["retire", &old, "--no-backup-needs-it"]).contains("keys rewrap"));

        let mut killed = place.command();
        killed.env(FAILPOINT, "rewrap:abort@1");
        assert!(!ran(killed, &["keys", "rewrap"]).status.success(), "it was killed");
        assert_eq!(wraps(&place), [(new.clone(), 3), (old.clone(), 3)], "a step is whole or not at all");
        load.acknowledged(20).await;
        done(&place, &["rewrap"]);
        done(&place, &["rewrap"]);
        assert_eq!(wraps(&place), [(new.clone(), 6), (old.clone(), 0)]);

        let kept = place.folder().join("retired.key");
        let kept_name = kept.display().to_string();
        done(&place, &["retire", &old, "--keep-in", &kept_name]);
        assert_eq!(wraps(&place), [(new.clone(), 6)]);
        assert_eq!(fs::metadata(&kept).expect("a file").permissions().mode() & 0o777, 0o600);
        load.acknowledged(20).await;
        load.end().await;
        server.stop().await;

        let server = Server::start(&place).await;
        traffic.ledger.settle(&traffic.api.at(&server)).await;
        let (now, before) = (keys_in(&file), keys_in(&kept));
        assert_eq!((now.len(), before.len()), (1, 1));
        // No output and no log shows a key.
        let shown = format!("{}{}", done(&place, &["list"]), server.log());
        assert!(!shown.contains(&now[0]) && !shown.contains(&before[0]));
        server.stop().await;
    }
);

postgres_alone!(a_master_key_wraps_only_once_every_node_of_postgres_has_it, |place| async {
    let one = Server::start(&place).await;
    one.tenant(&place, "acme");
    let file = place.folder().join("master.key");
    let copy = place.folder().join("of-the-other-node.key");
    fs::copy(&file, &copy).expect("a copy");
    let named = copy.display().to_string();
    let other = Server::start_with(&place, &[("RESTANTE_MASTER_KEY_FILE", &named)]).await;

    let new = done(&place, &["add"]).trim().to_owned();
    let said = refused(&place, &["activate", &new]);
    assert!(said.contains("1 of the running servers"), "{said}");
    assert_eq!(wraps(&place)[0].1, 3, "the first one is still active");
    fs::copy(&file, &copy).expect("a copy");
    done(&place, &["activate", &new]);
    // The other one still wraps by the old key: nothing is retired behind its back.
    let old = wraps(&place)[1].0.clone();
    done(&place, &["rewrap"]);
    let said = refused(&place, &["retire", &old, "--no-backup-needs-it"]);
    assert!(said.contains("1 of the running servers"), "{said}");
    fs::copy(&file, &copy).expect("a copy");
    done(&place, &["retire", &old, "--no-backup-needs-it"]);
    one.stop().await;
    other.stop().await;
    assert_eq!(listed(&place)["servers"].as_array().map(Vec::len), Some(0), "they said that they end");
});

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_file_that_lacks_what_is_in_use_is_not_taken_by_a_running_server() {
    let place = Place::sqlite();
    let server = Server::start(&place).await;
    let api = server.tenant(&place, "acme");
    let file = place.folder().join("master.key");
    let right = fs::read(&file).expect("a key");
    fs::write(&file, "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff").expect("a file");
    server.logs("the changed master key file is not used").await;
    api.endpoint("stripe").await;
    fs::write(&file, right).expect("a file");
    server.signal("HUP");
    // It neither ended nor lost its keys.
    api.endpoint("stripe").await;
    server.stop().await;
}

#[test]
fn what_is_no_id_of_a_master_key_is_not_printed() {
    let place = Place::sqlite();
    for wrong in ["canary", &"ab".repeat(32)] {
        let said = said(&keys(&place, &["activate", wrong]));
        assert!(said.contains("16 hexadecimal digits") && !said.contains(wrong), "{said}");
    }
    let said = said(&keys(&place, &["activate", "0123456789abcdef"]));
    assert!(said.contains("0123456789abcdef") && said.contains("keys add"), "{said}");
}
