//! What a JSON merge takes away. `null` removes an option that is there, and does no harm to one that
//! isn't; a name that no option can have is a mistake here as it is anywhere else, and would pass in
//! silence, since nothing is left of it after the merge.

use serde_json::{Map, Value};

use super::custom::{FIELDS, TIMESTAMP_FIELDS};
use super::custom_event::EVENT_FIELDS;
use super::custom_source::{KINDS, TIME_FIELDS};
use super::fields::unknown_field;
use super::options::{escape, known_names, unknown};
use super::provider::Provider;
use crate::problem::FieldError;

/// The names that an object can have, and the shapes of those of its members that are objects.
struct Shape {
    names: &'static [&'static str],
    inner: &'static [(&'static str, &'static Self)],
}

const SOURCE: Shape = Shape { names: &KINDS, inner: &[] };
const TIME: Shape = Shape { names: &TIME_FIELDS, inner: &[] };
const EVENT: Shape = Shape {
    names: &EVENT_FIELDS,
    inner: &[("id", &SOURCE), ("type", &SOURCE), ("account", &SOURCE), ("occurred_at", &TIME)],
};
const TIMESTAMP: Shape = Shape { names: &TIMESTAMP_FIELDS, inner: &[] };
const SENDER: Shape = Shape { names: &FIELDS, inner: &[("timestamp", &TIMESTAMP), ("event", &EVENT)] };

/// The faults of a patch of options that lie in what it removes. All its other faults show in what the
/// merge makes.
pub(super) fn check(provider: &Provider, patch: &Map<String, Value>) -> Vec<FieldError> {
    let known = known_names(provider);
    let mut errors = Vec::new();
    for (name, value) in patch {
        let pointer = format!("/{}", escape(name));
        match value {
            Value::Null if !known.contains(&name.as_str()) => {
                errors.push(FieldError { pointer, detail: unknown(provider, name) });
            }
            Value::Object(inner) if provider.entry.described_by.as_ref() == Some(name) => {
                SENDER.check(inner, &pointer, &mut errors);
            }
            _ => {}
        }
    }
    errors
}

impl Shape {
    fn check(&self, patch: &Map<String, Value>, at: &str, errors: &mut Vec<FieldError>) {
        for (name, value) in patch {
            let pointer = format!("{at}/{}", escape(name));
            match value {
                Value::Null if !self.names.contains(&name.as_str()) => {
                    errors.push(FieldError { pointer, detail: unknown_field(name, self.names) });
                }
                Value::Object(inner) => {
                    if let Some((_, shape)) = self.inner.iter().find(|(member, _)| member == name) {
                        shape.check(inner, &pointer, errors);
                    }
                }
                _ => {}
            }
        }
    }
}
