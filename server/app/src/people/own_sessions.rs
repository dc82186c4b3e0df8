//! A person's own sessions: where they are signed in, and ending what they don't know.

use restante_core::id::{SessionId, UserId};
use restante_core::problem::{Code, Problem};
use restante_store::StoreError;
use restante_store::control::{instance_audit, sessions};
use serde_json::json;

use super::actor::Actor;
use super::session::{Session, alive};
use crate::App;

/// Sessions that a page lists.
const SESSIONS_SHOWN_MAX: u32 = 100;

impl App {
    /// The sessions of a person that live, the newest first.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn sessions_of(&self, user: UserId) -> Result<Vec<Session>, StoreError> {
        let now = self.clock.now();
        let rows = self
            .store
            .read(move |conn| {
                Box::pin(async move { sessions::of_user(conn, user, alive(now), SESSIONS_SHOWN_MAX).await })
            })
            .await?;
        Ok(rows.into_iter().map(Session::from).collect())
    }

    /// Ends one of the person's own sessions.
    ///
    /// # Errors
    /// `not-found` when they have no such session.
    pub async fn end_own_session(&self, actor: &Actor, session: SessionId) -> Result<(), StoreError> {
        let missing = || StoreError::from(Problem::new(Code::NotFound, "There is no such session."));
        let user = actor.user().ok_or_else(missing)?;
        let now = self.clock.now();
        let line =
            actor.line(&*self.random, now, "session.end", user.to_string(), &json!({ "session": session }));
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    if !sessions::revoke(conn, user, session).await? {
                        return Err(missing());
                    }
                    instance_audit::insert(conn, line).await
                })
            })
            .await
    }

    /// Ends all of the person's own sessions but the present one; tells how many.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn end_other_sessions(&self, actor: &Actor, but: SessionId) -> Result<u64, StoreError> {
        let Some(user) = actor.user() else { return Ok(0) };
        let now = self.clock.now();
        let line = actor.line(&*self.random, now, "session.end_others", user.to_string(), &json!({}));
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    let ended = sessions::revoke_all(conn, user, Some(but)).await?;
                    instance_audit::insert(conn, line).await?;
                    Ok(ended)
                })
            })
            .await
    }
}
