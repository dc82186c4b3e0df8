//! What was sent and handed out under load, as senders and workers know it, and whether it agrees with
//! what an instance holds in the end. Whoever writes into it does so after the answer came; so what it
//! says happened at this moment or before.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use restante_core::time::Timestamp;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::{Api, random_below, until};

/// Payloads that are read as bytes in the end; lists show all of them.
const PAYLOADS_READ: usize = 10;
/// Claims of one event that a consumer under kills may need.
const ATTEMPTS_MAX: u32 = 1_000;

/// The book of one tenant.
#[derive(Default)]
pub(crate) struct Ledger {
    book: Mutex<Book>,
    /// Answers with success that senders got so far.
    pub(super) acknowledged: watch::Sender<usize>,
}

#[derive(Default)]
struct Book {
    /// By the sender's id.
    sent: BTreeMap<String, Sent>,
    /// By the receipt's id and the number of the claim.
    leases: BTreeMap<(String, u64), Lease>,
}

struct Sent {
    /// Which sender sends it.
    sender: usize,
    body: Vec<u8>,
    attempts: u64,
    /// The receipt, once an answer named it.
    receipt: Option<String>,
    was_accepted: bool,
}

struct Lease {
    from: Timestamp,
    until: Timestamp,
    /// Whether the server said that it was acked.
    acked: bool,
}

/// What to send next.
pub(crate) struct Next {
    pub(crate) sender: usize,
    pub(crate) id: String,
    pub(crate) body: Vec<u8>,
}

impl Ledger {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets an event be claimed as often as workers under kills may need.
    pub(crate) async fn prepare(&self, api: &Api) {
        let change = json!({ "max_attempts": ATTEMPTS_MAX });
        api.ask("PATCH", "/v1/consumers/default", Some(&change)).await.expect(200);
    }

    /// Two times of three a new event, which `make` gives the sender and the bytes of; otherwise one
    /// that was sent before, whatever came of it.
    pub(crate) fn next(&self, make: impl FnOnce(&str) -> (usize, Vec<u8>)) -> Next {
        let mut book = self.book();
        let known = book.sent.len();
        let id = match random_below(3) {
            0 if known > 0 => book.sent.keys().nth(random_below(known)).cloned(),
            _ => None,
        };
        let id = id.unwrap_or_else(|| format!("evt_{known}"));
        let sent = book.sent.entry(id.clone()).or_insert_with(|| {
            let (sender, body) = make(&id);
            Sent { sender, body, attempts: 0, receipt: None, was_accepted: false }
        });
        sent.attempts += 1;
        Next { sender: sent.sender, id, body: sent.body.clone() }
    }

    /// A sender was told that its event is stored.
    pub(crate) fn acknowledge(&self, id: &str, answer: &Value) {
        let mut book = self.book();
        let sent = book.sent.get_mut(id).expect("what was answered was sent");
        let receipt = answer["id"].as_str().expect("an id").to_owned();
        let before = sent.receipt.get_or_insert_with(|| receipt.clone());
        assert_eq!(*before, receipt, "{id} has two receipts");
        match answer["status"].as_str() {
            Some("accepted") => {
                assert!(!sent.was_accepted, "{id} was new twice");
                sent.was_accepted = true;
            }
            Some("duplicate") => assert!(sent.attempts > 1, "{id} was sent once and is a duplicate"),
            other => panic!("{id}: {other:?}"),
        }
        drop(book);
        self.acknowledged.send_modify(|answers| *answers += 1);
    }

    /// A worker got an event.
    pub(crate) fn claimed(&self, event: &Value, lease_seconds: i64) {
        let until = event["lease_expires_at"].as_str().and_then(Timestamp::parse_rfc3339).expect("a time");
        let lease = Lease { from: until.plus_seconds(-lease_seconds), until, acked: false };
        let claim = claim_of(event);
        let mut book = self.book();
        let earlier = book.leases.range((claim.0.clone(), 0)..claim.clone()).next_back();
        assert!(!earlier.is_some_and(|(_, lease)| lease.acked), "it was acked, and comes again: {event}");
        let before = book.leases.insert(claim, lease);
        assert!(before.is_none(), "two workers hold one claim: {event}");
    }

    /// A worker was told that its ack counts.
    pub(crate) fn acked(&self, event: &Value) {
        self.book().leases.get_mut(&claim_of(event)).expect("it was claimed").acked = true;
    }

    /// Works off what is left, and compares the whole of it.
    pub(crate) async fn settle(&self, api: &Api) {
        self.work_off(api).await;
        let stored = self.compare_events(api).await;
        self.compare_handoffs(&stored);
        let figures = &api.get("/v1/stats?window=1h").await["consumers"][0];
        let counted = ["pending", "leased", "processed", "failed"].map(|name| figures[name].as_u64());
        assert_eq!(counted, [Some(0), Some(0), Some(stored.len() as u64), Some(0)], "{figures}");
    }

    async fn work_off(&self, api: &Api) {
        const LEASE_SECONDS: i64 = 60;
        let asked = json!({ "max": 200, "lease_seconds": LEASE_SECONDS });
        until("an end of the work", async || {
            let answer = api.post("/v1/consumers/default/claim", &asked).await;
            let events = answer["events"].as_array().expect("events");
            events.iter().for_each(|event| self.claimed(event, LEASE_SECONDS));
            for (event, status) in events.iter().zip(api.ack("default", events).await) {
                assert_eq!(status, "acked", "{event}");
                self.acked(event);
            }
            (events.is_empty() && answer["leased"] == 0 && answer["next_at"].is_null()).then_some(())
        })
        .await;
    }

    /// What was acknowledged is stored once, what is stored was sent, and the bytes are those of the
    /// sender. Gives the receipts.
    async fn compare_events(&self, api: &Api) -> BTreeSet<String> {
        let events = api.events().await;
        let mut sample = Vec::new();
        let mut receipts = BTreeMap::new();
        {
            let book = self.book();
            for event in &events {
                let id = event["event_id"].as_str().unwrap_or_else(|| panic!("no id: {event}"));
                let sent = book.sent.get(id).unwrap_or_else(|| panic!("never sent: {event}"));
                assert_eq!(body(event), sent.body, "{id} has other bytes");
                assert_eq!((&event["diverged"], &event["reason"]), (&false.into(), &Value::Null), "{id}");
                assert!(
                    event["deliveries"].as_u64().is_some_and(|n| n >= 1 && n <= sent.attempts),
                    "{event}"
                );
                let receipt = event["id"].as_str().expect("an id").to_owned();
                assert!(receipts.insert(id.to_owned(), receipt).is_none(), "{id} is stored twice");
                if sample.len() < PAYLOADS_READ {
                    sample.push((event["id"].clone(), sent.body.clone()));
                }
            }
            for (id, sent) in &book.sent {
                if let Some(receipt) = &sent.receipt {
                    assert_eq!(receipts.get(id), Some(receipt), "{id} was acknowledged");
                }
            }
        }
        for (id, bytes) in sample {
            assert_eq!(api.payload(&id).await, bytes);
        }
        receipts.into_values().collect()
    }

    /// What is stored was handed out, to one worker at a time, and not again after its ack.
    fn compare_handoffs(&self, stored: &BTreeSet<String>) {
        let book = self.book();
        let handed_out: BTreeSet<String> = book.leases.keys().map(|(receipt, _)| receipt.clone()).collect();
        assert_eq!(&handed_out, stored, "everything that is stored is handed out, and nothing else");
        let mut before: Option<(&(String, u64), &Lease)> = None;
        for (claim, lease) in &book.leases {
            if let Some((earlier, held)) = before.filter(|(earlier, _)| earlier.0 == claim.0) {
                assert!(!held.acked, "{earlier:?} was acked, and then came {claim:?}");
                assert!(held.until <= lease.from, "{earlier:?} and {claim:?} overlap");
            }
            before = Some((claim, lease));
        }
    }
}

/// The receipt and the number of the claim.
fn claim_of(event: &Value) -> (String, u64) {
    let receipt = event["id"].as_str().expect("an id").to_owned();
    (receipt, event["attempt"].as_u64().expect("a number"))
}

fn body(event: &Value) -> Vec<u8> {
    let text = event["body"].as_str().unwrap_or_else(|| panic!("no body: {event}"));
    match event["body_encoding"].as_str() {
        Some("utf8") => text.as_bytes().to_vec(),
        Some("base64") => STANDARD.decode(text).expect("base64"),
        other => panic!("{other:?}"),
    }
}
