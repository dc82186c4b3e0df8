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

    /// The bytes as they are sealed and stored: for each header, in order, the length of the name
    /// (u16, big-endian), the name, the length of the value (u32, big-endian), the value. Nothing is
    /// escaped or normalised, so a value that is no UTF-8 comes back as it was.
    ///
    /// A name or value that its length field can't hold is cut; the limits of a request's head lie
    /// far below (`limits::HEAD_BYTES_MAX`).
    pub fn encode(&self) -> Vec<u8> {
        let size = self.0.iter().map(|(name, value)| name.len() + value.len() + 6).sum();
        let mut bytes = Vec::with_capacity(size);
        for (name, value) in &self.0 {
            let name = &name.as_bytes()[..name.len().min(usize::from(u16::MAX))];
            let value = &value[..value.len().min(u32::MAX as usize)];
            bytes.extend_from_slice(&(name.len() as u16).to_be_bytes());
            bytes.extend_from_slice(name);
            bytes.extend_from_slice(&(value.len() as u32).to_be_bytes());
            bytes.extend_from_slice(value);
        }
        bytes
    }

    /// Reads what [`HeaderList::encode`] wrote; `None` when the bytes are anything else.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let mut headers = Vec::new();
        while !rest.is_empty() {
            let (length, after) = rest.split_first_chunk::<2>()?;
            let (name, after) = after.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
            let (length, after) = after.split_first_chunk::<4>()?;
            let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
            let (value, after) = after.split_at_checked(length)?;
            let name = std::str::from_utf8(name).ok()?.to_owned();
            headers.push((name, Bytes::copy_from_slice(value)));
            rest = after;
        }
        Some(Self(headers))
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_stored_form_never_changes() {
        let list =
            HeaderList(vec![("a".to_owned(), Bytes::from_static(b"\xff")), (String::new(), Bytes::new())]);
        assert_eq!(list.encode(), b"\0\x01a\0\0\0\x01\xff\0\0\0\0\0\0");
        assert_eq!(HeaderList::decode(b""), Some(HeaderList::default()));
    }

    #[test]
    fn what_is_cut_short_is_refused() {
        let bytes = HeaderList(vec![("name".to_owned(), Bytes::from_static(b"value"))]).encode();
        for length in 1..bytes.len() {
            assert_eq!(HeaderList::decode(&bytes[..length]), None, "{length}");
        }
    }

    proptest! {
        #[test]
        fn any_headers_come_back(list: Vec<(String, Vec<u8>)>) {
            let list = HeaderList(list.into_iter().map(|(name, value)| (name, value.into())).collect());
            prop_assert_eq!(HeaderList::decode(&list.encode()), Some(list));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            if let Some(list) = HeaderList::decode(&bytes) {
                prop_assert_eq!(list.encode(), bytes);
            }
        }
    }
}
