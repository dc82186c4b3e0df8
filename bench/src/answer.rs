//! The little of HTTP/1.1 that the generator must read of an answer: the status, where it ends, and whether the
//! body says `accepted` or `duplicate`. Not a client: `client` is one.

/// What an answer said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The status code.
    pub(crate) status: u16,
    /// The body names the event new.
    pub(crate) is_accepted: bool,
    /// The body names the event a repeat.
    pub(crate) is_duplicate: bool,
    /// The server closes the connection after this.
    pub(crate) closes: bool,
}

/// What can't be read as an answer of a known length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable;

impl Answer {
    /// Reads an answer when all of it is there; `None` while some is missing.
    pub(crate) fn read(bytes: &[u8]) -> Result<Option<Self>, Unreadable> {
        let Some(head_bytes) = find(bytes, b"\r\n\r\n") else { return Ok(None) };
        let (head, body) = bytes.split_at(head_bytes + 4);
        let status = head
            .strip_prefix(b"HTTP/1.1 ")
            .and_then(|rest| rest.get(..3))
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| digits.parse().ok())
            .ok_or(Unreadable)?;
        let body_bytes: usize =
            header(head, b"content-length").and_then(|value| value.trim().parse().ok()).ok_or(Unreadable)?;
        if body.len() < body_bytes {
            return Ok(None);
        }
        Ok(Some(Self {
            status,
            is_accepted: find(body, b"\"accepted\"").is_some(),
            is_duplicate: find(body, b"\"duplicate\"").is_some(),
            closes: header(head, b"connection")
                .is_some_and(|value| value.trim().eq_ignore_ascii_case("close")),
        }))
    }
}

fn header<'a>(head: &'a [u8], name: &[u8]) -> Option<&'a str> {
    head.split(|byte| *byte == b'\n').find_map(|line| {
        let (found, value) = line.split_at_checked(name.len())?;
        let value = value.strip_prefix(b":")?;
        if found.eq_ignore_ascii_case(name) { std::str::from_utf8(value).ok() } else { None }
    })
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_only_when_all_of_it_is_there() {
        let whole = b"HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n{\"status\":\"accepted\"}";
        for end in 0..whole.len() {
            assert_eq!(Answer::read(&whole[..end]), Ok(None), "{end}");
        }
        let answer = Answer::read(whole).unwrap().unwrap();
        assert_eq!(
            (answer.status, answer.is_accepted, answer.is_duplicate, answer.closes),
            (200, true, false, false)
        );
    }

    #[test]
    fn a_duplicate_and_a_closing_connection_are_seen() {
        let whole =
            b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 22\r\n\r\n{\"status\":\"duplicate\"}";
        let answer = Answer::read(whole).unwrap().unwrap();
        assert!(answer.is_duplicate && answer.closes && !answer.is_accepted);
    }

    #[test]
    fn an_answer_of_unknown_length_is_refused() {
        assert_eq!(Answer::read(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), Err(Unreadable));
        assert_eq!(Answer::read(b"garbage\r\nContent-Length: 0\r\n\r\n"), Err(Unreadable));
    }
}
