//! JSON laid out from its own text: numbers keep every digit, a name that stands twice stands twice.

use serde::de::IgnoredAny;

/// Deeper nesting is not indented any further.
const INDENT_MAX: usize = 40;
/// More lines are not made.
const LINES_MAX: usize = 20_000;

/// The lines of a JSON text; `None` when it is no JSON, or would be more lines than anybody reads.
pub(super) fn pretty(text: &str) -> Option<Vec<String>> {
    serde_json::from_str::<IgnoredAny>(text).ok()?;
    let mut lines = vec![String::new()];
    let mut depth = 0_usize;
    let mut rest = text.char_indices().peekable();
    let mut opened = false;
    while let Some((at, c)) = rest.next() {
        if c.is_ascii_whitespace() {
            continue;
        }
        if opened && !matches!(c, '}' | ']') {
            new_line(&mut lines, depth)?;
        }
        match c {
            '"' => {
                let end = string_end(text, at);
                push(&mut lines, &text[at..end]);
                while rest.peek().is_some_and(|(next, _)| *next < end) {
                    rest.next();
                }
            }
            '{' | '[' => {
                push(&mut lines, c.encode_utf8(&mut [0; 4]));
                depth += 1;
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                if !opened {
                    new_line(&mut lines, depth)?;
                }
                push(&mut lines, c.encode_utf8(&mut [0; 4]));
            }
            ',' => {
                push(&mut lines, ",");
                new_line(&mut lines, depth)?;
            }
            ':' => push(&mut lines, ": "),
            c => push(&mut lines, c.encode_utf8(&mut [0; 4])),
        }
        opened = matches!(c, '{' | '[');
    }
    Some(lines)
}

fn push(lines: &mut [String], text: &str) {
    if let Some(line) = lines.last_mut() {
        line.push_str(text);
    }
}

fn new_line(lines: &mut Vec<String>, depth: usize) -> Option<()> {
    lines.push("  ".repeat(depth.min(INDENT_MAX)));
    (lines.len() <= LINES_MAX).then_some(())
}

/// Where the string that begins at a quote ends, its closing quote included.
fn string_end(text: &str, begin: usize) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(begin + 1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// A piece of a line with its kind: `k` a name, `s` a text, `n` a number, `b` true, false or null, and
/// nothing for the signs between them.
pub(super) fn pieces(line: &str) -> Vec<(&'static str, &str)> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while let Some(c) = line[at..].chars().next() {
        let rest = &line[at..];
        let (kind, length) = match c {
            '"' => {
                let end = string_end(line, at);
                let is_name = line[end..].trim_start().starts_with(':');
                (if is_name { "k" } else { "s" }, end - at)
            }
            '-' | '0'..='9' => {
                ("n", span(rest, |c| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E')))
            }
            'a'..='z' => ("b", span(rest, |c| c.is_ascii_lowercase())),
            _ => {
                let stops = |c: char| c == '"' || c == '-' || c.is_ascii_digit() || c.is_ascii_lowercase();
                ("", rest.find(stops).unwrap_or(rest.len()))
            }
        };
        // Each of them takes at least the character that it begins with.
        let length = length.max(c.len_utf8());
        pieces.push((kind, &rest[..length]));
        at += length;
    }
    pieces
}

fn span(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid_out(text: &str) -> String {
        pretty(text).unwrap().join("\n")
    }

    #[test]
    fn what_was_sent_is_what_is_shown() {
        let sent = r#"{"a":9007199254740993,"a":1.10,"b":[],"c":{},"d":["x",{"e":null}],"f":"\u003cb\"{,"}"#;
        let expected = "{\n  \"a\": 9007199254740993,\n  \"a\": 1.10,\n  \"b\": [],\n  \"c\": {},\n  \"d\": [\n    \"x\",\n    {\n      \"e\": null\n    }\n  ],\n  \"f\": \"\\u003cb\\\"{,\"\n}";
        assert_eq!(laid_out(sent), expected);
        // What is laid out already comes out the same.
        assert_eq!(laid_out(expected), expected);
        assert_eq!(laid_out(" 5 "), "5");
        assert_eq!(laid_out("\"äöü\""), "\"äöü\"");
    }

    #[test]
    fn what_is_no_json_or_endless_is_not_laid_out() {
        for text in ["", "{", "{\"a\":}", "[1,]", "nope"] {
            assert_eq!(pretty(text), None, "{text}");
        }
        assert_eq!(pretty(&format!("[{}1]", "1,".repeat(LINES_MAX))), None);
        assert_eq!(pretty(&"[".repeat(100_000)), None);
    }

    #[test]
    fn pieces_are_the_whole_line_with_their_kinds() {
        let line = "  \"a\": [\"b\", -1.5e3, true, null]";
        let told = pieces(line);
        assert_eq!(told.iter().map(|(_, text)| *text).collect::<String>(), line);
        let kinds: Vec<_> = told.iter().filter(|(kind, _)| !kind.is_empty()).copied().collect();
        assert_eq!(kinds, [("k", "\"a\""), ("s", "\"b\""), ("n", "-1.5e3"), ("b", "true"), ("b", "null")]);
        for odd in ["äöü\"", "\"never closed", "🙂 1 a", ""] {
            assert_eq!(pieces(odd).iter().map(|(_, text)| *text).collect::<String>(), odd);
        }
    }
}
