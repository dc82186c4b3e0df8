//! Receiving as HTTP, with a stand-in for the verbs: what is handed over, what is refused before,
//! and what happens when a sender goes away.

mod senders;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::stream;
use http::header::RETRY_AFTER;
use http_body_util::BodyExt as _;
use restante_core::time::Timestamp;
use tokio::sync::Notify;

use super::*;

const TOKEN: &str = "abc123";
const BYTES_MAX: u64 = 16;
const NOW: Timestamp = Timestamp::from_seconds(1_796_040_000);

/// What the stand-in does with a delivery.
#[derive(Clone, Copy, PartialEq)]
enum Does {
    Accept,
    Panic,
    /// Waits until it is told to go on.
    Wait,
    /// Waits like that, but with the look-up of the endpoint.
    WaitBefore,
}

#[derive(Clone)]
struct StandIn(Arc<Inner>);

struct Inner {
    does: Does,
    received: Mutex<Vec<Incoming>>,
    counted: Mutex<Vec<&'static str>>,
    begun: Notify,
    go: Notify,
    finished: AtomicUsize,
    done: Notify,
}

impl Receiver for StandIn {
    type Target = ();

    async fn find(&self, token: &str) -> Result<Option<Arc<()>>, Problem> {
        if self.0.does == Does::WaitBefore {
            self.0.begun.notify_one();
            self.0.go.notified().await;
        }
        match token {
            TOKEN => Ok(Some(Arc::new(()))),
            "away" => Err(Problem::new(Code::Unavailable, "canary of the database")),
            _ => Ok(None),
        }
    }

    fn body_bytes_max(_: &()) -> u64 {
        BYTES_MAX
    }

    fn gate(&self, _: &(), method: &str, _: Timestamp) -> Option<Reply> {
        (method == "HEAD").then(|| Reply { status: 200, headers: Vec::new(), body: Vec::new() })
    }

    fn count(&self, _: &(), what: &'static str, _: Timestamp) {
        self.0.counted.lock().unwrap().push(what);
    }

    async fn receive(&self, _: &Arc<()>, mut delivery: Incoming) -> Reply {
        let _held = delivery.held.take();
        self.0.received.lock().unwrap().push(delivery);
        self.0.begun.notify_one();
        match self.0.does {
            Does::Accept | Does::WaitBefore => {}
            Does::Panic => panic!("a fault of ours"),
            Does::Wait => self.0.go.notified().await,
        }
        self.0.finished.fetch_add(1, Ordering::SeqCst);
        self.0.done.notify_one();
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        Reply {
            status: 200,
            headers: vec![header("x-reply", "yes"), header("x-bad", "a\nb")],
            body: b"kept".to_vec(),
        }
    }
}

struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        NOW
    }
}

struct Desk {
    stand_in: StandIn,
    budget: Arc<Semaphore>,
    under_way: UnderWay,
}

impl Desk {
    fn new(does: Does) -> Self {
        let inner = Inner {
            does,
            received: Mutex::default(),
            counted: Mutex::default(),
            begun: Notify::new(),
            go: Notify::new(),
            finished: AtomicUsize::new(0),
            done: Notify::new(),
        };
        Self {
            stand_in: StandIn(Arc::new(inner)),
            budget: Arc::new(Semaphore::new(1_000)),
            under_way: UnderWay::default(),
        }
    }

    async fn send(&self, request: Request) -> Response {
        let around = Around {
            deadlines: Deadlines::default(),
            budget: Arc::clone(&self.budget),
            under_way: self.under_way.clone(),
            clock: Arc::new(FixedClock),
        };
        detached(self.stand_in.clone(), around, request).await
    }

    async fn post(&self, path: &str, body: impl Into<Body>) -> Response {
        self.send(http::Request::post(path).body(body.into()).unwrap()).await
    }

    fn received(&self) -> usize {
        self.stand_in.0.received.lock().unwrap().len()
    }
}

fn reason(response: &Response) -> Option<&'static str> {
    response.extensions().get::<Reason>().map(|reason| reason.0)
}

#[tokio::test]
async fn what_arrives_is_what_is_handed_over() {
    let desk = Desk::new(Does::Accept);
    let mut request = http::Request::builder()
        .method("PUT")
        .uri(format!("/in/{TOKEN}?b=%20&a=1&b"))
        .header("X-Second", "2")
        .header("X-First", "one")
        .header("X-Second", HeaderValue::from_bytes(b"caf\xe9").unwrap())
        .body(Body::from("\u{0}{\"id\":1}"))
        .unwrap();
    request.extensions_mut().insert(Context { request_id: "r-1".into(), trace_id: Some("t-1".into()) });
    request.extensions_mut().insert(ClientAddress([192, 0, 2, 1].into()));
    let response = desk.send(request).await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["x-reply"], "yes");
    assert!(!response.headers().contains_key("x-bad"));
    assert!(response.extensions().get::<Recorded>().is_some());
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "kept");
    let received = desk.stand_in.0.received.lock().unwrap().remove(0);
    assert_eq!(received.request.method, "PUT");
    assert_eq!(received.request.query.as_deref(), Some("b=%20&a=1&b"));
    assert_eq!(received.request.body, "\u{0}{\"id\":1}");
    let headers: Vec<(&str, &[u8])> =
        received.request.headers.0.iter().map(|(name, value)| (name.as_str(), value.as_ref())).collect();
    assert_eq!(headers, [("x-second", &b"2"[..]), ("x-second", b"caf\xe9"), ("x-first", b"one")]);
    assert_eq!((received.request_id.as_str(), received.trace_id.as_deref()), ("r-1", Some("t-1")));
    assert_eq!(received.peer, Some([192, 0, 2, 1].into()));
    assert_eq!(received.received_at, NOW);
}

#[tokio::test]
async fn a_slash_at_the_end_is_the_same_endpoint_and_anything_else_is_none() {
    let desk = Desk::new(Does::Accept);
    for path in [format!("/in/{TOKEN}"), format!("/in/{TOKEN}/")] {
        assert_eq!(desk.post(&path, "").await.status(), 200, "{path}");
    }
    for path in [
        "/in/ABC123".to_owned(),
        "/in/".to_owned(),
        format!("/in/{TOKEN}%00"),
        format!("/in/{TOKEN}//"),
        "/in/%61bc123".to_owned(),
    ] {
        let response = desk.post(&path, "").await;
        assert_eq!((response.status().as_u16(), reason(&response)), (404, Some("unknown")), "{path}");
    }
    assert_eq!(desk.received(), 2);
}

#[tokio::test]
async fn a_probe_by_head_is_answered_and_hands_nothing_over() {
    let desk = Desk::new(Does::Accept);
    let request = http::Request::head(format!("/in/{TOKEN}")).body(Body::empty()).unwrap();
    assert_eq!(desk.send(request).await.status(), 200);
    assert_eq!(desk.received(), 0);
}

#[tokio::test]
async fn too_large_is_refused_before_verification_and_counted() {
    let desk = Desk::new(Does::Accept);
    let chunked = || {
        let pieces = [[b'x'; BYTES_MAX as usize].to_vec(), b"y".to_vec()];
        Body::from_stream(stream::iter(pieces.map(Ok::<_, std::convert::Infallible>)))
    };
    for body in [Body::from(vec![b'x'; BYTES_MAX as usize + 1]), chunked()] {
        let response = desk.post(&format!("/in/{TOKEN}"), body).await;
        assert_eq!((response.status().as_u16(), reason(&response)), (413, Some("size")));
    }
    assert_eq!(desk.post(&format!("/in/{TOKEN}"), vec![b'x'; BYTES_MAX as usize]).await.status(), 200);
    assert_eq!(desk.received(), 1);
    assert_eq!(*desk.stand_in.0.counted.lock().unwrap(), ["too_large", "too_large"]);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_is_408() {
    let desk = Desk::new(Does::Accept);
    let never = Body::from_stream(stream::pending::<Result<bytes::Bytes, std::convert::Infallible>>());
    let response = desk.post(&format!("/in/{TOKEN}"), never).await;
    assert_eq!((response.status().as_u16(), reason(&response)), (408, Some("unavailable")));
    assert_eq!(desk.received(), 0);
    assert_eq!(*desk.stand_in.0.counted.lock().unwrap(), ["timeout"]);
}

#[tokio::test]
async fn without_room_the_sender_is_told_to_come_back() {
    let desk = Desk::new(Does::Wait);
    let held = Arc::clone(&desk.budget).acquire_many_owned(995).await.unwrap();
    let response = desk.post(&format!("/in/{TOKEN}"), "123456").await;
    assert_eq!((response.status().as_u16(), reason(&response)), (503, Some("unavailable")));
    assert!(response.headers().contains_key(RETRY_AFTER));
    assert_eq!(desk.received(), 0);
    drop(held);
    // A delivery holds its room until it is finished, also when its sender is gone.
    let request = http::Request::post(format!("/in/{TOKEN}")).body(Body::from("123456")).unwrap();
    tokio::select! {
        _ = desk.send(request) => panic!("it has to wait"),
        () = desk.stand_in.0.begun.notified() => {}
    }
    assert_eq!(desk.budget.available_permits(), 994);
    desk.stand_in.0.go.notify_one();
    drop(Arc::clone(&desk.budget).acquire_many_owned(1_000).await);
}

#[tokio::test]
async fn what_was_begun_is_finished_when_the_sender_goes_away() {
    for does in [Does::WaitBefore, Does::Wait] {
        let desk = Desk::new(does);
        let request = http::Request::post(format!("/in/{TOKEN}")).body(Body::from("{}")).unwrap();
        tokio::select! {
            _ = desk.send(request) => panic!("it has to wait"),
            () = desk.stand_in.0.begun.notified() => {}
        }
        // The future of the request is dropped by now, as hyper does when a connection ends.
        assert_eq!(desk.stand_in.0.finished.load(Ordering::SeqCst), 0);
        desk.stand_in.0.go.notify_one();
        desk.stand_in.0.done.notified().await;
        assert_eq!(desk.stand_in.0.finished.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_delivery_that_can_not_be_kept_in_time_is_never_a_success() {
    let desk = Desk::new(Does::Wait);
    let begin = tokio::time::Instant::now();
    let response = desk.post(&format!("/in/{TOKEN}"), "{}").await;
    assert_eq!((response.status().as_u16(), reason(&response)), (503, Some("unavailable")));
    assert!(response.headers().contains_key(RETRY_AFTER));
    assert_eq!(begin.elapsed(), Duration::from_secs(4));
}

#[tokio::test]
async fn a_fault_of_ours_is_a_500_and_the_next_delivery_is_taken() {
    let desk = Desk::new(Does::Panic);
    for _ in 0..2 {
        assert_eq!(desk.post(&format!("/in/{TOKEN}"), "{}").await.status(), 500);
    }
    assert_eq!(desk.received(), 2);
    assert_eq!(desk.budget.available_permits(), 1_000);
}

#[tokio::test]
async fn a_database_that_is_away_is_503_and_not_described() {
    let desk = Desk::new(Does::Accept);
    let response = desk.post("/in/away", "{}").await;
    assert_eq!((response.status().as_u16(), reason(&response)), (503, Some("unavailable")));
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert!(!String::from_utf8_lossy(&body).contains("canary"));
}
