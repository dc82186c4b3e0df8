//! A gate on the way of a commit: the program comes to it and waits there until the test lets it go.
//! It needs the feature `failpoints`.

use tokio::net::{TcpListener, TcpStream};

use super::WAIT_MAX;

/// A gate that one server may come to.
pub(crate) struct Gate(TcpListener);

/// A server that waits at the gate. It goes on when this is dropped.
pub(crate) struct Held(#[expect(dead_code, reason = "held open")] TcpStream);

impl Gate {
    /// Sets one up.
    pub(crate) async fn new() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").await.expect("a free port"))
    }

    /// What `RESTANTE_FAILPOINT` has to hold, so that the first delivery to pass the point waits here.
    pub(crate) fn first_at(&self, point: &str) -> String {
        format!("{point}:wait={}@1", self.0.local_addr().expect("an address"))
    }

    /// Waits until the server is there.
    pub(crate) async fn arrived(&self) -> Held {
        let (stream, _) = tokio::time::timeout(WAIT_MAX, self.0.accept())
            .await
            .expect("somebody comes")
            .expect("a connection");
        Held(stream)
    }
}
