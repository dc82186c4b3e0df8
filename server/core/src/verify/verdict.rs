//! What verification answers: accept with its events, reject with a reason, or a handshake to answer.
//! Only types stand here; they are what the receiving path, the command line and the pages share.

use std::ops::Range;

use crate::time::Timestamp;

/// The outcome for one request. It says what is so; nothing has been stored or sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Authentic: its events are to be kept.
    Accept(Accepted),
    /// Not authentic, or not what the provider may send: nothing of it is kept as an event.
    Reject(Rejection),
    /// A probe or challenge of the provider: answered, never stored.
    Challenge(Handshake),
}

/// An authentic request and the events in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// The events in the order in which they stand in the request; empty for an empty batch.
    pub items: Vec<Item>,
    /// When the sender signed, where the scheme signs a time.
    pub signed_at: Option<Timestamp>,
    /// What the scheme leaves unprotected in this request.
    pub weak: Vec<Weak>,
    /// Which of the endpoint's keys matched, as an index into them; `None` where the scheme has no key.
    pub key_index: Option<usize>,
    /// The bytes that `Slice::Decoded` of the items points into: a form field or an inflated body.
    pub decoded: Option<Vec<u8>>,
    /// The provider sends several events in a request, so that the answer lists receipts, even for one or none.
    pub batch: bool,
}

/// One event as its request tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The provider's id for the event, for people. `None` where it sends none.
    /// Holds no NUL: one is written as `\u0000`. May be longer than `limits::EVENT_TEXT_BYTES_MAX`.
    pub event_id: Option<String>,
    /// What makes two deliveries the same event, within `scope`.
    pub event_key: EventKey,
    /// Within what the key is unique: `""`, an account, a shop and topic, or the endpoint.
    pub scope: String,
    /// The provider's word for what happened.
    pub event_type: Option<String>,
    /// Whose event it is at the provider.
    pub account: Option<String>,
    /// The version in which the provider wrote the payload.
    pub api_version: Option<String>,
    /// When it happened at the provider.
    pub occurred_at: Option<Timestamp>,
    /// Whether it is live (`true`) or a test (`false`), where the provider tells.
    pub livemode: Option<bool>,
    /// Where the event's bytes stand.
    pub slice: Slice,
    /// A JSON key, form field or the like that identity depends on stands twice; the first counted.
    pub ambiguous: bool,
}

/// The event's key, or why it has none.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum EventKey {
    /// At most `limits::EVENT_KEY_BYTES_MAX` bytes and without NUL.
    Known(String),
    /// The sender has no ids: every delivery is an event of its own, so the caller makes a key that is unique.
    Fresh,
    /// An id is required and could not be read: the caller keys by the digest of the event's bytes, and it waits for repair.
    Envelope,
}

/// Where an event's bytes stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slice {
    /// In the request's body as received.
    Body(Range<usize>),
    /// In `Accepted::decoded`.
    Decoded(Range<usize>),
}

/// What a scheme does not protect. A person sees it beside the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weak {
    /// The body can be changed without the signature noticing.
    Body,
    /// The event id can be changed.
    Id,
    /// No time is signed, so a captured request stays valid as long as its secret.
    Time,
}

impl Weak {
    /// The stable word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Body => "body",
            Self::Id => "id",
            Self::Time => "time",
        }
    }
}

/// A refusal, told to two readers: the tenant gets all of it, the sender `public` alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// The stable word for the tenant, the figures and the tests.
    pub reason: Reason,
    /// What was looked for and where, what came instead, and the likely cause. Never holds an expected signature or a secret.
    pub explanation: String,
    /// The one general word that the sender may read.
    pub public: PublicReason,
    /// The HTTP status to answer with, by the provider's reply table.
    pub status: u16,
    /// How old the signed time is (negative: in the future), where a time was read.
    pub age_seconds: Option<i64>,
}

macro_rules! words {
    ($(#[$outer:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// Every word.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The stable word.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

words! {
    /// Why a request was refused. The words are stable: figures, logs and tests use them.
    Reason {
        /// The header (or field) that carries the signature is not there or empty.
        MissingSignature = "missing_signature",
        /// It is there and can't be a signature: wrong length, alphabet or grammar.
        MalformedSignature = "malformed_signature",
        /// It can be one, and isn't the right one for any of the secrets.
        SignatureMismatch = "signature_mismatch",
        /// A header that verification depends on stands several times with different values.
        AmbiguousHeader = "ambiguous_header",
        /// A header that is part of the signed text is not there.
        MissingHeader = "missing_header",
        /// The time of signing is not there.
        TimestampMissing = "timestamp_missing",
        /// The time of signing can't be read.
        MalformedTimestamp = "malformed_timestamp",
        /// It was signed too long ago, or for the future.
        TimestampOutOfTolerance = "timestamp_out_of_tolerance",
        /// The token, or the user name and password, are other ones.
        TokenMismatch = "token_mismatch",
        /// The signed digest of the body is another one.
        BodyHashMismatch = "body_hash_mismatch",
        /// The body can't be decoded where the signature is over the decoded form.
        UndecodableBody = "undecodable_body",
        /// The request asks for an algorithm that the endpoint does not allow.
        AlgorithmNotAllowed = "algorithm_not_allowed",
        /// A handshake came with another verify token.
        VerifyTokenMismatch = "verify_token_mismatch",
        /// The endpoint holds no secret that could be used.
        NoUsableSecret = "no_usable_secret",
        /// The provider does not deliver with this method.
        MethodNotAllowed = "method_not_allowed",
        /// The body, decoded, is larger than the endpoint's limit.
        DecodedTooLarge = "decoded_too_large",
    }
}

words! {
    /// What the sender is told: one general word, never finer.
    PublicReason {
        /// The signature, token or what belongs to it.
        Signature = "signature",
        /// The time of signing.
        Timestamp = "timestamp",
        /// The size.
        Size = "size",
        /// The method.
        Method = "method",
        /// Too many requests.
        Rate = "rate",
        /// It can't be done now.
        Unavailable = "unavailable",
        /// There is no such endpoint.
        Unknown = "unknown",
    }
}

/// A probe or challenge of the provider and the documented answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handshake {
    /// The answer, exactly.
    pub reply: Reply,
}

/// An HTTP answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, exactly.
    pub body: Vec<u8>,
}
