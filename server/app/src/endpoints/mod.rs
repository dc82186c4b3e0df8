//! Endpoints: a tenant's receiving URLs with their secrets and options. A file an action; the rules
//! that they share stand in `check.rs`, and the way between a row and what people see in `shown.rs`.

mod check;
mod create;
mod delete;
mod hint;
mod merge;
mod read;
mod secret_add;
mod secret_delete;
mod shown;
mod test_event;
#[cfg(test)]
mod tests;
mod try_out;
mod update;

use std::fmt;

use restante_core::catalogue::DedupScope;
use restante_core::id::{EndpointId, SecretId};
use restante_core::problem::FieldError;
use restante_core::retention::Policy;
use restante_core::secret::Secret;
use restante_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub(crate) use check::name as check_name;
pub(crate) use hint::hint;
pub use secret_add::{AddedSecret, NewSecret, Retire};
pub use test_event::{TestEvent, TestEventSent};
pub use try_out::TryOut;

/// An endpoint as its tenant sees it. The form is also what kept answers hold, so that a field may
/// be added only with a default.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    /// Its id.
    pub id: EndpointId,
    /// Its name for people.
    pub name: String,
    /// Its provider's slug.
    pub provider: String,
    /// What is registered with the sender. The path is a credential.
    pub url: String,
    /// Its options; a secret one is shown as `{"hint":"…last4"}`.
    pub options: Map<String, Value>,
    /// The tenant's choice; `None` is what the catalogue knows.
    pub dedup_scope: Option<DedupScope>,
    /// The tenant's choice, in bytes; `None` is what the provider documents.
    pub max_body_bytes: Option<u64>,
    /// What it says itself about how long things are kept; `None`: the wider levels say.
    #[serde(default)]
    pub retention: Option<Policy>,
    /// The secrets that verify now, the oldest first.
    pub secrets: Vec<EndpointSecret>,
    /// Whether it takes deliveries.
    pub enabled: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it or its secrets were changed last.
    pub updated_at: Timestamp,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({}, {})", self.id, self.provider)
    }
}

/// A secret as its tenant sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndpointSecret {
    /// Its id.
    pub id: SecretId,
    /// What people know it by: its last characters.
    pub hint: String,
    /// When it was added.
    pub created_at: Timestamp,
    /// From when on it verifies nothing; `None` while it isn't retired.
    pub expires_at: Option<Timestamp>,
}

/// What is unusual about something that was accepted all the same: where, and what to look at.
pub type Notice = FieldError;

/// An endpoint, and what a person should look at again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// What is unusual.
    #[serde(with = "notices")]
    pub notices: Vec<Notice>,
}

/// An endpoint to be made.
#[derive(Debug, Clone)]
pub struct NewEndpoint {
    /// Its name for people.
    pub name: String,
    /// Its provider's slug.
    pub provider: String,
    /// Its secrets as they were pasted; none at all while it is not enabled, for senders that show
    /// their secret only once they have the URL.
    pub secrets: Vec<Secret<String>>,
    /// Its options, the secret ones among them.
    pub options: Map<String, Value>,
    /// Within what an event key is unique; `None` is what the catalogue knows.
    pub dedup_scope: Option<DedupScope>,
    /// The largest body in bytes; `None` is what the provider documents.
    pub max_body_bytes: Option<u64>,
    /// How long what comes in is kept; `None`: as the wider levels say.
    pub retention: Option<Policy>,
    /// Whether it takes deliveries at once.
    pub enabled: bool,
}

/// What to change of an endpoint, as a JSON merge (RFC 7396): the outer `None` leaves a field as it
/// is, the inner one takes it back to its default.
#[derive(Debug, Clone, Default)]
pub struct EndpointChange {
    /// Its name for people.
    pub name: Option<String>,
    /// Its provider's slug, which can't change; the present one does no harm.
    pub provider: Option<String>,
    /// Its options, merged into the present ones.
    pub options: Option<Option<Map<String, Value>>>,
    /// Within what an event key is unique. Stays once the endpoint holds an event.
    pub dedup_scope: Option<Option<DedupScope>>,
    /// The largest body in bytes.
    pub max_body_bytes: Option<Option<u64>>,
    /// How long what comes in is kept.
    pub retention: Option<Option<Policy>>,
    /// Whether it takes deliveries.
    pub enabled: Option<bool>,
}

/// `FieldError` is only written by its crate; a kept answer reads it back.
mod notices {
    use restante_core::problem::FieldError;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Deserialize)]
    struct Read {
        pointer: String,
        detail: String,
    }

    pub(super) fn serialize<S: Serializer>(notices: &[FieldError], serializer: S) -> Result<S::Ok, S::Error> {
        notices.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<FieldError>, D::Error> {
        let read = Vec::<Read>::deserialize(deserializer)?;
        Ok(read.into_iter().map(|Read { pointer, detail }| FieldError { pointer, detail }).collect())
    }
}
