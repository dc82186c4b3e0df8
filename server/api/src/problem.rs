//! A `Problem` as HTTP: `application/problem+json` (RFC 9457) with the headers that belong to it.
//! The id of the request is put in by the outermost layer (`layers.rs`), which alone knows it.

use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use restante_core::problem::{Code, FieldError, Problem};
use restante_store::StoreError;
use serde::Serialize;

/// Seconds after which a caller who was told "not now" may try again: longer than a database's
/// restart of a moment, shorter than any provider's next attempt.
const RETRY_AFTER_SECONDS: u32 = 5;

/// What a handler gives back.
pub type Result<T> = std::result::Result<T, Refused>;

/// Why a delivery was refused, in the one general word that a sender may read. Put beside a
/// [`Refused`] in an answer's extensions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reason(pub(crate) &'static str);

/// A problem on its way to the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused(pub Problem);

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        // The client is told nothing of the database, so the log has to tell it. Once, here.
        match &error {
            StoreError::Problem(_) => {}
            StoreError::Taken { .. } | StoreError::Unavailable { .. } | StoreError::Stale => {
                tracing::warn!(%error, "the store could not do it");
            }
            StoreError::CommitUnknown { .. } | StoreError::Corrupt { .. } | StoreError::Refused { .. } => {
                tracing::error!(%error, "the store failed");
            }
        }
        Self(error.into_problem())
    }
}

/// The body of every problem answer.
#[derive(Serialize, utoipa::ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ProblemBody<'a> {
    /// A stable URI reference that names the kind of problem and explains it when it is opened.
    #[serde(rename = "type")]
    #[schema(example = "/docs/errors/invalid")]
    kind: String,
    /// The kind in a few words; the same for every problem of the kind.
    title: &'static str,
    /// The HTTP status.
    status: u16,
    /// What is wrong with this request and what to do about it.
    detail: &'a str,
    /// The fields at fault.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(value_type = Vec<FieldProblem>)]
    errors: &'a [FieldError],
    /// In answers to deliveries: why it was refused, in one general word.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "signature")]
    reason: Option<&'static str>,
    /// The id under which the server's log speaks of this request.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
}

/// One field at fault.
#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct FieldProblem {
    /// Where in the request: a JSON pointer (RFC 6901), or the name of a query parameter.
    pub(crate) pointer: String,
    /// What is wrong and what would be right.
    pub(crate) detail: String,
}

/// The body as bytes.
pub(crate) fn render(problem: &Problem, reason: Option<&'static str>, request_id: Option<&str>) -> Vec<u8> {
    let body = ProblemBody {
        kind: format!("/docs/errors/{}", problem.code.slug()),
        title: problem.code.title(),
        status: problem.code.status(),
        detail: &problem.detail,
        errors: &problem.errors,
        reason,
        request_id,
    };
    // Strings and numbers alone can't fail to serialise.
    serde_json::to_vec(&body).unwrap_or_default()
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let code = self.0.code;
        let mut response = render(&self.0, None, None).into_response();
        *response.status_mut() =
            StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        match code {
            Code::Unauthorized => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"restante\""));
            }
            Code::Unavailable | Code::RateLimited => {
                headers.insert(RETRY_AFTER, HeaderValue::from(RETRY_AFTER_SECONDS));
            }
            _ => {}
        }
        // For the layer that adds the request's id.
        response.extensions_mut().insert(self);
        response
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;
    use serde_json::{Value, json};

    use super::*;

    async fn body(problem: Problem) -> (Response<()>, Value) {
        let (parts, body) = Refused(problem).into_response().into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        (Response::from_parts(parts, ()), serde_json::from_slice(&bytes).unwrap())
    }

    #[tokio::test]
    async fn every_kind_has_its_status_and_its_page() {
        for code in Code::ALL {
            let (response, said) = body(Problem::new(code, "Because.")).await;
            assert_eq!(response.status().as_u16(), code.status());
            assert_eq!(response.headers()[CONTENT_TYPE], "application/problem+json");
            assert_eq!(said["type"], format!("/docs/errors/{}", code.slug()));
            assert_eq!(said["status"], code.status());
            assert_eq!(said["detail"], "Because.");
            assert_eq!(response.headers().contains_key(WWW_AUTHENTICATE), code == Code::Unauthorized);
            assert_eq!(
                response.headers().contains_key(RETRY_AFTER),
                matches!(code, Code::Unavailable | Code::RateLimited)
            );
        }
    }

    #[tokio::test]
    async fn a_field_at_fault_is_named_with_its_pointer() {
        let (response, said) = body(Problem::field("/secrets/0", "It is empty.")).await;
        assert_eq!(response.status().as_u16(), 422);
        assert_eq!(said["errors"], json!([{"pointer": "/secrets/0", "detail": "It is empty."}]));
    }

    #[tokio::test]
    async fn a_fault_of_the_database_is_told_without_its_words() {
        let error = StoreError::Corrupt { statement: "FIND_SECRET", column: "secret_sealed".into() };
        let (response, said) = body(Refused::from(error).0).await;
        assert_eq!(response.status().as_u16(), 500);
        assert!(!said.to_string().contains("secret_sealed"));
    }
}
