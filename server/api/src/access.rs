//! The route table: every route of the machine interface with what it asks of its caller. The guard
//! here looks at nothing else, so a route that is missing in the table can't be reached, and tests
//! compare the table with the router, the OpenAPI document and what each caller may do.

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::ALLOW;
use http::{HeaderValue, Method};
use restante_app::By;
use restante_core::access::Scope;
use restante_core::problem::{Code, Problem};

use crate::context::Context;
use crate::extract::token;
use crate::problem::Refused;
use crate::state::Api;

/// What a route asks of its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Anyone may call it.
    Public,
    /// An API key that has the scope.
    Key(Scope),
}

/// One route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// The method; `ANY` where the handler decides.
    pub method: &'static str,
    /// The path with its parameters in braces.
    pub path: &'static str,
    /// What it asks of its caller.
    pub access: Access,
}

const fn public(method: &'static str, path: &'static str) -> Route {
    Route { method, path, access: Access::Public }
}

const fn key(method: &'static str, path: &'static str, scope: Scope) -> Route {
    Route { method, path, access: Access::Key(scope) }
}

use Scope::{ConfigRead, ConfigWrite, EventsConsume, EventsRead, EventsReplay, PayloadsRead};

/// Every route.
pub const ROUTES: &[Route] = &[
    // Health, figures, description.
    public("GET", "/healthz"),
    public("GET", "/readyz"),
    public("GET", "/metrics"),
    public("GET", "/openapi.json"),
    // Receiving. The path itself is the credential.
    public("ANY", "/in/{token}"),
    public("ANY", "/in/{token}/"),
    // API keys.
    key("GET", "/v1/keys", ConfigRead),
    key("POST", "/v1/keys", ConfigWrite),
    key("DELETE", "/v1/keys/{id}", ConfigWrite),
    // The catalogue.
    key("GET", "/v1/providers", ConfigRead),
    key("GET", "/v1/providers/{name}", ConfigRead),
    // Endpoints.
    key("GET", "/v1/endpoints", ConfigRead),
    key("POST", "/v1/endpoints", ConfigWrite),
    key("GET", "/v1/endpoints/{id}", ConfigRead),
    key("PATCH", "/v1/endpoints/{id}", ConfigWrite),
    key("DELETE", "/v1/endpoints/{id}", ConfigWrite),
    key("POST", "/v1/endpoints/{id}/secrets", ConfigWrite),
    key("DELETE", "/v1/endpoints/{id}/secrets/{secret}", ConfigWrite),
    key("POST", "/v1/endpoints/{id}/test", ConfigWrite),
    // Consumers.
    key("GET", "/v1/consumers", ConfigRead),
    key("POST", "/v1/consumers", ConfigWrite),
    key("GET", "/v1/consumers/{name}", ConfigRead),
    key("PATCH", "/v1/consumers/{name}", ConfigWrite),
    key("DELETE", "/v1/consumers/{name}", ConfigWrite),
    // Pulling.
    key("POST", "/v1/consumers/{name}/claim", EventsConsume),
    key("POST", "/v1/consumers/{name}/ack", EventsConsume),
    key("POST", "/v1/consumers/{name}/nack", EventsConsume),
    key("POST", "/v1/consumers/{name}/extend", EventsConsume),
    // Events.
    key("GET", "/v1/events", EventsRead),
    key("GET", "/v1/events/{id}", EventsRead),
    key("GET", "/v1/events/{id}/payload", PayloadsRead),
    key("POST", "/v1/events/{id}/replay", EventsReplay),
    key("POST", "/v1/events/{id}/repair", EventsReplay),
    key("POST", "/v1/events/{id}/settle", EventsReplay),
    key("POST", "/v1/replays", EventsReplay),
    // Figures.
    key("GET", "/v1/stats", EventsRead),
];

/// The route that a request is for; `None` when its path or method is not in the table.
fn find(method: &Method, path: &str) -> Option<&'static Route> {
    // HEAD is GET without the body.
    let method = if *method == Method::HEAD { "GET" } else { method.as_str() };
    ROUTES.iter().find(|route| route.path == path && (route.method == method || route.method == "ANY"))
}

/// Lets a request through when its caller may make it, and leaves the caller for the handler.
///
/// This comes before anything of the request is read but its head.
pub(crate) async fn guard(
    State(api): State<Api>,
    path: MatchedPath,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(route) = find(request.method(), path.as_str()) else {
        return method_not_allowed(path.as_str());
    };
    if let Access::Key(scope) = route.access {
        let caller = match token(request.headers()) {
            Ok(token) => api.app.authenticate(&token).await,
            Err(problem) => Err(problem),
        };
        match caller.and_then(|caller| caller.require(scope).map(|()| caller)) {
            Ok(principal) => {
                let request_id =
                    request.extensions().get::<Context>().map(|context| context.request_id.clone());
                request.extensions_mut().insert(By { principal, request_id });
            }
            Err(problem) => return Refused(problem).into_response(),
        }
    }
    next.run(request).await
}

fn method_not_allowed(path: &str) -> Response {
    let mut allowed: Vec<&str> =
        ROUTES.iter().filter(|route| route.path == path).map(|route| route.method).collect();
    if allowed.contains(&"GET") {
        allowed.push("HEAD");
    }
    let allowed = allowed.join(", ");
    let mut response =
        Refused(Problem::new(Code::MethodNotAllowed, format!("This address takes: {allowed}.")))
            .into_response();
    if let Ok(value) = HeaderValue::from_str(&allowed) {
        response.headers_mut().insert(ALLOW, value);
    }
    response
}
