//! One log record a request of the API: what was asked in general words, how it ended, how long it
//! took. Never a path with its parameters (a token may stand in it), a query, a header or a body.

use std::time::Duration;

use http::{Method, StatusCode};

use crate::context::Context;

/// Marks an answer whose request has a record of its own already: a delivery's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recorded;

/// Writes the record. `route` is the template of the path, or a word for what has none.
pub(crate) fn write(method: &Method, route: &str, status: StatusCode, took: Duration, context: &Context) {
    // A method may be any word; only those that mean something are written down.
    let method = match *method {
        Method::GET
        | Method::HEAD
        | Method::POST
        | Method::PUT
        | Method::PATCH
        | Method::DELETE
        | Method::OPTIONS => method.as_str(),
        _ => "OTHER",
    };
    let (status, duration_ms) = (status.as_u16(), took.as_secs_f64() * 1_000.0);
    let (request_id, trace_id) = (&context.request_id, context.trace_id.as_deref());
    if matches!(route, "/healthz" | "/readyz" | "/metrics") {
        // Asked every few seconds by machines.
        tracing::debug!(method, route, status, duration_ms, request_id, trace_id, "request");
    } else {
        tracing::info!(method, route, status, duration_ms, request_id, trace_id, "request");
    }
}
