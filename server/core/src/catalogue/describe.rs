//! Sources in words, for the printed catalogue.

use super::pointer::{Pointer, Step};
use super::source::Source;

/// A source as a person reads it: `header X`, `body /data/id`.
pub(crate) fn source(source: &Source) -> String {
    match source {
        Source::Header(name) => format!("header {name}"),
        Source::Json(at) | Source::Whole(at) => format!("body {}", pointer(at)),
        Source::Form(name) => format!("form field {name}"),
        Source::Query(name) => format!("query parameter {name}"),
        Source::Digest => "SHA-256 of the body".into(),
        Source::Text(text) => format!("“{text}”"),
        Source::Join { parts, .. } => list(parts, " with "),
        Source::First(parts) => list(parts, ", else "),
    }
}

fn list(parts: &[Source], between: &str) -> String {
    parts.iter().map(source).collect::<Vec<_>>().join(between)
}

/// A pointer as RFC 6901 writes it.
pub(crate) fn pointer(pointer: &Pointer) -> String {
    let step = |step: &Step| match step {
        Step::Any => "/*".to_owned(),
        Step::Key(name) => format!("/{}", name.replace('~', "~0").replace('/', "~1")),
    };
    pointer.0.iter().map(step).collect()
}
