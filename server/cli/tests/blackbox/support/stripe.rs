//! Stripe's list of events as its documentation describes it (docs.stripe.com/api/events/list): newest first,
//! `limit` up to 100, `created[gte]` and `created[lte]`, `starting_after`, `has_more`. What Stripe would refuse is
//! refused: a parameter that it does not have, an id that it does not know, another key.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use url::form_urlencoded;

/// The key that it knows.
pub(crate) const KEY: &str = "rk_test_of_the_strict_stripe";
/// The variable by which a server may call it, and its value.
pub(crate) const ALLOWED: (&str, &str) = ("RESTANTE_OUTBOUND_ALLOW_CIDRS", "127.0.0.0/8");

#[derive(Default)]
struct State {
    /// By id, which sorts by time: when, and the body.
    events: BTreeMap<String, (i64, Value)>,
    refuses: bool,
    pages: usize,
}

/// The provider.
#[derive(Clone)]
pub(crate) struct Stripe {
    state: Arc<Mutex<State>>,
    /// Where its API is.
    pub(crate) base_url: String,
}

impl Stripe {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let base_url = format!("http://{}", listener.local_addr().expect("an address"));
        let state = Arc::new(Mutex::new(State::default()));
        let serving = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, Arc::clone(&serving)));
            }
        });
        Self { state, base_url }
    }

    /// An event happens now; gives the body of its webhook.
    pub(crate) fn happens(&self, id: &str) -> Vec<u8> {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
        let at = i64::try_from(now.as_secs()).expect("not yet");
        let event = json!({"id": id, "object": "event", "created": at, "type": "charge.succeeded", "livemode": false,
            "api_version": "2026-07-29", "data": {"object": {"id": format!("ch_{id}"), "object": "charge"}}});
        let body = event.to_string().into_bytes();
        self.state.lock().expect("no panic").events.insert(id.to_owned(), (at, event));
        body
    }

    /// The ids that it lists.
    pub(crate) fn ids(&self) -> Vec<String> {
        self.state.lock().expect("no panic").events.keys().cloned().collect()
    }

    /// From now on the key is another one.
    pub(crate) fn revoke(&self) {
        self.state.lock().expect("no panic").refuses = true;
    }

    /// How many pages it gave.
    pub(crate) fn pages(&self) -> usize {
        self.state.lock().expect("no panic").pages
    }
}

async fn answer(mut stream: TcpStream, state: Arc<Mutex<State>>) {
    let mut head = Vec::new();
    let mut chunk = [0_u8; 2048];
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return,
            Ok(read) => head.extend_from_slice(&chunk[..read]),
        }
    }
    let (status, body) = page(&String::from_utf8_lossy(&head), &mut state.lock().expect("no panic"));
    let body = body.to_string();
    let answer = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}

fn page(head: &str, state: &mut State) -> (u16, Value) {
    let error = |status: u16, message: &str| (status, json!({"error": {"message": message}}));
    let target = head.split(' ').nth(1).unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    if !head.starts_with("GET ") || path != "/v1/events" {
        return error(404, "Unrecognized request URL");
    }
    let authorized = head.to_ascii_lowercase().contains(&format!("authorization: bearer {KEY}\r\n"));
    if state.refuses || !authorized {
        return error(401, "Invalid API Key provided");
    }
    let (mut limit, mut from, mut to, mut after) = (10, i64::MIN, i64::MAX, None);
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        match &*name {
            "limit" => limit = value.parse().unwrap_or(0),
            "created[gte]" => from = value.parse().unwrap_or(i64::MAX),
            "created[lte]" => to = value.parse().unwrap_or(i64::MIN),
            "starting_after" => after = Some(value.into_owned()),
            _ => return error(400, "Received unknown parameter"),
        }
    }
    if !(1..=100).contains(&limit) {
        return error(400, "This value must be between 1 and 100");
    }
    if after.as_ref().is_some_and(|id| !state.events.contains_key(id)) {
        return error(400, "No such event");
    }
    state.pages += 1;
    let mut listed = state
        .events
        .iter()
        .rev()
        .filter(|(id, (at, _))| (from..=to).contains(at) && after.as_ref().is_none_or(|after| *id < after))
        .map(|(_, (_, event))| event.clone());
    let data: Vec<Value> = listed.by_ref().take(limit).collect();
    (200, json!({"object": "list", "url": "/v1/events", "has_more": listed.next().is_some(), "data": data}))
}
