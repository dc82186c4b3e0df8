//! The guard, against servers on loopback: what it must not reach counts how often it was reached.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;

/// A server that answers every connection with the same bytes and counts them.
async fn server(answer: &'static [u8]) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let reached = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&reached);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                let mut asked = [0_u8; 4096];
                let _ = stream.read(&mut asked).await;
                let _ = stream.write_all(answer).await;
                let _ = stream.shutdown().await;
            });
        }
    });
    (port, reached)
}

fn allowing(ranges: &[&str]) -> Outbound {
    let ranges: Vec<IpNet> = ranges.iter().map(|range| range.parse().unwrap()).collect();
    Outbound::new(&ranges)
}

async fn get(outbound: &Outbound, url: &str) -> Result<Answer, CallFault> {
    let location = Location::parse(url).unwrap();
    outbound.call(Call { location, method: "GET", headers: Vec::new(), body: None }).await
}

#[tokio::test]
async fn an_inner_address_is_not_reached_unless_the_operator_allows_it() {
    let (port, reached) = server(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
    let closed = allowing(&[]);
    for url in [
        format!("http://127.0.0.1:{port}/"),
        format!("https://127.0.0.1:{port}/"),
        format!("http://localhost:{port}/"),
    ] {
        assert!(matches!(get(&closed, &url).await, Err(CallFault::Blocked(_))), "{url}");
    }
    assert_eq!(reached.load(Ordering::SeqCst), 0, "no packet left");
    let open = allowing(&["127.0.0.0/8", "::1/128"]);
    let answer = get(&open, &format!("http://127.0.0.1:{port}/")).await.unwrap();
    assert_eq!((answer.status, &answer.body[..]), (200, &b"ok"[..]));
    assert_eq!(reached.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_not_followed() {
    let (trap, reached) = server(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let answer =
        format!("HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:{trap}/\r\ncontent-length: 0\r\n\r\n");
    let (port, _) = server(Box::leak(answer.into_boxed_str()).as_bytes()).await;
    let open = allowing(&["127.0.0.0/8"]);
    assert_eq!(get(&open, &format!("http://127.0.0.1:{port}/")).await.unwrap().status, 302);
    assert_eq!(reached.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn an_answer_that_breaks_off_or_never_ends_is_no_answer() {
    let open = allowing(&["127.0.0.0/8"]);
    let (port, _) = server(b"HTTP/1.1 200 OK\r\ncontent-length: 200\r\n\r\n{\"data\":[").await;
    assert_eq!(get(&open, &format!("http://127.0.0.1:{port}/")).await.unwrap_err(), CallFault::Broken);
    let (port, _) = server(b"SSH-2.0-x\r\n").await;
    assert_eq!(get(&open, &format!("http://127.0.0.1:{port}/")).await.unwrap_err(), CallFault::Broken);
    let large =
        [b"HTTP/1.1 200 OK\r\ncontent-length: 17000000\r\n\r\n".to_vec(), vec![b'x'; 17_000_000]].concat();
    let (port, _) = server(Box::leak(large.into_boxed_slice())).await;
    assert_eq!(get(&open, &format!("http://127.0.0.1:{port}/")).await.unwrap_err(), CallFault::TooLarge);
}

#[test]
fn a_name_of_which_one_address_is_an_inner_one_is_refused() {
    let outbound = allowing(&["10.9.0.0/16"]);
    let at = Location::parse("https://api.example.org/").unwrap();
    let choose = |addresses: &[&str]| {
        let addresses: Vec<std::net::IpAddr> = addresses.iter().map(|text| text.parse().unwrap()).collect();
        outbound.choose(&at, &addresses)
    };
    assert_eq!(choose(&["1.1.1.1", "2606:4700::1"]), Ok("1.1.1.1".parse().unwrap()));
    for addresses in
        [&["1.1.1.1", "10.0.0.1"][..], &["169.254.169.254"], &["::ffff:127.0.0.1"], &["64:ff9b::7f00:1"]]
    {
        assert!(matches!(choose(addresses), Err(CallFault::Blocked(_))), "{addresses:?}");
    }
    assert_eq!(choose(&[]), Err(CallFault::Unresolved));
    assert!(matches!(choose(&["1.1.1.1"; 17]), Err(CallFault::Blocked(_))));
    // What the operator allows, also written as IPv6; in clear and on any port.
    assert!(choose(&["10.9.1.1"]).is_ok() && choose(&["::ffff:10.9.1.1"]).is_ok());
    let inner = Location::parse("http://db.internal:9000/").unwrap();
    assert!(outbound.choose(&inner, &["10.9.1.1".parse().unwrap()]).is_ok());
    assert!(
        outbound.choose(&inner, &["1.1.1.1".parse().unwrap()]).is_err(),
        "the internet is not spoken to in clear"
    );
}
