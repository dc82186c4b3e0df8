//! What is answered to heads and framings of every kind, by the whole surface over real connections.

use axum::extract::Request;
use http::header::{HOST, TRANSFER_ENCODING};
use restante_app::testing::TestApp;
use restante_core::limits::{HEAD_BYTES_MAX, HEADERS_MAX};
use restante_store::testing::TestStore;
use tokio::sync::Semaphore;

use super::*;
use crate::body::read_whole;
use crate::state::Deadlines;
use crate::{Api, with_layers};

/// Gives the body back, after its length in decimal.
async fn echo(request: Request) -> Result<Vec<u8>, crate::problem::Refused> {
    let budget = Arc::new(Semaphore::new(1 << 20));
    let mut body = request.into_body();
    match read_whole(&mut body, 1 << 20, Deadlines::default(), &budget).await {
        Ok(whole) => Ok([whole.bytes.len().to_string().as_bytes(), b":", &whole.bytes].concat()),
        Err(fault) => Err(crate::problem::Refused(fault.problem(1 << 20))),
    }
}

struct Site {
    running: Running,
    _app: TestApp,
}

async fn site() -> Site {
    let app = TestApp::new(TestStore::sqlite().await);
    let api = Api::new(app.app.clone(), None, Vec::new());
    let pages = Router::new().route("/echo", any(echo));
    let router = with_layers(&api, crate::router(&api), pages);
    Site { running: run(router, Limits::default()), _app: app }
}

impl Site {
    /// Sends bytes on a connection of their own, closes that side, and gives all that comes back.
    async fn ask(&self, bytes: impl AsRef<[u8]>) -> String {
        let stream = TcpStream::connect(self.running.address).await.unwrap();
        let (mut answers, mut requests) = stream.into_split();
        let bytes = bytes.as_ref().to_vec();
        let sent = tokio::spawn(async move {
            requests.write_all(&bytes).await.unwrap();
            requests.shutdown().await.unwrap();
        });
        let mut answer = Vec::new();
        answers.read_to_end(&mut answer).await.unwrap();
        sent.await.unwrap();
        String::from_utf8(answer).unwrap()
    }

    /// The statuses of all answers.
    async fn statuses(&self, bytes: impl AsRef<[u8]>) -> Vec<u16> {
        let answer = self.ask(bytes).await;
        let answers = answer.split("HTTP/1.1 ").skip(1);
        answers.map(|answer| answer[..3].parse().unwrap()).collect()
    }
}

fn get(target: &str, headers: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: a\r\n{headers}\r\n")
}

fn post(headers: &str, body: &str) -> String {
    format!("POST /echo HTTP/1.1\r\nHost: a\r\n{headers}\r\n\r\n{body}")
}

#[tokio::test]
async fn a_head_is_measured_exactly_and_its_refusal_arrives() {
    let site = site().await;
    let spare = HEAD_BYTES_MAX - get("/healthz", "X-A: \r\n").len();
    let line_spare = HEAD_BYTES_MAX - "GET / HTTP/1.1".len();
    for (head, status) in [
        (get("/healthz", &format!("X-A: {}\r\n", "b".repeat(spare))), 200),
        (get("/healthz", &format!("X-A: {}\r\n", "b".repeat(spare + 1))), 431),
        (get("/healthz", &format!("X-A: {}\r\n", "b".repeat(40 * 1_024))), 431),
        (get("/healthz", &format!("X-A: {}\r\n", "b".repeat(1_024 * 1_024))), 431),
        // One is the Host.
        (get("/healthz", &"X-A: b\r\n".repeat(HEADERS_MAX - 1)), 200),
        (get("/healthz", &"X-A: b\r\n".repeat(HEADERS_MAX)), 431),
        (get("/healthz", &"X-A: b\r\n".repeat(100_000)), 431),
        (get(&format!("/healthz?{}", "q".repeat(20 * 1_024)), ""), 200),
        (
            get(
                &format!("/healthz?{}", "q".repeat(20 * 1_024)),
                &format!("A: {}\r\n", "b".repeat(20 * 1_024)),
            ),
            431,
        ),
        (get(&format!("/{}", "q".repeat(line_spare)), ""), 414),
        (get(&format!("/{}", "q".repeat(70_000)), ""), 414),
        (get(&format!("/{}", "q".repeat(1_024 * 1_024)), ""), 414),
        ("x".repeat(70_000), 414),
        (get("/healthz", "X-A b\r\n"), 400),
    ] {
        let shown: String = head.chars().take(60).collect();
        assert_eq!(site.statuses(&head).await, [status], "{shown}… of {} bytes", head.len());
        // Nor does it depend on what came before on the connection.
        let both = post("Content-Length: 3", "abc") + &head;
        assert_eq!(site.statuses(both).await, [200, status], "{shown}… of {} bytes", head.len());
    }
}

#[tokio::test]
async fn framing_that_can_be_read_in_two_ways_is_refused_and_ends_the_connection() {
    let site = site().await;
    for headers in [
        "Content-Length: 3\r\nContent-Length: 4",
        "Content-Length: 3, 3",
        "Content-Length: +3",
        "Content-Length: -1",
        "Content-Length: 0x3",
        "Content-Length: 18446744073709551616",
        "Content-Length: 3\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 3",
        "Transfer-Encoding: chunked\r\nContent-Length: 0",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding : chunked",
        "Transfer-Encoding: \u{b}chunked",
        "Host: b\r\nContent-Length: 3",
        "X-A: b\r\n c\r\nContent-Length: 3",
        "X-A: b\0c\r\nContent-Length: 3",
        ": b\r\nContent-Length: 3",
    ] {
        // What follows would be a request of its own, if anyone believed it.
        let request = post(headers, "3\r\nabc\r\n0\r\n\r\n") + &get("/healthz", "");
        assert_eq!(site.statuses(&request).await, [400], "{headers}");
        let behind = post("Transfer-Encoding: chunked", "1\r\na\r\n0\r\nA: b\r\n\r\n") + &request;
        assert_eq!(site.statuses(behind).await, [200, 400], "{headers}");
    }
    assert_eq!(site.statuses("GET /healthz HTTP/1.1\r\n\r\n").await, [400], "no {HOST}");
    let old = format!("POST /echo HTTP/1.0\r\n{TRANSFER_ENCODING}: chunked\r\n\r\n0\r\n\r\n");
    assert_eq!(site.ask(old).await.get(9..12), Some("400"));
}

#[tokio::test]
async fn chunks_are_taken_as_they_are_meant_and_refused_when_they_are_not() {
    let site = site().await;
    let chunked = |body: &str| post("Transfer-Encoding: chunked", body);
    for (body, echoed) in [
        ("3\r\nabc\r\n0\r\n\r\n", "3:abc"),
        ("0003;x=\"y\"\r\nabc\r\n00\r\n\r\n", "3:abc"),
        ("1\r\na\r\n2\r\nbc\r\n0\r\nX-Signature: forged\r\nHost: b\r\n\r\n", "3:abc"),
        ("0\r\n\r\n", "0:"),
    ] {
        let answer = site.ask(chunked(body) + &get("/healthz", "")).await;
        let (first, second) = answer.split_at(answer.rfind("HTTP/1.1 ").unwrap());
        assert!(first.starts_with("HTTP/1.1 200 ") && first.ends_with(echoed), "{body}: {answer}");
        assert!(second.starts_with("HTTP/1.1 200 "), "{body}: {answer}");
    }
    for body in [
        "g\r\nabc\r\n0\r\n\r\n".to_owned(),
        "3\nabc\n0\n\n".to_owned(),
        "3\r\nabcd\r\n0\r\n\r\n".to_owned(),
        "-3\r\nabc\r\n0\r\n\r\n".to_owned(),
        "10000000000000003\r\nabc\r\n0\r\n\r\n".to_owned(),
        "3;a\nb\r\nabc\r\n0\r\n\r\n".to_owned(),
        format!("3;{}\r\nabc\r\n0\r\n\r\n", "x".repeat(20 * 1_024)),
        format!("3;{}\r\nabc\r\n0\r\n\r\n", "x".repeat(4 * 1_024 * 1_024)),
        format!("3\r\nabc\r\n0\r\nX: {}\r\n\r\n", "x".repeat(HEAD_BYTES_MAX)),
        format!("3\r\nabc\r\n0\r\n{}\r\n", "X: y\r\n".repeat(HEADERS_MAX + 1)),
        "3\r\nab".to_owned(),
        "3\r\nabc\r\n".to_owned(),
    ] {
        let answers = site.statuses(chunked(&body) + &get("/healthz", "")).await;
        let shown: String = body.chars().take(40).collect();
        assert_eq!(answers, [400], "{shown}");
    }
}

#[tokio::test]
async fn odd_but_clear_requests_are_answered_each_as_its_own() {
    let site = site().await;
    for (requests, statuses) in [
        // Bare line feeds are taken as line ends, also before another request.
        (
            "POST /echo HTTP/1.1\nHost: a\nContent-Length: 3\n\nabcGET /healthz HTTP/1.1\nHost: a\n\n",
            &[200, 200][..],
        ),
        (
            "\r\n\r\nGET /healthz HTTP/1.1\r\nHost: a\r\n\r\n\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n",
            &[200, 404],
        ),
        ("GET http://b.example/healthz HTTP/1.1\r\nHost: a\r\n\r\n", &[200]),
        ("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", &[404]),
        ("CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n", &[404]),
        ("TRACE /healthz HTTP/1.1\r\nHost: a\r\nX-Secret: s\r\n\r\n", &[405]),
        (
            "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n",
            &[200],
        ),
        ("GET /healthz HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n", &[200]),
        ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc", &[200]),
        (
            "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\nabc",
            &[100, 200],
        ),
        ("POST /in/x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\nabc", &[404]),
        ("GET /healthz HTTP/2.0\r\nHost: a\r\n\r\n", &[400]),
        ("GET  /healthz HTTP/1.1\r\nHost: a\r\n\r\n", &[400]),
        ("GET /heal\u{7f}thz HTTP/1.1\r\nHost: a\r\n\r\n", &[400]),
        ("G\u{1}T / HTTP/1.1\r\nHost: a\r\n\r\n", &[400]),
        ("\u{16}\u{3}\u{1}\u{2}", &[400]),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &[]),
        ("GET /healthz HTTP/1.1\r\nHo", &[]),
        ("", &[]),
    ] {
        assert_eq!(site.statuses(requests).await, statuses, "{requests:?}");
    }
    assert!(site.ask("GET /healthz HTTP/1.0\r\n\r\n").await.starts_with("HTTP/1.0 200 "));
    let echoed = site.ask("TRACE /healthz HTTP/1.1\r\nHost: a\r\nX-Canary: canary\r\n\r\n").await;
    assert!(!echoed.to_lowercase().contains("canary"), "{echoed}");
}
