//! Values as text: what a string, number or header value of a request says.
//! Numbers count as they are written. What can't be written as text is spelt out and marked, so that
//! two different values never become the same key.

use std::borrow::Cow;

use super::lex::{Kind, Token};

/// A value that is there, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text<'a> {
    pub(crate) text: Cow<'a, str>,
    /// The text says exactly what was sent. False where half a surrogate pair or a byte that is not
    /// UTF-8 had to be spelt out.
    pub(crate) exact: bool,
}

impl<'a> Text<'a> {
    pub(crate) fn new(text: impl Into<Cow<'a, str>>) -> Self {
        Self { text: text.into(), exact: true }
    }

    /// A value from bytes; `None` when there are none.
    pub(crate) fn from_bytes(bytes: &'a [u8]) -> Option<Self> {
        if bytes.is_empty() {
            return None;
        }
        Some(match std::str::from_utf8(bytes) {
            Ok(text) => Self::new(text),
            Err(_) => {
                let mut spelt = String::new();
                for chunk in bytes.utf8_chunks() {
                    spelt.push_str(chunk.valid());
                    for byte in chunk.invalid() {
                        spelt.push_str(&format!("\\x{byte:02x}"));
                    }
                }
                Self { text: spelt.into(), exact: false }
            }
        })
    }

    /// A value from a token. `null`, `""`, and a boolean are not there.
    pub(crate) fn from_token(doc: &'a [u8], token: Token) -> Option<Self> {
        match token.kind {
            Kind::Literal => None,
            Kind::Number => raw(doc, token).map(Self::new),
            Kind::Plain | Kind::Escaped => string(doc, token).filter(|value| !value.text.is_empty()),
        }
    }
}

/// The bytes of a token as they stand, where they are UTF-8 (always, in a document that was read).
pub(crate) fn raw(doc: &[u8], token: Token) -> Option<&str> {
    doc.get(token.start..token.end).and_then(|bytes| std::str::from_utf8(bytes).ok())
}

/// What a string says.
pub(crate) fn string(doc: &[u8], token: Token) -> Option<Text<'_>> {
    let inner = doc.get(token.start + 1..token.end.saturating_sub(1))?;
    let inner = std::str::from_utf8(inner).ok()?;
    if token.kind == Kind::Plain {
        return Some(Text::new(inner));
    }
    let (mut out, mut exact) = (String::with_capacity(inner.len()), true);
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let code = escape.as_bytes().get(1).copied();
        let mut length = 2;
        match code {
            Some(b'b') => out.push('\u{8}'),
            Some(b'f') => out.push('\u{c}'),
            Some(b'n') => out.push('\n'),
            Some(b'r') => out.push('\r'),
            Some(b't') => out.push('\t'),
            Some(b'u') => {
                let first = unit(escape)?;
                length = 6;
                let second = escape.get(6..).and_then(unit);
                match (char::from_u32(first), second) {
                    (Some(c), _) => out.push(c),
                    (None, Some(low @ 0xdc00..=0xdfff)) if first < 0xdc00 => {
                        length = 12;
                        let joined = 0x1_0000 + ((first - 0xd800) << 10) + (low - 0xdc00);
                        out.extend(char::from_u32(joined));
                    }
                    (None, _) => {
                        exact = false;
                        out.push_str(&format!("\\u{first:04x}"));
                    }
                }
            }
            Some(other) => out.push(char::from(other)),
            None => return None,
        }
        rest = escape.get(length..)?;
    }
    out.push_str(rest);
    Some(Text { text: out.into(), exact })
}

/// The number in `\uXXXX`, when the text begins with one.
fn unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::lex::Lexer;

    fn read(json: &str) -> Option<Text<'_>> {
        let token = Lexer::new(json.as_bytes()).and_then(|mut lexer| lexer.scalar()).unwrap();
        Text::from_token(json.as_bytes(), token)
    }

    #[test]
    fn strings_are_decoded_and_numbers_kept_as_written() {
        let text = |json| read(json).map(|value| value.text.into_owned());
        assert_eq!(text(r#""a\n\/\"\\\u00e9\ud83d\ude00z""#).as_deref(), Some("a\n/\"\\é😀z"));
        assert_eq!(text("9007199254740993").as_deref(), Some("9007199254740993"));
        assert_eq!(text("1.0").as_deref(), Some("1.0"));
        for nothing in ["null", "true", "false", "\"\""] {
            assert_eq!(text(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn half_a_surrogate_pair_is_readable_and_marked() {
        for (json, wanted) in [
            (r#""cut \ud83c""#, "cut \\ud83c"),
            (r#""\udc00\ud800""#, "\\udc00\\ud800"),
            (r#""\ud800\u0041""#, "\\ud800A"),
            (r#""\ud83c\ud83d\ude00""#, "\\ud83c😀"),
        ] {
            let value = read(json).unwrap();
            assert_eq!((value.text.as_ref(), value.exact), (wanted, false), "{json}");
        }
        assert!(read(r#""\\ud83c""#).unwrap().exact);
    }

    #[test]
    fn bytes_that_are_no_text_are_spelt_out_and_marked() {
        assert_eq!(Text::from_bytes(b""), None);
        let value = Text::from_bytes(b"caf\xe9").unwrap();
        assert_eq!((value.text.as_ref(), value.exact), ("caf\\xe9", false));
    }
}
