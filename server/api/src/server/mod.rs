//! The accept loop: connections with deadlines, limits and a graceful end, none of which
//! `axum::serve` has. What a request means is the router's business.

mod connection;
mod framing;
mod progress;
mod timer;
mod unread;
mod watched;

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::FromRequestParts;
use http::request::Parts;
use restante_app::figures;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use connection::connection;
pub(crate) use watched::Stopping;

/// The address that a connection came from, in the extensions of each of its requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// The head of this request holds both a length and a chunked coding. hyper drops the length, so
/// only this mark tells of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BothLengths;

/// Becomes true when the client closes its side of the connection while its request is being worked
/// on. It may have gone, or it may read on: who has begun something ends it all the same, and only who
/// waits, or gives away what can be given once, should look.
#[derive(Debug, Clone)]
pub(crate) struct HangUp(pub(crate) watch::Receiver<bool>);

impl<S: Sync> FromRequestParts<S> for HangUp {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        // A request that came over no connection never ends.
        Ok(parts.extensions.get().cloned().unwrap_or_else(|| Self(watch::channel(false).1)))
    }
}

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
    /// How long a body may come in, for whoever reads it without a deadline of its own.
    pub body: Duration,
    /// How long requests may go on coming in after the stop.
    pub stop_receive: Duration,
    /// When everything is cut off after the stop: a delivery that came whole has four seconds.
    pub stop: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections_max: 2_000,
            head: Duration::from_secs(10),
            idle: Duration::from_secs(30),
            write: Duration::from_secs(30),
            body: Duration::from_secs(30),
            stop_receive: Duration::from_millis(1_500),
            stop: Duration::from_millis(6_000),
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

/// Serves until `stop` resolves, then finishes what is under way and returns. A request that has not
/// come whole after [`Limits::stop_receive`] is given up. What is still under way after
/// [`Limits::stop`] is cut off; its number is returned.
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
                let open = figures::connected();
                connections.spawn(async move {
                    prepare(&stream);
                    connection(stream, peer, router, limits, stopped).await;
                    drop((open, permit));
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

#[cfg(test)]
mod tests;
