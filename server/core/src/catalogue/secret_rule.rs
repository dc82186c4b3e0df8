//! The words for secrets: what a person pastes, and how it becomes a key.

use serde::Deserialize;

/// The secret: what to paste, and how it becomes a key.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SecretRule {
    /// What the provider calls it.
    pub(crate) title: String,
    /// What one looks like, made up.
    pub(crate) example: String,
    /// The forms it comes in, tried in order; the first that fits decides.
    #[serde(rename = "form")]
    pub(crate) forms: Vec<SecretForm>,
}

/// One form of a secret.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SecretForm {
    /// The kind of key it becomes.
    #[serde(default)]
    pub(crate) key: KeyKind,
    /// Prefixes that are dropped when they are there; the longest first.
    #[serde(default)]
    pub(crate) prefixes: Vec<String>,
    /// Only a text with one of the prefixes is of this form.
    #[serde(default)]
    pub(crate) prefix_required: bool,
    /// How the rest becomes bytes.
    #[serde(default)]
    pub(crate) encoding: SecretEncoding,
    /// How many bytes the key usually has, least and most; outside is a notice.
    pub(crate) usual_bytes: Option<(usize, usize)>,
    /// What the text usually begins with; otherwise is a notice.
    pub(crate) usual_prefix: Option<String>,
    /// This form can't be used, and this is why.
    pub(crate) refuse: Option<String>,
}

/// The kind of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum KeyKind {
    /// The same bytes at both ends: HMAC keys and tokens.
    #[default]
    Shared,
    /// `user:password`.
    Basic,
    /// An Ed25519 public key.
    Ed25519,
    /// A public key on the curve P-256.
    EcdsaP256,
}

/// How a pasted text becomes bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SecretEncoding {
    /// The text itself.
    #[default]
    Utf8,
    /// Hex digits, either case.
    Hex,
    /// Base64, either alphabet, with or without padding.
    Base64,
    /// A public key with PEM armour (or the base64 inside it).
    Pem,
    /// A public key in any of these spellings.
    Any,
}
