//! The catalogue: every provider as data, parsed once, and an endpoint's scheme made from it.
//! No line of the program names a provider; what differs between them is said with the words of
//! docs/providers.md, here and in `options.verify` alike.

#[cfg(test)]
mod consistency;
mod custom;
mod custom_event;
mod custom_source;
mod describe;
mod entry;
mod event_rule;
mod fields;
mod header;
mod key;
mod options;
mod pointer;
mod provider;
mod removal;
mod scheme;
mod secret;
mod secret_rule;
mod source;
mod strength;
mod template;
mod verify_rule;

use std::sync::OnceLock;

pub use key::Key;
pub use provider::Provider;
pub use scheme::Scheme;
pub use secret::CheckedSecret;

pub(crate) use entry::{OrNone, Sample};
pub(crate) use event_rule::{EventRule, ItemRule, KeyName, KeyPart, ScopeRule};
pub(crate) use key::{Material, Signature};
pub(crate) use pointer::{Pointer, Step};
pub(crate) use scheme::{Check, Handshake};
pub(crate) use secret::base64;
pub(crate) use secret_rule::KeyKind;
pub(crate) use source::{Condition, Source};
pub(crate) use template::{Part, Template};
pub(crate) use verify_rule::{
    Algorithm, CompressedBody, Encoding, HandshakeRule, SignatureRule, TimeUnit, TimestampPlace,
    TimestampRule, VerifyRule,
};

mod files {
    //! The folder `server/core/providers/`, as the build script lists it: a new folder is a new provider.
    use super::provider::Files;
    include!(concat!(env!("OUT_DIR"), "/providers.rs"));
}

/// Every provider that this binary knows.
pub struct Catalogue {
    providers: Vec<Provider>,
    faults: Vec<String>,
}

impl Catalogue {
    /// The catalogue in the binary, parsed at the first call.
    pub fn builtin() -> &'static Self {
        static BUILTIN: OnceLock<Catalogue> = OnceLock::new();
        BUILTIN.get_or_init(|| {
            let (mut providers, mut faults) = (Vec::new(), Vec::new());
            for files in files::FILES {
                match Provider::load(files) {
                    Ok(provider) => providers.push(provider),
                    Err(fault) => faults.push(fault),
                }
            }
            Self { providers, faults }
        })
    }

    /// The provider of that slug.
    pub fn get(&self, slug: &str) -> Option<&Provider> {
        self.providers.iter().find(|provider| provider.slug == slug)
    }

    /// Every provider, by slug.
    pub fn all(&self) -> impl Iterator<Item = &Provider> {
        self.providers.iter()
    }

    /// What could not be read of the embedded files. A test keeps it empty.
    pub fn faults(&self) -> &[String] {
        &self.faults
    }
}

/// Within what an event key is unique.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DedupScope {
    /// The provider's ids are unique everywhere.
    Provider,
    /// Within the account at the provider (for some providers account and topic).
    Account,
    /// Within the endpoint.
    Endpoint,
}

/// How a provider is answered: the catalogue's reply table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyTable {
    /// The status of a success.
    pub success_status: u16,
    /// The body of a success.
    pub success_body: SuccessBody,
    /// The status for a refused signature or token.
    pub signature_status: u16,
    /// The status for a refused time of signing.
    pub timestamp_status: u16,
    /// Within how many seconds the provider wants an answer, where it says so.
    pub deadline_seconds: Option<u32>,
}

/// What a success answers with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SuccessBody {
    /// The JSON of the HTTP contract, with the receipt's id.
    Receipt,
    /// Exactly this.
    Fixed {
        /// The content type; `None` sends none.
        content_type: Option<String>,
        /// The bytes; may be empty.
        body: String,
    },
}
