//! What a page can't do, as a page: the sentence for the person, and the status that goes with it.

use askama::Template;
use axum::response::{IntoResponse, Response};
use http::header::RETRY_AFTER;
use http::{HeaderValue, StatusCode};
use restante_core::problem::{Code, Problem};
use restante_store::StoreError;

use crate::page::{self, Page, answer};

/// A refusal or a failure.
#[derive(Debug)]
pub(crate) struct Fault(Problem);

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        if !matches!(error, StoreError::Problem(_)) {
            tracing::error!(%error, "a page could not be made");
        }
        Self(error.into_problem())
    }
}

#[derive(Template)]
#[template(path = "pages/fault.html")]
struct FaultPage {
    status: StatusCode,
    title: &'static str,
    problem: Problem,
}

impl Page for FaultPage {
    fn status(&self) -> StatusCode {
        self.status
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let problem = self.0;
        if problem.code == Code::NotFound {
            return page::missing();
        }
        let status = StatusCode::from_u16(problem.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let title = match problem.code {
            Code::MissingScope => "This is not allowed",
            Code::Unauthorized => "Please sign in",
            code => code.title(),
        };
        let waits = matches!(problem.code, Code::Unavailable | Code::RateLimited);
        let mut response = answer(&FaultPage { status, title, problem });
        if waits {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("5"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples;

    #[test]
    fn a_fault_is_told_with_nothing_and_with_hostile_and_long_texts() {
        for text in ["", "It is not there.", samples::HOSTILE, &samples::long()] {
            let mut problem = Problem::field("/name", text);
            problem.detail = text.to_owned();
            let page = FaultPage { status: StatusCode::OK, title: "Not so", problem }.render().unwrap();
            samples::check(&page);
            assert!(page.contains("Not so"));
        }
    }
}
