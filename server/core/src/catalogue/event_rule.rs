//! The words for identification: which events are in a request, and what makes each the same as another.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::DedupScope;
use super::entry::OrNone;
use super::pointer::{Pointer, Step};
use super::source::{Condition, Source};
use super::verify_rule::TimeUnit;

/// Which events are in a request.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventRule {
    /// Set when the rule stands for one of the entry's families.
    #[serde(skip)]
    pub(crate) family: Option<usize>,
    /// What has to be so for the rule to count.
    #[serde(default)]
    pub(crate) when: Vec<Condition>,
    /// The form field that holds the document; without it the body is the document.
    #[serde(default)]
    pub(crate) document_in_form: Option<String>,
    /// The events: one rule without `each` for the whole request, or one a kind of batch element.
    #[serde(rename = "item")]
    pub(crate) items: Vec<ItemRule>,
}

/// How one event is read.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ItemRule {
    /// The batch elements, as a pointer that ends in `*`; `json` sources then start at the element.
    #[serde(default, deserialize_with = "each")]
    pub(crate) each: Option<Pointer>,
    /// The element counts only when no other rule found an event inside it.
    #[serde(default)]
    pub(crate) unless_inside: bool,
    /// The provider's id for the event.
    pub(crate) id: OrNone<Source>,
    /// What happened.
    #[serde(rename = "type")]
    pub(crate) event_type: OrNone<Source>,
    /// Whose event it is.
    pub(crate) account: OrNone<Source>,
    /// The version of the payload.
    pub(crate) api_version: OrNone<Source>,
    /// When it happened: the first of these that can be read.
    pub(crate) occurred_at: OrNone<Vec<EventTime>>,
    /// Test or live.
    pub(crate) livemode: OrNone<LiveMode>,
    /// What makes two deliveries the same event; `none`: each is an event of its own.
    pub(crate) unique_by: OrNone<Vec<KeyPart>>,
    /// Within what that is unique.
    pub(crate) scope: ScopeRule,
}

impl ItemRule {
    /// Every source that the rule names, those inside others not counted.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &Source> {
        let plain = [&self.id, &self.event_type, &self.account, &self.api_version];
        let parts = self.unique_by.0.iter().flatten().filter_map(|part| match part {
            KeyPart::Source(source) => Some(source),
            KeyPart::Named(_) => None,
        });
        let scope = match &self.scope {
            ScopeRule::Values(sources) => sources.as_slice(),
            ScopeRule::Usual(_) => &[],
        };
        plain
            .into_iter()
            .filter_map(|source| source.0.as_ref())
            .chain(self.occurred_at.0.iter().flatten().map(|time| &time.at))
            .chain(self.livemode.0.iter().map(|mode| &mode.at))
            .chain(parts)
            .chain(scope)
    }
}

/// A time of an event and how it is written.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventTime {
    /// Where it stands.
    pub(crate) at: Source,
    /// How it is written.
    pub(crate) unit: TimeUnit,
}

/// How a provider tells live from test.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LiveMode {
    /// Where it says so.
    pub(crate) at: Source,
    /// The value that means live.
    pub(crate) live: String,
    /// The value that means a test.
    pub(crate) test: String,
}

/// A part of the event key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeyPart {
    /// A value that the rule already names.
    Named(KeyName),
    /// Another value.
    Source(Source),
}

/// A value of an item rule, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KeyName {
    /// The event id: it has to be there.
    Id,
    /// The type, which may be missing.
    Type,
    /// The account, which may be missing.
    Account,
    /// The time of the event as it is written, which may be missing.
    OccurredAt,
}

impl KeyName {
    /// Every name with its word.
    pub(crate) const ALL: [(&'static str, Self); 4] = [
        ("id", Self::Id),
        ("type", Self::Type),
        ("account", Self::Account),
        ("occurred_at", Self::OccurredAt),
    ];
}

/// Within what an event key is unique.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ScopeRule {
    /// One of the usual ones.
    Usual(DedupScope),
    /// These values, joined.
    Values(Vec<Source>),
}

impl<'de> Deserialize<'de> for KeyPart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = toml::Value::deserialize(deserializer)?;
        let read = if value.is_str() {
            KeyName::deserialize(value).map(Self::Named)
        } else {
            Source::deserialize(value).map(Self::Source)
        };
        read.map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for ScopeRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = toml::Value::deserialize(deserializer)?;
        let read = if value.is_str() {
            DedupScope::deserialize(value).map(Self::Usual)
        } else {
            Vec::deserialize(value).map(Self::Values)
        };
        read.map_err(D::Error::custom)
    }
}

fn each<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Pointer>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let pointer = Pointer::parse_with_stars(&text).map_err(D::Error::custom)?;
    if pointer.0.last() != Some(&Step::Any) {
        return Err(D::Error::custom("“each” ends in /*"));
    }
    Ok(Some(pointer))
}
