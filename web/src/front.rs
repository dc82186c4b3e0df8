//! The first page: what runs here, for whoever opens the address; for somebody who is signed in, the way
//! to where they work.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use restante_app::people::{Session, Who};
use tower_sessions::Session as Cookie;

use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::session;
use crate::state::Web;

#[derive(Template)]
#[template(path = "pages/front.html")]
struct Front;

impl Page for Front {}

pub(crate) async fn front(State(web): State<Web>, cookie: Cookie) -> Result<Response, Fault> {
    let signed_in = session::read(&cookie).await?.filter(|session| !session.awaits_code);
    let Some(session) = signed_in else { return Ok(answer(&Front)) };
    match web.app.who(session.user, None).await? {
        Some(who) => Ok(Redirect::to(&home(&who, &session)).into_response()),
        None => Ok(answer(&Front)),
    }
}

/// Where somebody begins: in the tenant they worked in last, or in their first one.
fn home(who: &Who, session: &Session) -> String {
    let last = who.tenants.iter().find(|tenant| Some(tenant.tenant) == session.current_tenant);
    match last.or(who.tenants.first()) {
        Some(tenant) => format!("/t/{}", tenant.slug),
        None if who.administrator => "/admin".to_owned(),
        None => "/account".to_owned(),
    }
}
