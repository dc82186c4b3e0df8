//! Deadlines, with the runtime's clock paused, so that time passes at once when everybody waits.

use super::*;

async fn seconds_until_closed(mut client: DuplexStream, begin: Instant) -> u64 {
    let mut rest = Vec::new();
    client.read_to_end(&mut rest).await.unwrap();
    begin.elapsed().as_secs()
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_sends_nothing_is_closed() {
    let (client, _task) = connect();
    assert_eq!(seconds_until_closed(client, Instant::now()).await, 10);
}

#[tokio::test(start_paused = true)]
async fn a_head_that_trickles_in_is_closed_at_the_total() {
    let begin = Instant::now();
    let (mut client, task) = connect();
    client.write_all(b"GET /hello HTTP/1.1\r\nHost: a\r\n").await.unwrap();
    while client.write_all(b"X-More: 1\r\n").await.is_ok() && !task.is_finished() {
        tokio::time::sleep(Duration::from_millis(800)).await;
    }
    assert!((10..12).contains(&begin.elapsed().as_secs()), "{:?}", begin.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_body_that_trickles_in_ends_whoever_reads_it() {
    let begin = Instant::now();
    let (mut client, task) = connect();
    client.write_all(b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n").await.unwrap();
    while client.write_all(b"x").await.is_ok() && !task.is_finished() {
        tokio::time::sleep(Duration::from_millis(800)).await;
    }
    // It is answered then, and five seconds later the server is tired of what still comes.
    assert!((35..37).contains(&begin.elapsed().as_secs()), "{:?}", begin.elapsed());
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_may_wait_longer_and_then_ask_again() {
    let (mut client, _task) = connect();
    for _ in 0..2 {
        client.write_all(GET.as_bytes()).await.unwrap();
        read_until(&mut client, "hello").await;
        tokio::time::sleep(Duration::from_secs(29)).await;
    }
    client.write_all(GET.as_bytes()).await.unwrap();
    read_until(&mut client, "hello").await;
    assert_eq!(seconds_until_closed(client, Instant::now()).await, 30);
}

#[tokio::test(start_paused = true)]
async fn after_an_idle_time_a_head_has_its_own_deadline() {
    let (mut client, _task) = connect();
    client.write_all(GET.as_bytes()).await.unwrap();
    read_until(&mut client, "hello").await;
    tokio::time::sleep(Duration::from_secs(25)).await;
    client.write_all(b"GET /hello").await.unwrap();
    assert_eq!(seconds_until_closed(client, Instant::now()).await, 10);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_not_read_ends_the_connection() {
    let begin = Instant::now();
    let (mut client, task) = connect();
    client.write_all(b"GET /endless HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    task.await.unwrap();
    assert_eq!(begin.elapsed().as_secs(), 30);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_read_byte_by_byte_ends_the_connection_as_well() {
    let begin = Instant::now();
    let (mut client, task) = connect();
    client.write_all(b"GET /endless HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    while !task.is_finished() && client.read(&mut [0; 1]).await.is_ok() {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert!((30..32).contains(&begin.elapsed().as_secs()), "{:?}", begin.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_that_goes_on_reading_gets_its_answer() {
    const BYTES: usize = 512 * 1_024;
    let (mut client, server) = tokio::io::duplex(8 * 1_024);
    let large = Router::new().route("/hello", get(|| async { vec![b'x'; BYTES] }));
    let _task = answer(server, large);
    client.write_all(GET.as_bytes()).await.unwrap();
    let begin = Instant::now();
    let mut count = 0;
    while count < BYTES {
        let more = client.read(&mut [0; 3_000]).await.unwrap();
        assert!(more > 0);
        count += more;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert!(begin.elapsed().as_secs() > 120);
}

#[tokio::test(start_paused = true)]
async fn a_head_that_came_half_with_the_request_before_has_the_deadline_of_a_head() {
    let (mut client, _task) = connect();
    client.write_all(format!("{GET}GET /hello").as_bytes()).await.unwrap();
    read_until(&mut client, "hello").await;
    assert_eq!(seconds_until_closed(client, Instant::now()).await, 10);
}

#[tokio::test(start_paused = true)]
async fn work_on_a_request_has_no_deadline_here() {
    let (mut client, server) = tokio::io::duplex(8 * 1_024);
    let slow = Router::new().route(
        "/hello",
        get(|| async {
            tokio::time::sleep(Duration::from_secs(120)).await;
            "hello"
        }),
    );
    let _task = answer(server, slow);
    client.write_all(GET.as_bytes()).await.unwrap();
    read_until(&mut client, "hello").await;
}

#[tokio::test]
async fn connections_over_the_cap_wait_for_a_place() {
    let running = run(router(), Limits { connections_max: 1, ..Limits::default() });
    let mut first = TcpStream::connect(running.address).await.unwrap();
    first.write_all(GET.as_bytes()).await.unwrap();
    assert!(first.read(&mut [0; 1_024]).await.unwrap() > 0);
    let mut second = TcpStream::connect(running.address).await.unwrap();
    second.write_all(GET.as_bytes()).await.unwrap();
    let waits = tokio::time::timeout(Duration::from_millis(50), second.read(&mut [0; 1_024])).await;
    assert!(waits.is_err());
    drop(first);
    assert!(second.read(&mut [0; 1_024]).await.unwrap() > 0);
}

#[tokio::test]
async fn a_port_that_is_taken_is_an_error_of_its_own() {
    let first = listen(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let again = listen(first.local_addr().unwrap());
    assert_eq!(again.map(|_| ()).unwrap_err().kind(), io::ErrorKind::AddrInUse);
}
