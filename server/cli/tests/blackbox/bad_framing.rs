//! Requests that are no right HTTP, or that two readers could read in two ways. Each carries a right
//! signature, so that nothing but its framing keeps it from being stored.

use std::net::SocketAddr;

use restante_core::verify::SignedRequest;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::raw::{exchange, said_until_closed, statuses};
use crate::support::{Api, Place, Sender, Server};

/// The largest body of the endpoints here.
const BODY_BYTES_MAX: usize = 1_000;

struct Bench {
    server: Server,
    api: Api,
    sender: Sender,
}

impl Bench {
    async fn on(place: &Place) -> Self {
        let server = Server::start(place).await;
        let api = server.tenant(place, "acme");
        let sender = api.endpoint("github").await;
        let limit = serde_json::json!({ "max_body_bytes": BODY_BYTES_MAX });
        api.ask("PATCH", &format!("/v1/endpoints/{}", sender.endpoint), Some(&limit)).await.expect(200);
        Self { server, api, sender }
    }

    fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// A request line and the headers of a signed event, and then these lines as they are.
    fn head(&self, signed: &SignedRequest, lines: &str) -> String {
        let mut head = format!("POST {} HTTP/1.1\r\nConnection: close\r\n", self.sender.path());
        for (name, value) in &signed.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head + lines
    }

    /// A signed event sent with these lines; gives what the server said.
    async fn sent(&self, id: &str, body: &[u8], lines: &str, framed: &[u8]) -> String {
        let signed = self.sender.signed(id, Some(body));
        exchange(self.address(), &[self.head(&signed, lines).as_bytes(), framed].concat()).await
    }

    /// The server still takes a right delivery, and holds nothing but right ones.
    async fn is_well(&self, stored: usize) {
        let answer = self.sender.send(self.address(), &self.sender.signed("well", Some(b"{}"))).await;
        answer.expect("an answer").expect(200);
        assert_eq!(self.api.events().await.len(), stored + 1);
    }
}

both_databases!(framing_that_can_be_read_in_two_ways_is_refused_and_nothing_is_stored, |place| async {
    let bench = Bench::on(&place).await;
    for (number, lines) in [
        "Host: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n",
        "Host: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n",
        "Host: a\r\nContent-Length: 4\r\nContent-Length: 5\r\n",
        "Host: a\r\nContent-Length: 4, 4\r\n",
        "Host: a\r\nContent-Length: +4\r\n",
        "Host: a\r\nContent-Length: -1\r\n",
        "Host: a\r\nContent-Length: 18446744073709551620\r\n",
        "Host: a\r\nContent-Length: 0x4\r\n",
        "Host: a\r\nTransfer-Encoding: xchunked\r\n",
        "Host: a\r\nTransfer-Encoding: chunked, identity\r\n",
        "Host: a\r\nTransfer-Encoding : chunked\r\n",
        "Host: a\r\nTransfer-Encoding: \u{b}chunked\r\n",
        "Host: a\r\nTransfer-Encoding: gzip, chunked\r\n",
        "Host: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Host: a\r\nContent-Length: 4\r\nX-Folded: b\r\n c\r\n",
        "Host: a\r\nContent-Length: 4\r\nX-Nul: b\0c\r\n",
        "Host: a\r\nContent-Length: 4\r\n: b\r\n",
        "Host: a\r\nContent-Length: 4\r\nno colon\r\n",
        "Host: a\r\nHost: b\r\nContent-Length: 4\r\n",
        "Content-Length: 4\r\n",
    ]
    .into_iter()
    .enumerate()
    {
        let body = b"{ }\n";
        let framed: &[u8] =
            if lines.to_lowercase().contains("chunked") { b"4\r\n{ }\n\r\n0\r\n\r\n" } else { body };
        let said = bench.sent(&format!("id-{number}"), body, &format!("{lines}\r\n"), framed).await;
        assert_eq!(statuses(&said), [400], "{lines}: {said}");
    }
    bench.is_well(0).await;
});

both_databases!(a_head_that_is_too_large_is_refused_and_nothing_is_stored, |place| async {
    let bench = Bench::on(&place).await;
    let many = "X-A: b\r\n".repeat(101);
    let large = format!("X-A: {}\r\n", "b".repeat(40 * 1_024));
    for (number, lines) in [many, large].into_iter().enumerate() {
        let lines = format!("Host: a\r\nContent-Length: 2\r\n{lines}\r\n");
        let said = bench.sent(&format!("id-{number}"), b"{}", &lines, b"{}").await;
        assert_eq!(statuses(&said), [431], "{number}: {said}");
    }
    let long = format!("POST {}?{} HTTP/1.1\r\nHost: a\r\n\r\n", bench.sender.path(), "q".repeat(70 * 1_024));
    let said = exchange(bench.address(), long.as_bytes()).await;
    assert!([[414], [431]].contains(&statuses(&said).as_slice().try_into().expect("one answer")), "{said}");
    bench.is_well(0).await;
});

both_databases!(a_body_over_the_limit_is_413_before_it_is_verified, |place| async {
    let bench = Bench::on(&place).await;
    let body = [b"{", " ".repeat(BODY_BYTES_MAX - 1).as_bytes(), b"}"].concat();
    let over = format!("Host: a\r\nContent-Length: {}\r\n", body.len());
    // By its length: nothing of the body is sent, and nobody is told to go on.
    for (number, lines) in
        [format!("{over}\r\n"), format!("{over}Expect: 100-continue\r\n\r\n")].iter().enumerate()
    {
        let said = bench.sent(&format!("id-{number}"), &body, lines, b"").await;
        assert_eq!(statuses(&said), [413], "{said}");
        assert!(said.contains("\"reason\":\"size\""), "{said}");
    }
    // By its bytes.
    let chunked = "Host: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    let framed = [format!("{:x}\r\n", body.len()).as_bytes(), &body, b"\r\n0\r\n\r\n"].concat();
    let said = bench.sent("id-2", &body, chunked, &framed).await;
    assert_eq!(statuses(&said), [413], "{said}");
    // Whoever signed it: a forged one learns no more.
    let head = format!("POST {} HTTP/1.1\r\nConnection: close\r\n{over}\r\n", bench.sender.path());
    assert_eq!(statuses(&exchange(bench.address(), head.as_bytes()).await), [413]);
    bench.is_well(0).await;
});

both_databases!(a_body_of_exactly_the_limit_is_taken_however_it_is_framed, |place| async {
    let bench = Bench::on(&place).await;
    let body = [b"{", " ".repeat(BODY_BYTES_MAX - 2).as_bytes(), b"}"].concat();
    let length = format!("Host: a\r\nContent-Length: {BODY_BYTES_MAX}\r\n\r\n");
    assert_eq!(statuses(&bench.sent("id-0", &body, &length, &body).await), [200]);
    let chunked = "Host: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    let mut framed = Vec::new();
    for chunk in body.chunks(300) {
        framed.extend([format!("{:x};name=value\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat());
    }
    framed.extend_from_slice(b"0\r\nX-Trailer: dropped\r\n\r\n");
    assert_eq!(statuses(&bench.sent("id-1", &body, chunked, &framed).await), [200]);
    // One that asks first is told to go on, and sends the body after that.
    let signed = bench.sender.signed("id-2", Some(&body));
    let lines = format!("Host: a\r\nExpect: 100-continue\r\nContent-Length: {BODY_BYTES_MAX}\r\n\r\n");
    let mut stream = TcpStream::connect(bench.address()).await.expect("a connection");
    stream.write_all(bench.head(&signed, &lines).as_bytes()).await.expect("the server reads");
    let mut told = [0; 25];
    stream.read_exact(&mut told).await.expect("the server says to go on");
    assert_eq!(&told, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(&body).await.expect("the server reads");
    assert_eq!(statuses(&said_until_closed(stream).await), [200]);
    for event in bench.api.events().await {
        assert_eq!(bench.api.payload(&event["id"]).await, body);
    }
    bench.is_well(3).await;
});

both_databases!(a_chunk_that_says_too_much_of_itself_is_refused, |place| async {
    let bench = Bench::on(&place).await;
    let chunked = "Host: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    let framed = format!("2;{}\r\n{{}}\r\n0\r\n\r\n", "x".repeat(20 * 1_024));
    for (number, framed) in
        [framed.as_str(), "zz\r\n{}\r\n0\r\n\r\n", "fffffffffffffffff\r\n{}"].into_iter().enumerate()
    {
        let said = bench.sent(&format!("id-{number}"), b"{}", chunked, framed.as_bytes()).await;
        assert!(statuses(&said).iter().all(|status| *status == 400), "{said}");
    }
    bench.is_well(0).await;
});

both_databases!(a_bare_line_feed_does_not_shift_the_requests_behind_it, |place| async {
    let bench = Bench::on(&place).await;
    // A reader that ends lines at `\n` alone and one that does not must agree where the second begins.
    let one = |id: &str, connection: &str, end: &str| {
        let signed = bench.sender.signed(id, Some(b"{}"));
        let head = bench.head(&signed, "Host: a\r\nContent-Length: 2\r\n\r\n");
        format!("{}{{}}", head.replace("Connection: close", connection).replace("\r\n", end))
    };
    let both = one("id-0", "X-A: b", "\n") + &one("id-1", "Connection: close", "\r\n");
    let said = exchange(bench.address(), both.as_bytes()).await;
    match statuses(&said).as_slice() {
        [200, 200] => bench.is_well(2).await,
        [400] => bench.is_well(0).await,
        other => panic!("{other:?}: {said}"),
    }
});

both_databases!(another_protocol_gets_no_service, |place| async {
    let bench = Bench::on(&place).await;
    for bytes in [
        &b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0"[..],
        // The beginning of a TLS handshake.
        &b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03"[..],
        &b"SSH-2.0-OpenSSH_9.2\r\n"[..],
        &b"GET / HTTP/9.9\r\n\r\n"[..],
        &b"\0\0\0\0\r\n\r\n"[..],
    ] {
        let said = exchange(bench.address(), bytes).await;
        assert!(statuses(&said).iter().all(|status| (400..600).contains(status)), "{said}");
    }
    bench.is_well(0).await;
});
