//! How connections end: half closed, hung up, refused, stopped.

use axum::extract::Request;

use super::*;
use crate::body::read_whole;
use crate::problem::Refused;
use crate::state::Deadlines;

/// Gives the whole answer to bytes that a client sends and then closes its side, all of it before the
/// server looks at the connection.
async fn half_closed(bytes: &str) -> String {
    let (mut client, server) = tokio::io::duplex(8 * 1_024);
    client.write_all(bytes.as_bytes()).await.unwrap();
    client.shutdown().await.unwrap();
    let _task = answer(server, router());
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn a_client_that_closes_its_side_and_reads_on_gets_its_whole_answer() {
    assert!(half_closed(GET).await.ends_with("\r\n\r\nhello"));
    let posted = half_closed("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody").await;
    assert!(posted.ends_with("\r\n\r\nbody"), "{posted}");
    let chunked =
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n";
    assert!(half_closed(chunked).await.ends_with("\r\n\r\nbody"));
    let two = half_closed(&GET.repeat(2)).await;
    assert_eq!(two.matches("hello").count(), 2, "{two}");
    let cut = half_closed("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nbody").await;
    assert!(cut.starts_with("HTTP/1.1 400 "), "{cut}");
}

#[tokio::test]
async fn work_is_begun_and_ended_for_a_client_that_has_gone_before_it_was_looked_at() {
    let done = Arc::new(Notify::new());
    let told = Arc::clone(&done);
    let router = Router::new().route(
        "/work",
        post(move |body: Bytes| async move {
            assert_eq!(body, "body");
            tokio::task::yield_now().await;
            told.notify_one();
        }),
    );
    let (mut client, server) = tokio::io::duplex(8 * 1_024);
    client.write_all(b"POST /work HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody").await.unwrap();
    drop(client);
    let task = answer(server, router);
    done.notified().await;
    task.await.unwrap();
}

#[tokio::test]
async fn who_waits_learns_that_the_client_hung_up() {
    let began = Arc::new(Notify::new());
    let noticed = Arc::new(Notify::new());
    let router = Router::new().route(
        "/wait",
        any({
            let (began, noticed) = (Arc::clone(&began), Arc::clone(&noticed));
            move |HangUp(mut hung_up): HangUp, body: Bytes| async move {
                assert!(!*hung_up.borrow());
                began.notify_one();
                hung_up.wait_for(|hung_up| *hung_up).await.unwrap();
                noticed.notify_one();
                body
            }
        }),
    );
    for request in [
        "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST /wait HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody",
        "POST /wait HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
    ] {
        let (mut client, server) = tokio::io::duplex(8 * 1_024);
        let task = answer(server, router.clone());
        client.write_all(request.as_bytes()).await.unwrap();
        began.notified().await;
        drop(client);
        noticed.notified().await;
        task.await.unwrap();
    }
}

#[tokio::test]
async fn what_comes_behind_a_request_is_no_hanging_up_and_gets_its_answer() {
    let began = Arc::new(Notify::new());
    let go = Arc::new(Notify::new());
    let router = Router::new().route(
        "/hello",
        get({
            let (began, go) = (Arc::clone(&began), Arc::clone(&go));
            move |HangUp(hung_up): HangUp| async move {
                began.notify_one();
                go.notified().await;
                assert!(!*hung_up.borrow());
                "hello"
            }
        }),
    );
    let (mut client, server) = tokio::io::duplex(8 * 1_024);
    let _task = answer(server, router);
    client.write_all(GET.as_bytes()).await.unwrap();
    began.notified().await;
    client.write_all(GET.as_bytes()).await.unwrap();
    tokio::task::yield_now().await;
    go.notify_one();
    read_until(&mut client, "hello").await;
    go.notify_one();
    read_until(&mut client, "hello").await;
}

#[tokio::test]
async fn a_sender_who_goes_on_sending_can_still_read_that_it_was_refused() {
    let running = run(router(), Limits::default());
    let mut client = TcpStream::connect(running.address).await.unwrap();
    let body = vec![b'x'; 16 * 1_024 * 1_024];
    let head = format!("POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", body.len());
    client.write_all(head.as_bytes()).await.unwrap();
    client.write_all(&body).await.unwrap();
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains("connection: close"), "{answer}");
}

#[tokio::test]
async fn a_refusal_that_needs_no_body_comes_before_the_sender_is_told_to_go_on() {
    let running = run(router(), Limits::default());
    for (path, first) in [("/refuse", "HTTP/1.1 413 "), ("/echo", "HTTP/1.1 100 ")] {
        let mut client = TcpStream::connect(running.address).await.unwrap();
        let head =
            format!("POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
        client.write_all(head.as_bytes()).await.unwrap();
        let mut answer = [0; 13];
        client.read_exact(&mut answer).await.unwrap();
        assert_eq!(std::str::from_utf8(&answer).unwrap(), first);
    }
}

#[tokio::test]
async fn a_stop_finishes_what_is_under_way_and_closes_the_rest() {
    let go = Arc::new(Notify::new());
    let began = Arc::new(Notify::new());
    let slow = Router::new().route(
        "/hello",
        get({
            let (go, began) = (Arc::clone(&go), Arc::clone(&began));
            move || async move {
                began.notify_one();
                go.notified().await;
                "hello"
            }
        }),
    );
    let running = run(slow, Limits::default());
    let mut idle = TcpStream::connect(running.address).await.unwrap();
    let mut client = TcpStream::connect(running.address).await.unwrap();
    client.write_all(GET.as_bytes()).await.unwrap();
    began.notified().await;
    running.stop.send(()).unwrap();
    // The idle one is closed while the other is still being worked on.
    assert_eq!(idle.read(&mut [0; 1]).await.unwrap(), 0);
    assert!(!running.served.is_finished());
    go.notify_one();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    assert!(answer.ends_with("hello"), "{answer}");
    assert_eq!(running.served.await.unwrap(), 0);
    assert!(TcpStream::connect(running.address).await.is_err());
}

#[tokio::test]
async fn what_does_not_end_in_time_is_cut_off() {
    let began = Arc::new(Notify::new());
    let stuck = Router::new().route(
        "/hello",
        get({
            let began = Arc::clone(&began);
            move || async move {
                began.notify_one();
                std::future::pending::<&str>().await
            }
        }),
    );
    let limits = Limits { stop: Duration::from_millis(1), ..Limits::default() };
    let running = run(stuck, limits);
    let mut client = TcpStream::connect(running.address).await.unwrap();
    client.write_all(GET.as_bytes()).await.unwrap();
    began.notified().await;
    running.stop.send(()).unwrap();
    assert_eq!(running.served.await.unwrap(), 1);
}

/// A server whose `/read` reads the body as every handler does, and tells when it has begun.
fn reader(limits: Limits) -> (Running, Arc<Notify>) {
    let began = Arc::new(Notify::new());
    let told = Arc::clone(&began);
    let read = move |request: Request| async move {
        told.notify_one();
        let budget = Arc::new(Semaphore::new(100));
        let read = read_whole(&mut request.into_body(), 100, Deadlines::default(), &budget).await;
        read.map(|whole| whole.bytes).map_err(|fault| Refused(fault.problem(100)))
    };
    (run(Router::new().route("/read", post(read)), limits), began)
}

#[tokio::test]
async fn a_stop_gives_up_a_body_that_does_not_come_and_says_so() {
    let limits = Limits { stop_receive: Duration::from_millis(1), ..Limits::default() };
    let (running, began) = reader(limits);
    let mut client = TcpStream::connect(running.address).await.unwrap();
    client.write_all(b"POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\nhalf").await.unwrap();
    began.notified().await;
    running.stop.send(()).unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    assert!(answer.contains("connection: close") && answer.contains("retry-after"), "{answer}");
    drop(client);
    assert_eq!(running.served.await.unwrap(), 0);
}

#[tokio::test]
async fn a_stop_waits_a_little_for_a_body_that_is_still_coming() {
    // Too long for the test, should it wait for all of it.
    let limits = Limits { stop_receive: Duration::from_secs(3_600), ..Limits::default() };
    let (running, began) = reader(limits);
    let mut client = TcpStream::connect(running.address).await.unwrap();
    client.write_all(b"POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\nhalf").await.unwrap();
    began.notified().await;
    running.stop.send(()).unwrap();
    while TcpStream::connect(running.address).await.is_ok() {}
    client.write_all(b"more").await.unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("halfmore"), "{answer}");
    assert_eq!(running.served.await.unwrap(), 0);
}

#[tokio::test]
async fn a_stop_gives_up_a_head_that_does_not_come() {
    let limits = Limits { stop_receive: Duration::from_millis(1), ..Limits::default() };
    let (running, _) = reader(limits);
    let mut client = TcpStream::connect(running.address).await.unwrap();
    client.write_all(b"POST /read HT").await.unwrap();
    // It has been accepted when one that came later is answered.
    let mut other = TcpStream::connect(running.address).await.unwrap();
    other.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    assert!(other.read(&mut [0; 1_024]).await.unwrap() > 0);
    running.stop.send(()).unwrap();
    assert_eq!(client.read(&mut [0; 1_024]).await.unwrap_or(0), 0);
    drop(other);
    assert_eq!(running.served.await.unwrap(), 0);
}
