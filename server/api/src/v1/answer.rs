//! The answer to a POST that takes an `Idempotency-Key`, and whether it was given before.

use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode};
use serde::Serialize;

use crate::extract::Json;

/// Tells that the answer is the one to an earlier request with the same `Idempotency-Key`.
static REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// Something that was made, now or when the same request came first.
pub(crate) struct Created<T> {
    /// What is answered.
    pub(crate) answer: T,
    /// Whether it was made before.
    pub(crate) repeated: bool,
}

impl<T: Serialize> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        answered(StatusCode::CREATED, self.answer, self.repeated)
    }
}

/// An answer with a status of its own, and whether it was given before.
pub(crate) fn answered<T: Serialize>(status: StatusCode, answer: T, repeated: bool) -> Response {
    let mut response = Json(answer).into_response();
    if response.status() == StatusCode::OK {
        *response.status_mut() = status;
    }
    if repeated {
        response.headers_mut().insert(REPLAYED.clone(), HeaderValue::from_static("true"));
    }
    response
}
