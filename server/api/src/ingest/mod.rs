//! Receiving, as far as it is HTTP: from a token in a path to one buffer of bytes and back to an
//! answer. What the bytes mean, and whether they are kept, is the verb's business (`app::receive`).

use axum::response::{IntoResponse, Response};
use restante_core::problem::{Code, Problem};

use crate::problem::{Reason, Refused};

/// The answer where no endpoint is.
pub(crate) fn unknown() -> Response {
    refuse(Code::NotFound, "There is no endpoint at this address.", "unknown")
}

fn refuse(code: Code, detail: &str, reason: &'static str) -> Response {
    let mut response = Refused(Problem::new(code, detail)).into_response();
    response.extensions_mut().insert(Reason(reason));
    response
}
