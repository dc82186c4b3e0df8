//! The try-out box: a pasted request, and the verdict that a delivery of it would get.

use axum::body::Bytes;
use restante_core::request::{HeaderList, Request};
use restante_core::time::Timestamp;
use restante_core::verify::{EventKey, Verdict};

use super::fields::Typed;
use crate::parts::alien::Alien;
use crate::parts::badge::Tone;
use crate::parts::reasons::reason;

/// Headers that are read of what was pasted.
const HEADERS_MAX: usize = 64;
/// A longer first word is no method.
const METHOD_CHARS_MAX: usize = 16;

/// A verdict in words.
#[derive(Debug)]
pub(crate) struct Tried {
    pub(crate) tone: Tone,
    pub(crate) icon: &'static str,
    pub(crate) title: String,
    pub(crate) text: Option<Alien>,
    /// The events that were read: id, type, account.
    pub(crate) events: Vec<[Alien; 3]>,
}

/// The request that was pasted: `Name: value` in each line, and the body as it stands. A request line
/// above the headers tells the method and the query.
pub(super) fn request(typed: &Typed) -> Request {
    let headers = typed
        .try_headers
        .lines()
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| !name.trim().is_empty() && !name.trim().contains(char::is_whitespace))
        .take(HEADERS_MAX)
        .map(|(name, value)| (name.trim().to_ascii_lowercase(), Bytes::from(value.trim().to_owned())))
        .collect();
    let line = typed.try_headers.trim_start().lines().next().and_then(request_line);
    let (method, query) = line.unwrap_or(("POST", None));
    Request {
        method: method.to_owned(),
        query: query.map(str::to_owned),
        headers: HeaderList(headers),
        // A browser sends CR LF for every line break of a field; what a sender signs has LF.
        body: Bytes::from(typed.try_body.replace("\r\n", "\n")),
    }
}

/// Method and query of a line such as `POST /hook?a=1 HTTP/1.1`.
fn request_line(line: &str) -> Option<(&str, Option<&str>)> {
    let mut parts = line.split_whitespace();
    let (method, target) = (parts.next()?, parts.next()?);
    let is_method = method.len() <= METHOD_CHARS_MAX && method.bytes().all(|byte| byte.is_ascii_uppercase());
    is_method.then(|| (method, target.split_once('?').map(|(_, query)| query)))
}

/// When the request is taken to have come; nothing typed is now.
pub(super) fn came_at(typed: &Typed) -> Result<Option<Timestamp>, &'static str> {
    match typed.try_at.trim() {
        "" => Ok(None),
        text => Timestamp::parse_rfc3339(text).map(Some).ok_or("Write it as 2026-11-30T12:00:00Z."),
    }
}

impl Tried {
    pub(super) fn new(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Accept(accepted) => {
                let text = |text: &Option<String>| Alien::cut(text.as_deref().unwrap_or("–"), 200);
                let events: Vec<[Alien; 3]> = accepted
                    .items
                    .iter()
                    .take(5)
                    .map(|item| [text(&item.event_id), text(&item.event_type), text(&item.account)])
                    .collect();
                let unreadable = accepted.items.iter().any(|item| item.event_key == EventKey::Envelope);
                let title = match (accepted.items.len(), unreadable) {
                    (_, true) => "Authentic, but the id was not found: such an event would wait for a repair"
                        .to_owned(),
                    (0, _) => "Authentic, with no event in it".to_owned(),
                    (1, _) => "Authentic: one event".to_owned(),
                    (many, _) => format!("Authentic: {many} events"),
                };
                let (tone, icon) = if unreadable { (Tone::Warn, "wrench") } else { (Tone::Good, "check") };
                Self { tone, icon, title, text: None, events }
            }
            Verdict::Reject(rejection) => Self {
                tone: Tone::Bad,
                icon: "cross",
                title: format!("Refused: {}", reason(rejection.reason.as_str())),
                text: Some(Alien::cut(&rejection.explanation, 2_000)),
                events: Vec::new(),
            },
            Verdict::Challenge(_) => Self {
                tone: Tone::Info,
                icon: "info",
                title: "A handshake: it would be answered, and is no event".to_owned(),
                text: None,
                events: Vec::new(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pasted_headers_and_body_are_the_request() {
        let typed = Typed {
            try_headers: "POST /hook HTTP/1.1\r\nX-Sig: a:b \r\nbad header: x\r\n\r\nno colon".to_owned(),
            try_body: "{\r\n}".to_owned(),
            ..Typed::default()
        };
        let request = request(&typed);
        assert_eq!(request.headers.0.len(), 1);
        assert_eq!(request.headers.first("x-sig"), Some(&b"a:b"[..]));
        assert_eq!(&request.body[..], b"{\n}");
        assert_eq!((request.method.as_str(), request.query), ("POST", None));
    }

    #[test]
    fn a_request_line_tells_method_and_query_and_a_header_is_none() {
        let of = |headers: &str| {
            let request = request(&Typed { try_headers: headers.to_owned(), ..Typed::default() });
            (request.method, request.query)
        };
        assert_eq!(of("\r\nPUT /hook?a=1&b HTTP/1.1\r\nX: y"), ("PUT".to_owned(), Some("a=1&b".to_owned())));
        for none in ["", "X-Sig: POST /?a", "post /?a HTTP/1.1", "POST", &"P".repeat(99)] {
            assert_eq!(of(none), ("POST".to_owned(), None), "{none}");
        }
    }
}
