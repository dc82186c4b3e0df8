//! Load on one server or several: senders that send new events and repeat old ones, and workers that
//! claim, ack most of what they got, and forget the rest. What they learn stands in the ledger.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use tokio::task::JoinSet;

use super::ledger::{Ledger, Next};
use super::sender::stripe_body;
use super::{Api, Connection, PAUSE, Sender, Server, WAIT_MAX, random_below};

/// Senders and workers at once.
const SENDERS: usize = 8;
const WORKERS: usize = 3;
/// What a worker claims; short, since what it forgets comes again only after that.
const LEASE_SECONDS: i64 = 2;
const CLAIM_MAX: usize = 6;
/// Of so many events a worker forgets one, as if it had crashed over it.
const FORGETS_ONE_OF: usize = 5;
/// The largest body, but for what the provider writes around it.
const BODY_BYTES_MAX: usize = 3_000;

/// A tenant under load: its endpoints and its book.
pub(crate) struct Traffic {
    pub(crate) api: Api,
    senders: [Sender; 2],
    pub(crate) ledger: Ledger,
}

impl Traffic {
    /// Prepares a new tenant: an endpoint whose ids stand in the body, which is text, and one whose
    /// ids are headers beside a body of any bytes.
    pub(crate) async fn of(api: Api) -> Arc<Self> {
        let senders = [api.endpoint("stripe").await, api.endpoint("github").await];
        let ledger = Ledger::default();
        ledger.prepare(&api).await;
        Arc::new(Self { api, senders, ledger })
    }

    fn next(&self) -> Next {
        self.ledger.next(|id| {
            let mut bytes = vec![0; random_below(BODY_BYTES_MAX)];
            getrandom::fill(&mut bytes).expect("randomness");
            match random_below(2) {
                0 => (0, stripe_body(id, &hex::encode(bytes))),
                _ => (1, bytes),
            }
        })
    }
}

/// Load that is under way.
pub(crate) struct Load {
    traffic: Arc<Traffic>,
    over: Arc<AtomicBool>,
    everyone: JoinSet<()>,
}

impl Load {
    /// Begins to send to these servers and to claim at them; who gets no answer at one goes to the next.
    pub(crate) fn begin(traffic: &Arc<Traffic>, servers: &[&Server]) -> Self {
        Self::begin_with(traffic, servers, WORKERS)
    }

    /// Begins to send alone, where leases may be lost with the database.
    pub(crate) fn begin_sending(traffic: &Arc<Traffic>, servers: &[&Server]) -> Self {
        Self::begin_with(traffic, servers, 0)
    }

    fn begin_with(traffic: &Arc<Traffic>, servers: &[&Server], workers: usize) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let addresses: Arc<[SocketAddr]> = servers.iter().map(|server| server.address()).collect();
        let mut everyone = JoinSet::new();
        for number in 0..SENDERS {
            everyone.spawn(send(Arc::clone(traffic), Arc::clone(&addresses), number, Arc::clone(&over)));
        }
        let apis: Arc<[Api]> = servers.iter().map(|server| traffic.api.at(server)).collect();
        for number in 0..workers {
            everyone.spawn(work(Arc::clone(traffic), Arc::clone(&apis), number, Arc::clone(&over)));
        }
        Self { traffic: Arc::clone(traffic), over, everyone }
    }

    /// Waits until senders got so many further answers with success; returns at the very moment, so
    /// that a kill comes on the heels of an answer.
    pub(crate) async fn acknowledged(&mut self, more: usize) {
        let mut answers = self.traffic.ledger.acknowledged.subscribe();
        let wanted = *answers.borrow() + more;
        tokio::select! {
            _ = answers.wait_for(|answers| *answers >= wanted) => {}
            // Nobody ends before the load does, but by a panic.
            Some(Err(error)) = self.everyone.join_next() => std::panic::resume_unwind(error.into_panic()),
            () = tokio::time::sleep(WAIT_MAX) => panic!("the load gets no answers"),
        }
    }

    /// Ends the load, and waits for whoever still waits for an answer.
    pub(crate) async fn end(self) {
        self.over.store(true, Ordering::SeqCst);
        // What a sender or a worker did not expect is the test's failure.
        self.everyone.join_all().await;
    }
}

async fn send(traffic: Arc<Traffic>, servers: Arc<[SocketAddr]>, mut at: usize, over: Arc<AtomicBool>) {
    let mut connection = None;
    while !over.load(Ordering::SeqCst) {
        if connection.is_none() {
            connection = Connection::open(servers[at % servers.len()]).await.ok();
        }
        let Some(open) = &mut connection else {
            at += 1;
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let Next { sender, id, body } = traffic.next();
        let sender = &traffic.senders[sender];
        let signed = sender.signed(&id, Some(&body));
        match open.send(sender.request(&signed)).await {
            Ok(answer) if answer.is_success() => traffic.ledger.acknowledge(&id, &answer.json()),
            // Not now: it may be stored or not.
            Ok(answer) if answer.status == 503 => connection = None,
            Ok(answer) => panic!("{id}: {answer:?}"),
            Err(_) => {
                connection = None;
                at += 1;
            }
        }
    }
}

async fn work(traffic: Arc<Traffic>, servers: Arc<[Api]>, mut at: usize, over: Arc<AtomicBool>) {
    let asked = json!({ "max": CLAIM_MAX, "lease_seconds": LEASE_SECONDS, "wait_seconds": 1 });
    while !over.load(Ordering::SeqCst) {
        let api = &servers[at % servers.len()];
        let claimed = match api.try_ask("POST", "/v1/consumers/default/claim", Some(&asked)).await {
            Ok(answer) if answer.status != 503 => answer.expect(200),
            _ => {
                at += 1;
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let mut events = claimed["events"].as_array().expect("events").clone();
        events.iter().for_each(|event| traffic.ledger.claimed(event, LEASE_SECONDS));
        events.retain(|_| random_below(FORGETS_ONE_OF) != 0);
        let leases: Vec<_> = events.iter().map(|event| &event["lease"]).collect();
        let acks = json!({ "leases": leases });
        // Without an answer nobody knows whether the acks count.
        let Ok(answer) = api.try_ask("POST", "/v1/consumers/default/ack", Some(&acks)).await else {
            continue;
        };
        if answer.status == 503 {
            continue;
        }
        let results = answer.expect(200);
        for (event, result) in events.iter().zip(results["results"].as_array().expect("results")) {
            match result["status"].as_str() {
                Some("acked") => traffic.ledger.acked(event),
                // The worker was too slow.
                Some("expired") => {}
                other => panic!("{other:?}: {event}"),
            }
        }
    }
}
