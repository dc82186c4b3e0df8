//! Signed requests, made before a round so that signing costs nothing while it is measured. They are what Stripe
//! sends: 1 KiB of JSON with the event id in it, and a signature over the time and the body. One in five repeats
//! an event that was sent shortly before, byte for byte, as a sender does that missed the answer.

use std::io::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::failure::Result;

/// The size of every body.
pub(crate) const BODY_BYTES: usize = 1024;
/// One request in this many repeats an earlier event: 20 %.
pub(crate) const REPEAT_ONE_IN: usize = 5;
/// A repeat follows its original within this many new events.
const REPEAT_WITHIN_EVENTS: usize = 1_000;

/// Where a round's requests go, and what signs them.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// The loopback port.
    pub(crate) port: u16,
    /// The path with the ingest token.
    pub(crate) path: String,
    /// The endpoint's signing secret; it guards nothing but this run.
    pub(crate) secret: String,
}

/// A round's requests: each event's bytes once, and the order in which to send them.
pub(crate) struct Requests {
    id_prefix: String,
    bytes: Vec<u8>,
    ends: Vec<usize>,
    order: Vec<u32>,
}

impl Requests {
    /// Prepares and signs `count` requests; `id_prefix` must be new for every round.
    pub(crate) fn prepare(target: &Target, id_prefix: &str, count: usize) -> Result<Self> {
        let signed_at = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
        let events = count - count / REPEAT_ONE_IN;
        let mut made = Self {
            id_prefix: id_prefix.to_owned(),
            bytes: Vec::with_capacity(events * (BODY_BYTES + 320)),
            ends: Vec::with_capacity(events),
            order: Vec::with_capacity(count),
        };
        let mut choice = Choice::new()?;
        for place in 0..count {
            let is_repeat = place % REPEAT_ONE_IN == REPEAT_ONE_IN - 1;
            let event = if is_repeat {
                let back = 1 + choice.below(REPEAT_WITHIN_EVENTS.min(made.ends.len()));
                made.ends.len() - back
            } else {
                let event = made.ends.len();
                made.sign(target, event, signed_at)?;
                event
            };
            made.order.push(u32::try_from(event)?);
        }
        Ok(made)
    }

    fn sign(&mut self, target: &Target, event: usize, signed_at: u64) -> Result<()> {
        let body = body(&self.event_id(event), signed_at);
        let mut mac = Hmac::<Sha256>::new_from_slice(target.secret.as_bytes())?;
        mac.update(format!("{signed_at}.").as_bytes());
        mac.update(&body);
        let signature = hex::encode(mac.finalize().into_bytes());
        write!(
            self.bytes,
            "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUser-Agent: Stripe/1.0 (restante-bench)\r\n\
             Accept: */*\r\nContent-Type: application/json; charset=utf-8\r\n\
             Stripe-Signature: t={signed_at},v1={signature}\r\nContent-Length: {length}\r\n\r\n",
            path = target.path,
            port = target.port,
            length = body.len(),
        )?;
        self.bytes.extend_from_slice(&body);
        self.ends.push(self.bytes.len());
        Ok(())
    }

    /// How many requests there are to send.
    pub(crate) fn count(&self) -> usize {
        self.order.len()
    }

    /// How many different events they carry.
    pub(crate) fn events(&self) -> usize {
        self.ends.len()
    }

    /// Which event the request at this place carries.
    pub(crate) fn event_at(&self, place: usize) -> Option<usize> {
        self.order.get(place).map(|event| *event as usize)
    }

    /// The whole request of an event: head and body.
    pub(crate) fn bytes_of(&self, event: usize) -> &[u8] {
        let start = if event == 0 { 0 } else { self.ends[event - 1] };
        &self.bytes[start..self.ends[event]]
    }

    /// What every id of this round begins with, and no other.
    pub(crate) fn id_prefix(&self) -> &str {
        &self.id_prefix
    }

    /// The id that the event carries in its body.
    pub(crate) fn event_id(&self, event: usize) -> String {
        format!("{}{event:07}", self.id_prefix)
    }

    /// Which event has this id; `None` for one that this round did not make.
    pub(crate) fn event_of_id(&self, id: &str) -> Option<usize> {
        let event = id.strip_prefix(&self.id_prefix)?.parse().ok()?;
        (event < self.events() && self.event_id(event) == id).then_some(event)
    }
}

/// An event as Stripe writes it, filled up to the size.
fn body(id: &str, created: u64) -> Vec<u8> {
    let mut text = format!(
        "{{\n  \"id\": \"{id}\",\n  \"object\": \"event\",\n  \"api_version\": \"2026-08-26\",\n  \"created\": {created},\n  \
         \"type\": \"invoice.paid\",\n  \"livemode\": false,\n  \"pending_webhooks\": 1,\n  \
         \"request\": {{\"id\": null, \"idempotency_key\": null}},\n  \
         \"data\": {{\n    \"object\": {{\n      \"id\": \"in_{id}\",\n      \"object\": \"invoice\",\n      \
         \"amount_paid\": 2000,\n      \"currency\": \"eur\",\n      \"customer\": \"cus_{id}\",\n      \"description\": \""
    );
    const TAIL: &str = "\"\n    }\n  }\n}";
    let filling = "A line of an invoice, as long as it takes. ";
    let mut missing = BODY_BYTES.saturating_sub(text.len() + TAIL.len());
    while missing > 0 {
        let taken = missing.min(filling.len());
        text.push_str(&filling[..taken]);
        missing -= taken;
    }
    text.push_str(TAIL);
    text.into_bytes()
}

/// A xorshift generator: which event a repeat takes need not be unforeseeable, only spread.
struct Choice(u64);

impl Choice {
    fn new() -> Result<Self> {
        Ok(Self(getrandom::u64().map_err(|error| error.to_string())? | 1))
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % (bound.max(1) as u64)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(count: usize) -> Requests {
        let target = Target { port: 1, path: "/in/x".into(), secret: "whsec_test".into() };
        Requests::prepare(&target, "evt_r1_", count).unwrap()
    }

    #[test]
    fn a_body_has_the_stated_size_and_is_json() {
        let made = body("evt_r1_0000001", 1_790_000_000);
        assert_eq!(made.len(), BODY_BYTES);
        let read: serde_json::Value = serde_json::from_slice(&made).unwrap();
        assert_eq!(read["id"], "evt_r1_0000001");
    }

    #[test]
    fn one_request_in_five_repeats_an_event_that_came_before() {
        let made = prepared(1_000);
        assert_eq!(made.events(), 800);
        let mut newest = None;
        for place in 0..made.count() {
            let event = made.event_at(place).unwrap();
            if place % REPEAT_ONE_IN == REPEAT_ONE_IN - 1 {
                assert!(Some(event) <= newest);
            } else {
                assert!(Some(event) > newest);
                newest = Some(event);
            }
        }
    }

    #[test]
    fn an_id_leads_back_to_its_event_and_a_foreign_id_to_none() {
        let made = prepared(10);
        assert_eq!(made.event_of_id(&made.event_id(7)), Some(7));
        assert_eq!(made.event_of_id("evt_r1_0000008"), None);
        assert_eq!(made.event_of_id("evt_r1_7"), None);
        assert_eq!(made.event_of_id("evt_r2_0000007"), None);
    }
}
