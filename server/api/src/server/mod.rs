//! The accept loop: connections with deadlines, limits and a graceful end, none of which
//! `axum::serve` has. What a request means is the router's business.

mod head_scan;
mod linger;
mod watched;

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use http::header::CONNECTION;
use http::{HeaderValue, Request};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use restante_core::limits::{HEAD_BYTES_MAX, HEADERS_MAX};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tower::Service as _;

use linger::Lingering;
use watched::{Answering, Progress, Watched};

/// The address that a connection came from, in the extensions of each of its requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// The head of this request holds both a length and a chunked coding. hyper drops the length, so
/// only this mark tells of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BothLengths;

/// How many connections there may be and how long their parts may take. Tests make them short.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at once; further ones wait in the system's queue.
    pub connections_max: u32,
    /// From a connection's begin to the first byte, and from a request's first byte to the end of its head.
    pub head: Duration,
    /// Between an answer and the next request.
    pub idle: Duration,
    /// How long a client may leave an answer unread.
    pub write: Duration,
    /// How long requests under way may go on after the stop.
    pub stop: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections_max: 2_000,
            head: Duration::from_secs(10),
            idle: Duration::from_secs(30),
            write: Duration::from_secs(30),
            stop: Duration::from_secs(25),
        }
    }
}

/// Connections that the system keeps for us until we accept them.
const BACKLOG: u32 = 1_024;
/// A pause after a failed accept, mostly for want of file descriptors, which a loop would only make worse.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// Takes a port.
///
/// # Errors
/// [`io::ErrorKind::AddrInUse`] when another program has it.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket =
        if address.is_ipv4() { tokio::net::TcpSocket::new_v4() } else { tokio::net::TcpSocket::new_v6() }?;
    // After a stop, the old connections would otherwise hold the port for a minute.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Serves until `stop` resolves, then finishes what is under way and returns. What is still under
/// way after [`Limits::stop`] is cut off; its number is returned.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    stop: impl Future<Output = ()>,
) -> usize {
    let free = Arc::new(Semaphore::new(limits.connections_max as usize));
    let (stopping, stopped) = watch::channel(false);
    let mut connections = JoinSet::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = async {
            // Never closed, so it always gives one in the end.
            let permit = Arc::clone(&free).acquire_owned().await.ok();
            (listener.accept().await, permit)
        };
        let (accepted, permit) = tokio::select! {
            biased;
            () = &mut stop => break,
            accepted = accepted => accepted,
        };
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok((stream, peer)) => {
                let (router, stopped) = (router.clone(), stopped.clone());
                connections.spawn(async move {
                    prepare(&stream);
                    connection(stream, peer, router, limits, stopped).await;
                    drop(permit);
                });
            }
            Err(error) if is_the_clients(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "a connection can't be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    // Nobody listens any more when there are no connections.
    let _ = stopping.send(true);
    let all = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(limits.stop, all).await.is_ok() {
        return 0;
    }
    let left = connections.len();
    connections.shutdown().await;
    left
}

fn prepare(stream: &TcpStream) {
    // Answers are small and are waited for. A socket that refuses this has already gone.
    let _ = stream.set_nodelay(true);
}

fn is_the_clients(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionRefused
    )
}

/// Serves one connection to its end.
async fn connection<S>(
    stream: S,
    peer: SocketAddr,
    router: Router,
    limits: Limits,
    mut stopped: watch::Receiver<bool>,
) where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let progress = Arc::new(Progress::default());
    let io = TokioIo::new(Watched::new(stream, Arc::clone(&progress), limits));
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        let answering = Answering::begin(&progress);
        let mut request = request.map(|body| Body::new(Lingering::new(body, &progress)));
        request.extensions_mut().insert(Peer(peer));
        if progress.both_lengths() {
            request.extensions_mut().insert(BothLengths);
        }
        let answer = router.clone().call(request);
        async move {
            let mut response = answer.await?;
            if answering.leaves_unread() {
                // What is left of the body would have to be told from the next request.
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(response.map(|body| answering.until_sent(body)))
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        // `Watched` is stricter and knows the idle time apart from the head's. This bounds whatever it may miss.
        .header_read_timeout(limits.idle + limits.head)
        .max_headers(HEADERS_MAX)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(io, service);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        _ = stopped.wait_for(|stopped| *stopped) => None,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        // Clients that go away, are too slow or send rubbish: of interest only to who looks for it.
        tracing::debug!(%error, "a connection ended early");
    }
}

#[cfg(test)]
mod tests;
