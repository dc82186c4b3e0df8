//! The part of `options.verify` that says which events are in a request and what makes two of them the same.

use serde_json::{Map, Value};

use super::DedupScope;
use super::custom_source::{self, Sources};
use super::entry::OrNone;
use super::event_rule::{EventRule, ItemRule, KeyName, KeyPart, ScopeRule};
use super::fields::Fields;
use super::pointer::{Pointer, Step};

/// The fields of `event`.
pub(super) const EVENT_FIELDS: [&str; 4] = ["id", "type", "account", "occurred_at"];

/// Reads `event`, `unique_by` and `batch` of a description that stands at a JSON pointer.
pub(super) fn event(fields: &mut Fields<'_>, map: &Map<String, Value>, at: &str) -> Option<EventRule> {
    let each = match fields.text("batch", 1_024) {
        Some(text) => fields.check("batch", Pointer::parse(text)).map(|mut pointer| {
            pointer.0.push(Step::Any);
            pointer
        }),
        None => None,
    };
    let here = format!("{at}/event");
    let none = Map::new();
    let inner = match map.get("event") {
        None | Some(Value::Null) => &none,
        Some(Value::Object(inner)) => inner,
        Some(_) => {
            fields.fault(
                "event",
                "Say where id, type and account stand, such as {\"id\":{\"json\":\"/id\"}}.".into(),
            );
            return None;
        }
    };
    let mut inner = Fields::new(inner, &here, &EVENT_FIELDS);
    let mut sources = Sources::default();
    let id = inner.get("id").and_then(|value| sources.read(value, &inner.pointer("id")));
    let event_type = inner.get("type").and_then(|value| sources.read(value, &inner.pointer("type")));
    let account = inner.get("account").and_then(|value| sources.read(value, &inner.pointer("account")));
    let time = inner
        .get("occurred_at")
        .and_then(|value| custom_source::time(&mut sources, value, &inner.pointer("occurred_at")));
    inner.errors.append(&mut sources.errors);
    fields.errors.append(&mut inner.errors);
    let unique_by = unique_by(fields);
    let has_id = id.is_some();
    let item = ItemRule {
        each,
        unless_inside: false,
        id: OrNone(id),
        event_type: OrNone(event_type),
        account: OrNone(account),
        api_version: OrNone(None),
        occurred_at: OrNone(time.map(|time| vec![time])),
        livemode: OrNone(None),
        unique_by: OrNone(has_id.then_some(unique_by)),
        scope: ScopeRule::Usual(DedupScope::Endpoint),
    };
    Some(EventRule { family: None, when: Vec::new(), document_in_form: None, items: vec![item] })
}

fn unique_by(fields: &mut Fields<'_>) -> Vec<KeyPart> {
    let default = vec![KeyPart::Named(KeyName::Id), KeyPart::Named(KeyName::Type)];
    let Some(value) = fields.get("unique_by") else { return default };
    let find = |value: &Value| {
        let word = value.as_str()?;
        KeyName::ALL.iter().find(|(known, _)| *known == word).map(|(_, name)| *name)
    };
    let names = value.as_array().and_then(|values| values.iter().map(find).collect::<Option<Vec<_>>>());
    // In one order whatever order they are written in, so that a rewritten list is no other list.
    let ordered: Vec<KeyPart> = KeyName::ALL
        .iter()
        .filter(|(_, name)| names.as_ref().is_some_and(|names| names.contains(name)))
        .map(|(_, name)| KeyPart::Named(*name))
        .collect();
    if names.is_some_and(|names| names.contains(&KeyName::Id) && names.len() == ordered.len()) {
        return ordered;
    }
    fields.fault(
        "unique_by",
        "This is a list of id, which has to be in it, and of type, account and occurred_at, each at most once.".into(),
    );
    default
}
