//! What surrounds every request, of machines and of people: its id, its log record, the headers
//! that browsers obey, and a floor under panics.

use std::any::Any;
use std::convert::Infallible;
use std::time::Instant;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use http::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, HOST, HeaderName, REFERRER_POLICY,
    STRICT_TRANSPORT_SECURITY, TRANSFER_ENCODING, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderValue, Version};
use restante_app::context::{RequestId, RoutePath};
use restante_core::problem::{Code, Problem};
use tower_http::catch_panic::CatchPanicLayer;

use crate::context::Context;
use crate::page_body::PageBodies;
use crate::problem::{Reason, Refused, render};
use crate::request_log::{self, Recorded};
use crate::server::{BothLengths, Peer};
use crate::state::Api;
use crate::{ingest, peer};

/// What an answer carries unless it says otherwise itself. The policy is that of an answer which is
/// not a page; pages bring their own.
const HEADERS: [(HeaderName, HeaderValue); 6] = [
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        ),
    ),
    (REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
];

/// Joins the routers of machines and people, and puts around both what every request needs.
pub fn with_layers(api: &Api, machines: Router, pages: Router) -> Router {
    let bodies = PageBodies::new(api.deadlines);
    let elsewhere = tower::service_fn(move |request: Request| {
        let (pages, bodies) = (pages.clone(), bodies.clone());
        async move {
            if is_for_machines(request.uri().path()) {
                return Ok::<_, Infallible>(not_found(request.uri().path()));
            }
            Ok(bodies.answer(pages, request).await)
        }
    });
    machines
        .fallback_service(elsewhere)
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(api.clone(), surround))
}

fn is_for_machines(path: &str) -> bool {
    ["/v1", "/in"]
        .iter()
        .any(|prefix| path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

fn not_found(path: &str) -> Response {
    if path.starts_with("/in") {
        return ingest::unknown();
    }
    let detail = "There is no such address in this API. /openapi.json lists those that there are.";
    Refused(Problem::new(Code::NotFound, detail)).into_response()
}

fn panicked(_: Box<dyn Any + Send>) -> Response {
    // Where it happened is in the log, by the panic hook; what was said may hold a secret.
    Refused(Problem::new(
        Code::Internal,
        "Restante could not carry out the request. The log of the server says where it failed.",
    ))
    .into_response()
}

async fn surround(State(api): State<Api>, mut request: Request, next: Next) -> Response {
    let begin = Instant::now();
    let context = Context::read(request.headers(), api.app.random.as_ref(), api.app.clock.now());
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    request.extensions_mut().insert(RequestId(context.request_id.clone()));
    request.extensions_mut().insert(context.clone());
    if let Some(&Peer(address)) = request.extensions().get() {
        let client = peer::client(address.ip(), request.headers(), &api.trusted_proxies);
        request.extensions_mut().insert(client);
    }
    let mut response = match framing_fault(&request) {
        None => next.run(request).await,
        Some(detail) => Refused(Problem::new(Code::Malformed, detail)).into_response(),
    };
    finish(&mut response, &context);
    if api.app.settings.public_url.starts_with("https:") {
        response
            .headers_mut()
            .insert(STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
    if response.extensions().get::<Recorded>().is_none() {
        let of_page = response.extensions().get::<RoutePath>().map(|route| route.0);
        let route = of_page.or(route.as_ref().map(MatchedPath::as_str)).unwrap_or("other");
        request_log::write(&method, route, response.status(), begin.elapsed(), &context);
    }
    response
}

/// What hyper lets pass and a proxy before us may read in another way (RFC 9112, sections 3.2 and 6.3).
fn framing_fault(request: &Request) -> Option<&'static str> {
    let count = |name| request.headers().get_all(name).iter().count();
    let hosts = count(HOST);
    if hosts > 1 || (hosts == 0 && request.version() == Version::HTTP_11) {
        return Some("Send exactly one Host header.");
    }
    if request.extensions().get::<BothLengths>().is_some() {
        return Some("Send either Content-Length or Transfer-Encoding, not both.");
    }
    let mut codings = request.headers().get_all(TRANSFER_ENCODING).iter();
    if codings.next().is_some_and(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"chunked"))
        || codings.next().is_some()
    {
        return Some("The only Transfer-Encoding that is taken is `chunked`, once.");
    }
    None
}

fn finish(response: &mut Response, context: &Context) {
    if let Some(Refused(problem)) = response.extensions_mut().remove() {
        let reason = response.extensions_mut().remove::<Reason>().map(|reason| reason.0);
        *response.body_mut() = render(&problem, reason, Some(&context.request_id)).into();
        // A router inside may have told the length of the body that was there.
        response.headers_mut().remove(CONTENT_LENGTH);
    }
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.entry(name).or_insert(value);
    }
    // Made of visible ASCII, or by us.
    if let Ok(id) = HeaderValue::from_str(&context.request_id) {
        headers.insert("x-request-id", id);
    }
}
