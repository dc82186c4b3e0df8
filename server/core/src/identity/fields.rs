//! The fields of a form body or a query string (application/x-www-form-urlencoded), decoded to bytes.
//! Decoding is total: a percent sign that introduces nothing stands for itself.

use std::borrow::Cow;

use crate::limits::FORM_FIELDS_MAX;
use crate::request::Request;

/// A name and its value, decoded.
pub(crate) type Pair<'a> = (Cow<'a, [u8]>, Cow<'a, [u8]>);

/// Fields in the order in which they were sent.
#[derive(Debug, Default)]
pub(crate) struct Fields<'a> {
    pub(crate) list: Vec<Pair<'a>>,
    /// There were more than are read.
    pub(crate) cut: bool,
}

/// A field's value, and whether it stands again with another value.
pub(crate) struct Field<'a> {
    pub(crate) value: &'a [u8],
    pub(crate) ambiguous: bool,
}

impl<'a> Fields<'a> {
    pub(crate) fn parse(raw: &'a [u8]) -> Self {
        let mut parts = raw.split(|&byte| byte == b'&').filter(|part| !part.is_empty());
        let list = parts.by_ref().take(FORM_FIELDS_MAX).map(|part| {
            let at = part.iter().position(|&byte| byte == b'=');
            let (name, value) = at.map_or((part, &b""[..]), |at| (&part[..at], &part[at + 1..]));
            (decode(name), decode(value))
        });
        Self { list: list.collect(), cut: parts.next().is_some() }
    }

    /// The fields of a body that can be a form. One that begins like JSON or XML is none, whatever its
    /// content type says: that header is not signed, and text inside JSON must not pass as a field.
    pub(crate) fn of_body(body: &'a [u8]) -> Self {
        match body.trim_ascii_start().first() {
            Some(b'{' | b'[' | b'"' | b'<') | None => Self::default(),
            Some(_) => Self::parse(body),
        }
    }

    /// The parameters of a request.
    pub(crate) fn of_query(request: &'a Request) -> Self {
        Self::parse(request.query.as_deref().unwrap_or_default().as_bytes())
    }

    /// The first value of a field.
    pub(crate) fn first(&self, name: &str) -> Option<Field<'_>> {
        let mut values =
            self.list.iter().filter(|(known, _)| **known == *name.as_bytes()).map(|(_, value)| value);
        let value = values.next()?;
        Some(Field { value, ambiguous: values.any(|other| other != value) })
    }
}

fn decode(raw: &[u8]) -> Cow<'_, [u8]> {
    if !raw.iter().any(|byte| matches!(byte, b'+' | b'%')) {
        return Cow::Borrowed(raw);
    }
    let digit = |at: usize| raw.get(at).and_then(|&byte| char::from(byte).to_digit(16));
    let mut out = Vec::with_capacity(raw.len());
    let mut at = 0;
    while let Some(&byte) = raw.get(at) {
        let pair = if byte == b'%' { digit(at + 1).zip(digit(at + 2)) } else { None };
        match pair.and_then(|(high, low)| u8::try_from(high * 16 + low).ok()) {
            Some(decoded) => {
                out.push(decoded);
                at += 3;
            }
            None => {
                out.push(if byte == b'+' { b' ' } else { byte });
                at += 1;
            }
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_decoded_and_the_first_counts() {
        let fields = Fields::parse(b"a=1&b=caf%C3%A9+%2B&c&a=2&d=1&d=1&&=x&e=%zz%4");
        let text = |name| fields.first(name).map(|field| String::from_utf8(field.value.to_vec()).unwrap());
        assert_eq!(text("a").as_deref(), Some("1"));
        assert_eq!(text("b").as_deref(), Some("café +"));
        assert_eq!(text("c").as_deref(), Some(""));
        assert_eq!(text("e").as_deref(), Some("%zz%4"));
        assert!(fields.first("a").unwrap().ambiguous && !fields.first("d").unwrap().ambiguous);
        assert!(fields.first("z").is_none());
    }

    #[test]
    fn json_is_no_form_whatever_it_is_called() {
        assert!(Fields::of_body(b" {\"text\":\"x&payload={}\"}").first("payload").is_none());
        assert!(Fields::of_body(b"payload=%7B%7D").first("payload").is_some());
    }
}
