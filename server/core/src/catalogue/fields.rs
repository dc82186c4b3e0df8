//! The members of a JSON object that a person wrote, read one by one; each fault with its pointer.

use serde_json::{Map, Value};

use super::options::escape;
use crate::problem::FieldError;

/// The sentence about a member that isn't known.
pub(super) fn unknown_field(name: &str, known: &[&str]) -> String {
    format!("There is no field “{name}” here. Known are {}.", known.join(", "))
}

/// An object under reading, and the faults found in it.
pub(super) struct Fields<'a> {
    map: &'a Map<String, Value>,
    at: String,
    pub(super) errors: Vec<FieldError>,
}

impl<'a> Fields<'a> {
    /// Begins, and notes each member that isn't known.
    pub(super) fn new(map: &'a Map<String, Value>, at: &str, known: &[&str]) -> Self {
        let mut fields = Self { map, at: at.into(), errors: Vec::new() };
        for name in map.keys().filter(|name| !known.contains(&name.as_str())) {
            fields.fault(name, unknown_field(name, known));
        }
        fields
    }

    /// Where a member stands.
    pub(super) fn pointer(&self, name: &str) -> String {
        format!("{}/{}", self.at, escape(name))
    }

    pub(super) fn fault(&mut self, name: &str, detail: String) {
        self.errors.push(FieldError { pointer: self.pointer(name), detail });
    }

    /// A fault of the object as a whole.
    pub(super) fn fault_here(&mut self, detail: String) {
        self.errors.push(FieldError { pointer: self.at.clone(), detail });
    }

    /// A member that is there; `null` is not.
    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        self.map.get(name).filter(|value| !value.is_null())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// A text of at most so many bytes.
    pub(super) fn text(&mut self, name: &str, most: usize) -> Option<&'a str> {
        let text = self.get(name)?.as_str().filter(|text| text.len() <= most);
        if text.is_none() {
            self.fault(name, format!("This is a text of at most {most} bytes."));
        }
        text
    }

    /// One of several words.
    pub(super) fn word<T: Copy>(&mut self, name: &str, words: &[(&str, T)]) -> Option<T> {
        let value = self.get(name)?;
        let found = value.as_str().and_then(|text| words.iter().find(|(word, _)| *word == text));
        if found.is_none() {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.fault(name, format!("This is one of {}.", known.join(", ")));
        }
        found.map(|(_, value)| *value)
    }

    /// Notes the fault of a member that was read otherwise.
    pub(super) fn check<T>(&mut self, name: &str, read: Result<T, String>) -> Option<T> {
        read.map_err(|detail| self.fault(name, detail)).ok()
    }
}
