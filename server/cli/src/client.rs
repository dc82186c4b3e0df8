//! A small HTTP client for this machine: the health check, and the demo's traffic.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::header::HOST;
use http::{HeaderValue, Request, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::failure::Failure;

/// A local server that takes longer than this is not well.
const TIME_MAX: Duration = Duration::from_secs(5);
/// Answers that we ask for are short.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
}

/// Sends one request over a connection of its own.
///
/// # Errors
/// When nobody answers, or not in time.
pub(crate) async fn send(address: SocketAddr, request: Request<Full<Bytes>>) -> Result<Answer, Failure> {
    match tokio::time::timeout(TIME_MAX, exchange(address, request)).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(Failure::new(format!("The server at {address} does not answer: {error}."))),
        Err(_) => Err(Failure::new(format!("The server at {address} does not answer in time."))),
    }
}

async fn exchange(
    address: SocketAddr,
    mut request: Request<Full<Bytes>>,
) -> Result<Answer, Box<dyn std::error::Error + Send + Sync>> {
    let host = HeaderValue::from_str(&address.to_string())?;
    request.headers_mut().entry(HOST).or_insert(host);
    let stream = TcpStream::connect(address).await?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);
    let (parts, body) = sender.send_request(request).await?.into_parts();
    let body = Limited::new(body, ANSWER_BYTES_MAX).collect().await?.to_bytes();
    connection.abort();
    Ok(Answer { status: parts.status, body })
}
