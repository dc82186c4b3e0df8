//! The answer to a POST that creates: 201, and whether it was given before.

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
        let mut response = Json(self.answer).into_response();
        if response.status() == StatusCode::OK {
            *response.status_mut() = StatusCode::CREATED;
        }
        if self.repeated {
            response.headers_mut().insert(REPLAYED.clone(), HeaderValue::from_static("true"));
        }
        response
    }
}
