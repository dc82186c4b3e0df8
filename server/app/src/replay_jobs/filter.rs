//! Which events a job is of, as JSON: what a list of events was asked for in the words of the API, or the ids
//! that were picked.

use restante_core::filter::TypeGlob;
use restante_core::handoff::State;
use restante_core::time::Timestamp;
use serde_json::{Map, Value, json};

use super::ReplayOf;
use crate::events::EventFilter;

/// Picked ids.
const EVENTS: &str = "events";

/// Which events, as it is stored.
pub(super) fn write(which: &ReplayOf) -> String {
    let filter = match which {
        ReplayOf::Matching(filter) => filter,
        ReplayOf::Events(ids) => return json!({ EVENTS: ids }).to_string(),
    };
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
pub(super) fn read(text: &str) -> Option<ReplayOf> {
    let map: Map<String, Value> = serde_json::from_str(text).ok()?;
    if let Some(ids) = map.get(EVENTS) {
        let ids = ids.as_array()?.iter().map(|id| id.as_str()?.parse().ok());
        return Some(ReplayOf::Events(ids.collect::<Option<_>>()?));
    }
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
    Some(ReplayOf::Matching(filter))
}

#[cfg(test)]
mod tests {
    use restante_core::id::{EndpointId, ReceiptId};
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
        let picked = ReplayOf::Events(vec![ReceiptId(Uuid::from_u128(3)), ReceiptId(Uuid::from_u128(4))]);
        for which in [ReplayOf::Matching(filter), picked] {
            let text = write(&which);
            assert_eq!(write(&read(&text).unwrap()), text);
        }
        assert_eq!(write(&ReplayOf::Matching(EventFilter::default())), "{}");
        for wrong in
            ["", "[]", "{\"state\":\"lost\"}", "{\"other\":\"x\"}", "{\"type\":5}", "{\"events\":[5]}"]
        {
            assert!(read(wrong).is_none(), "{wrong}");
        }
    }
}
