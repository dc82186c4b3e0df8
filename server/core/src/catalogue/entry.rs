//! The words of a `provider.toml`, as types. `options.verify` of the custom provider makes the same
//! types, so that an unlisted sender runs through the same code. docs/providers.md explains each word.

use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};

use super::event_rule::EventRule;
use super::secret_rule::SecretRule;
use super::verify_rule::{HandshakeRule, VerifyRule};
use crate::reconcile::Recipe;

/// One entry of the catalogue.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    /// The name for people.
    pub(crate) title: String,
    /// Raised whenever the entry reads a request differently.
    pub(crate) revision: u32,
    /// How sure the facts are.
    pub(crate) certainty: Certainty,
    /// What a person should know, a sentence each: unsure facts, weaknesses, limits.
    #[serde(default)]
    pub(crate) notes: Vec<String>,
    /// The provider's own page about its webhooks.
    pub(crate) docs: Stated<String>,
    /// The methods that deliver.
    pub(crate) methods: Vec<String>,
    /// The largest body that the provider documents, in bytes.
    pub(crate) body_bytes_max: Stated<u64>,
    /// The option that describes the sender, for the entry that serves senders the catalogue lacks.
    #[serde(default)]
    pub(crate) described_by: Option<String>,
    /// What the secret looks like and how it becomes a key.
    pub(crate) secret: SecretRule,
    /// Options beside `public_url` and `tolerance_seconds`, which every provider takes.
    #[serde(default, rename = "option")]
    pub(crate) options: Vec<OptionRule>,
    /// How a request is verified: the first rule that fits it.
    #[serde(default)]
    pub(crate) verify: Vec<VerifyRule>,
    /// Probes and challenges.
    #[serde(default, rename = "handshake")]
    pub(crate) handshakes: Vec<HandshakeRule>,
    /// Which events are in a verified request: the first rule that fits it.
    #[serde(default, rename = "event")]
    pub(crate) events: Vec<EventRule>,
    /// How to answer.
    pub(crate) reply: ReplyRule,
    /// How long an event may come again.
    pub(crate) windows: Windows,
    /// Changing the secret.
    pub(crate) rotation: Rotation,
    /// Asking the provider what it sent.
    pub(crate) reconciliation: Reconciliation,
    /// Requests for tests and for the test-event button.
    #[serde(default, rename = "sample")]
    pub(crate) samples: Vec<Sample>,
}

/// How sure the facts of an entry are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Certainty {
    /// Checked against requests made by the provider's own code.
    Proved,
    /// From the provider's pages, or several sources that agree.
    Documented,
    /// Partly guessed.
    Partly,
}

/// A fact, or the statement that there is none or that nobody says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stated<T> {
    /// The fact.
    Is(T),
    /// The provider has no such thing.
    No,
    /// No source says.
    Unknown,
}

impl<T> Stated<T> {
    /// The fact, where there is one.
    pub(crate) const fn value(&self) -> Option<&T> {
        match self {
            Self::Is(value) => Some(value),
            Self::No | Self::Unknown => None,
        }
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Stated<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // By way of a value rather than an untagged enum, whose errors name no field.
        let value = toml::Value::deserialize(deserializer)?;
        match value.as_str() {
            Some("none") => Ok(Self::No),
            Some("unknown") => Ok(Self::Unknown),
            _ => T::deserialize(value).map(Self::Is).map_err(D::Error::custom),
        }
    }
}

impl<T: Serialize> Serialize for Stated<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Is(value) => value.serialize(serializer),
            Self::No => serializer.serialize_str("none"),
            Self::Unknown => serializer.serialize_str("unknown"),
        }
    }
}

/// An option of an endpoint.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OptionRule {
    /// Its name in `options`.
    pub(crate) name: String,
    /// The name for people.
    pub(crate) title: String,
    /// What it is for, in a sentence.
    pub(crate) help: String,
    /// What its value is.
    #[serde(default)]
    pub(crate) kind: OptionKind,
    /// The values that are possible; empty: any.
    #[serde(default)]
    pub(crate) one_of: Vec<String>,
    /// It is sealed when stored and never returned.
    #[serde(default)]
    pub(crate) secret: bool,
}

/// The type of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OptionKind {
    /// A text.
    #[default]
    Text,
    /// A list of texts.
    List,
    /// An object that describes a sender.
    Sender,
}

/// How to answer.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReplyRule {
    /// The status of a success.
    pub(crate) status: u16,
    /// The body of a success.
    pub(crate) body: ReplyBody,
    /// The status for a refused signature or token.
    pub(crate) signature_status: u16,
    /// The status for a refused time.
    pub(crate) timestamp_status: u16,
    /// Within how many seconds an answer is wanted.
    pub(crate) deadline_seconds: Stated<u32>,
    /// Which answer makes the provider stop or drop events, in a sentence.
    pub(crate) harm: Stated<String>,
}

/// The body of a success.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReplyBody {
    /// The receipt, as JSON.
    Receipt,
    /// Nothing.
    Empty,
    /// A fixed text: its content type, and the text.
    Text(String, String),
}

/// How long an event may come again. They bound the life of a tombstone from below.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Windows {
    /// The period of automatic retries.
    pub(crate) retry_seconds: Stated<u64>,
    /// The period in which a person may have it sent again.
    pub(crate) redelivery_seconds: Stated<u64>,
    /// Where these figures come from.
    pub(crate) source: String,
}

/// Changing the secret at the provider.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rotation {
    /// How long two secrets are valid at once.
    pub(crate) overlap_seconds: Stated<u64>,
    /// What a person does, in a sentence.
    pub(crate) how: String,
}

/// Asking the provider what it sent.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reconciliation {
    /// Whether the provider can be asked.
    pub(crate) possible: Possible,
    /// How, or why not, in a sentence.
    pub(crate) how: String,
    /// How the program asks.
    #[serde(default)]
    pub(crate) recipe: Option<Recipe>,
}

/// Whether the provider can be asked what it sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Possible {
    /// It has no list that helps.
    None,
    /// It has one; Restante does not read it yet.
    Later,
    /// It has one, and the recipe says how it is read.
    Yes,
    /// Who sends is not known here; the tenant describes how they are asked.
    Described,
}

/// A request for tests and for the test-event button.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sample {
    /// What it shows.
    pub(crate) name: String,
    /// The file in `samples/` with the body. `{{id}}`, `{{type}}`, `{{now}}` and `{{now_rfc3339}}` are put in.
    pub(crate) body: String,
    /// The content type.
    pub(crate) content_type: String,
    /// The id when none is given.
    pub(crate) id: String,
    /// The type when none is given.
    #[serde(rename = "type")]
    pub(crate) event_type: String,
    /// Further headers, with the same placeholders.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
}

/// A value, or the word `none`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OrNone<T>(pub(crate) Option<T>);

impl<'de, T: DeserializeOwned> Deserialize<'de> for OrNone<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Stated::deserialize(deserializer)? {
            Stated::Is(value) => Ok(Self(Some(value))),
            Stated::No => Ok(Self(None)),
            Stated::Unknown => Err(D::Error::custom("“unknown” is no answer here; say “none”")),
        }
    }
}
