//! From serde's words to a pointer and a sentence. What the client sent is never repeated in it,
//! since a secret may stand in the wrong field; only names of fields are.

use restante_core::problem::FieldError;
use serde_path_to_error::{Path, Segment};

/// Longer names of unknown fields are cut.
const NAME_CHARS_MAX: usize = 100;

/// Explains an error of the kind "readable, and not what was asked for".
pub(super) fn explain(path: &Path, error: &str) -> FieldError {
    let error = without_place(error);
    let mut pointer: Vec<String> = path
        .iter()
        .filter_map(|segment| match segment {
            Segment::Seq { index } => Some(index.to_string()),
            Segment::Map { key } => Some(key.clone()),
            Segment::Enum { .. } | Segment::Unknown => None,
        })
        .collect();
    let detail = if let Some(name) = quoted_after(error, "missing field ") {
        pointer.push(name.to_owned());
        format!("The field `{name}` is missing.")
    } else if let Some(name) = quoted_after(error, "duplicate field ") {
        push_once(&mut pointer, name);
        format!("The field `{name}` stands twice.")
    } else if let Some(rest) = error.strip_prefix("unknown field ") {
        unknown_field(&mut pointer, rest)
    } else if error.starts_with("unknown variant ") {
        choices(error).map_or_else(
            || "It is none of the values that are known here.".to_owned(),
            |known| format!("It has to be one of: {known}."),
        )
    } else if let Some(rest) = error.strip_prefix("invalid type: ") {
        format!("It has to be {}, and is {}.", wanted(rest), kind(rest))
    } else if let Some(rest) =
        error.strip_prefix("invalid value: ").or_else(|| error.strip_prefix("invalid length "))
    {
        format!("It has to be {}.", wanted(rest))
    } else if error.contains("digit found in string") || error.contains("integer from empty string") {
        "It has to be a whole number.".to_owned()
    } else if error.contains("number too large") || error.contains("number too small") {
        "The number is too large or too small.".to_owned()
    } else if error.starts_with("provided string was not `true` or `false`") {
        "It has to be true or false.".to_owned()
    } else {
        // Our own types say what they want in words that hold nothing of the input.
        sentence(error)
    };
    FieldError { pointer: pointer.iter().map(|part| format!("/{}", escaped(part))).collect(), detail }
}

/// RFC 6901, section 3.
fn escaped(part: &str) -> String {
    part.replace('~', "~0").replace('/', "~1")
}

/// Depending on the format, the path ends before the name at fault or with it.
fn push_once(pointer: &mut Vec<String>, name: &str) {
    if pointer.last().map(String::as_str) != Some(name) {
        pointer.push(name.to_owned());
    }
}

/// The text without the ` at line 1 column 7` that serde_json appends.
fn without_place(error: &str) -> &str {
    let is_place = |text: &str| text.chars().all(|c| c.is_ascii_digit() || " atlinecolumn".contains(c));
    match error.rfind(" at line ") {
        Some(end) if is_place(&error[end..]) => &error[..end],
        _ => error,
    }
}

fn quoted_after<'a>(error: &'a str, prefix: &str) -> Option<&'a str> {
    error.strip_prefix(prefix)?.strip_prefix('`')?.strip_suffix('`')
}

/// From "`x`, expected one of `a`, `b`".
fn unknown_field(pointer: &mut Vec<String>, rest: &str) -> String {
    // The name is the client's and may hold anything, so it is looked for from the end.
    let end =
        rest.rfind("`, expected ").or_else(|| rest.rfind("`, there are no fields")).unwrap_or(rest.len());
    let name: String = rest[..end].trim_start_matches('`').chars().take(NAME_CHARS_MAX).collect();
    push_once(pointer, &name);
    choices(rest).map_or_else(
        || format!("There is no field `{name}` here."),
        |known| format!("There is no field `{name}` here. The fields are: {known}."),
    )
}

/// The names after "expected", of which serde writes one, two or many.
fn choices(error: &str) -> Option<String> {
    let list = &error[error.rfind("`, expected ")? + "`, expected ".len()..];
    let names: Vec<&str> = list.split('`').skip(1).step_by(2).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// What was sent, from `string "x", expected u32`.
fn kind(rest: &str) -> &'static str {
    let kinds = [
        ("string", "a string"),
        ("integer", "a number"),
        ("floating point", "a number"),
        ("number", "a number"),
        ("boolean", "true or false"),
        ("null", "null"),
        ("unit value", "null"),
        ("sequence", "a list"),
        ("map", "an object"),
    ];
    kinds.into_iter().find(|(word, _)| rest.starts_with(word)).map_or("something else", |(_, kind)| kind)
}

/// What is asked for, from `string "x", expected u32`.
fn wanted(rest: &str) -> String {
    let Some(at) = rest.rfind(", expected ") else { return "something else".to_owned() };
    match &rest[at + ", expected ".len()..] {
        "a boolean" => "true or false".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "an object".to_owned(),
        "i64" | "i32" | "isize" => "a whole number".to_owned(),
        "u64" | "usize" => "a whole number that is not negative".to_owned(),
        "u32" => format!("a whole number from 0 to {}", u32::MAX),
        "u16" => format!("a whole number from 0 to {}", u16::MAX),
        "u8" => format!("a whole number from 0 to {}", u8::MAX),
        "f64" | "f32" => "a number".to_owned(),
        "str" | "string" | "a borrowed string" => "a string".to_owned(),
        text if text.starts_with("struct ") => "an object".to_owned(),
        text if text.contains("enum") => "one of the values that are documented".to_owned(),
        text => text.to_owned(),
    }
}

fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let mut sentence: String =
        characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect());
    if !sentence.ends_with('.') {
        sentence.push('.');
    }
    sentence
}
