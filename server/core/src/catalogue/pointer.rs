//! JSON pointers (RFC 6901) as the catalogue and `options.verify` write them.
//! A pointer is parsed once; following it through a document is the matter of `identity`.

use crate::limits::{POINTER_BYTES_MAX, POINTER_STEPS_MAX};

/// One step of a pointer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// A member name, or an index where the document has an array.
    Key(String),
    /// Every element of an array: `*`, which only the catalogue may say.
    Any,
}

/// A parsed pointer; no steps at all is the whole document.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Pointer(pub(crate) Vec<Step>);

impl Pointer {
    /// Reads an RFC 6901 pointer: `""`, or text that begins with `/`, with `~0` for `~` and `~1` for `/`.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        Self::read(text, false)
    }

    /// The same, with `*` for every element of an array.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub(crate) fn parse_with_stars(text: &str) -> Result<Self, String> {
        Self::read(text, true)
    }

    /// How many arrays the pointer goes through with `*`.
    pub(crate) fn stars(&self) -> usize {
        self.0.iter().filter(|step| **step == Step::Any).count()
    }

    fn read(text: &str, stars: bool) -> Result<Self, String> {
        if text.len() > POINTER_BYTES_MAX {
            return Err(format!("A JSON pointer has at most {POINTER_BYTES_MAX} bytes."));
        }
        if text.is_empty() {
            return Ok(Self(Vec::new()));
        }
        let Some(rest) = text.strip_prefix('/') else {
            return Err(format!(
                "“{text}” is not a JSON pointer: one begins with a slash, such as /data/id, or is empty for the whole document."
            ));
        };
        let mut steps = Vec::new();
        for raw in rest.split('/') {
            steps.push(match raw {
                "*" if stars => Step::Any,
                other => Step::Key(unescape(other).ok_or_else(|| {
                    format!("“{text}” is not a JSON pointer: after ~ comes 0 (for ~) or 1 (for /).")
                })?),
            });
        }
        if steps.len() > POINTER_STEPS_MAX {
            return Err(format!("A JSON pointer has at most {POINTER_STEPS_MAX} steps."));
        }
        Ok(Self(steps))
    }
}

fn unescape(raw: &str) -> Option<String> {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw.chars();
    while let Some(c) = rest.next() {
        out.push(match c {
            '~' => match rest.next()? {
                '0' => '~',
                '1' => '/',
                _ => return None,
            },
            other => other,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_is_read_as_rfc_6901_says() {
        let key = |text: &str| Step::Key(text.into());
        assert_eq!(Pointer::parse(""), Ok(Pointer(vec![])));
        assert_eq!(Pointer::parse("/"), Ok(Pointer(vec![key("")])));
        assert_eq!(Pointer::parse("/a~1b/m~0n/0"), Ok(Pointer(vec![key("a/b"), key("m~n"), key("0")])));
        assert_eq!(Pointer::parse("/*"), Ok(Pointer(vec![key("*")])));
        assert_eq!(Pointer::parse_with_stars("/a/*"), Ok(Pointer(vec![key("a"), Step::Any])));
    }

    #[test]
    fn what_is_no_pointer_is_said_so() {
        for wrong in ["id", "$.id", "/a~", "/a~2", &"/a".repeat(65), &"/".repeat(2_000)] {
            assert!(Pointer::parse(wrong).is_err(), "{wrong}");
        }
    }
}
