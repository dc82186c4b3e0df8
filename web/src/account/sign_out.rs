//! Signing out: the session ends on the server at once, whatever the browser keeps.

use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use http::header::SET_COOKIE;
use tower_sessions::Session as Cookie;

use crate::fault::Fault;
use crate::session::{self, Person};
use crate::state::Web;

pub(crate) async fn submit(State(web): State<Web>, _: Person, cookie: Cookie) -> Result<Response, Fault> {
    session::end(&cookie).await?;
    let mut response = Redirect::to("/sign-in?said=signed-out").into_response();
    response.headers_mut().append(SET_COOKIE, session::removal(&web.public));
    Ok(response)
}
