//! Values at a place of a JSON text, as the text has them: an event is handed on with the very bytes of the
//! provider's answer, and a number keeps its last digit.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::value::RawValue;

use crate::catalogue::{Pointer, Step};

/// The text of the value at a place; `None` when nothing is there.
pub(super) fn raw<'t>(text: &'t str, pointer: &str) -> Option<&'t str> {
    let Pointer(steps) = Pointer::parse(pointer).ok()?;
    let mut here = text.trim_matches([' ', '\t', '\r', '\n']);
    for step in &steps {
        let Step::Key(key) = step else { return None };
        here = match here.as_bytes().first()? {
            b'{' => members(here)?.remove(key.as_str())?.get(),
            b'[' => elements(here)?.get(key.parse::<usize>().ok()?)?.get(),
            _ => return None,
        };
    }
    Some(here)
}

/// The elements of an array; `None` when it is none.
pub(super) fn elements(text: &str) -> Option<Vec<&RawValue>> {
    serde_json::from_str(text).ok()
}

/// The members of an object; `None` when it is none.
pub(super) fn members(text: &str) -> Option<HashMap<Cow<'_, str>, &RawValue>> {
    #[derive(serde::Deserialize)]
    struct Members<'a>(#[serde(borrow)] HashMap<Cow<'a, str>, &'a RawValue>);
    serde_json::from_str::<Members<'_>>(text).ok().map(|members| members.0)
}

/// The value as a text: a string, a number or a boolean; `None` for what is nothing or has parts.
pub(super) fn text(document: &str, pointer: &str) -> Option<String> {
    let raw = raw(document, pointer)?;
    match raw.as_bytes().first()? {
        b'"' => serde_json::from_str::<String>(raw).ok().filter(|text| !text.is_empty()),
        b'{' | b'[' | b'n' => None,
        _ => Some(raw.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = r#" {"a":{"b":[ {"id" : 9007199254740993},"x\u0041",null,true]},"a\/b":"c"} "#;

    #[test]
    fn a_value_is_what_the_text_has() {
        assert_eq!(raw(DOCUMENT, "/a/b/0"), Some(r#"{"id" : 9007199254740993}"#));
        assert_eq!(text(DOCUMENT, "/a/b/0/id").as_deref(), Some("9007199254740993"));
        assert_eq!(text(DOCUMENT, "/a/b/1").as_deref(), Some("xA"));
        assert_eq!(text(DOCUMENT, "/a/b/3").as_deref(), Some("true"));
        assert_eq!(text(DOCUMENT, "/a~1b").as_deref(), Some("c"));
        assert_eq!(raw("[1]", ""), Some("[1]"));
    }

    #[test]
    fn what_is_not_there_is_nothing() {
        for pointer in ["/b", "/a/b/4", "/a/b/x", "/a/b/2", "/a", "no pointer"] {
            assert_eq!(text(DOCUMENT, pointer), None, "{pointer}");
        }
        assert_eq!(text("rubbish", "/a"), None);
        assert_eq!(text("", ""), None);
    }
}
