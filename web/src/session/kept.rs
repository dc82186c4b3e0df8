//! Reading, beginning and ending the session of a request.

use restante_app::people::Session;
use restante_core::problem::{Code, Problem};
use tower_sessions::Session as Cookie;

use super::store::ENTRY;

/// The session of a request, if it has one that lives.
pub(crate) async fn read(cookie: &Cookie) -> Result<Option<Session>, Problem> {
    cookie.get::<Session>(ENTRY).await.map_err(failed)
}

/// Begins a session in place of the one that the request came with. It always has a new id: who knew
/// the old one, or brought it along, has nothing of it.
pub(crate) async fn begin(cookie: &Cookie, session: Session) -> Result<(), Problem> {
    cookie.cycle_id().await.map_err(failed)?;
    cookie.insert(ENTRY, session).await.map_err(failed)
}

/// Ends the session of the request.
pub(crate) async fn end(cookie: &Cookie) -> Result<(), Problem> {
    if cookie.id().is_none() {
        return Ok(());
    }
    cookie.flush().await.map_err(failed)
}

fn failed(error: tower_sessions::session::Error) -> Problem {
    tracing::error!(%error, "a session can't be read or written");
    Problem::new(Code::Unavailable, "Sessions can't be read or written now. Try again in a few seconds.")
}
