//! A provider that lists events as Stripe's pages say: newest first, `has_more`, `starting_after`,
//! `created[gte]` and `[lte]`, at most 100 a page. It is strict: a parameter that Stripe does not have is a 400,
//! another key a 401. What goes wrong at real providers is put before its answers.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use url::form_urlencoded;

/// The key that it knows.
pub(super) const KEY: &str = "rk_test_the_right_one_1234";

/// What stands in place of the next answer.
#[derive(Debug, Clone)]
pub(super) enum Fault {
    /// A status, and a header `Retry-After`.
    Status(u16, Option<u32>),
    /// A page that breaks off.
    BreaksOff,
    /// A page that is HTML.
    Html,
    /// The same page, which names itself as its next.
    Circle,
    /// The page, after an event was added at the top of the list.
    Grows(String),
    /// A status with these headers.
    Headers(u16, String),
    /// The page as if no time had been asked for.
    Unfiltered,
    /// The page, once the other side lets go.
    Held(Arc<tokio::sync::Notify>, Arc<tokio::sync::Notify>),
}

#[derive(Default)]
struct State {
    /// Id, time, type; the newest first.
    events: Vec<(String, i64, String)>,
    faults: VecDeque<Fault>,
    asked: Vec<String>,
}

/// The provider.
#[derive(Clone)]
pub(super) struct Provider {
    state: Arc<Mutex<State>>,
    pub(super) base_url: String,
    /// How many pages were asked for.
    pub(super) served: watch::Receiver<usize>,
}

impl Provider {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State::default()));
        let (count, served) = watch::channel(0);
        let serving = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (state, count) = (Arc::clone(&serving), count.clone());
                tokio::spawn(async move {
                    answer(stream, &state).await;
                    count.send_modify(|count| *count += 1);
                });
            }
        });
        Self { state, base_url, served }
    }

    /// Adds events, the newest last, one a second up to `newest`.
    pub(super) fn add(&self, ids: impl IntoIterator<Item = String>, newest: i64, kind: &str) {
        let ids: Vec<String> = ids.into_iter().collect();
        let mut state = self.state.lock().unwrap();
        let oldest = newest - ids.len() as i64 + 1;
        state.events.extend(ids.into_iter().zip(oldest..).map(|(id, at)| (id, at, kind.to_owned())));
        state.events.sort_by(|a, b| b.1.cmp(&a.1).then(b.0.cmp(&a.0)));
    }

    pub(super) fn then(&self, fault: Fault) {
        self.state.lock().unwrap().faults.push_back(fault);
    }

    /// The query strings that it was asked with.
    pub(super) fn asked(&self) -> Vec<String> {
        self.state.lock().unwrap().asked.clone()
    }

    pub(super) fn ids(&self) -> Vec<String> {
        self.state.lock().unwrap().events.iter().map(|event| event.0.clone()).collect()
    }
}

/// An event as it lists it, and as it would send it.
pub(super) fn event(id: &str, at: i64, kind: &str) -> Value {
    json!({"id": id, "object": "event", "created": at, "type": kind, "livemode": false, "data": {"object": {"id": format!("ch_{id}")}}})
}

async fn answer(mut stream: TcpStream, state: &Mutex<State>) {
    let mut head = Vec::new();
    let mut chunk = [0_u8; 2048];
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return,
            Ok(read) => head.extend_from_slice(&chunk[..read]),
        }
    }
    let head = String::from_utf8(head).unwrap();
    let held = match state.lock().unwrap().faults.front() {
        Some(Fault::Held(arrived, go)) => Some((Arc::clone(arrived), Arc::clone(go))),
        _ => None,
    };
    if let Some((arrived, go)) = held {
        arrived.notify_one();
        go.notified().await;
    }
    let (status, more, body, cut) = page(&head, state);
    let text = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{more}connection: close\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(text.as_bytes()).await;
    let sent = if cut { &body.as_bytes()[..body.len() / 2] } else { body.as_bytes() };
    let _ = stream.write_all(sent).await;
    let _ = stream.shutdown().await;
}

fn page(head: &str, state: &Mutex<State>) -> (u16, String, String, bool) {
    let mut state = state.lock().unwrap();
    let target = head.split(' ').nth(1).unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    state.asked.push(query.to_owned());
    let fault = state.faults.pop_front();
    let error = |status: u16, message: &str| {
        (status, String::new(), json!({"error": {"message": message}}).to_string(), false)
    };
    match &fault {
        Some(Fault::Status(status, after)) => {
            let after = after.map_or_else(String::new, |after| format!("retry-after: {after}\r\n"));
            return (*status, after, json!({"error": {}}).to_string(), false);
        }
        Some(Fault::Headers(status, headers)) => {
            return (*status, headers.clone(), json!({"error": {}}).to_string(), false);
        }
        Some(Fault::Html) => return (200, String::new(), "<html>login</html>".to_owned(), false),
        Some(Fault::Grows(id)) => {
            let at = state.events.first().map_or(0, |event| event.1);
            state.events.insert(0, (id.clone(), at, "charge.succeeded".to_owned()));
        }
        _ => {}
    }
    if !head.starts_with("GET ") || path != "/v1/events" {
        return error(404, "no such resource");
    }
    if !head.to_ascii_lowercase().contains(&format!("authorization: bearer {KEY}\r\n")) {
        return error(401, "Invalid API Key provided");
    }
    let (mut limit, mut from, mut to, mut after, mut types) = (10, i64::MIN, i64::MAX, None, Vec::new());
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        match &*name {
            "limit" => limit = value.parse().unwrap_or(0),
            "created[gte]" => from = value.parse().unwrap_or(i64::MAX),
            "created[lte]" => to = value.parse().unwrap_or(i64::MIN),
            "starting_after" => after = Some(value.into_owned()),
            "types[]" => types.push(value.into_owned()),
            _ => return error(400, "Received unknown parameter"),
        }
    }
    if matches!(fault, Some(Fault::Unfiltered)) {
        from = i64::MIN;
    }
    if !(1..=100).contains(&limit) {
        return error(400, "limit is 1 to 100");
    }
    let state = &*state;
    let found: Vec<&(String, i64, String)> = state
        .events
        .iter()
        .filter(|(_, at, kind)| (from..=to).contains(at) && (types.is_empty() || types.contains(kind)))
        .collect();
    let start = match &after {
        None => 0,
        Some(id) => match found.iter().position(|event| event.0 == *id) {
            Some(place) => place + 1,
            None => return error(400, "No such event"),
        },
    };
    let page: Vec<Value> =
        found.iter().skip(start).take(limit).map(|(id, at, kind)| event(id, *at, kind)).collect();
    let mut data = page;
    let mut has_more = start + data.len() < found.len();
    if let (Some(Fault::Circle), Some(after)) = (&fault, &after) {
        data = vec![event(after, to, "charge.succeeded")];
        has_more = true;
    }
    let body = serde_json::to_string_pretty(
        &json!({"object": "list", "url": "/v1/events", "has_more": has_more, "data": data}),
    );
    (200, String::new(), body.unwrap(), matches!(fault, Some(Fault::BreaksOff)))
}
