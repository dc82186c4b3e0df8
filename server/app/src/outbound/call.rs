//! One call: connect to the address that was looked at, TLS with the name that was written, one request,
//! one answer, and the connection is closed.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, header};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use restante_core::outbound::Scheme;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::{Answer, Call, CallFault, Outbound};

/// How long a connection may take, TLS included.
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// How long all of a call may take.
const CALL_MAX: Duration = Duration::from_secs(30);
/// The largest answer: a page of events of a talkative provider has one or two MiB.
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Headers of an answer.
const ANSWER_HEADERS_MAX: usize = 100;

impl Outbound {
    /// Makes a call.
    ///
    /// # Errors
    /// Why nothing came back. A status that is no success is an answer.
    pub async fn call(&self, call: Call) -> Result<Answer, CallFault> {
        match tokio::time::timeout(CALL_MAX, self.made(call)).await {
            Ok(answer) => answer,
            Err(_) => Err(CallFault::TooSlow),
        }
    }

    async fn made(&self, call: Call) -> Result<Answer, CallFault> {
        let address = self.address(&call.location).await?;
        let connected = tokio::time::timeout(CONNECT_MAX, TcpStream::connect(address)).await;
        let stream = connected.map_err(|_| CallFault::TooSlow)?.map_err(|_| CallFault::Unreachable)?;
        // Nothing between us and the system may have chosen another one.
        if stream.peer_addr().ok() != Some(address) {
            return Err(CallFault::Unreachable);
        }
        let _ = stream.set_nodelay(true);
        match call.location.scheme() {
            Scheme::Http => exchange(stream, call).await,
            Scheme::Https => {
                let host = call.location.url().host_str().unwrap_or_default();
                let host = host.trim_start_matches('[').trim_end_matches([']', '.']).to_owned();
                let name = rustls::pki_types::ServerName::try_from(host).map_err(|_| CallFault::Untrusted)?;
                let config = self.tls.clone().map_err(|_| CallFault::Untrusted)?;
                let shaken = TlsConnector::from(config).connect(name, stream);
                let shaken = tokio::time::timeout(CONNECT_MAX, shaken).await;
                exchange(shaken.map_err(|_| CallFault::TooSlow)?.map_err(|_| CallFault::Untrusted)?, call)
                    .await
            }
        }
    }
}

async fn exchange<S>(stream: S, call: Call) -> Result<Answer, CallFault>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let handshake = http1::Builder::new().max_headers(ANSWER_HEADERS_MAX).handshake(TokioIo::new(stream));
    let (mut sender, connection) = handshake.await.map_err(|_| CallFault::Broken)?;
    // The connection is driven beside the request and dropped with it.
    let driven = async {
        let _ = connection.await;
        std::future::pending::<()>().await;
    };
    let asked = async {
        let answer = sender.send_request(request(call)?).await.map_err(|_| CallFault::Broken)?;
        let (parts, body) = answer.into_parts();
        let body = Limited::new(body, ANSWER_BYTES_MAX).collect().await.map_err(|error| {
            if error.is::<LengthLimitError>() { CallFault::TooLarge } else { CallFault::Broken }
        })?;
        Ok(Answer { status: parts.status.as_u16(), headers: parts.headers, body: body.to_bytes() })
    };
    tokio::select! {
        answer = asked => answer,
        () = driven => Err(CallFault::Broken),
    }
}

fn request(call: Call) -> Result<Request<Full<Bytes>>, CallFault> {
    let wrong = |_| CallFault::Blocked("The request can’t be written.".to_owned());
    let url = call.location.url();
    let host = match (url.host_str().unwrap_or_default(), url.port()) {
        (host, Some(port)) => format!("{host}:{port}"),
        (host, None) => host.to_owned(),
    };
    let target = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    let mut builder = Request::builder()
        .method(call.method)
        .uri(target)
        .header(header::HOST, host)
        .header(header::USER_AGENT, concat!("Restante/", env!("CARGO_PKG_VERSION")))
        .header(header::CONNECTION, "close");
    for (name, value) in &call.headers {
        let mut value = http::HeaderValue::from_str(value.expose())
            .map_err(|_| CallFault::Blocked("A header can’t be written.".to_owned()))?;
        value.set_sensitive(true);
        builder = builder.header(name, value);
    }
    let body = call.body.unwrap_or_default();
    if call.method != "GET" {
        builder = builder.header(header::CONTENT_LENGTH, body.len());
    }
    builder.body(Full::new(Bytes::from(body))).map_err(wrong)
}
