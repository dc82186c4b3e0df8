//! The guard of the pages. The table of routes in `core` says what each asks of whoever opens it; the
//! guard looks at nothing else, so a route that is missing there can't be reached. Who is signed out is
//! led to the sign-in and back; what is another's is not there; what is one's own and not allowed says
//! which role it takes.

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Redirect, Response};
use http::header::ALLOW;
use http::{HeaderValue, Method, StatusCode};
use restante_app::context::{RequestId, RoutePath};
use restante_app::people::{Session, Who};
use restante_core::access::{self, Access, PAGE_ROUTES, Role, Route};
use restante_core::problem::{Code, Problem};
use tower_sessions::Session as Cookie;

use super::{Person, confirm, form_token, kept, origin, store};
use crate::fault::Fault;
use crate::page;
use crate::parts::next::sign_in_path;
use crate::state::Web;

/// A page that asks for itself again and again says so with this header; that is no use of a session.
const LIVE: &str = "x-live";

/// Lets a request through when the person may make it, and leaves them for the handler.
pub(crate) async fn guard(
    State(web): State<Web>,
    path: MatchedPath,
    request: Request,
    next: Next,
) -> Response {
    let Some(route) = access::find(PAGE_ROUTES, request.method().as_str(), path.as_str()) else {
        return method_not_allowed(path.as_str());
    };
    let mut response = match admit(&web, route, request).await {
        Ok(request) => next.run(request).await,
        Err(refusal) => refusal,
    };
    // The path itself may hold a one-time link, which must not reach the log.
    response.extensions_mut().insert(RoutePath(route.path));
    response
}

async fn admit(web: &Web, route: &'static Route, request: Request) -> Result<Request, Response> {
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD);
    if changes && !origin::is_own(request.headers(), &web.public) {
        tracing::warn!(route = route.path, "a form from elsewhere was refused");
        let detail = "This form did not come from a page of Restante, or the browser did not say where from. \
                      Nothing was done.";
        return Err(fault(Problem::new(Code::MissingScope, detail)));
    }
    if route.access == Access::Public {
        return Ok(request);
    }
    let cookie = request.extensions().get::<Cookie>().cloned().ok_or_else(|| {
        tracing::error!("the layer of sessions is missing");
        fault(Problem::new(Code::Internal, "Restante could not tell who you are."))
    })?;
    let Some(session) = kept::read(&cookie).await.map_err(fault)? else {
        return Err(to_sign_in(&request));
    };
    if session.awaits_code {
        return Err(Redirect::to("/sign-in/code").into_response());
    }
    let slug = matches!(route.access, Access::Tenant(_) | Access::Owner).then(|| slug(request.uri().path()));
    let who = web.app.who(session.user, slug).await.map_err(|error| Fault::from(error).into_response())?;
    let Some(who) = who else {
        // The account is gone, and with it what the session was of.
        kept::end(&cookie).await.map_err(fault)?;
        return Err(to_sign_in(&request));
    };
    allow(route.access, &who).map_err(Refusal::page)?;
    let (mut request, mut session) = (request, session);
    if changes {
        let checked = form_token::check(request, &session).await.map_err(fault)?;
        request = checked.request;
        if route.confirmed && !session.is_confirmed(web.app.clock.now()) {
            let asked = confirm::Asked { who: &who, path: request.uri().path(), form: &checked.form };
            session = confirm::demand(web, &cookie, session, asked).await?;
        }
    }
    if !request.headers().contains_key(LIVE) {
        note_use(web, &cookie, &session).await;
    }
    let request_id = request.extensions().get::<RequestId>().map(|id| id.0.clone());
    let person = Person::new(who, &session, request_id);
    request.extensions_mut().insert(session);
    request.extensions_mut().insert(person);
    Ok(request)
}

/// Why somebody may not open a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    /// It is another's, or there is none; the two look alike.
    Missing,
    /// It is of their own tenant, and takes this role.
    Needs(Role),
}

/// Whether the person may, by what the table asks for.
fn allow(access: Access, who: &Who) -> Result<(), Refusal> {
    match access {
        Access::Public | Access::SignedIn => Ok(()),
        Access::Administrator if who.administrator => Ok(()),
        // A key opens no page; a test demands that no route of a page asks for one.
        Access::Administrator | Access::Key(_) => Err(Refusal::Missing),
        Access::Tenant(scope) => match &who.here {
            None => Err(Refusal::Missing),
            Some(here) if here.scopes.contains(scope) => Ok(()),
            Some(_) => Err(Refusal::Needs(Role::least_with(scope))),
        },
        Access::Owner => match &who.here {
            None => Err(Refusal::Missing),
            Some(here) if here.role() == Some(Role::Owner) => Ok(()),
            Some(_) => Err(Refusal::Needs(Role::Owner)),
        },
    }
}

impl Refusal {
    fn page(self) -> Response {
        let detail = match self {
            Self::Missing => return page::missing(),
            Self::Needs(Role::Owner) => "This is for owners of the tenant. Ask one of them.".to_owned(),
            Self::Needs(role) => {
                format!(
                    "This takes the role {role} in the tenant, or a mightier one. An owner can give it to you."
                )
            }
        };
        fault(Problem::new(Code::MissingScope, detail))
    }
}

fn to_sign_in(request: &Request) -> Response {
    let to = sign_in_path(request.method(), request.uri());
    if request.headers().contains_key("hx-request") {
        // A script would put the page of the sign-in into the middle of another page.
        let location = HeaderValue::from_str(&to).unwrap_or(HeaderValue::from_static("/sign-in"));
        return (StatusCode::UNAUTHORIZED, [("hx-redirect", location)]).into_response();
    }
    Redirect::to(&to).into_response()
}

/// The tenant's name in a path that begins with `/t/{slug}`. A name has only characters that a URL
/// leaves as they are, so what is escaped is none.
fn slug(path: &str) -> &str {
    path.split('/').nth(2).unwrap_or_default()
}

async fn note_use(web: &Web, cookie: &Cookie, session: &Session) {
    let Some(id) = cookie.id() else { return };
    if let Err(error) = web.app.session_seen(store::hash(&id), session).await {
        // The page can be shown all the same; the session only seems idle for longer.
        tracing::debug!(%error, "the use of a session was not noted");
    }
}

fn method_not_allowed(path: &str) -> Response {
    let allowed = access::allowed_methods(PAGE_ROUTES, path);
    let mut response = fault(Problem::new(
        Code::MethodNotAllowed,
        "This address is not called so. Go back and try the page before.",
    ));
    if let Ok(value) = HeaderValue::from_str(&allowed) {
        response.headers_mut().insert(ALLOW, value);
    }
    response
}

fn fault(problem: Problem) -> Response {
    Fault::from(problem).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tenant_is_the_second_part_of_the_path() {
        assert_eq!(slug("/t/acme"), "acme");
        assert_eq!(slug("/t/acme/events/evt"), "acme");
        assert_eq!(slug("/t/a%63me/events"), "a%63me");
        assert_eq!(slug("/"), "");
    }
}
