//! One connection from its first byte to its end.

use std::convert::Infallible;
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
use restante_core::limits::{BODY_BYTES_CEILING_DEFAULT, HEAD_BYTES_MAX, HEADERS_MAX};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tower::Service as _;

use super::progress::{Answering, Progress};
use super::unread::Unread;
use super::watched::Watched;
use super::{BothLengths, HangUp, Limits, Peer};

/// How long a sender may go on after it was refused.
const LINGER: Duration = Duration::from_secs(5);
/// The same when the server stops.
const LINGER_STOPPING: Duration = Duration::from_millis(500);
/// How much it may go on to send.
const LINGER_BYTES_MAX: u64 = BODY_BYTES_CEILING_DEFAULT;

/// The answer to a request line that is longer than a whole head may be.
const LINE_TOO_LONG: &[u8] = b"HTTP/1.1 414 URI Too Long\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// Serves a connection to its end.
pub(super) async fn connection<S>(
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
    let shared = Arc::clone(&progress);
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        let answering = Answering::begin(&shared);
        let mut request = request.map(|body| Body::new(Unread::new(body, &shared)));
        request.extensions_mut().insert(Peer(peer));
        request.extensions_mut().insert(HangUp(shared.hung_up()));
        if shared.has_both_lengths() {
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
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        // `Watched` is stricter and knows the idle time apart from the head's. This bounds whatever it may miss.
        .header_read_timeout(limits.idle + limits.head)
        // A sender may close its side with its last byte and still read. Without this, hyper would drop
        // the request before anybody has looked at it.
        .half_close(true)
        .max_headers(HEADERS_MAX)
        .max_header_size(HEAD_BYTES_MAX)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(io, service);
    let ended = tokio::select! {
        ended = &mut connection => Some(ended),
        _ = stopped.wait_for(|stopped| *stopped) => None,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => {
            progress.stop();
            std::pin::Pin::new(&mut connection).graceful_shutdown();
            (&mut connection).await
        }
    };
    let (mut stream, line_too_long) = connection.into_parts().io.into_inner().into_inner();
    let mut refused = line_too_long;
    if let Err(error) = ended {
        // Clients that go away, are too slow or send rubbish: of interest only to who looks for it.
        tracing::debug!(%error, "a connection ended early");
        refused |= error.is_parse();
    }
    if line_too_long {
        let _ = timeout(limits.write, stream.write_all(LINE_TOO_LONG)).await;
    }
    if refused || progress.is_unread() {
        linger(stream, stopped).await;
    }
}

/// Reads on for a while and throws away what comes. A connection that is closed while bytes still
/// come in is reset by the system, and the reset would take the answer ("too large", say) out of the
/// client's hands before it was read.
async fn linger<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, mut stopped: watch::Receiver<bool>) {
    // Whatever goes wrong from here on, the client has had its answer.
    let _ = stream.shutdown().await;
    let mut rest = stream.take(LINGER_BYTES_MAX);
    let read_on = async { drop(tokio::io::copy(&mut rest, &mut tokio::io::sink()).await) };
    let patience = async {
        let stop = stopped.wait_for(|stopped| *stopped);
        if timeout(LINGER, stop).await.is_ok() {
            sleep(LINGER_STOPPING).await;
        }
    };
    tokio::select! {
        () = read_on => {}
        () = patience => {}
    }
}
