//! Follows the bytes of a connection from request to request, for what hyper says nothing of: a
//! `Content-Length` beside a `Transfer-Encoding`, by which a proxy and a server can be made to
//! disagree where a request ends (RFC 9112, section 6.3), and a request line that fits in no head.
//!
//! hyper decides what a request is. This looks on, so that it has to find the end of every body in
//! the same place: else a fault could hide in a request that is sent together with another one.

use restante_core::limits::HEAD_BYTES_MAX;

const TRANSFER_ENCODING: &[u8] = b"transfer-encoding:";
const CONTENT_LENGTH: &[u8] = b"content-length:";

/// What the next byte belongs to.
#[derive(Debug, Default)]
enum Part {
    #[default]
    Head,
    /// So many bytes of a body are left.
    Body(u64),
    /// The digits of a chunk's size.
    ChunkSize(u64),
    /// What may stand behind them in their line.
    ChunkExtension(u64),
    ChunkData(u64),
    /// The line end behind a chunk.
    ChunkEnd,
    /// A line behind the last chunk. Only CR LF ends it, as for hyper; `empty` while nothing stands in it.
    Trailer {
        empty: bool,
    },
    /// The LF of such a line; `last` when the line was empty.
    TrailerEnd {
        last: bool,
    },
}

/// What was seen of a connection so far. The bytes may come in any pieces.
#[derive(Debug, Default)]
pub(super) struct Framing {
    part: Part,
    head: Head,
    heads: u64,
    both_lengths: Option<u64>,
    line_too_long: bool,
}

impl Framing {
    /// Takes the next bytes.
    pub(super) fn feed(&mut self, mut bytes: &[u8]) {
        while let Some((&byte, rest)) = bytes.split_first() {
            if let Part::Body(left) | Part::ChunkData(left) = &mut self.part {
                let taken = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                *left -= taken as u64;
                bytes = &bytes[taken..];
                match self.part {
                    Part::Body(0) => self.begin_head(),
                    Part::ChunkData(0) => self.part = Part::ChunkEnd,
                    _ => {}
                }
                continue;
            }
            bytes = rest;
            match self.part {
                Part::Head => {
                    let ended = self.head.feed(byte);
                    self.line_too_long |= self.head.request_line_bytes >= HEAD_BYTES_MAX;
                    if ended {
                        self.end_head();
                    }
                }
                Part::ChunkSize(size) => {
                    self.part = match (byte as char).to_digit(16) {
                        Some(digit) => Part::ChunkSize(size.saturating_mul(16).saturating_add(digit.into())),
                        None if byte == b'\n' => chunk(size),
                        None => Part::ChunkExtension(size),
                    }
                }
                Part::ChunkExtension(size) if byte == b'\n' => self.part = chunk(size),
                Part::ChunkEnd if byte == b'\n' => self.part = Part::ChunkSize(0),
                Part::Trailer { empty } => {
                    self.part = if byte == b'\r' {
                        Part::TrailerEnd { last: empty }
                    } else {
                        Part::Trailer { empty: false }
                    };
                }
                Part::TrailerEnd { last: false } => self.part = Part::Trailer { empty: true },
                Part::TrailerEnd { last: true } => self.begin_head(),
                Part::ChunkExtension(_) | Part::ChunkEnd | Part::Body(_) | Part::ChunkData(_) => {}
            }
        }
    }

    fn end_head(&mut self) {
        self.heads += 1;
        if self.head.transfer_encoding && self.head.content_length.is_some() {
            self.both_lengths.get_or_insert(self.heads);
        }
        match self.head.content_length {
            _ if self.head.transfer_encoding => self.part = Part::ChunkSize(0),
            Some(length @ 1..) => self.part = Part::Body(length),
            Some(0) | None => self.begin_head(),
        }
    }

    fn begin_head(&mut self) {
        self.part = Part::Head;
        self.head = Head::default();
    }

    /// The first request, counted from 1, whose head has both a length and a transfer coding.
    pub(super) const fn both_lengths(&self) -> Option<u64> {
        self.both_lengths
    }

    /// Whether all of a request has come, and nothing of another one.
    pub(super) const fn is_between(&self) -> bool {
        matches!(self.part, Part::Head) && self.head.bytes == 0
    }

    /// Whether a head has begun and is not at its end.
    pub(super) const fn is_in_head(&self) -> bool {
        matches!(self.part, Part::Head) && self.head.bytes > 0
    }

    /// Whether a request line alone was as long as a head may be.
    pub(super) const fn is_line_too_long(&self) -> bool {
        self.line_too_long
    }
}

/// The last chunk has the size 0.
const fn chunk(size: u64) -> Part {
    if size == 0 { Part::Trailer { empty: true } } else { Part::ChunkData(size) }
}

/// What was seen of a head.
#[derive(Debug, Default)]
struct Head {
    bytes: usize,
    request_line_bytes: usize,
    has_request_line: bool,
    /// The begin of the current line in lower case, and how much of it that is.
    line: [u8; TRANSFER_ENCODING.len()],
    length: usize,
    is_length: bool,
    transfer_encoding: bool,
    content_length: Option<u64>,
}

impl Head {
    /// Takes a byte; true at the end of the head.
    fn feed(&mut self, byte: u8) -> bool {
        self.bytes = self.bytes.saturating_add(1);
        if byte == b'\n' {
            return self.end_line();
        }
        if byte == b'\r' {
            return false;
        }
        if !self.has_request_line {
            self.request_line_bytes = self.request_line_bytes.saturating_add(1);
        }
        if self.is_length {
            if let Some(digit) = (byte as char).to_digit(10) {
                let length = self.content_length.unwrap_or_default();
                self.content_length = Some(length.saturating_mul(10).saturating_add(digit.into()));
            }
            return false;
        }
        if let Some(place) = self.line.get_mut(self.length) {
            *place = byte.to_ascii_lowercase();
            self.length += 1;
            let line = &self.line[..self.length];
            if self.has_request_line && line == CONTENT_LENGTH {
                // Equal repeats count once, and unequal ones hyper refuses.
                self.is_length = true;
                self.content_length = Some(0);
            }
        }
        false
    }

    fn end_line(&mut self) -> bool {
        let line = &self.line[..self.length];
        if line.is_empty() {
            // Empty lines before a request are passed over (RFC 9112, section 2.2).
            return self.has_request_line;
        }
        self.transfer_encoding |= self.has_request_line && line == TRANSFER_ENCODING;
        self.has_request_line = true;
        self.length = 0;
        self.is_length = false;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: &str =
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n";

    fn follow(bytes: &str, piece: usize) -> Framing {
        let mut framing = Framing::default();
        for bytes in bytes.as_bytes().chunks(piece) {
            framing.feed(bytes);
        }
        framing
    }

    #[test]
    fn both_are_seen_in_any_order_case_and_pieces() {
        for head in [
            BOTH,
            "POST / HTTP/1.1\r\ntransfer-encoding:chunked\r\nCONTENT-LENGTH:4\r\n\r\n",
            "\r\n\nPOST / HTTP/1.1\nTransfer-Encoding: chunked\nContent-Length: 4\n\n",
        ] {
            for piece in [1, 7, 1_000] {
                assert_eq!(follow(head, piece).both_lengths(), Some(1), "{head}");
            }
        }
    }

    #[test]
    fn one_alone_is_fine_and_a_body_is_not_looked_at() {
        for head in [
            "POST / HTTP/1.1\r\nContent-Length: 40\r\n\r\nTransfer-Encoding: chunked\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n11\r\nContent-Length: 4\r\n",
            "POST /Transfer-Encoding: HTTP/1.1\r\nContent-Length: 4\r\n\r\n",
            "Transfer-Encoding: / HTTP/1.1\r\nContent-Length: 4\r\n\r\n",
            "POST / HTTP/1.1\r\nX-Transfer-Encoding: a\r\nContent-Length: 4\r\nX: Transfer-Encoding: b\r\n\r\n",
        ] {
            assert_eq!(follow(head, 1_000).both_lengths(), None, "{head}");
        }
    }

    #[test]
    fn a_request_behind_another_one_is_looked_at_as_well() {
        for before in [
            "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length:  \t 5 \r\n\r\nab\r\n\r",
            "POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nab\r\n\r",
            "POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n\r\n\r\r\nA;x=\"y\"\r\n0123456789\r\n0\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n00 ;x\r\nA: b\nC: d\r\n\r\n",
        ] {
            for piece in [1, 7, 1_000] {
                let one = follow(before, piece);
                assert!(!one.is_in_head(), "{before}");
                assert_eq!(one.both_lengths(), None, "{before}");
                assert_eq!(follow(&format!("{before}{BOTH}"), piece).both_lengths(), Some(2), "{before}");
            }
        }
    }

    #[test]
    fn a_request_line_is_measured_without_what_comes_before_and_after_it() {
        let fits = "x".repeat(HEAD_BYTES_MAX - 1);
        for head in
            [fits.clone(), format!("{fits}\r\nA: b"), format!("\r\n{fits}\r\n"), "\n".repeat(HEAD_BYTES_MAX)]
        {
            assert!(!follow(&head, 1_000).is_line_too_long());
        }
        for head in
            [format!("{fits}x"), format!("{fits}x\r\nA: b\r\n\r\n"), format!("{BOTH}0\r\n\r\n{fits}x")]
        {
            assert!(follow(&head, 1_000).is_line_too_long());
        }
    }
}
