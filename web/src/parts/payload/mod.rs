//! What came, for the eyes of a person: pretty, raw or in hex; two bodies side by side; as a command. What
//! is shown is what was sent: nothing is parsed into values and written anew, since that would round
//! numbers and lose what stands twice. Everything is bounded and only ever text.

mod code;
mod curl;
mod difference;
mod hex;
mod json;

pub(crate) use code::Code;
pub(crate) use curl::curl;

use code::Line;

use super::alien::Alien;

/// Bytes that are shown pretty at most.
const PRETTY_BYTES_MAX: usize = 256 * 1024;
/// Bytes that are shown raw at most.
const RAW_BYTES_MAX: usize = 128 * 1024;
/// Bytes that are shown in hex at most.
const HEX_BYTES_MAX: usize = 8 * 1024;
/// Fields of a form that are shown at most.
const FIELDS_MAX: usize = 500;

/// How a payload is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    Pretty,
    Raw,
    Hex,
}

impl View {
    pub(crate) const ALL: [Self; 3] = [Self::Pretty, Self::Raw, Self::Hex];

    /// The word in the address.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Pretty => "pretty",
            Self::Raw => "raw",
            Self::Hex => "hex",
        }
    }

    /// The view of a word.
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|view| view.as_str() == word)
    }
}

/// A payload as it is shown.
#[derive(Debug)]
pub(crate) struct Shown {
    /// The view that it is; another one than asked for where the bytes don't lend themselves to it.
    pub(crate) view: View,
    /// The lines.
    pub(crate) code: Code,
    /// The fields of a form, where it is one.
    pub(crate) fields: Vec<(Alien, Alien)>,
    /// What a person should know: that it is cut, or is no text.
    pub(crate) note: Option<&'static str>,
}

/// Shows a body.
pub(crate) fn show(body: &[u8], content_type: &str, view: View) -> Shown {
    let none = |note| Shown { view, code: Code::default(), fields: Vec::new(), note: Some(note) };
    if body.is_empty() {
        return none("The body is empty.");
    }
    match view {
        View::Hex => in_hex(body),
        View::Raw => raw(body),
        View::Pretty => pretty(body, content_type),
    }
}

fn in_hex(body: &[u8]) -> Shown {
    let cut = body.len() > HEX_BYTES_MAX;
    let shown = body.get(..HEX_BYTES_MAX).unwrap_or(body);
    let note = cut.then_some("This is the beginning. The download has all of it.");
    Shown { view: View::Hex, code: Code::plain(hex::lines(shown)), fields: Vec::new(), note }
}

fn raw(body: &[u8]) -> Shown {
    let Some(text) = text(body) else {
        return Shown { note: Some("The body is no text in UTF-8, so it is shown in hex."), ..in_hex(body) };
    };
    let (shown, cut) = beginning(text, RAW_BYTES_MAX);
    let lines = shown.split('\n').map(str::to_owned).collect();
    let note = cut.then_some("This is the beginning. The download has all of it.");
    Shown { view: View::Raw, code: Code::plain(lines), fields: Vec::new(), note }
}

fn pretty(body: &[u8], content_type: &str) -> Shown {
    if body.len() <= PRETTY_BYTES_MAX {
        if let Some(lines) = text(body).and_then(json::pretty) {
            let code = Code::new(lines.into_iter().map(Line::same).collect(), true);
            return Shown { view: View::Pretty, code, fields: Vec::new(), note: None };
        }
        if content_type.starts_with("application/x-www-form-urlencoded") {
            let fields: Vec<(Alien, Alien)> = url::form_urlencoded::parse(body)
                .take(FIELDS_MAX)
                .map(|(name, value)| (Alien::new(name), Alien::new(value)))
                .collect();
            return Shown { view: View::Pretty, code: Code::default(), fields, note: None };
        }
    }
    let too_large = body.len() > PRETTY_BYTES_MAX;
    let shown = raw(body);
    let note = if too_large {
        Some("The body is too large to be laid out here. This is its beginning; the download has all of it.")
    } else {
        shown.note
    };
    Shown { note, ..shown }
}

/// Two bodies side by side, with what differs marked; `None` where they are no texts, or too large.
pub(crate) fn side_by_side(first: &[u8], other: &[u8]) -> Option<(Code, Code)> {
    if first.len().max(other.len()) > PRETTY_BYTES_MAX {
        return None;
    }
    let (first, other) = (text(first)?, text(other)?);
    let split = |text: &str| text.split('\n').map(str::to_owned).collect();
    let (lines, coloured) = match (json::pretty(first), json::pretty(other)) {
        (Some(first), Some(other)) => ((first, other), true),
        _ => ((split(first), split(other)), false),
    };
    let (in_first, in_other) = difference::marks(&lines.0, &lines.1);
    let code = |lines: Vec<String>, marks: Vec<bool>| {
        let lines = lines.into_iter().zip(marks).map(|(text, changed)| Line { text, changed });
        Code::new(lines.collect(), coloured)
    };
    Some((code(lines.0, in_first), code(lines.1, in_other)))
}

/// A body as text; what holds a NUL is none.
fn text(body: &[u8]) -> Option<&str> {
    std::str::from_utf8(body).ok().filter(|text| !text.contains('\0'))
}

/// The beginning of a text, cut between characters.
fn beginning(text: &str, bytes_max: usize) -> (&str, bool) {
    if text.len() <= bytes_max {
        return (text, false);
    }
    let mut end = bytes_max;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    (&text[..end], true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples::{HOSTILE, check};

    fn shown(body: &[u8], content_type: &str, view: View) -> (View, String) {
        let shown = show(body, content_type, view);
        (shown.view, shown.code.to_string())
    }

    #[test]
    fn json_is_laid_out_and_what_is_none_is_shown_as_it_is() {
        let (view, text) = shown(b"{\"a\":1}", "application/json", View::Pretty);
        assert_eq!(view, View::Pretty);
        assert!(
            text.contains("<span class=\"k\">&quot;a&quot;</span>: <span class=\"n\">1</span>"),
            "{text}"
        );
        let (view, text) = shown(b"{\"a\":", "application/json", View::Pretty);
        assert_eq!((view, text.as_str()), (View::Raw, "{&quot;a&quot;:"));
        let (view, text) = shown(b"\xff\x00ab", "application/json", View::Pretty);
        assert_eq!(view, View::Hex);
        assert!(text.contains("ff 00 61 62"), "{text}");
    }

    #[test]
    fn forms_are_fields_and_markup_is_text_in_every_view() {
        let form = show(b"a=1&b=%3Cb%3E", "application/x-www-form-urlencoded", View::Pretty);
        assert_eq!(form.fields[1], (Alien::new("b"), Alien::new("<b>")));
        for view in View::ALL {
            check(&shown(HOSTILE.as_bytes(), "text/html", view).1);
            let json = serde_json::json!({ HOSTILE: [HOSTILE, 1, null] }).to_string();
            check(&shown(json.as_bytes(), "application/json", view).1);
        }
    }

    #[test]
    fn much_is_cut_and_says_so() {
        let large = "é".repeat(PRETTY_BYTES_MAX);
        for view in View::ALL {
            let shown = show(large.as_bytes(), "text/plain", view);
            assert!(shown.note.unwrap().contains("beginning"));
            assert!(shown.code.to_string().len() < 2 * RAW_BYTES_MAX);
        }
        assert!(show(b"", "", View::Raw).note.unwrap().contains("empty"));
    }

    #[test]
    fn two_bodies_stand_side_by_side_with_what_differs() {
        let (first, other) = side_by_side(b"{\"a\":1,\"b\":2}", b"{\"a\":1,\"b\":3}").unwrap();
        assert_eq!(first.to_string().matches("<mark>").count(), 1);
        assert!(
            other.to_string().contains(
                "<mark>  <span class=\"k\">&quot;b&quot;</span>: <span class=\"n\">3</span></mark>"
            ),
            "{other}"
        );
        assert!(side_by_side(b"\xff", b"a").is_none());
        let (first, _) = side_by_side(b"a\nb", b"a\nc").unwrap();
        assert!(first.to_string().contains("<mark>b</mark>"));
    }
}
