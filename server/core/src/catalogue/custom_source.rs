//! Sources in `options.verify`: the part of the catalogue's sources that a person may write.

use serde_json::{Map, Value};

use super::event_rule::EventTime;
use super::header::header_name;
use super::pointer::Pointer;
use super::source::Source;
use super::verify_rule::TimeUnit;
use crate::limits::{SOURCE_DEPTH_MAX, SOURCES_MAX};
use crate::problem::FieldError;

/// The kinds of sources, by the field that makes one.
pub(super) const KINDS: [&str; 5] = ["header", "json", "digest", "join", "first"];
/// The fields of a time: a source, and its unit.
pub(super) const TIME_FIELDS: [&str; 6] = ["header", "json", "digest", "join", "first", "unit"];

/// Reads sources; counts them, and keeps the faults with their pointers.
#[derive(Default)]
pub(super) struct Sources {
    pub(super) errors: Vec<FieldError>,
    count: usize,
}

impl Sources {
    /// Reads a source that stands at a JSON pointer.
    pub(super) fn read(&mut self, value: &Value, at: &str) -> Option<Source> {
        self.nested(value, at, 0)
    }

    fn fault(&mut self, at: &str, detail: impl Into<String>) -> Option<Source> {
        self.errors.push(FieldError { pointer: at.into(), detail: detail.into() });
        None
    }

    fn nested(&mut self, value: &Value, at: &str, depth: usize) -> Option<Source> {
        self.count += 1;
        if depth > SOURCE_DEPTH_MAX || self.count > SOURCES_MAX {
            return self.fault(
                at,
                format!("There are at most {SOURCES_MAX} sources, at most {SOURCE_DEPTH_MAX} deep."),
            );
        }
        let kinds = "{\"header\":\"Name\"}, {\"json\":\"/a/b\"}, {\"digest\":\"body\"}, {\"join\":[…]} or {\"first\":[…]}";
        let only = value.as_object().filter(|map| map.len() == 1).and_then(|map| map.iter().next());
        let Some((kind, inner)) = only else {
            return self.fault(at, format!("A source is one of {kinds}."));
        };
        let here = format!("{at}/{}", super::options::escape(kind));
        let read = match (kind.as_str(), inner) {
            ("header", Value::String(name)) => header_name(name).map(Source::Header),
            ("json", Value::String(pointer)) => Pointer::parse(pointer).map(Source::Json),
            ("digest", Value::String(of)) if of == "body" => Ok(Source::Digest),
            ("digest", _) => Err("A digest is of the body: {\"digest\":\"body\"}.".into()),
            ("header" | "json", _) => Err("This is a text.".into()),
            ("join" | "first", Value::Array(values)) if !values.is_empty() => {
                let parts = values.iter().enumerate();
                let parts: Vec<_> = parts
                    .map(|(number, part)| self.nested(part, &format!("{here}/{number}"), depth + 1))
                    .collect();
                let parts = parts.into_iter().collect::<Option<Vec<_>>>()?;
                Ok(if kind == "join" { Source::Join { parts, with: None } } else { Source::First(parts) })
            }
            ("join" | "first", _) => Err("This is a list with at least one source.".into()),
            _ => return self.fault(&here, format!("There is no source “{kind}”. One is {kinds}.")),
        };
        match read {
            Ok(source) => Some(source),
            Err(detail) => self.fault(&here, detail),
        }
    }
}

/// Reads the source of a time, which takes `unit` beside it.
pub(super) fn time(sources: &mut Sources, value: &Value, at: &str) -> Option<EventTime> {
    let mut rest: Map<String, Value> = value.as_object().cloned().unwrap_or_default();
    let unit = match rest.remove("unit") {
        None | Some(Value::Null) => TimeUnit::S,
        Some(Value::String(unit)) if unit == "s" => TimeUnit::S,
        Some(Value::String(unit)) if unit == "ms" => TimeUnit::Ms,
        Some(Value::String(unit)) if unit == "rfc3339" => TimeUnit::Rfc3339,
        Some(_) => {
            sources.fault(&format!("{at}/unit"), "This is one of s, ms, rfc3339.");
            return None;
        }
    };
    let at = sources.read(&Value::Object(rest), at)?;
    Some(EventTime { at, unit })
}
