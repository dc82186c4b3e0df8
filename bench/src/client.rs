//! A small blocking HTTP/1.1 client on one kept-alive loopback connection, for the API: endpoints, lists, claims,
//! acks. The load doesn't go through it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use crate::failure::{Result, While as _};

const ANSWER_WITHIN: Duration = Duration::from_secs(40);
const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// One connection to one server.
pub(crate) struct Client {
    port: u16,
    authorization: String,
    stream: Option<BufReader<TcpStream>>,
}

/// A status and the body.
pub(crate) struct Reply {
    /// The status code.
    pub(crate) status: u16,
    /// The whole body.
    pub(crate) body: Vec<u8>,
}

impl Client {
    /// A client of the server on this loopback port; `api_key` goes into every request when it isn't empty.
    pub(crate) fn new(port: u16, api_key: &str) -> Self {
        let authorization =
            if api_key.is_empty() { String::new() } else { format!("Authorization: Bearer {api_key}\r\n") };
        Self { port, authorization, stream: None }
    }

    /// Sends a request and reads JSON; any other status than `expected` is an error that quotes the answer.
    pub(crate) fn json<T: serde::de::DeserializeOwned>(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&serde_json::Value>,
        expected: u16,
    ) -> Result<T> {
        let body = body.map(serde_json::to_vec).transpose()?;
        let reply = self.send(method, path, body.as_deref())?;
        if reply.status != expected {
            let said = String::from_utf8_lossy(&reply.body);
            return Err(format!("{method} {path} answered {}, not {expected}: {said}", reply.status).into());
        }
        serde_json::from_slice(&reply.body).could_not(format!("read the answer to {method} {path}"))
    }

    /// Sends a request with a JSON body and reads the answer.
    pub(crate) fn send(&mut self, method: &str, path: &str, body: Option<&[u8]>) -> Result<Reply> {
        let body_bytes = body.map_or(0, <[u8]>::len);
        let mut request = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{}Content-Length: {body_bytes}\r\n",
            self.port, self.authorization
        );
        if body.is_some() {
            request.push_str("Content-Type: application/json\r\n");
        }
        request.push_str("\r\n");
        let mut bytes = request.into_bytes();
        bytes.extend_from_slice(body.unwrap_or_default());

        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => {
                let stream =
                    TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).could_not("connect to the API")?;
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(ANSWER_WITHIN))?;
                BufReader::with_capacity(256 * 1024, stream)
            }
        };
        stream.get_mut().write_all(&bytes)?;
        let (reply, closes) = read_reply(&mut stream, method == "HEAD")
            .could_not(format!("read the answer to {method} {path}"))?;
        if !closes {
            self.stream = Some(stream);
        }
        Ok(reply)
    }
}

fn read_reply(stream: &mut BufReader<TcpStream>, is_head: bool) -> Result<(Reply, bool)> {
    let line = read_line(stream)?;
    let status = line.split(' ').nth(1).and_then(|text| text.parse().ok()).ok_or("no status line")?;
    let (mut length, mut chunked, mut closes) = (0_usize, false, false);
    loop {
        let line = read_line(stream)?;
        let Some((name, value)) = line.split_once(':') else { break };
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse()?,
            "transfer-encoding" => chunked = value.eq_ignore_ascii_case("chunked"),
            "connection" => closes = value.eq_ignore_ascii_case("close"),
            _ => {}
        }
    }
    let mut body = Vec::new();
    if is_head {
        return Ok((Reply { status, body }, closes));
    }
    if chunked {
        loop {
            let size =
                usize::from_str_radix(read_line(stream)?.split(';').next().unwrap_or_default().trim(), 16)?;
            read_exactly(stream, &mut body, size)?;
            read_line(stream)?;
            if size == 0 {
                break;
            }
        }
    } else {
        read_exactly(stream, &mut body, length)?;
    }
    Ok((Reply { status, body }, closes))
}

fn read_line(stream: &mut BufReader<TcpStream>) -> Result<String> {
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 {
        return Err("the connection was closed".into());
    }
    Ok(line.trim_end().to_owned())
}

fn read_exactly(stream: &mut BufReader<TcpStream>, body: &mut Vec<u8>, count: usize) -> Result<()> {
    let start = body.len();
    if start.saturating_add(count) > BODY_BYTES_MAX {
        return Err("the answer is too large".into());
    }
    body.resize(start + count, 0);
    stream.read_exact(&mut body[start..])?;
    Ok(())
}
