//! Receiving, as far as it is HTTP: from a token in a path to one buffer of bytes and back to an
//! answer. What the bytes mean, and whether they are kept, is the verb's business (`app::receive`).

mod receiver;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::header::HeaderName;
use http::{HeaderMap, HeaderValue, StatusCode};
use restante_app::context::ClientAddress;
use restante_app::figures;
use restante_app::receive::Incoming;
use restante_core::problem::{Code, Problem};
use restante_core::request::{self, HeaderList};
use restante_core::time::Clock;
use restante_core::verify::Reply;
use tokio::sync::{Semaphore, oneshot};

use crate::body::{Fault, Whole, read_whole};
use crate::context::Context;
use crate::problem::{Reason, Refused};
use crate::request_log::Recorded;
use crate::state::{Api, Deadlines, UnderWay};

use receiver::Receiver;

/// Answers every method at `/in/{token}`.
pub(crate) async fn ingest(State(api): State<Api>, request: Request) -> Response {
    let around = Around {
        deadlines: api.deadlines,
        budget: Arc::clone(&api.budget),
        under_way: api.under_way.clone(),
        clock: Arc::clone(&api.app.clock),
    };
    detached(api.app.clone(), around, request).await
}

/// What a delivery needs of the server beside the verbs.
struct Around {
    deadlines: Deadlines,
    budget: Arc<Semaphore>,
    under_way: UnderWay,
    clock: Arc<dyn Clock>,
}

/// Works in a task of its own: what was begun is finished, or wholly undone, even when the sender
/// hangs up and this future is dropped. A sender may hang up with its last byte and never read.
async fn detached<R: Receiver>(receiver: R, around: Around, request: Request) -> Response {
    let (answer, answered) = oneshot::channel();
    let begun = around.under_way.begin();
    tokio::spawn(async move {
        deliver(&receiver, &around, request, answer).await;
        drop(begun);
    });
    // The task ends without an answer only when it panicked.
    answered.await.unwrap_or_else(|_| {
        refuse(Code::Internal, "Restante failed to take the delivery. Send it again.", "unavailable")
    })
}

async fn deliver<R: Receiver>(
    receiver: &R,
    around: &Around,
    request: Request,
    answer: oneshot::Sender<Response>,
) {
    // Nobody may listen any more; the delivery is taken all the same.
    let (target, delivery) = match take_in(receiver, around, request).await {
        Ok(taken) => taken,
        Err(refusal) => {
            let _ = answer.send(*refusal);
            return;
        }
    };
    let mut received = std::pin::pin!(receiver.receive(&target, delivery));
    match tokio::time::timeout(around.deadlines.answer, received.as_mut()).await {
        Ok(reply) => {
            let mut response = as_response(reply);
            response.extensions_mut().insert(Recorded);
            let _ = answer.send(response);
        }
        Err(_) => {
            let late = "The delivery could not be kept in time. Send it again.";
            let _ = answer.send(refuse(Code::Unavailable, late, "unavailable"));
            // It may still be committed; then the sender's next attempt is a duplicate.
            received.await;
        }
    }
}

/// Finds the endpoint and reads the body; gives the answer where the delivery ends before that.
async fn take_in<R: Receiver>(
    receiver: &R,
    around: &Around,
    request: Request,
) -> Result<(Arc<R::Target>, Incoming), Box<Response>> {
    let (parts, mut body) = request.into_parts();
    let target = match receiver.find(token(parts.uri.path())).await {
        Ok(Some(target)) => target,
        Ok(None) => return Err(Box::new(unknown())),
        Err(problem) => {
            tracing::warn!(detail = %problem.detail, "an endpoint can't be looked up");
            let detail = "The delivery can't be taken now. Send it again.";
            return Err(Box::new(refuse(problem.code, detail, "unavailable")));
        }
    };
    if let Some(reply) = receiver.gate(&target, parts.method.as_str(), around.clock.now()) {
        return Err(Box::new(as_response(reply)));
    }
    // The body is not touched before here, so a sender that asked whether to go on was not told to.
    let bytes_max = R::body_bytes_max(&target);
    let Whole { bytes, room } = match read_whole(&mut body, bytes_max, around.deadlines, &around.budget).await
    {
        Ok(whole) => whole,
        Err(fault) => {
            if let Some(what) = refused_as(fault) {
                receiver.count(&target, what, around.clock.now());
                figures::rejected(what);
            }
            return Err(Box::new(not_read(fault, bytes_max)));
        }
    };
    let context = parts.extensions.get::<Context>().cloned();
    let (request_id, trace_id) =
        context.map(|context| (context.request_id, context.trace_id)).unwrap_or_default();
    let delivery = Incoming {
        request: request::Request {
            method: parts.method.as_str().to_owned(),
            query: parts.uri.query().map(str::to_owned),
            headers: header_list(&parts.headers),
            body: bytes,
        },
        received_at: around.clock.now(),
        request_id,
        trace_id,
        peer: parts.extensions.get::<ClientAddress>().map(|address| address.0),
        held: Some(Arc::new(room)),
    };
    Ok((target, delivery))
}

/// The last part of `/in/{token}` or `/in/{token}/`, as it stands there: nothing is decoded.
fn token(path: &str) -> &str {
    let rest = path.strip_prefix("/in/").unwrap_or_default();
    rest.strip_suffix('/').unwrap_or(rest)
}

fn header_list(headers: &HeaderMap) -> HeaderList {
    let bytes = |value: &HeaderValue| bytes::Bytes::copy_from_slice(value.as_bytes());
    HeaderList(headers.iter().map(|(name, value)| (name.as_str().to_owned(), bytes(value))).collect())
}

/// What the figures call it, where it is the sender's doing.
const fn refused_as(fault: Fault) -> Option<&'static str> {
    match fault {
        Fault::TooLarge => Some("too_large"),
        Fault::TooSlow => Some("timeout"),
        Fault::Broken => Some("broken_off"),
        Fault::NoRoom | Fault::Stopping => None,
    }
}

fn not_read(fault: Fault, bytes_max: u64) -> Response {
    let problem = fault.problem(bytes_max);
    let reason = if fault == Fault::TooLarge { "size" } else { "unavailable" };
    refuse(problem.code, &problem.detail, reason)
}

/// The answer where no endpoint is.
pub(crate) fn unknown() -> Response {
    refuse(Code::NotFound, "There is no endpoint at this address.", "unknown")
}

fn refuse(code: Code, detail: &str, reason: &'static str) -> Response {
    let mut response = Refused(Problem::new(code, detail)).into_response();
    response.extensions_mut().insert(Reason(reason));
    response
}

/// A reply of the verb as HTTP.
fn as_response(reply: Reply) -> Response {
    let mut response = Response::new(Body::from(reply.body));
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in reply.headers {
        match (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            (Ok(name), Ok(value)) => {
                response.headers_mut().append(name, value);
            }
            // A challenge may have to be echoed in a header; what can't stand in one is left out.
            _ => tracing::warn!("a reply's header can't be written"),
        }
    }
    response
}

#[cfg(test)]
mod tests;
