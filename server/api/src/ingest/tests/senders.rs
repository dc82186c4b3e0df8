//! Senders that close, half or wholly, over real connections, and a server that stops meanwhile.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};

use axum::Router;
use axum::routing::any;
use tokio::task::JoinHandle;

use super::*;
use crate::server::{Limits, listen, serve};

struct Site {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    served: JoinHandle<usize>,
}

impl Desk {
    fn serve(&self, limits: Limits) -> Site {
        let (stand_in, budget, under_way) =
            (self.stand_in.clone(), Arc::clone(&self.budget), self.under_way.clone());
        let deliver = move |request: Request| {
            let around = Around {
                deadlines: Deadlines::default(),
                budget: Arc::clone(&budget),
                under_way: under_way.clone(),
                clock: Arc::new(FixedClock),
            };
            detached(stand_in.clone(), around, request)
        };
        let listener = listen(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let router = Router::new().route("/in/{token}", any(deliver));
        let served = tokio::spawn(serve(listener, router, limits, async move { drop(stopped.await) }));
        Site { address, stop, served }
    }
}

/// A connection on which everything is written at once; nothing of the server has run by then.
fn write(site: &Site, bytes: &str) -> TcpStream {
    let mut stream = TcpStream::connect(site.address).unwrap();
    stream.write_all(bytes.as_bytes()).unwrap();
    stream
}

/// Reads to the end, on a thread of its own.
async fn answer(mut stream: TcpStream) -> String {
    let read = tokio::task::spawn_blocking(move || {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map(|_| answer)
    });
    read.await.unwrap().unwrap()
}

fn delivery(body: &str, declared: usize) -> String {
    format!("POST /in/{TOKEN} HTTP/1.1\r\nHost: a\r\nContent-Length: {declared}\r\n\r\n{body}")
}

#[tokio::test]
async fn a_delivery_is_taken_when_its_sender_closes_with_its_last_byte() {
    let desk = Desk::new(Does::Accept);
    let site = desk.serve(Limits::default());
    for count in 1..=20 {
        drop(write(&site, &delivery("{\"id\":1}", 8)));
        desk.stand_in.0.done.notified().await;
        assert_eq!(desk.received(), count);
    }
    let chunked =
        "POST /in/abc123 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n";
    drop(write(&site, chunked));
    desk.stand_in.0.done.notified().await;
    let received = desk.stand_in.0.received.lock().unwrap();
    assert!(received[..20].iter().all(|delivery| delivery.request.body == "{\"id\":1}"));
    assert_eq!(received[20].request.body, "{}");
}

#[tokio::test]
async fn a_sender_that_closes_its_side_with_its_last_byte_reads_its_answer() {
    let desk = Desk::new(Does::Accept);
    let site = desk.serve(Limits::default());
    for (body, declared, status) in [("{\"id\":1}", 8, "200"), ("{\"id\"", 8, "400"), ("", 17, "413")] {
        let stream = write(&site, &delivery(body, declared));
        stream.shutdown(Shutdown::Write).unwrap();
        let answer = answer(stream).await;
        assert_eq!(answer.get(9..12), Some(status), "{answer}");
    }
    assert_eq!(desk.received(), 1);
}

#[tokio::test]
async fn a_stop_gives_up_half_a_delivery_and_finishes_a_whole_one() {
    let desk = Desk::new(Does::Wait);
    let site = desk.serve(Limits { stop_receive: Duration::from_millis(1), ..Limits::default() });
    let whole = write(&site, &delivery("{\"id\":1}", 8));
    desk.stand_in.0.begun.notified().await;
    let half = write(&site, &delivery("{\"id\"", 8));
    while desk.budget.available_permits() > 1_000 - 16 {
        tokio::task::yield_now().await;
    }
    site.stop.send(()).unwrap();
    let refused = answer(half).await;
    assert!(refused.starts_with("HTTP/1.1 503 ") && refused.contains("retry-after: "), "{refused}");
    assert!(!site.served.is_finished());
    desk.stand_in.0.go.notify_one();
    let answer = answer(whole).await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("kept"), "{answer}");
    assert_eq!(site.served.await.unwrap(), 0);
    assert_eq!(*desk.stand_in.0.counted.lock().unwrap(), [""; 0], "it was no fault of the sender");
}

#[tokio::test]
async fn a_stop_can_wait_for_a_delivery_whose_sender_is_gone() {
    let desk = Desk::new(Does::Wait);
    let site = desk.serve(Limits { stop: Duration::ZERO, ..Limits::default() });
    drop(write(&site, &delivery("{\"id\":1}", 8)));
    desk.stand_in.0.begun.notified().await;
    site.stop.send(()).unwrap();
    // Its connection is cut off, and it goes on.
    assert_eq!(site.served.await.unwrap(), 1);
    let under_way = desk.under_way.clone();
    let ended = tokio::spawn(async move { under_way.ended().await });
    tokio::task::yield_now().await;
    assert!(!ended.is_finished());
    desk.stand_in.0.go.notify_one();
    ended.await.unwrap();
    assert_eq!(desk.stand_in.0.finished.load(Ordering::SeqCst), 1);
}
