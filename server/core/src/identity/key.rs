//! The event key and the scope: values joined so that two lists never read alike, and bounded so that
//! both databases can hold them in a unique index.

use sha2::{Digest, Sha256};

use super::text::Text;
use crate::limits::EVENT_KEY_BYTES_MAX;

/// Joins values with `:`; inside a value, `\` stands before each `:` and `\`. A missing value is empty,
/// which no value is, so it keeps its place.
pub(crate) fn join<'a>(parts: impl Iterator<Item = Option<&'a Text<'a>>>) -> Text<'static> {
    let (mut joined, mut exact) = (String::new(), true);
    for (number, part) in parts.enumerate() {
        if number > 0 {
            joined.push(':');
        }
        let Some(part) = part else { continue };
        exact &= part.exact;
        for c in part.text.chars() {
            if matches!(c, ':' | '\\') {
                joined.push('\\');
            }
            joined.push(c);
        }
    }
    Text { text: joined.into(), exact }
}

/// A key that an index can hold: `sha256-<hex>` when it is too long, holds a NUL, or had to be spelt out.
pub(crate) fn bounded(key: &Text<'_>) -> String {
    if key.exact && key.text.len() <= EVENT_KEY_BYTES_MAX && !key.text.contains('\0') {
        return key.text.clone().into_owned();
    }
    let mut digest = Sha256::new();
    if !key.exact {
        // Sets what was spelt out apart from a value that is spelt so.
        digest.update(b"\0");
    }
    digest.update(key.text.as_bytes());
    format!("sha256-{}", hex::encode(digest.finalize()))
}

/// The key of an event that its id alone identifies, as most providers' are.
pub fn key_of_event_id(event_id: &str) -> String {
    bounded(&join(std::iter::once(Some(&Text::new(event_id)))))
}

/// Text for people and columns: a NUL, which PostgreSQL can't hold, is spelt out.
pub(crate) fn shown(text: &Text<'_>) -> String {
    if text.text.contains('\0') { text.text.replace('\0', "\\u0000") } else { text.text.clone().into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(parts: &[Option<&str>]) -> String {
        let parts: Vec<_> = parts.iter().map(|part| part.map(Text::new)).collect();
        bounded(&join(parts.iter().map(Option::as_ref)))
    }

    #[test]
    fn two_lists_never_read_alike() {
        let lists: [&[Option<&str>]; 9] = [
            &[Some("a:b")],
            &[Some("a"), Some("b")],
            &[Some("a\\"), Some("b")],
            &[Some("a\\:b")],
            &[Some("a"), None],
            &[None, Some("a")],
            &[Some("a:")],
            &[Some("a"), Some("b"), None],
            &[Some("a"), None, Some("b")],
        ];
        let keys: std::collections::BTreeSet<String> = lists.iter().map(|list| joined(list)).collect();
        assert_eq!(keys.len(), lists.len(), "{keys:?}");
        assert_eq!(joined(&[Some("evt_1")]), "evt_1");
        assert_eq!(joined(&[Some("a:b"), Some("c\\d")]), "a\\:b:c\\\\d");
    }

    #[test]
    fn what_an_index_cannot_hold_is_digested() {
        let longest = "x".repeat(255);
        assert_eq!(joined(&[Some(&longest)]), longest);
        for odd in ["x".repeat(256), "a\0b".into()] {
            assert_eq!(joined(&[Some(&odd)]), format!("sha256-{}", hex::encode(Sha256::digest(&odd))));
        }
        let spelt = Text { text: "\\ud800".into(), exact: false };
        assert_ne!(bounded(&spelt), bounded(&Text::new("\\ud800")));
        assert!(bounded(&spelt).starts_with("sha256-"));
    }
}
