//! Signing somebody in who has shown all that they have to: a new session, and a mark for the browser.

use std::net::{IpAddr, Ipv4Addr};

use axum::Extension;
use axum::response::{IntoResponse as _, Redirect, Response};
use http::HeaderMap;
use http::header::SET_COOKIE;
use restante_app::context::{ClientAddress, RequestId};
use restante_app::people::Session;
use restante_core::id::{TenantId, UserId};
use tower_sessions::Session as Cookie;

use crate::fault::Fault;
use crate::session;
use crate::state::Web;

/// Signs somebody in, in that tenant if one is named, and leads them on.
pub(super) async fn enter(
    web: &Web,
    cookie: &Cookie,
    headers: &HeaderMap,
    user: UserId,
    tenant: Option<TenantId>,
    to: &str,
) -> Result<Response, Fault> {
    let mark = web.app.signed_in(user, session::device_mark(headers, &web.public)).await?;
    let new = web.app.new_session(user, false, &session::device_name(headers));
    session::begin(cookie, Session { current_tenant: tenant, ..new }).await?;
    let mut response = Redirect::to(to).into_response();
    response.headers_mut().append(SET_COOKIE, session::remember_device(&web.public, &mark));
    Ok(response)
}

/// Where a request comes from.
pub(super) fn address_of(address: Option<Extension<ClientAddress>>) -> IpAddr {
    address.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |Extension(address)| address.0)
}

/// The id of a request.
pub(super) fn id_of(id: Option<Extension<RequestId>>) -> Option<String> {
    id.map(|Extension(id)| id.0)
}
