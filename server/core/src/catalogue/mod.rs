//! The catalogue: every provider as data, parsed once, and an endpoint's scheme made from it.

use std::sync::OnceLock;

use serde_json::{Map, Value, json};

use crate::problem::FieldError;
use crate::secret::Secret;

/// Every provider that this binary knows.
pub struct Catalogue {
    providers: Vec<Provider>,
}

impl Catalogue {
    /// The catalogue in the binary, parsed at the first call.
    pub fn builtin() -> &'static Self {
        static BUILTIN: OnceLock<Catalogue> = OnceLock::new();
        BUILTIN.get_or_init(|| Self {
            providers: [
                "custom",
                "github",
                "sendgrid",
                "shopify",
                "slack",
                "standard-webhooks",
                "stripe",
                "svix",
                "twilio",
                "whatsapp",
            ]
            .into_iter()
            .map(Provider::stub)
            .collect(),
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
}

/// One entry of the catalogue.
pub struct Provider {
    /// Its name in the API.
    pub slug: String,
    /// Its name for people.
    pub title: String,
    /// What a person clicks at the provider and pastes here: Markdown in plain sentences.
    pub setup: &'static str,
    /// Raised whenever the entry reads a request differently.
    pub revision: u32,
    /// The methods that deliver.
    pub methods: Vec<String>,
    /// The largest body that the provider documents.
    pub body_bytes_max: Option<u64>,
    /// How long the provider itself may send an event again, in seconds.
    pub retry_seconds: u64,
    /// How long a person may have the provider send it again, in seconds.
    pub redelivery_seconds: u64,
    /// Whether an endpoint needs a secret.
    pub needs_secret: bool,
}

impl Provider {
    fn stub(slug: &str) -> Self {
        Self {
            slug: slug.into(),
            title: slug.into(),
            setup: "",
            revision: 1,
            methods: vec!["POST".into()],
            body_bytes_max: None,
            retry_seconds: 0,
            redelivery_seconds: 0,
            needs_secret: true,
        }
    }

    /// The entry as `GET /v1/providers` prints it.
    pub fn summary(&self) -> Value {
        json!({ "name": self.slug, "title": self.title })
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

/// A secret that can be used, as it is to be kept.
#[derive(Debug)]
pub struct CheckedSecret {
    /// The text without surrounding white space.
    pub secret: Secret<String>,
    /// What a person should know about it: unusual length, white space taken off.
    pub notices: Vec<String>,
}

/// A key made from a secret: prepared once, cached by the caller, wiped when dropped.
pub struct Key {
    _bytes: Secret<Vec<u8>>,
}

/// A provider together with an endpoint's options, checked and compiled once.
pub struct Scheme {
    provider: &'static Provider,
    reply: ReplyTable,
}

impl Scheme {
    /// Checks an endpoint's options and prepares everything that requests need. Secret options are passed opened.
    ///
    /// # Errors
    /// Every fault, with a pointer relative to `options`.
    pub fn compile(
        provider: &'static Provider,
        _options: &Map<String, Value>,
    ) -> Result<Self, Vec<FieldError>> {
        Ok(Self { provider, reply: ReplyTable::default() })
    }

    /// The options that are secrets: sealed when stored, never returned.
    pub fn secret_options(_provider: &Provider) -> &[String] {
        &[]
    }

    /// Whether a text can be this endpoint's secret.
    ///
    /// # Errors
    /// A sentence that says what it should look like.
    pub fn check_secret(&self, text: &str) -> Result<CheckedSecret, String> {
        Ok(CheckedSecret { secret: Secret::new(text.trim().to_owned()), notices: Vec::new() })
    }

    /// The key that a secret stands for.
    ///
    /// # Errors
    /// A sentence, where the secret can't be made into a key.
    pub fn key(&self, secret: &str) -> Result<Key, String> {
        Ok(Key { _bytes: Secret::new(secret.as_bytes().to_vec()) })
    }

    /// Which revision of which rules reads the requests: `stripe/3`, `custom/1f09ab34`. Kept on each receipt.
    pub fn decoder(&self) -> String {
        format!("{}/{}", self.provider.slug, self.provider.revision)
    }

    /// The methods that deliver, for `Allow`.
    pub fn methods(&self) -> &[String] {
        &self.provider.methods
    }

    /// The largest body that the provider documents, in bytes.
    pub fn body_bytes_max(&self) -> Option<u64> {
        self.provider.body_bytes_max
    }

    /// How this provider wants to be answered.
    pub fn reply(&self) -> &ReplyTable {
        &self.reply
    }

    /// Headers whose value is itself the credential, in lower case: kept and handed out as `[removed]`.
    pub fn credential_headers(&self) -> &[String] {
        &[]
    }

    /// What the catalogue knows of the provider's ids.
    pub fn default_dedup_scope(&self) -> DedupScope {
        DedupScope::Provider
    }
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

impl Default for ReplyTable {
    fn default() -> Self {
        Self {
            success_status: 200,
            success_body: SuccessBody::Receipt,
            signature_status: 401,
            timestamp_status: 401,
            deadline_seconds: None,
        }
    }
}
