//! The guard of the machine interface. The table of routes in `core` says what each asks of its caller;
//! the guard looks at nothing else, so a route that is missing there can't be reached.

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::HeaderValue;
use http::header::ALLOW;
use restante_app::By;
use restante_core::access::{self, API_ROUTES, Access};
use restante_core::problem::{Code, Problem};

use crate::context::Context;
use crate::extract::token;
use crate::problem::Refused;
use crate::state::Api;

/// Lets a request through when its caller may make it, and leaves the caller for the handler.
///
/// This comes before anything of the request is read but its head.
pub(crate) async fn guard(
    State(api): State<Api>,
    path: MatchedPath,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(route) = access::find(API_ROUTES, request.method().as_str(), path.as_str()) else {
        return method_not_allowed(path.as_str());
    };
    let scope = match route.access {
        Access::Public => return next.run(request).await,
        Access::Key(scope) => scope,
        // A person's routes are not served here; a test demands that none stands in the table.
        Access::SignedIn | Access::Tenant(_) | Access::Owner | Access::Administrator => {
            return Refused(Problem::new(Code::NotFound, "There is no such address in this API."))
                .into_response();
        }
    };
    let caller = match token(request.headers()) {
        Ok(token) => api.app.authenticate(&token).await,
        Err(problem) => Err(problem),
    };
    match caller.and_then(|caller| caller.require(scope).map(|()| caller)) {
        Ok(principal) => {
            let request_id = request.extensions().get::<Context>().map(|context| context.request_id.clone());
            request.extensions_mut().insert(By { principal, request_id });
        }
        Err(problem) => return Refused(problem).into_response(),
    }
    next.run(request).await
}

fn method_not_allowed(path: &str) -> Response {
    let allowed = access::allowed_methods(API_ROUTES, path);
    let mut response =
        Refused(Problem::new(Code::MethodNotAllowed, format!("This address takes: {allowed}.")))
            .into_response();
    if let Ok(value) = HeaderValue::from_str(&allowed) {
        response.headers_mut().insert(ALLOW, value);
    }
    response
}
