//! A page of an audit log, as tenants and administrators see it.

use restante_app::administration::{AuditLine, AuditPage};
use restante_core::time::Timestamp;

use super::moment::Moment;

/// A line of the log.
#[derive(Debug, Clone)]
pub(crate) struct LogLine {
    pub(crate) at: Moment,
    pub(crate) actor: String,
    /// What stands in the log for who acted, for the filter.
    pub(crate) actor_id: String,
    pub(crate) action: String,
    pub(crate) subject: String,
    /// What changed, as `name: value`.
    pub(crate) details: Vec<(String, String)>,
    pub(crate) request_id: Option<String>,
}

/// The lines of a page, with names for ids.
pub(crate) fn lines(page: &AuditPage, now: Timestamp) -> Vec<LogLine> {
    let name = |id: &str| page.people.get(id).cloned().unwrap_or_else(|| id.to_owned());
    let line = |line: &AuditLine| LogLine {
        at: Moment::new(line.at, now),
        actor: name(&line.actor),
        actor_id: line.actor.clone(),
        action: line.action.clone(),
        subject: name(&line.subject),
        details: details(&line.detail).into_iter().map(|(what, value)| (what, name(&value))).collect(),
        request_id: line.request_id.clone(),
    };
    page.lines.iter().map(line).collect()
}

fn details(detail: &str) -> Vec<(String, String)> {
    let read = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(detail).unwrap_or_default();
    read.into_iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| {
            let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            (name.replace('_', " "), shown)
        })
        .collect()
}

/// Lines for tests of templates.
#[cfg(test)]
pub(crate) fn samples(text: &str, lines: usize) -> Vec<LogLine> {
    let now = Timestamp::from_seconds(1_796_040_000);
    let line = |number: usize| LogLine {
        at: Moment::new(now.plus_seconds(-60), now),
        actor: text.to_owned(),
        actor_id: text.to_owned(),
        action: text.to_owned(),
        subject: text.to_owned(),
        details: vec![(text.to_owned(), text.to_owned())],
        request_id: number.is_multiple_of(2).then(|| text.to_owned()),
    };
    (0..lines).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_is_shown_as_names_and_values() {
        let shown = details(r#"{"from":"owner","to":"viewer","drops_second_factor":true,"none":null}"#);
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(shown, [pair("drops second factor", "true"), pair("from", "owner"), pair("to", "viewer")]);
        assert_eq!(details("rubbish"), []);
    }
}
