//! The words for verification: where the signature stands, what is signed, how, and when.
//! Handshakes stand here too, since they are answered in its place.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::entry::{OrNone, Stated};
use super::header::header_name;
use super::pointer::Pointer;
use super::secret_rule::KeyKind;
use super::source::{Condition, Source};
use super::template::Template;
use crate::verify::Weak;

/// How a request is verified.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VerifyRule {
    /// Set when the rule stands for one of the entry's families.
    #[serde(skip)]
    pub(crate) family: Option<usize>,
    /// What has to be so for the rule to count. Looks at headers and the query, never at the body.
    #[serde(default)]
    pub(crate) when: Vec<Condition>,
    /// The header that carries the signature or token, in lower case.
    #[serde(deserialize_with = "lower_header")]
    pub(crate) header: String,
    /// The header is a list, split here.
    #[serde(default)]
    pub(crate) separator: Option<String>,
    /// The signed bytes.
    #[serde(default = "Template::body")]
    pub(crate) signed: Template,
    /// Which bytes `{body}` is under a `Content-Encoding`.
    #[serde(default)]
    pub(crate) compressed_body: CompressedBody,
    /// The time of signing.
    pub(crate) timestamp: OrNone<TimestampRule>,
    /// The signatures that count: any that matches.
    #[serde(rename = "signature")]
    pub(crate) signatures: Vec<SignatureRule>,
    /// The URL is also tried with (or without) the default port written out.
    #[serde(default)]
    pub(crate) url_with_port: bool,
    /// A digest of the body that stands among the signed bytes.
    #[serde(default)]
    pub(crate) body_hash: Option<BodyHash>,
    /// A header that names the algorithm.
    #[serde(default)]
    pub(crate) algorithm_named_by: Option<AlgorithmNamedBy>,
    /// What this rule leaves unprotected. The catalogue's test works it out again and compares.
    pub(crate) weak: Vec<Weak>,
}

/// Which bytes `{body}` is under a `Content-Encoding`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CompressedBody {
    /// As they came.
    #[default]
    Received,
    /// Decoded.
    Decoded,
}

/// One kind of signature.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignatureRule {
    /// How it is made.
    pub(crate) algorithm: Algorithm,
    /// What an entry of this kind begins with.
    #[serde(default)]
    pub(crate) prefix: String,
    /// How its bytes are written.
    #[serde(default)]
    pub(crate) encoding: Encoding,
    /// It counts only when `algorithm_named_by` names it so.
    #[serde(default)]
    pub(crate) named: Option<String>,
}

/// How a signature is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Algorithm {
    /// HMAC with SHA-1.
    HmacSha1,
    /// HMAC with SHA-256.
    HmacSha256,
    /// HMAC with SHA-512.
    HmacSha512,
    /// Ed25519.
    Ed25519,
    /// ECDSA on P-256 over SHA-256: DER, or r and s in 64 bytes.
    EcdsaP256,
    /// The value is the secret itself.
    Token,
    /// HTTP basic authentication with the secret as `user:password`.
    Basic,
}

impl Algorithm {
    /// Every algorithm with its word.
    pub(crate) const ALL: [(&'static str, Self); 7] = [
        ("hmac-sha1", Self::HmacSha1),
        ("hmac-sha256", Self::HmacSha256),
        ("hmac-sha512", Self::HmacSha512),
        ("ed25519", Self::Ed25519),
        ("ecdsa-p256", Self::EcdsaP256),
        ("token", Self::Token),
        ("basic", Self::Basic),
    ];

    /// The stable word.
    pub(crate) fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(_, algorithm)| *algorithm == self).map_or("", |(word, _)| word)
    }

    /// The kind of key it takes.
    pub(crate) const fn key_kind(self) -> KeyKind {
        match self {
            Self::HmacSha1 | Self::HmacSha256 | Self::HmacSha512 | Self::Token => KeyKind::Shared,
            Self::Basic => KeyKind::Basic,
            Self::Ed25519 => KeyKind::Ed25519,
            Self::EcdsaP256 => KeyKind::EcdsaP256,
        }
    }

    /// Whether the header holds the credential itself and nothing is signed.
    pub(crate) const fn is_credential(self) -> bool {
        matches!(self, Self::Token | Self::Basic)
    }

    /// Bytes of a signature, where it is fixed.
    pub(crate) const fn signature_bytes(self) -> Option<usize> {
        match self {
            Self::HmacSha1 => Some(20),
            Self::HmacSha256 => Some(32),
            Self::HmacSha512 | Self::Ed25519 => Some(64),
            Self::EcdsaP256 | Self::Token | Self::Basic => None,
        }
    }
}

/// How the bytes of a signature are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Encoding {
    /// Hex digits, either case.
    #[default]
    Hex,
    /// Base64.
    Base64,
}

/// Where the time of signing stands.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "RawTimestamp")]
pub(crate) struct TimestampRule {
    /// Where it stands.
    pub(crate) place: TimestampPlace,
    /// How it is written.
    pub(crate) unit: TimeUnit,
    /// How far it may be off, both ways; `none` sets no bound unless the endpoint does.
    pub(crate) tolerance_seconds: Stated<u64>,
}

/// Where the time of signing stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TimestampPlace {
    /// In a header, by its name in lower case.
    Header(String),
    /// In an entry of the signature header that begins so.
    Entry(String),
    /// In the document.
    Json(Pointer),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTimestamp {
    header: Option<String>,
    entry: Option<String>,
    json: Option<String>,
    #[serde(default)]
    unit: TimeUnit,
    tolerance_seconds: Stated<u64>,
}

impl TryFrom<RawTimestamp> for TimestampRule {
    type Error = String;

    fn try_from(raw: RawTimestamp) -> Result<Self, String> {
        let place = match (raw.header, raw.entry, raw.json) {
            (Some(name), None, None) => TimestampPlace::Header(header_name(&name)?),
            (None, Some(prefix), None) => TimestampPlace::Entry(prefix),
            (None, None, Some(text)) => TimestampPlace::Json(Pointer::parse(&text)?),
            _ => return Err("a timestamp has exactly one of header, entry, json".into()),
        };
        Ok(Self { place, unit: raw.unit, tolerance_seconds: raw.tolerance_seconds })
    }
}

/// How a time is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TimeUnit {
    /// Seconds since 1970.
    #[default]
    S,
    /// Milliseconds since 1970.
    Ms,
    /// RFC 3339.
    Rfc3339,
}

/// A digest of the body among the signed bytes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BodyHash {
    /// The query parameter that holds SHA-256 of the body in hex.
    pub(crate) query: String,
}

/// A header that names the algorithm. It is not signed, so the endpoint can say which names it takes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AlgorithmNamedBy {
    /// The header, in lower case.
    #[serde(deserialize_with = "lower_header")]
    pub(crate) header: String,
    /// The header is a list, split here.
    pub(crate) separator: String,
    /// What the entry with the name begins with.
    pub(crate) entry: String,
    /// The name when the header isn't there.
    pub(crate) default: String,
    /// The option that lists the names which the endpoint takes; without it all are taken.
    pub(crate) allowed_option: String,
}

/// A probe or challenge and its answer.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HandshakeRule {
    /// The method.
    pub(crate) method: String,
    /// It is answered only after the request has been verified.
    pub(crate) signed: bool,
    /// What has to be so.
    pub(crate) when: Vec<Condition>,
    /// A token that has to be the endpoint's.
    #[serde(default)]
    pub(crate) token: Option<HandshakeToken>,
    /// The answer.
    pub(crate) reply: HandshakeReply,
}

/// A token that a handshake has to bring.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HandshakeToken {
    /// The query parameter that holds it.
    pub(crate) query: String,
    /// The option that holds what it has to be.
    pub(crate) option: String,
    /// The status for another one.
    pub(crate) refused_status: u16,
}

/// The answer to a handshake.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HandshakeReply {
    /// The status.
    pub(crate) status: u16,
    /// The content type.
    pub(crate) content_type: String,
    /// The value that is the body.
    pub(crate) echo: Source,
}

fn lower_header<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    header_name(&text).map_err(D::Error::custom)
}
