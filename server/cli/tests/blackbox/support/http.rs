//! A small client. No answer is a result like any other here, since tests kill servers.

use std::net::SocketAddr;

use bytes::Bytes;
use http::header::HOST;
use http::{HeaderMap, HeaderValue, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use super::WAIT_MAX;

/// A whole answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("JSON: {self:?}"))
    }

    /// The body as JSON, of an answer that has to have this status.
    pub(crate) fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        if self.body.is_empty() { Value::Null } else { self.json() }
    }

    /// Whether a sender takes it as success.
    pub(crate) const fn is_success(&self) -> bool {
        self.status / 100 == 2
    }
}

/// Nothing, or only a part, came back. What became of the request is not known.
#[derive(Debug)]
pub(crate) struct NoAnswer {
    /// Why, for people.
    #[expect(dead_code, reason = "it is shown where a test did not expect it")]
    why: String,
}

impl<E: std::error::Error> From<E> for NoAnswer {
    fn from(error: E) -> Self {
        Self { why: error.to_string() }
    }
}

/// A connection that is kept open.
pub(crate) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    driver: JoinHandle<()>,
}

impl Connection {
    /// Connects.
    pub(crate) async fn open(address: SocketAddr) -> Result<Self, NoAnswer> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        // How it ended is told to the request that was under way.
        let driver = tokio::spawn(async move { drop(connection.await) });
        Ok(Self { sender, driver })
    }

    /// Sends a request and reads its answer.
    pub(crate) async fn send(&mut self, mut request: Request<Full<Bytes>>) -> Result<Answer, NoAnswer> {
        request.headers_mut().entry(HOST).or_insert(HeaderValue::from_static("localhost"));
        let exchange = async {
            self.sender.ready().await?;
            let (parts, body) = self.sender.send_request(request).await?.into_parts();
            let body = body.collect().await?.to_bytes();
            Ok::<_, NoAnswer>(Answer { status: parts.status.as_u16(), headers: parts.headers, body })
        };
        tokio::time::timeout(WAIT_MAX, exchange).await?
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// Sends a request over a connection of its own.
pub(crate) async fn send(address: SocketAddr, request: Request<Full<Bytes>>) -> Result<Answer, NoAnswer> {
    Connection::open(address).await?.send(request).await
}

/// Gets a path without a key.
pub(crate) async fn get(address: SocketAddr, path: &str) -> Result<Answer, NoAnswer> {
    send(address, Request::get(path).body(Full::default()).expect("a request")).await
}
