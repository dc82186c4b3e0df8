//! Bytes on a connection, where the client itself would never send or take them.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::WAIT_MAX;

/// Sends bytes and reads until the server closes; gives all that it said. A request that leaves its
/// connection open has to carry `Connection: close`.
pub(crate) async fn exchange(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    // The server may have refused before it read all, and closed.
    let _ = stream.write_all(bytes).await;
    said_until_closed(stream).await
}

/// Everything that the server still says on a connection.
pub(crate) async fn said_until_closed(mut stream: TcpStream) -> String {
    let mut said = Vec::new();
    let read = tokio::time::timeout(WAIT_MAX, stream.read_to_end(&mut said)).await;
    // A connection that was reset has said what it had to.
    let _ = read.expect("the server closes the connection");
    String::from_utf8_lossy(&said).into_owned()
}

/// The status of every answer, in order.
pub(crate) fn statuses(said: &str) -> Vec<u16> {
    said.split("HTTP/1.1 ").skip(1).map(|answer| answer[..3].parse().expect("a status")).collect()
}
