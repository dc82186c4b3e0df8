//! Claims over real connections whose clients close their side: who goes is handed nothing, who reads
//! on is answered.

use std::net::SocketAddr;

use restante_store::both_engines;
use restante_store::testing::TestStore;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::pull_tests::Pull;
use crate::server::{Limits, listen, serve};

struct Served {
    pull: Pull,
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    served: JoinHandle<usize>,
}

impl Served {
    async fn new(t: TestStore) -> Self {
        let pull = Pull::new(t).await;
        let listener = listen(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let router = pull.site.router.clone();
        let served =
            tokio::spawn(serve(listener, router, Limits::default(), async move { drop(stopped.await) }));
        Self { pull, address, stop, served }
    }

    /// A connection on which a claim was written.
    async fn claim(&self, body: &Value) -> TcpStream {
        let (key, body) = (self.pull.tenant.api_key.expose(), body.to_string());
        let request = format!(
            "POST /v1/consumers/default/claim HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    }
}

both_engines!(a_claimer_that_closes_its_connection_ends_its_wait_and_is_handed_nothing, |t| async {
    let served = Served::new(t).await;
    for _ in 0..5 {
        // It is closed before the claim is looked at, and while it waits.
        drop(served.claim(&json!({"wait_seconds": 30})).await);
        let waiting = served.claim(&json!({"wait_seconds": 30})).await;
        served.pull.get("/v1/consumers/default").await;
        drop(waiting);
    }
    served.stop.send(()).unwrap();
    // A claim that still waits would have to be cut off.
    assert_eq!(served.served.await.unwrap(), 0);
    served.pull.event("evt").await;
    let claimed = served.pull.claim(json!({})).await;
    assert_eq!(claimed["events"][0]["attempt"], 1);
});

both_engines!(a_claimer_that_closes_its_side_and_reads_on_is_answered_without_a_wait, |t| async {
    let served = Served::new(t).await;
    served.pull.event("evt").await;
    for events in [1, 0] {
        let mut stream = served.claim(&json!({"wait_seconds": 30})).await;
        stream.shutdown().await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 "), "{answer}");
        let body: Value = serde_json::from_str(body).unwrap();
        assert_eq!(body["events"].as_array().unwrap().len(), events);
    }
    served.stop.send(()).unwrap();
    assert_eq!(served.served.await.unwrap(), 0);
});
