//! The catalogue's setup guides, which are plain Markdown: numbered steps, paragraphs, blocks of code,
//! **bold**, *emphasis* and `code`. Everything is escaped; what isn't known stands as it is written.

use std::fmt::{self, Write as _};

use askama::filters::HtmlSafe;

use super::alien::write_text;

/// A guide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prose(Vec<Block>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Block {
    Paragraph(String),
    Code(String),
    Steps(Vec<Vec<Block>>),
}

impl Prose {
    /// Reads a guide.
    pub(crate) fn read(text: &str) -> Self {
        let mut blocks: Vec<Block> = Vec::new();
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let indented = line.starts_with("   ");
            let line = line.trim();
            if line.is_empty() {
                continue;
            }
            if line.starts_with("```") {
                let code: Vec<&str> =
                    lines.by_ref().take_while(|line| !line.trim().starts_with("```")).collect();
                let code =
                    code.iter().map(|line| line.strip_prefix("   ").unwrap_or(line)).collect::<Vec<_>>();
                place(&mut blocks, indented, Block::Code(code.join("\n")));
            } else if let Some(step) = step(line) {
                let step = vec![Block::Paragraph(step.to_owned())];
                match blocks.last_mut() {
                    Some(Block::Steps(steps)) => steps.push(step),
                    _ => blocks.push(Block::Steps(vec![step])),
                }
            } else {
                place(&mut blocks, indented, Block::Paragraph(line.to_owned()));
            }
        }
        Self(blocks)
    }
}

/// What is indented belongs to the step before it.
fn place(blocks: &mut Vec<Block>, indented: bool, block: Block) {
    match blocks.last_mut() {
        Some(Block::Steps(steps)) if indented => {
            if let Some(step) = steps.last_mut() {
                step.push(block);
            }
        }
        _ => blocks.push(block),
    }
}

/// The text of `1. text`.
fn step(line: &str) -> Option<&str> {
    let (number, text) = line.split_once(". ")?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(text)
}

impl fmt::Display for Prose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<div class=\"prose\">")?;
        self.0.iter().try_for_each(|block| write_block(f, block))?;
        f.write_str("</div>")
    }
}

fn write_block(f: &mut fmt::Formatter<'_>, block: &Block) -> fmt::Result {
    match block {
        Block::Paragraph(text) => {
            f.write_str("<p>")?;
            write_inline(f, text)?;
            f.write_str("</p>")
        }
        Block::Code(text) => {
            f.write_str("<pre tabindex=\"0\" class=\"wrap\"><code>")?;
            for (place, line) in text.lines().enumerate() {
                if place > 0 {
                    f.write_char('\n')?;
                }
                write_text(f, line)?;
            }
            f.write_str("</code></pre>")
        }
        Block::Steps(steps) => {
            f.write_str("<ol class=\"steps\">")?;
            for step in steps {
                f.write_str("<li>")?;
                step.iter().try_for_each(|block| write_block(f, block))?;
                f.write_str("</li>")?;
            }
            f.write_str("</ol>")
        }
    }
}

/// **bold**, *emphasis* and `code`; a mark without its partner is itself.
fn write_inline(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    let mut rest = text;
    while let Some(at) = rest.find(['`', '*']) {
        let (before, marked) = rest.split_at(at);
        write_text(f, before)?;
        let (mark, tag) = match marked {
            _ if marked.starts_with("**") => ("**", "b"),
            _ if marked.starts_with('*') => ("*", "i"),
            _ => ("`", "code"),
        };
        let inside = marked.strip_prefix(mark).and_then(|after| after.split_once(mark));
        match inside {
            Some((inside, after)) => {
                write!(f, "<{tag}>")?;
                write_text(f, inside)?;
                write!(f, "</{tag}>")?;
                rest = after;
            }
            None => {
                // Both marks are of one byte each.
                write_text(f, &marked[..1])?;
                rest = &marked[1..];
            }
        }
    }
    write_text(f, rest)
}

impl HtmlSafe for Prose {}

#[cfg(test)]
mod tests {
    use restante_core::catalogue::Catalogue;

    use super::*;
    use crate::parts::samples::{HOSTILE, check};

    #[test]
    fn steps_paragraphs_and_code_are_told_apart() {
        let text = "1. Open **A** & `b`.\n2. Then:\n\n   ```json\n   {\"x\":1}\n   ```\n\n3. *Done* * 2.\n\nLast `words.\n";
        let shown = Prose::read(text).to_string();
        assert_eq!(
            shown,
            "<div class=\"prose\"><ol class=\"steps\"><li><p>Open <b>A</b> &amp; <code>b</code>.</p></li>\
             <li><p>Then:</p><pre tabindex=\"0\" class=\"wrap\"><code>{&quot;x&quot;:1}</code></pre></li>\
             <li><p><i>Done</i> * 2.</p></li></ol><p>Last `words.</p></div>"
        );
    }

    #[test]
    fn every_guide_of_the_catalogue_is_read_and_markup_is_text() {
        for provider in Catalogue::builtin().all() {
            let shown = Prose::read(provider.setup).to_string();
            assert!(
                shown.contains("<li>") && !shown.contains("**") && !shown.contains("```"),
                "{}",
                provider.slug
            );
        }
        check(&Prose::read(&format!("1. {HOSTILE}\n\n{HOSTILE} **{HOSTILE}** `{HOSTILE}`")).to_string());
    }
}
