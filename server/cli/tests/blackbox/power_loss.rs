//! The power goes: what the disk had been told to keep is there, of the rest perhaps some sectors. What
//! was acknowledged by then is stored, once and whole.
//!
//! `RESTANTE_LONG=1` sends enough for the write-ahead log to be copied into the database meanwhile.

use std::fs;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use restante_core::verify::SignedRequest;

use crate::support::power::{Record, STRACE};
use crate::support::sender::stripe_body;
use crate::support::{Place, Sender, Server, random_below, say_skipped};

const SENDERS: usize = 4;
/// Events of one sender, and bytes of one event.
const EVENTS: (usize, usize) = (15, 3_000);
const EVENTS_LONG: (usize, usize) = (250, 12_000);
/// Moments at which the power goes, in one record.
const CUTS: usize = 6;
const CUTS_LONG: usize = 40;

fn event(sender: &Sender, id: &str, bytes: usize) -> SignedRequest {
    sender.signed(id, Some(&stripe_body(id, &id.repeat(bytes / id.len()))))
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970");
    u64::try_from(since.as_micros()).expect("a time before the year 500000")
}

/// Sends from several connections at once; gives each id with the time of its answer.
async fn send_all(
    server: &Server,
    sender: &Arc<Sender>,
    (events, bytes): (usize, usize),
) -> Vec<(u64, String)> {
    let address = server.address();
    let one = |name: usize| {
        let sender = Arc::clone(sender);
        tokio::spawn(async move {
            let mut acknowledged = Vec::new();
            for number in 0..events {
                let id = format!("evt_{name}_{number}");
                sender.send(address, &event(&sender, &id, bytes)).await.expect("an answer").expect(200);
                acknowledged.push((now(), id));
            }
            acknowledged
        })
    };
    let running: Vec<_> = (0..SENDERS).map(one).collect();
    let mut acknowledged = Vec::new();
    for one in running {
        acknowledged.extend(one.await.expect("a sender"));
    }
    acknowledged.sort();
    acknowledged
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_outlives_a_loss_of_power() {
    if !crate::disk_errors::may_trace() {
        return say_skipped("what_was_acknowledged_outlives_a_loss_of_power", "no strace that may trace");
    }
    let long = std::env::var("RESTANTE_LONG").is_ok_and(|value| value == "1");
    let (amount, cuts) = if long { (EVENTS_LONG, CUTS_LONG) } else { (EVENTS, CUTS) };
    let place = Place::sqlite();
    let server = Server::start(&place).await;
    let api = server.tenant(&place, "acme");
    let sender = Arc::new(api.endpoint("stripe").await);
    server.stop().await;

    // What lies there while nothing runs is on the disk.
    let base = Place::sqlite();
    for name in ["restante.db", "restante.db-wal"] {
        let _ = fs::copy(place.folder().join(name), base.folder().join(name));
    }
    let log = place.file("trace").display().to_string();
    let mut wrapper = vec!["strace", "-o", &log];
    wrapper.extend(STRACE);
    let server = Server::start_under(&place, &wrapper, &[]).await;
    let acknowledged = send_all(&server, &sender, amount).await;
    server.kill();

    let record = Record::read(log.as_ref());
    for number in 0..cuts {
        // On the heels of an answer, and the last one of all once.
        let last = if number == 0 { acknowledged.len() - 1 } else { random_below(acknowledged.len()) };
        let at = acknowledged[last].0;
        let image = Place::sqlite();
        fs::copy(place.folder().join("master.key"), image.folder().join("master.key")).expect("a key");
        record.cut(at, base.folder(), place.folder(), image.folder(), number % 2 == 1);
        let server = Server::start(&image).await;
        let events = api.at(&server).events().await;
        for (_, id) in acknowledged.iter().take_while(|(time, _)| *time <= at) {
            let found: Vec<_> = events.iter().filter(|event| event["event_id"] == **id).collect();
            assert_eq!(found.len(), 1, "{id} was acknowledged before the power went");
            let wanted = event(&sender, id, amount.1).body;
            assert_eq!(found[0]["body"].as_str().expect("a body").as_bytes(), wanted, "{id}");
        }
        for event in &events {
            assert!(acknowledged.iter().any(|(_, id)| event["event_id"] == **id), "{event} was never sent");
        }
        // It goes on.
        sender.send(server.address(), &event(&sender, "evt_after", 10)).await.expect("an answer").expect(200);
        server.stop().await;
    }
}
