//! The filters of the list of events: what stands in the address, what it means, and what is wrong with
//! it. Times are UTC, as the field of the form writes them.

use restante_app::events::EventFilter;
use restante_core::filter::TypeGlob;
use restante_core::handoff::State;
use restante_core::time::Timestamp;
use serde::Deserialize;

use crate::parts::form::Faults;
use crate::parts::link::Link;

/// What stands behind the question mark, as it was typed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct Typed {
    #[serde(default, rename = "type")]
    pub(crate) event_type: String,
    #[serde(default)]
    pub(crate) event_id: String,
    #[serde(default)]
    pub(crate) endpoint: String,
    #[serde(default)]
    pub(crate) provider: String,
    #[serde(default)]
    pub(crate) state: String,
    #[serde(default)]
    pub(crate) consumer: String,
    #[serde(default)]
    pub(crate) received_after: String,
    #[serde(default)]
    pub(crate) received_before: String,
    /// The receipt after which the page goes on.
    #[serde(default)]
    pub(crate) after: String,
}

impl Typed {
    /// What is asked for, and what of it can't be.
    pub(crate) fn read(&self) -> (EventFilter, Faults) {
        let mut faults = Faults::default();
        let mut filter = EventFilter {
            provider: text(&self.provider),
            event_id: text(&self.event_id),
            consumer: text(&self.consumer),
            ..EventFilter::default()
        };
        if let Some(typed) = text(&self.event_type) {
            match TypeGlob::parse(&typed) {
                Ok(glob) => filter.event_type = Some(glob),
                Err(fault) => faults.add("type", fault),
            }
        }
        if let Some(typed) = text(&self.endpoint) {
            match typed.parse() {
                Ok(id) => filter.endpoint = Some(id),
                Err(_) => faults.add("endpoint", "This is no endpoint. Choose one of the list."),
            }
        }
        if let Some(typed) = text(&self.state) {
            match State::from_word(&typed) {
                Some(state) => filter.state = Some(state),
                None => faults.add("state", "This is no state. Choose one of the list."),
            }
        }
        for (name, typed, place) in [
            ("received_after", &self.received_after, &mut filter.received_after),
            ("received_before", &self.received_before, &mut filter.received_before),
        ] {
            if let Some(typed) = text(typed) {
                match moment(&typed) {
                    Some(at) => *place = Some(at),
                    None => faults.add(name, "This is no time. Write it like 2026-11-30 14:00, in UTC."),
                }
            }
        }
        (filter, faults)
    }

    /// The address of a page with these filters, from the newest on.
    pub(crate) fn link(&self, path: String) -> Link {
        let mut link = Link::to(path);
        for (name, value) in self.pairs() {
            link = link.with(name, value.trim());
        }
        link
    }

    fn pairs(&self) -> [(&'static str, &str); 8] {
        [
            ("type", &self.event_type),
            ("event_id", &self.event_id),
            ("endpoint", &self.endpoint),
            ("provider", &self.provider),
            ("state", &self.state),
            ("consumer", &self.consumer),
            ("received_after", &self.received_after),
            ("received_before", &self.received_before),
        ]
    }

    /// The filters that are set: name, name in words, value.
    pub(crate) fn set(&self) -> impl Iterator<Item = (&'static str, &'static str, &str)> {
        let words = [
            "type",
            "event id",
            "endpoint",
            "provider",
            "state",
            "consumer",
            "received after",
            "received before",
        ];
        let pairs = self.pairs().into_iter().zip(words);
        pairs
            .map(|((name, value), word)| (name, word, value.trim()))
            .filter(|(_, _, value)| !value.is_empty())
    }
}

fn text(typed: &str) -> Option<String> {
    let typed = typed.trim();
    (!typed.is_empty()).then(|| typed.to_owned())
}

/// A time in UTC: RFC 3339, or what a field for date and time gives (`2026-11-30T14:00`), also with a space.
fn moment(typed: &str) -> Option<Timestamp> {
    let typed = typed.replacen(' ', "T", 1);
    Timestamp::parse_rfc3339(&typed)
        .or_else(|| Timestamp::parse_rfc3339(&format!("{typed}Z")))
        .or_else(|| Timestamp::parse_rfc3339(&format!("{typed}:00Z")))
        .or_else(|| Timestamp::parse_rfc3339(&format!("{typed}T00:00:00Z")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_and_browsers_write_them() {
        let wanted = Timestamp::parse_rfc3339("2026-11-30T14:00:00Z");
        for typed in
            ["2026-11-30T14:00", "2026-11-30 14:00", "2026-11-30T14:00:00", "2026-11-30T15:00:00+01:00"]
        {
            assert_eq!(moment(typed), wanted, "{typed}");
        }
        assert_eq!(moment("2026-11-30"), Timestamp::parse_rfc3339("2026-11-30T00:00:00Z"));
        assert_eq!(moment("yesterday"), None);
    }

    #[test]
    fn what_cannot_be_is_named_at_its_field_and_the_rest_counts() {
        let typed = Typed {
            event_type: " invoice.* ".to_owned(),
            endpoint: "elsewhere".to_owned(),
            state: "lost".to_owned(),
            received_after: "yesterday".to_owned(),
            ..Typed::default()
        };
        let (filter, faults) = typed.read();
        assert_eq!(filter.event_type.map(|glob| glob.as_str().to_owned()).as_deref(), Some("invoice.*"));
        let named: Vec<&str> = faults.fields().iter().map(|fault| fault.field.as_str()).collect();
        assert_eq!(named, ["endpoint", "state", "received_after"]);
        assert!(Typed::default().read().1.is_empty());
    }

    #[test]
    fn the_address_keeps_every_filter_and_no_page() {
        let typed = Typed {
            event_type: "a&b".to_owned(),
            state: "failed".to_owned(),
            after: "rcp_x".to_owned(),
            ..Typed::default()
        };
        assert_eq!(
            typed.link("/t/acme/events".to_owned()).to_string(),
            "/t/acme/events?type=a%26b&state=failed"
        );
        assert_eq!(typed.set().count(), 2);
    }
}
