//! A disk that has no room: nothing that was acknowledged is lost, nothing else is acknowledged, and
//! the same server goes on when there is room again.

use std::fs;
use std::process::Command;

use restante_core::verify::SignedRequest;

use crate::support::sender::stripe_body;
use crate::support::{Api, Place, Sender, Server, SmallDisk, get, say_skipped, until};

/// A disk of this size holds a new database several times.
const DISK_BYTES: usize = 16 * 1024 * 1024;
/// Deliveries that a full disk may still take, in pages that were there before.
const SENT_MAX: u32 = 3_000;

/// Sends new events until one is refused, as it has to be; gives the ids of those that were taken.
pub(crate) async fn send_until_refused(server: &Server, sender: &Sender, name: &str) -> Vec<String> {
    let mut taken = Vec::new();
    for number in 0..SENT_MAX {
        let id = format!("evt_{name}_{number}");
        let answer = sender.send(server.address(), &event(sender, &id)).await.expect("an answer");
        match answer.status {
            200 => taken.push(id),
            503 => {
                assert!(answer.headers.contains_key("retry-after"), "{answer:?}");
                return taken;
            }
            status => panic!("{status}: {answer:?}"),
        }
    }
    panic!("a full disk takes everything");
}

pub(crate) fn event(sender: &Sender, id: &str) -> SignedRequest {
    sender.signed(id, Some(&stripe_body(id, &"a memo. ".repeat(1_000))))
}

/// Everything that was acknowledged is there, whole and once, and nothing that was not sent.
pub(crate) async fn holds_exactly(api: &Api, sender: &Sender, acknowledged: &[String], refused: &[&str]) {
    let events = api.events().await;
    for id in acknowledged {
        let found: Vec<_> = events.iter().filter(|event| event["event_id"] == **id).collect();
        assert_eq!(found.len(), 1, "{id}");
        assert_eq!(found[0]["body"].as_str().expect("a body").as_bytes(), event(sender, id).body, "{id}");
    }
    for event in &events {
        let id = event["event_id"].as_str().expect("an id");
        let known = acknowledged.iter().any(|known| known == id) || refused.contains(&id);
        assert!(known, "{id} was never sent");
    }
}

/// What every full disk has to do, however it comes about.
async fn fills_up_and_heals(
    place: &Place,
    server: Server,
    fill: impl Fn(&Server),
    make_room: impl Fn(&Server),
) {
    let api = server.tenant(place, "acme");
    let sender = api.endpoint("stripe").await;
    let first = sender.send(server.address(), &event(&sender, "evt_first")).await.expect("an answer");
    first.expect(200);

    fill(&server);
    let mut acknowledged = vec!["evt_first".to_owned()];
    acknowledged.extend(send_until_refused(&server, &sender, "full").await);
    let refused = format!("evt_full_{}", acknowledged.len() - 1);
    // It goes on so for a while; there is no room for the log of it either.
    for number in 0..100 {
        let id = format!("evt_while_{number}");
        match sender.send(server.address(), &event(&sender, &id)).await.expect("an answer").status {
            200 => acknowledged.push(id),
            status => assert_eq!(status, 503),
        }
    }
    until("a server that is not ready", async || {
        (get(server.address(), "/readyz").await.expect("an answer").status == 503).then_some(())
    })
    .await;
    assert_eq!(get(server.address(), "/healthz").await.expect("an answer").status, 200);
    // Reading needs no room.
    assert_eq!(api.events().await.len(), acknowledged.len());

    make_room(&server);
    let again = event(&sender, &refused);
    let healed = until("a server that has healed", async || {
        let answer = sender.send(server.address(), &again).await.expect("an answer");
        assert!([200, 503].contains(&answer.status), "{answer:?}");
        answer.is_success().then(|| answer.json())
    })
    .await;
    // What was answered 503 was not stored: the retry is new.
    assert_eq!(healed["status"], "accepted");
    acknowledged.push(refused);
    for number in 0..50 {
        let id = format!("evt_later_{number}");
        sender.send(server.address(), &event(&sender, &id)).await.expect("an answer").expect(200);
        acknowledged.push(id);
    }
    holds_exactly(&api, &sender, &acknowledged, &[]).await;

    server.kill();
    let server = Server::start(place).await;
    holds_exactly(&api.at(&server), &sender, &acknowledged, &[]).await;
    assert_eq!(api.at(&server).events().await.len(), acknowledged.len());
    server.stop().await;
}

/// The log of the server lies on the same disk.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_is_503_and_heals_without_a_restart() {
    let place = Place::sqlite();
    let Some(disk) = SmallDisk::over(place.folder(), DISK_BYTES) else {
        return say_skipped(
            "a_full_disk_is_503_and_heals_without_a_restart",
            "no right to mount a small file system",
        );
    };
    let server = Server::start(&place).await;
    fills_up_and_heals(&place, server, |_| disk.fill(), |_| disk.make_room()).await;
}

/// A quota does the same as a full disk, with another error: here no file may grow.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_that_the_system_refuses_is_503_and_heals_without_a_restart() {
    if Command::new("prlimit").arg("--version").output().is_err() {
        return say_skipped(
            "a_write_that_the_system_refuses_is_503_and_heals_without_a_restart",
            "no prlimit, which the package util-linux has",
        );
    }
    let place = Place::sqlite();
    // A write over the limit is an error then, and not the end of the process.
    let wrapper = ["sh", "-c", r#"trap "" XFSZ; exec "$@""#, "sh"];
    let server = Server::start_under(&place, &wrapper, &[]).await;
    let log = place.folder().join("restante.db-wal");
    let limit = |server: &Server, bytes: &str| {
        let mut prlimit = Command::new("prlimit");
        prlimit.arg(format!("--pid={}", server.process())).arg(format!("--fsize={bytes}:"));
        assert!(prlimit.status().expect("prlimit starts").success());
    };
    let fill = |server: &Server| limit(server, &fs::metadata(&log).expect("a log").len().to_string());
    fills_up_and_heals(&place, server, fill, |server| limit(server, "unlimited")).await;
}
