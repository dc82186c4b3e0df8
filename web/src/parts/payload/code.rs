//! Lines of text as they stand in a page: escaped, with what is hidden made visible, with the kinds of
//! JSON's pieces and with marks on what differs.

use std::fmt::{self, Write as _};

use askama::filters::HtmlSafe;

use super::json;
use crate::parts::alien::write_text;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) changed: bool,
}

impl Line {
    pub(super) const fn same(text: String) -> Self {
        Self { text, changed: false }
    }
}

/// Lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Code {
    lines: Vec<Line>,
    coloured: bool,
}

impl Code {
    /// Lines without kinds.
    pub(super) fn plain(lines: Vec<String>) -> Self {
        Self { lines: lines.into_iter().map(Line::same).collect(), coloured: false }
    }

    /// Lines, with the kinds of JSON's pieces or without.
    pub(super) const fn new(lines: Vec<Line>, coloured: bool) -> Self {
        Self { lines, coloured }
    }

    /// Whether there is nothing to show.
    pub(crate) const fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, line) in self.lines.iter().enumerate() {
            if place > 0 {
                f.write_char('\n')?;
            }
            if line.changed {
                f.write_str("<mark>")?;
            }
            if self.coloured {
                for (kind, text) in json::pieces(&line.text) {
                    if kind.is_empty() {
                        write_text(f, text)?;
                    } else {
                        write!(f, "<span class=\"{kind}\">")?;
                        write_text(f, text)?;
                        f.write_str("</span>")?;
                    }
                }
            } else {
                write_text(f, &line.text)?;
            }
            if line.changed {
                f.write_str("</mark>")?;
            }
        }
        Ok(())
    }
}

impl HtmlSafe for Code {}
