//! Switching to a tenant: from now on the person begins there. The session gets a new id.

use axum::Extension;
use axum::response::Redirect;
use restante_app::people::Session;
use tower_sessions::Session as Cookie;

use crate::fault::Fault;
use crate::session::{self, Member};

pub(crate) async fn submit(
    member: Member,
    cookie: Cookie,
    Extension(session): Extension<Session>,
) -> Result<Redirect, Fault> {
    session::begin(&cookie, Session { current_tenant: Some(member.here.tenant), ..session }).await?;
    Ok(Redirect::to(&format!("/t/{}", member.here.slug)))
}
