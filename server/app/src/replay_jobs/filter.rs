//! The filter of a job as JSON: what a list of events was asked for, in the words of the API.

use restante_core::filter::TypeGlob;
use restante_core::handoff::State;
use restante_core::time::Timestamp;
use serde_json::{Map, Value, json};

use crate::events::EventFilter;

/// A filter as it is stored.
pub(super) fn write(filter: &EventFilter) -> String {
    let text = |value: Option<String>| value.map_or(Value::Null, Value::String);
    let mut map = Map::new();
    for (name, value) in [
        ("endpoint", text(filter.endpoint.map(|id| id.to_string()))),
        ("provider", text(filter.provider.clone())),
        ("type", text(filter.event_type.as_ref().map(|glob| glob.as_str().to_owned()))),
        ("event_id", text(filter.event_id.clone())),
        ("state", text(filter.state.map(|state| state.as_str().to_owned()))),
        ("consumer", text(filter.consumer.clone())),
        ("received_after", json!(filter.received_after)),
        ("received_before", json!(filter.received_before)),
    ] {
        if !value.is_null() {
            map.insert(name.to_owned(), value);
        }
    }
    Value::Object(map).to_string()
}

/// Reads what [`write`] wrote; `None` when it is anything else.
pub(super) fn read(text: &str) -> Option<EventFilter> {
    let map: Map<String, Value> = serde_json::from_str(text).ok()?;
    let mut filter = EventFilter::default();
    for (name, value) in &map {
        let text = value.as_str()?;
        match name.as_str() {
            "endpoint" => filter.endpoint = Some(text.parse().ok()?),
            "provider" => filter.provider = Some(text.to_owned()),
            "type" => filter.event_type = Some(TypeGlob::parse(text).ok()?),
            "event_id" => filter.event_id = Some(text.to_owned()),
            "state" => filter.state = Some(State::from_word(text)?),
            "consumer" => filter.consumer = Some(text.to_owned()),
            "received_after" => filter.received_after = Some(Timestamp::parse_rfc3339(text)?),
            "received_before" => filter.received_before = Some(Timestamp::parse_rfc3339(text)?),
            _ => return None,
        }
    }
    Some(filter)
}

#[cfg(test)]
mod tests {
    use restante_core::id::EndpointId;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_filter_reads_back_and_anything_else_is_none() {
        let filter = EventFilter {
            endpoint: Some(EndpointId(Uuid::from_u128(1))),
            provider: Some("stripe".to_owned()),
            event_type: TypeGlob::parse("invoice.*").ok(),
            event_id: Some("evt\"1".to_owned()),
            state: Some(State::Failed),
            consumer: Some("billing".to_owned()),
            received_after: Some(Timestamp::from_seconds(1)),
            received_before: Some(Timestamp::from_seconds(2)),
        };
        let text = write(&filter);
        assert_eq!(write(&read(&text).unwrap()), text);
        assert_eq!(write(&EventFilter::default()), "{}");
        for wrong in ["", "[]", "{\"state\":\"lost\"}", "{\"other\":\"x\"}", "{\"type\":5}"] {
            assert!(read(wrong).is_none(), "{wrong}");
        }
    }
}
