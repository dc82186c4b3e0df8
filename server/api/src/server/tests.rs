//! Connections against the clock. Where a deadline is meant the runtime's clock is paused, so that
//! time passes at once when everybody waits, and the connection is a pipe in memory.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Bytes;
use axum::routing::{any, get, post};
use futures_util::stream;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::*;

const GET: &str = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n";

fn router() -> Router {
    Router::new()
        .route("/hello", get(|| async { "hello" }))
        .route("/echo", post(|body: Bytes| async move { body }))
        .route("/refuse", any(|| async { http::StatusCode::PAYLOAD_TOO_LARGE }))
        .route(
            "/endless",
            get(|| async {
                Body::from_stream(stream::repeat_with(|| {
                    Ok::<_, Infallible>(Bytes::from_static(&[b'x'; 4_096]))
                }))
            }),
        )
}

/// A connection to the router through a pipe that holds little, so that an unread answer fills it.
fn connect() -> (DuplexStream, JoinHandle<()>) {
    let (client, server) = tokio::io::duplex(8 * 1_024);
    // The sender lives as long as the test's runtime, as in `serve`.
    let (stopping, stopped) = watch::channel(false);
    let peer = SocketAddr::from(([127, 0, 0, 1], 9));
    let task = tokio::spawn(async move {
        connection(server, peer, router(), Limits::default(), stopped).await;
        drop(stopping);
    });
    (client, task)
}

/// The bytes until the answer's end is seen.
async fn read_until(client: &mut DuplexStream, end: &str) -> String {
    let mut text = String::new();
    while !text.ends_with(end) {
        let mut buffer = [0; 1_024];
        let count = client.read(&mut buffer).await.unwrap();
        assert!(count > 0, "ended after: {text}");
        text.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
    }
    text
}

async fn seconds_until_closed(mut client: DuplexStream, begin: Instant) -> u64 {
    let mut rest = Vec::new();
    client.read_to_end(&mut rest).await.unwrap();
    begin.elapsed().as_secs()
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_sends_nothing_is_closed() {
    let (client, _task) = connect();
    assert_eq!(seconds_until_closed(client, Instant::now()).await, 10);
}

#[tokio::test(start_paused = true)]
async fn a_head_that_trickles_in_is_closed_at_the_total() {
    let begin = Instant::now();
    let (mut client, task) = connect();
    client.write_all(b"GET /hello HTTP/1.1\r\nHost: a\r\n").await.unwrap();
    while client.write_all(b"X-More: 1\r\n").await.is_ok() && !task.is_finished() {
        tokio::time::sleep(Duration::from_millis(800)).await;
    }
    assert!((10..12).contains(&begin.elapsed().as_secs()), "{:?}", begin.elapsed());
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_may_wait_longer_and_then_ask_again() {
    let (mut client, _task) = connect();
    for _ in 0..2 {
        client.write_all(GET.as_bytes()).await.unwrap();
        read_until(&mut client, "hello").await;
        tokio::time::sleep(Duration::from_secs(29)).await;
    }
    client.write_all(GET.as_bytes()).await.unwrap();
    read_until(&mut client, "hello").await;
    assert_eq!(seconds_until_closed(client, Instant::now()).await, 30);
}

#[tokio::test(start_paused = true)]
async fn after_an_idle_time_a_head_has_its_own_deadline() {
    let (mut client, _task) = connect();
    client.write_all(GET.as_bytes()).await.unwrap();
    read_until(&mut client, "hello").await;
    tokio::time::sleep(Duration::from_secs(25)).await;
    client.write_all(b"GET /hello").await.unwrap();
    assert_eq!(seconds_until_closed(client, Instant::now()).await, 10);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_not_read_ends_the_connection() {
    let begin = Instant::now();
    let (mut client, task) = connect();
    client.write_all(b"GET /endless HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    task.await.unwrap();
    assert_eq!(begin.elapsed().as_secs(), 30);
}

#[tokio::test(start_paused = true)]
async fn work_on_a_request_has_no_deadline_here() {
    let (client, server) = tokio::io::duplex(8 * 1_024);
    let mut client = client;
    let slow = Router::new().route(
        "/hello",
        get(|| async {
            tokio::time::sleep(Duration::from_secs(120)).await;
            "hello"
        }),
    );
    let (_stopping, stopped) = watch::channel(false);
    tokio::spawn(connection(server, SocketAddr::from(([127, 0, 0, 1], 9)), slow, Limits::default(), stopped));
    client.write_all(GET.as_bytes()).await.unwrap();
    read_until(&mut client, "hello").await;
}

#[tokio::test]
async fn too_many_headers_and_too_large_a_head_are_refused() {
    for head in [
        format!("GET /hello HTTP/1.1\r\nHost: a\r\n{}\r\n", "X-A: b\r\n".repeat(HEADERS_MAX)),
        format!("GET /hello HTTP/1.1\r\nHost: a\r\nX-A: {}\r\n\r\n", "b".repeat(HEAD_BYTES_MAX)),
    ] {
        let (mut client, _task) = connect();
        // The server may have refused before it read all.
        let _ = client.write_all(head.as_bytes()).await;
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).await.unwrap();
        assert!(answer.starts_with(b"HTTP/1.1 431 "), "{}", String::from_utf8_lossy(&answer));
    }
}

#[tokio::test]
async fn lengths_and_codings_that_contradict_are_refused_by_the_parser() {
    for head in [
        "Content-Length: 3\r\nContent-Length: 4",
        "Content-Length: 3, 3",
        "Content-Length: +3",
        "Content-Length: -1",
        "Content-Length: 18446744073709551616",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding : chunked",
        "X-A: b\r\n c",
        "X-A: b\0c",
        ": b",
    ] {
        let (mut client, _task) = connect();
        client
            .write_all(format!("POST /echo HTTP/1.1\r\nHost: a\r\n{head}\r\n\r\nabc").as_bytes())
            .await
            .unwrap();
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).await.unwrap();
        assert!(answer.starts_with(b"HTTP/1.1 400 "), "{head}: {}", String::from_utf8_lossy(&answer));
    }
}

/// A real server on a free port of the loopback.
struct Running {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    served: JoinHandle<usize>,
}

fn run(router: Router, limits: Limits) -> Running {
    let listener = listen(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let served = tokio::spawn(serve(listener, router, limits, async move {
        let _ = stopped.await;
    }));
    Running { address, stop, served }
}

#[tokio::test]
async fn a_sender_who_goes_on_sending_can_still_read_that_it_was_refused() {
    let running = run(router(), Limits::default());
    let mut client = TcpStream::connect(running.address).await.unwrap();
    let body = vec![b'x'; 16 * 1_024 * 1_024];
    let head = format!("POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", body.len());
    client.write_all(head.as_bytes()).await.unwrap();
    client.write_all(&body).await.unwrap();
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains("connection: close"), "{answer}");
}

#[tokio::test]
async fn a_refusal_that_needs_no_body_comes_before_the_sender_is_told_to_go_on() {
    let running = run(router(), Limits::default());
    for (path, first) in [("/refuse", "HTTP/1.1 413 "), ("/echo", "HTTP/1.1 100 ")] {
        let mut client = TcpStream::connect(running.address).await.unwrap();
        let head =
            format!("POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
        client.write_all(head.as_bytes()).await.unwrap();
        let mut answer = [0; 13];
        client.read_exact(&mut answer).await.unwrap();
        assert_eq!(std::str::from_utf8(&answer).unwrap(), first);
    }
}

#[tokio::test]
async fn a_stop_finishes_what_is_under_way_and_closes_the_rest() {
    let go = Arc::new(Notify::new());
    let began = Arc::new(Notify::new());
    let slow = Router::new().route(
        "/hello",
        get({
            let (go, began) = (Arc::clone(&go), Arc::clone(&began));
            move || async move {
                began.notify_one();
                go.notified().await;
                "hello"
            }
        }),
    );
    let running = run(slow, Limits::default());
    let mut idle = TcpStream::connect(running.address).await.unwrap();
    let mut client = TcpStream::connect(running.address).await.unwrap();
    client.write_all(GET.as_bytes()).await.unwrap();
    began.notified().await;
    running.stop.send(()).unwrap();
    // The idle one is closed while the other is still being worked on.
    assert_eq!(idle.read(&mut [0; 1]).await.unwrap(), 0);
    assert!(!running.served.is_finished());
    go.notify_one();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    assert!(answer.ends_with("hello"), "{answer}");
    assert_eq!(running.served.await.unwrap(), 0);
    assert!(TcpStream::connect(running.address).await.is_err());
}

#[tokio::test]
async fn what_does_not_end_in_time_is_cut_off() {
    let began = Arc::new(Notify::new());
    let stuck = Router::new().route(
        "/hello",
        get({
            let began = Arc::clone(&began);
            move || async move {
                began.notify_one();
                std::future::pending::<&str>().await
            }
        }),
    );
    let limits = Limits { stop: Duration::from_millis(1), ..Limits::default() };
    let running = run(stuck, limits);
    let mut client = TcpStream::connect(running.address).await.unwrap();
    client.write_all(GET.as_bytes()).await.unwrap();
    began.notified().await;
    running.stop.send(()).unwrap();
    assert_eq!(running.served.await.unwrap(), 1);
}

#[tokio::test]
async fn connections_over_the_cap_wait_for_a_place() {
    let running = run(router(), Limits { connections_max: 1, ..Limits::default() });
    let mut first = TcpStream::connect(running.address).await.unwrap();
    first.write_all(GET.as_bytes()).await.unwrap();
    assert!(first.read(&mut [0; 1_024]).await.unwrap() > 0);
    let mut second = TcpStream::connect(running.address).await.unwrap();
    second.write_all(GET.as_bytes()).await.unwrap();
    let waits = tokio::time::timeout(Duration::from_millis(50), second.read(&mut [0; 1_024])).await;
    assert!(waits.is_err());
    drop(first);
    assert!(second.read(&mut [0; 1_024]).await.unwrap() > 0);
}

#[tokio::test]
async fn a_port_that_is_taken_is_an_error_of_its_own() {
    let first = listen(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let again = listen(first.local_addr().unwrap());
    assert_eq!(again.map(|_| ()).unwrap_err().kind(), io::ErrorKind::AddrInUse);
}
