//! The tokens of JSON (RFC 8259), read from bytes without recursion and without building anything.
//! It validates as it goes; what it passes over costs one bit a level of nesting and no more.

use crate::limits::JSON_DEPTH_MAX;

/// The document is not JSON, or nests too deep. Nothing can be read from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unreadable;

/// A value that is no container, and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    /// The first byte; of a string, its opening quote.
    pub(crate) start: usize,
    /// After the last byte.
    pub(crate) end: usize,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A string without escapes.
    Plain,
    /// A string with escapes.
    Escaped,
    Number,
    /// `true`, `false` or `null`.
    Literal,
}

/// A position in a document.
pub(crate) struct Lexer<'a> {
    doc: &'a [u8],
    at: usize,
    /// Kinds of the open containers that are passed over: a set bit is an object.
    open: Vec<u64>,
}

impl<'a> Lexer<'a> {
    /// At the first token. A UTF-8 byte order mark in front is passed over, since senders put one there.
    ///
    /// # Errors
    /// The document is not UTF-8.
    pub(crate) fn new(doc: &'a [u8]) -> Result<Self, Unreadable> {
        if std::str::from_utf8(doc).is_err() {
            return Err(Unreadable);
        }
        let at = if doc.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let mut lexer = Self { doc, at, open: Vec::new() };
        lexer.space();
        Ok(lexer)
    }

    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.doc.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Passes over one structural byte and the white space behind it.
    pub(crate) fn take(&mut self, byte: u8) -> Result<(), Unreadable> {
        if self.peek() != Some(byte) {
            return Err(Unreadable);
        }
        self.at += 1;
        self.space();
        Ok(())
    }

    /// The same, when the byte is there.
    pub(crate) fn take_if(&mut self, byte: u8) -> bool {
        self.take(byte).is_ok()
    }

    /// Nothing but white space is left.
    pub(crate) fn end(&self) -> Result<(), Unreadable> {
        if self.at == self.doc.len() { Ok(()) } else { Err(Unreadable) }
    }

    /// A string, number or literal, and the white space behind it.
    pub(crate) fn scalar(&mut self) -> Result<Token, Unreadable> {
        let start = self.at;
        let kind = match self.peek() {
            Some(b'"') => self.string()?,
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.literal(b"true")?,
            Some(b'f') => self.literal(b"false")?,
            Some(b'n') => self.literal(b"null")?,
            _ => return Err(Unreadable),
        };
        let token = Token { kind, start, end: self.at };
        self.space();
        Ok(token)
    }

    /// A member's name, its colon, and the white space around them.
    pub(crate) fn name(&mut self) -> Result<Token, Unreadable> {
        if self.peek() != Some(b'"') {
            return Err(Unreadable);
        }
        let token = self.scalar()?;
        self.take(b':')?;
        Ok(token)
    }

    fn literal(&mut self, word: &[u8]) -> Result<Kind, Unreadable> {
        if self.doc.get(self.at..).is_some_and(|rest| rest.starts_with(word)) {
            self.at += word.len();
            Ok(Kind::Literal)
        } else {
            Err(Unreadable)
        }
    }

    fn string(&mut self) -> Result<Kind, Unreadable> {
        let mut kind = Kind::Plain;
        let rest = self.doc.get(self.at + 1..).unwrap_or_default();
        let mut bytes = rest.iter().enumerate();
        while let Some((offset, &byte)) = bytes.next() {
            match byte {
                b'"' => {
                    self.at += offset + 2;
                    return Ok(kind);
                }
                b'\\' => {
                    kind = Kind::Escaped;
                    match bytes.next() {
                        Some((_, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't')) => {}
                        Some((_, b'u')) => {
                            for _ in 0..4 {
                                if !bytes.next().is_some_and(|(_, digit)| digit.is_ascii_hexdigit()) {
                                    return Err(Unreadable);
                                }
                            }
                        }
                        _ => return Err(Unreadable),
                    }
                }
                0..0x20 => return Err(Unreadable),
                _ => {}
            }
        }
        Err(Unreadable)
    }

    fn digits(&mut self) -> Result<(), Unreadable> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start { Err(Unreadable) } else { Ok(()) }
    }

    fn number(&mut self) -> Result<Kind, Unreadable> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(Kind::Number)
    }

    /// Passes over a whole value of any kind. `depth` is how many containers are open around it.
    pub(crate) fn skip(&mut self, depth: usize) -> Result<(), Unreadable> {
        let mut level = 0_usize;
        self.open.clear();
        loop {
            // Here a value begins.
            let object = match self.peek() {
                Some(b'{') => true,
                Some(b'[') => false,
                _ => {
                    self.scalar()?;
                    if self.after_value(&mut level)? {
                        return Ok(());
                    }
                    continue;
                }
            };
            self.at += 1;
            self.space();
            if depth + level >= JSON_DEPTH_MAX {
                return Err(Unreadable);
            }
            let (word, bit) = (level / 64, 1_u64 << (level % 64));
            if word == self.open.len() {
                self.open.push(0);
            }
            if let Some(bits) = self.open.get_mut(word) {
                *bits = if object { *bits | bit } else { *bits & !bit };
            }
            level += 1;
            if self.take_if(if object { b'}' } else { b']' }) {
                level -= 1;
                if self.after_value(&mut level)? {
                    return Ok(());
                }
            } else if object {
                self.name()?;
            }
        }
    }

    /// After a value: closes what closes here and goes on to where the next value begins; true when all is closed.
    fn after_value(&mut self, level: &mut usize) -> Result<bool, Unreadable> {
        while *level > 0 {
            let top = *level - 1;
            let object = self.open.get(top / 64).is_some_and(|bits| bits & (1 << (top % 64)) != 0);
            if self.take_if(b',') {
                if object {
                    self.name()?;
                }
                return Ok(false);
            }
            self.take(if object { b'}' } else { b']' })?;
            *level = top;
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn valid(text: &[u8]) -> bool {
        Lexer::new(text).and_then(|mut lexer| lexer.skip(0).and_then(|()| lexer.end())).is_ok()
    }

    #[test]
    fn json_is_passed_over() {
        for good in [
            "null",
            "42",
            "\"x\"",
            "true",
            " [1] ",
            "{}",
            "[]",
            "[[],{}]",
            "{\"a\":{\"b\":[1,2,{\"c\":null}]},\"d\":-0}",
            "1e400",
            "-0.5E-7",
            "\"\\ud83c cut\"",
            "\"\\u0000\\/\"",
            "\u{feff}{}",
            "{\"a\":1,\"a\":2}\r\n\r\n",
        ] {
            assert!(valid(good.as_bytes()), "{good}");
        }
    }

    #[test]
    fn what_is_not_json_is_unreadable() {
        for bad in [
            "",
            " ",
            "{",
            "[",
            "[1",
            "[1,",
            "[1,]",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{a:1}",
            "01",
            "1.",
            "-",
            "1e",
            "+1",
            ".5",
            "tru",
            "nul",
            "'x'",
            "\"x",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"a\tb\"",
            "{} {}",
            "[1}",
            "{\"a\":1]",
            "NaN",
            "\"\\",
            ",",
        ] {
            assert!(!valid(bad.as_bytes()), "{bad}");
        }
        assert!(!valid(b"\"caf\xe9\""));
        assert!(!valid(b"\"\x00\""));
    }

    #[test]
    fn depth_costs_no_stack_and_has_an_end() {
        let deep = |levels: usize| [vec![b'['; levels], vec![b']'; levels]].concat();
        assert!(valid(&deep(JSON_DEPTH_MAX)));
        assert!(!valid(&deep(JSON_DEPTH_MAX + 1)));
        assert!(!valid(&vec![b'['; 1_000_000]));
        assert!(!valid("{\"a\":".repeat(200_000).as_bytes()));
    }
}
