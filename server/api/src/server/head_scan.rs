//! Looks at the bytes of a request's head for the one fault that hyper mends in silence: a
//! `Content-Length` beside a `Transfer-Encoding`, by which a proxy and a server can be made to
//! disagree where a request ends (RFC 9112, section 6.3). It parses nothing else.

const TRANSFER_ENCODING: &[u8] = b"transfer-encoding:";
const CONTENT_LENGTH: &[u8] = b"content-length:";

/// What was seen of a head so far. The bytes may come in any pieces.
#[derive(Debug, Default)]
pub(super) struct HeadScan {
    /// The begin of the current line in lower case.
    line: [u8; TRANSFER_ENCODING.len()],
    /// Its length, counted no further than it matters.
    length: usize,
    has_request_line: bool,
    transfer_encoding: bool,
    content_length: bool,
    ended: bool,
}

impl HeadScan {
    /// Takes the next bytes; what follows the head is passed over.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            match byte {
                _ if self.ended => return,
                b'\n' => self.end_line(),
                b'\r' => {}
                _ => {
                    if let Some(place) = self.line.get_mut(self.length) {
                        *place = byte.to_ascii_lowercase();
                        self.length += 1;
                    }
                }
            }
        }
    }

    fn end_line(&mut self) {
        let line = &self.line[..self.length];
        if line.is_empty() {
            // Empty lines before a request are passed over (RFC 9112, section 2.2).
            self.ended = self.has_request_line;
        } else if self.has_request_line {
            self.transfer_encoding |= line.starts_with(TRANSFER_ENCODING);
            self.content_length |= line.starts_with(CONTENT_LENGTH);
        } else {
            self.has_request_line = true;
        }
        self.length = 0;
    }

    /// Whether both stood in the head.
    pub(super) const fn both_lengths(&self) -> bool {
        self.transfer_encoding && self.content_length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(head: &str, piece: usize) -> bool {
        let mut scan = HeadScan::default();
        for bytes in head.as_bytes().chunks(piece) {
            scan.feed(bytes);
        }
        scan.both_lengths()
    }

    #[test]
    fn both_are_seen_in_any_order_case_and_pieces() {
        for head in [
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\ntransfer-encoding:chunked\r\nCONTENT-LENGTH:4\r\n\r\n",
            "\r\n\nPOST / HTTP/1.1\nTransfer-Encoding: chunked\nContent-Length: 4\n\n",
        ] {
            for piece in [1, 7, 1_000] {
                assert!(both(head, piece), "{head}");
            }
        }
    }

    #[test]
    fn one_alone_is_fine_and_the_body_is_not_looked_at() {
        for head in [
            "POST / HTTP/1.1\r\nContent-Length: 40\r\n\r\nTransfer-Encoding: chunked\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n11\r\nContent-Length: 4\r\n",
            "POST /Transfer-Encoding: HTTP/1.1\r\nContent-Length: 4\r\n\r\n",
            "Transfer-Encoding: / HTTP/1.1\r\nContent-Length: 4\r\n\r\n",
            "POST / HTTP/1.1\r\nX-Transfer-Encoding: a\r\nContent-Length: 4\r\nX: Transfer-Encoding: b\r\n\r\n",
        ] {
            assert!(!both(head, 1_000), "{head}");
        }
    }
}
