//! Texts with names in braces, filled in for the place where they stand: a path, a query, a header, a host.

use std::collections::BTreeMap;

use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};

/// What keeps its meaning in a segment of a path is not left as it is.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
/// Everything but what a header must not hold.
const HEADER: &AsciiSet = CONTROLS;

/// A piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    Text(&'t str),
    /// A name in braces.
    Name(&'t str),
    /// `{item:/pointer}`.
    Item(&'t str),
}

/// Reads a template.
///
/// # Errors
/// A sentence that says what is wrong.
pub(super) fn pieces(template: &str) -> Result<Vec<Piece<'_>>, String> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        if open > 0 {
            pieces.push(Piece::Text(&rest[..open]));
        }
        let inner = &rest[open + 1..];
        let close = inner.find('}').ok_or_else(|| format!("“{template}” has a brace that is not closed."))?;
        let name = &inner[..close];
        pieces.push(match name.strip_prefix("item:") {
            Some(pointer) => Piece::Item(pointer),
            None if is_name(name) => Piece::Name(name),
            None => return Err(format!("“{{{name}}}” in “{template}” is no name.")),
        });
        rest = &inner[close + 1..];
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    Ok(pieces)
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// Where a filled text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Path,
    Query,
    Header,
    Host,
    /// JSON, a form, a credential: as it is.
    Plain,
}

/// What names stand for.
pub(super) struct Values<'v> {
    pub(super) named: &'v BTreeMap<String, String>,
    /// The value of a pointer in the entry.
    pub(super) item: &'v dyn Fn(&str) -> Option<String>,
}

/// No entry is at hand.
pub(super) fn no_item(_: &str) -> Option<String> {
    None
}

/// A template with its names filled in; `None` when one of them stands for nothing.
///
/// # Errors
/// A value that must not stand there.
pub(super) fn fill(template: &str, values: &Values<'_>, place: Place) -> Result<Option<String>, String> {
    let mut text = String::new();
    for piece in pieces(template)? {
        let value = match piece {
            Piece::Text(literal) => {
                text.push_str(literal);
                continue;
            }
            Piece::Name(name) => values.named.get(name).cloned(),
            Piece::Item(pointer) => (values.item)(pointer),
        };
        let Some(value) = value else { return Ok(None) };
        match place {
            Place::Path if matches!(value.as_str(), "." | "..") => {
                return Err(format!("“{value}” can't stand in a path."));
            }
            Place::Path => text.extend(utf8_percent_encode(&value, SEGMENT)),
            Place::Header if value.chars().any(char::is_control) => {
                return Err("A line break can't stand in a header.".to_owned());
            }
            Place::Header => text.extend(utf8_percent_encode(&value, HEADER)),
            Place::Host if !value.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.')) => {
                return Err(format!(
                    "“{value}” is no name of a host. Write it without https:// and without a path."
                ));
            }
            Place::Query | Place::Host | Place::Plain => text.push_str(&value),
        }
    }
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(template: &str, place: Place) -> Result<Option<String>, String> {
        let named = [("a", "x/y z"), ("dots", ".."), ("line", "a\r\nb"), ("host", "shop.example")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        let item = |pointer: &str| (pointer == "/id").then(|| "e/1".to_owned());
        fill(template, &Values { named: &named, item: &item }, place)
    }

    #[test]
    fn names_are_filled_in_for_where_they_stand() {
        assert_eq!(filled("/v1/{a}/{item:/id}", Place::Path), Ok(Some("/v1/x%2Fy%20z/e%2F1".to_owned())));
        assert_eq!(filled("{a}", Place::Query), Ok(Some("x/y z".to_owned())));
        assert_eq!(filled("https://{host}", Place::Host), Ok(Some("https://shop.example".to_owned())));
        assert_eq!(filled("{missing}", Place::Query), Ok(None));
        assert_eq!(filled("{item:/other}", Place::Path), Ok(None));
    }

    #[test]
    fn a_value_never_leaves_its_place() {
        assert!(filled("/{dots}/x", Place::Path).is_err());
        assert!(filled("{line}", Place::Header).is_err());
        assert!(filled("https://{a}", Place::Host).is_err());
        assert!(pieces("{a").is_err());
        assert!(pieces("{A b}").is_err());
    }
}
