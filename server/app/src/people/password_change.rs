//! Changing the own password, and proving anew that it is still the person who sits there.

use restante_core::id::{SessionId, UserId};
use restante_core::problem::{Code, Problem};
use restante_core::secret::Secret;
use restante_store::StoreError;
use restante_store::control::{devices, instance_audit, links, sessions, users};
use serde_json::json;

use super::actor::Actor;
use super::password::{self, Compared};
use super::throttle::Counted;
use crate::App;

impl App {
    /// Changes a person's password. Their other sessions end, and so do links that were made for them.
    ///
    /// # Errors
    /// A fault of a field: the old password is another one, or the new one can't be one.
    pub async fn change_password(
        &self,
        actor: &Actor,
        session: SessionId,
        old: Secret<String>,
        new: Secret<String>,
    ) -> Result<(), StoreError> {
        let user = actor.user().ok_or_else(nobody)?;
        let email = self.prove(user, session, old.clone(), "/old_password").await?;
        if old.expose() == new.expose() {
            let detail = "This is the password that you have already.";
            return Err(Problem::field("/new_password", detail).into());
        }
        if let Some(error) = password::fault(new.expose(), &email, "/new_password") {
            return Err(Problem::fields(vec![error]).into());
        }
        let hash = self.passwords.hash(new).await?;
        let now = self.clock.now();
        let line = actor.line(&*self.random, now, "password.change", user.to_string(), &json!({}));
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    users::set_password(conn, user, &hash, now).await?;
                    sessions::revoke_all(conn, user, Some(session)).await?;
                    devices::forget(conn, user).await?;
                    links::drop_of_user(conn, user, now).await?;
                    instance_audit::insert(conn, line).await
                })
            })
            .await
    }

    /// Checks that it is still the person: their password, a few times a session.
    ///
    /// # Errors
    /// A fault of the field `/password` when it is another one; `rate-limited` after too many attempts.
    pub async fn confirm_person(
        &self,
        user: UserId,
        session: SessionId,
        password: Secret<String>,
    ) -> Result<(), StoreError> {
        self.prove(user, session, password, "/password").await.map(|_| ())
    }

    /// Compares a password with the person's own; gives their address.
    async fn prove(
        &self,
        user: UserId,
        session: SessionId,
        password: Secret<String>,
        pointer: &'static str,
    ) -> Result<String, StoreError> {
        let counted = [Counted::Session(session)];
        self.throttle.begin(&counted, self.clock.now())?;
        let found =
            self.store.read(move |conn| Box::pin(async move { users::by_id(conn, user).await })).await?;
        let (person, kept) = found.ok_or_else(nobody)?;
        match self.passwords.compare(password, kept).await? {
            Compared::Wrong => {
                tracing::warn!(user.id = %user, "a password that was asked for again was wrong");
                Err(Problem::field(pointer, "This is not your password.").into())
            }
            Compared::Right | Compared::RightWithNewHash(_) => {
                self.throttle.succeed(&counted);
                Ok(person.email)
            }
        }
    }
}

fn nobody() -> StoreError {
    Problem::new(Code::Unauthorized, "This account is not there any more.").into()
}
