//! The signed bytes of a request, put together from the template piece by piece: the body is never copied.

use crate::catalogue::{Part, Template};
use crate::identity::Fields;
use crate::request::HeaderList;

/// What a template is filled with. Looking for the cause of a mismatch changes one of these at a time.
#[derive(Clone, Copy)]
pub(super) struct Signed<'a> {
    pub(super) template: &'a Template,
    pub(super) body: &'a [u8],
    pub(super) timestamp: &'a [u8],
    pub(super) method: &'a str,
    pub(super) url: &'a str,
    pub(super) headers: &'a HeaderList,
    pub(super) form: &'a [u8],
}

impl Signed<'_> {
    /// Hands the signed bytes out in order.
    pub(super) fn feed(&self, mut take: impl FnMut(&[u8])) {
        for part in &self.template.0 {
            take(match part {
                Part::Text(text) => text.as_bytes(),
                Part::Body => self.body,
                Part::Timestamp => self.timestamp,
                Part::Method => self.method.as_bytes(),
                Part::Url => self.url.as_bytes(),
                Part::Header(name) => self.headers.first(name).unwrap_or_default(),
                Part::Form => self.form,
            });
        }
    }

    /// The signed bytes in one piece, for algorithms that need them so.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut all = Vec::new();
        self.feed(|piece| all.extend_from_slice(piece));
        all
    }

    /// How many bytes are signed.
    pub(super) fn len(&self) -> usize {
        let mut bytes = 0;
        self.feed(|piece| bytes += piece.len());
        bytes
    }
}

/// The registered URL followed by the request's query. A query that was registered with the URL is the
/// request's own, so it is not written twice.
pub(super) fn url(registered: &str, query: Option<&str>) -> String {
    match query {
        None => registered.to_owned(),
        Some(query) => {
            let base = registered.split_once('?').map_or(registered, |(base, _)| base);
            format!("{base}?{query}")
        }
    }
}

/// The same URL with its default port written out, or without it.
pub(super) fn other_port(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let port = match scheme {
        "https" => ":443",
        "http" => ":80",
        _ => return None,
    };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, path) = rest.split_at_checked(end)?;
    match host.strip_suffix(port) {
        Some(bare) => Some(format!("{scheme}://{bare}{path}")),
        // Another port is no default to leave out; an IPv6 address ends in a bracket.
        None if host.rsplit_once(':').is_some_and(|(_, port)| !port.contains(']')) => None,
        None => Some(format!("{scheme}://{host}{port}{path}")),
    }
}

/// The fields of a form body as they are signed: names and values glued, sorted, what is repeated once.
/// `None` when the body is not empty and holds no field, or too many: something would go unsigned.
pub(super) fn form(body: &[u8]) -> Option<Vec<u8>> {
    let Fields { list: mut fields, cut } = Fields::parse(body);
    if cut || fields.is_empty() && !body.is_empty() {
        return None;
    }
    fields.sort();
    fields.dedup();
    Some(fields.iter().flat_map(|(name, value)| name.iter().chain(value.iter())).copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_written_once() {
        for (registered, query, wanted) in [
            ("https://a.example/in/x", None, "https://a.example/in/x"),
            ("https://a.example/in/x", Some("a=1&b=%C3%A9"), "https://a.example/in/x?a=1&b=%C3%A9"),
            ("https://a.example/in/x?k=1", None, "https://a.example/in/x?k=1"),
            ("https://a.example/in/x?k=1", Some("k=1&a=2"), "https://a.example/in/x?k=1&a=2"),
            ("https://a.example/in/x", Some(""), "https://a.example/in/x?"),
        ] {
            assert_eq!(url(registered, query), wanted);
        }
    }

    #[test]
    fn the_default_port_comes_and_goes() {
        for (one, other) in [
            ("https://a.example/x?y", Some("https://a.example:443/x?y")),
            ("https://a.example:443/x", Some("https://a.example/x")),
            ("http://a.example", Some("http://a.example:80")),
            ("https://a.example:8443/x", None),
            ("https://[::1]/x", Some("https://[::1]:443/x")),
            ("ftp://a.example/x", None),
            ("nonsense", None),
        ] {
            assert_eq!(other_port(one).as_deref(), other, "{one}");
        }
    }

    #[test]
    fn form_fields_are_sorted_and_repeats_count_once() {
        assert_eq!(form(b"b=2&a=1&b=1&b=2&c=").as_deref(), Some(&b"a1b1b2c"[..]));
        assert_eq!(form(b"").as_deref(), Some(&b""[..]));
        assert_eq!(form(b"&&"), None);
    }
}
