//! Text that came from outside: types, ids, names, errors. It is only ever text. What can't be seen
//! (controls, zero widths, marks that turn the direction of writing) is made visible, so that nothing
//! on a page reads otherwise than it is, and its direction stays its own.

use std::fmt::{self, Write as _};

use askama::filters::HtmlSafe;

/// A text from outside as it stands in a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Alien(String);

impl Alien {
    /// All of it.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// At most so many characters of it, with an ellipsis where there were more.
    pub(crate) fn cut(text: &str, chars_max: usize) -> Self {
        match text.char_indices().nth(chars_max) {
            Some((end, _)) => Self(format!("{}…", &text[..end])),
            None => Self(text.to_owned()),
        }
    }
}

impl fmt::Display for Alien {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<bdi class=\"alien\">")?;
        write_text(f, &self.0)?;
        f.write_str("</bdi>")
    }
}

/// Writes a text as text: escaped, and with what is hidden made visible. A tab stays.
pub(crate) fn write_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    for c in text.chars() {
        match c {
            '&' => f.write_str("&amp;")?,
            '<' => f.write_str("&lt;")?,
            '>' => f.write_str("&gt;")?,
            '"' => f.write_str("&quot;")?,
            '\'' => f.write_str("&#39;")?,
            '\t' => f.write_char('\t')?,
            c if is_hidden(c) => write!(f, "<span class=\"unseen\">U+{:04X}</span>", u32::from(c))?,
            c => f.write_char(c)?,
        }
    }
    Ok(())
}

impl HtmlSafe for Alien {}

/// Whether a character shows nothing of itself, or changes how others show. Line breaks and tabs are
/// hidden in a line.
const fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// The same in plain text, for a value that a person copies or that stands in an attribute.
pub(crate) fn visible(text: &str) -> String {
    let mut seen = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) && c != '\n' && c != '\t' {
            let _ = write!(seen, "\u{2423}U+{:04X}", u32::from(c));
        } else {
            seen.push(c);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_markup_is_text_and_what_is_unseen_is_seen() {
        let shown = Alien::new("<b onclick='x'>&\"\u{202e}\0é").to_string();
        assert_eq!(
            shown,
            "<bdi class=\"alien\">&lt;b onclick=&#39;x&#39;&gt;&amp;&quot;<span class=\"unseen\">U+202E</span>\
             <span class=\"unseen\">U+0000</span>é</bdi>"
        );
        assert_eq!(visible("a\u{200b}b\n\tc"), "a␣U+200Bb\n\tc");
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(Alien::cut("äöüß", 2), Alien::new("äö…"));
        assert_eq!(Alien::cut("äö", 2), Alien::new("äö"));
        assert_eq!(Alien::cut("", 0), Alien::new(""));
    }
}
