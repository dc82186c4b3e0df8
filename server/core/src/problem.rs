//! What goes wrong, told to the person or program that can mend it (RFC 9457).

use serde::Serialize;

/// One fault of one field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FieldError {
    /// Where in the request the fault is, as a JSON pointer (RFC 6901), or the name of a query parameter.
    pub pointer: String,
    /// A sentence that says what is wrong and what would be right.
    pub detail: String,
}

/// The kinds of refusal. Each has a page under `/docs/errors/` of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// The request is not what HTTP or JSON asks for.
    Malformed,
    /// The query or cursor can't be used.
    BadCursor,
    /// No usable API key came with the request.
    Unauthorized,
    /// The key lacks the scope.
    MissingScope,
    /// There is nothing of that name or id for this caller.
    NotFound,
    /// The method is not for this address.
    MethodNotAllowed,
    /// The state forbids it now.
    Conflict,
    /// The payload was removed by retention or erased.
    Gone,
    /// The body is larger than what is accepted.
    TooLarge,
    /// The body came too slowly.
    Timeout,
    /// The content type is not JSON.
    UnsupportedMediaType,
    /// A field can't be what it is.
    Invalid,
    /// More requests than allowed.
    RateLimited,
    /// It can't be done now; later it can.
    Unavailable,
    /// Restante is at fault.
    Internal,
}

impl Code {
    /// Every kind, in the order of the documentation.
    pub const ALL: [Self; 15] = [
        Self::Malformed,
        Self::BadCursor,
        Self::Unauthorized,
        Self::MissingScope,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::Conflict,
        Self::Gone,
        Self::TooLarge,
        Self::Timeout,
        Self::UnsupportedMediaType,
        Self::Invalid,
        Self::RateLimited,
        Self::Unavailable,
        Self::Internal,
    ];

    /// The last part of the `type` URI.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::BadCursor => "bad-cursor",
            Self::Unauthorized => "unauthorized",
            Self::MissingScope => "missing-scope",
            Self::NotFound => "not-found",
            Self::MethodNotAllowed => "method-not-allowed",
            Self::Conflict => "conflict",
            Self::Gone => "gone",
            Self::TooLarge => "too-large",
            Self::Timeout => "timeout",
            Self::UnsupportedMediaType => "unsupported-media-type",
            Self::Invalid => "invalid",
            Self::RateLimited => "rate-limited",
            Self::Unavailable => "unavailable",
            Self::Internal => "internal",
        }
    }

    /// The HTTP status that goes with it.
    pub const fn status(self) -> u16 {
        match self {
            Self::Malformed | Self::BadCursor => 400,
            Self::Unauthorized => 401,
            Self::MissingScope => 403,
            Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::Timeout => 408,
            Self::Conflict => 409,
            Self::Gone => 410,
            Self::TooLarge => 413,
            Self::UnsupportedMediaType => 415,
            Self::Invalid => 422,
            Self::RateLimited => 429,
            Self::Internal => 500,
            Self::Unavailable => 503,
        }
    }

    /// A short title that is the same for every problem of the kind.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Malformed => "The request can't be read",
            Self::BadCursor => "The cursor can't be used",
            Self::Unauthorized => "A valid credential is needed",
            Self::MissingScope => "The API key lacks a scope",
            Self::NotFound => "There is no such thing",
            Self::MethodNotAllowed => "The method is not allowed here",
            Self::Conflict => "The state does not allow it",
            Self::Gone => "The payload is gone",
            Self::TooLarge => "The body is too large",
            Self::Timeout => "The body came too slowly",
            Self::UnsupportedMediaType => "The content type is not supported",
            Self::Invalid => "A field is not valid",
            Self::RateLimited => "Too many requests",
            Self::Unavailable => "It can't be done now",
            Self::Internal => "Restante failed",
        }
    }
}

/// A refusal: a stable kind, a sentence for the person, and the fields at fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct Problem {
    /// The kind.
    pub code: Code,
    /// What is wrong here and what to do about it.
    pub detail: String,
    /// The fields at fault, when there are some.
    pub errors: Vec<FieldError>,
}

impl Problem {
    /// A refusal without field errors.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), errors: Vec::new() }
    }

    /// A refusal of one field.
    pub fn field(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::fields(vec![FieldError { pointer: pointer.into(), detail: detail.into() }])
    }

    /// A refusal of several fields.
    pub fn fields(errors: Vec<FieldError>) -> Self {
        let detail = errors.first().map_or_else(String::new, |first| first.detail.clone());
        Self { code: Code::Invalid, detail, errors }
    }

    /// There is no such thing, or it is another tenant's: the two look alike.
    pub fn not_found(what: &str) -> Self {
        Self::new(Code::NotFound, format!("There is no such {what} in this tenant."))
    }
}
