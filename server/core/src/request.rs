//! A request as it came off the wire: the only form in which verification, storage and hand-out see it.

use bytes::Bytes;

/// Headers in the order and number in which they came. Names are lower case; values are bytes,
/// since senders are not bound to UTF-8.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeaderList(pub Vec<(String, Bytes)>);

impl HeaderList {
    /// Every value of a header, in order. The name is compared without regard to case.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> + 'a {
        self.0
            .iter()
            .filter(move |(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_ref())
    }

    /// The first value of a header.
    pub fn first<'a>(&'a self, name: &'a str) -> Option<&'a [u8]> {
        self.all(name).next()
    }
}

/// One request, whole.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The method in upper case.
    pub method: String,
    /// The raw query string as sent, without its question mark; `None` when there was none.
    pub query: Option<String>,
    /// The headers as sent.
    pub headers: HeaderList,
    /// The body as sent: these bytes are verified, stored and handed out.
    pub body: Bytes,
}
