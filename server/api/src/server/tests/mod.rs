//! Connections: against the clock, with odd heads, and to their ends.

mod deadlines;
mod ends;
mod heads;

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
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
    (client, answer(server, router()))
}

/// Serves the other end of a pipe.
fn answer(server: DuplexStream, router: Router) -> JoinHandle<()> {
    // The sender lives as long as the test's runtime, as in `serve`.
    let (stopping, stopped) = watch::channel(false);
    let peer = SocketAddr::from(([127, 0, 0, 1], 9));
    tokio::spawn(async move {
        connection(server, peer, router, Limits::default(), stopped).await;
        drop(stopping);
    })
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
