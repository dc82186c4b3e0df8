//! Requests that end early or can't be read: nothing of them is stored, and the senders beside them
//! notice nothing.

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::stories::{begin, deliver};
use crate::support::{Place, Sender, Server};

/// What somebody writes to a connection, and whether it hangs up then or waits for what comes back.
struct Broken {
    what: &'static str,
    bytes: Vec<u8>,
    hangs_up: bool,
}

fn broken(sender: &Sender) -> Vec<Broken> {
    let signed = sender.signed("evt_broken", None);
    let whole = sender.bytes(&signed);
    let path = sender.path();
    let head_bytes = whole.len() - signed.body.len();
    let with = |framing: &str, body: &str| {
        format!("POST {path} HTTP/1.1\r\nHost: localhost\r\n{framing}\r\n\r\n{body}").into_bytes()
    };
    let signed_head = String::from_utf8_lossy(&whole[..head_bytes - 2]).into_owned();
    let stays = |what, bytes| Broken { what, bytes, hangs_up: false };
    let ends = |what, bytes: &[u8]| Broken { what, bytes: bytes.to_vec(), hangs_up: true };
    vec![
        ends("nothing", b""),
        ends("half a line", &whole[..10]),
        ends("half a head", &whole[..head_bytes / 2]),
        ends("a head alone", &whole[..head_bytes]),
        ends("all but the last byte of the body", &whole[..whole.len() - 1]),
        ends("a chunk without its end", &with("Transfer-Encoding: chunked", "5\r\nhell")),
        stays("no HTTP", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n".to_vec()),
        stays("a length that is none", with("Content-Length: many", "{}")),
        stays("two lengths", with("Content-Length: 2\r\nContent-Length: 3", "{}")),
        stays("a chunk that is none", with("Transfer-Encoding: chunked", "zz\r\n{}\r\n0\r\n\r\n")),
        stays("a coding that nobody knows", with("Transfer-Encoding: gzip, chunked", "0\r\n\r\n")),
        stays(
            "a length and chunks",
            format!("{signed_head}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n").into(),
        ),
        stays("a head that is too large", with(&format!("X-Large: {}", "x".repeat(1 << 20)), "")),
        stays("too many headers", with(&"X-Many: x\r\n".repeat(5_000), "")),
        stays("a length beyond all limits", with("Content-Length: 99999999999", "")),
    ]
}

/// Writes it, and gives what came back.
async fn send(server: &Server, request: &Broken) -> String {
    let mut stream = TcpStream::connect(server.address()).await.expect("a connection");
    // The server may close before it has read all of it.
    let _ = stream.write_all(&request.bytes).await;
    let mut said = Vec::new();
    if !request.hangs_up {
        let _ = stream.read_to_end(&mut said).await;
    }
    String::from_utf8_lossy(&said).into_owned()
}

both_databases!(a_broken_request_costs_nobody_else_anything, |place| async {
    let (server, api, sender, _) = begin(&place, &[]).await;
    // This connection is open all the time.
    let mut neighbour = crate::support::Connection::open(server.address()).await.expect("a connection");
    let mut sent = 0_usize;
    for request in broken(&sender) {
        let what = request.what;
        let said = send(&server, &request).await;
        let refused = said.is_empty() || said.starts_with("HTTP/1.1 4");
        assert!(refused && !said.contains("accepted"), "{what}: {said}");
        let signed = sender.signed(&format!("evt_{sent}"), None);
        let answer = neighbour.send(sender.request(&signed)).await.expect("an answer");
        assert_eq!(answer.expect(200)["status"], "accepted", "{what}");
        sent += 1;
    }
    let events = api.events().await;
    assert_eq!(events.len(), sent);
    assert!(events.iter().all(|event| event["event_id"] != "evt_broken"), "{events:?}");
    // What was broken was no attempt: the id is free.
    let (status, _) = deliver(&server, &sender, &sender.signed("evt_broken", None)).await;
    assert_eq!(status, "accepted");
    assert_eq!(api.claim("default", &json!({ "max": 500 })).await.len(), sent + 1);
});
