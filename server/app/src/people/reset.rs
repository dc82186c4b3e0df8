//! A new password by a link. It ends every session and every other link of the person, and leaves the
//! second factor where it is, unless the link was made to take it away.

use restante_core::id::UserId;
use restante_core::problem::Problem;
use restante_core::secret::Secret;
use restante_core::token::LinkToken;
use restante_store::StoreError;
use restante_store::control::links::{self, LinkKind};
use restante_store::control::{devices, instance_audit, second_factors, sessions, users};
use serde_json::json;

use super::actor::Actor;
use super::links::{belongs_elsewhere, belongs_here_alone, used_up};
use super::password;
use crate::App;

impl App {
    /// Sets a new password by a link; tells whose.
    ///
    /// # Errors
    /// `gone` when the link can't be used any more; a fault of the password, after which the link is as
    /// good as before.
    pub async fn reset_password(
        &self,
        link: &LinkToken,
        new: Secret<String>,
        request_id: Option<String>,
    ) -> Result<UserId, StoreError> {
        let (now, hash) = (self.clock.now(), link.hash());
        let found = self
            .store
            .read(move |conn| {
                Box::pin(async move {
                    let link = links::find(conn, &hash, now).await?;
                    let Some(user) =
                        link.filter(|link| link.kind == LinkKind::Reset).and_then(|link| link.user)
                    else {
                        return Ok(None);
                    };
                    users::by_id(conn, user).await
                })
            })
            .await?;
        let (person, _) = found.ok_or_else(used_up)?;
        if let Some(error) = password::fault(new.expose(), &person.email, "/password") {
            return Err(Problem::fields(vec![error]).into());
        }
        let new_hash = self.passwords.hash(new).await?;
        let user = person.id;
        let random = std::sync::Arc::clone(&self.random);
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    let link = links::take(conn, &hash, LinkKind::Reset, now).await?;
                    let link = link.filter(|link| link.user == Some(user)).ok_or_else(used_up)?;
                    if let Some(tenant) = link.only_tenant
                        && !belongs_here_alone(conn, tenant, user).await?
                    {
                        // They have joined another tenant since the link was made.
                        return Err(belongs_elsewhere());
                    }
                    users::set_password(conn, user, &new_hash, now).await?;
                    if link.drops_second_factor {
                        second_factors::delete(conn, user).await?;
                    }
                    sessions::revoke_all(conn, user, None).await?;
                    devices::forget(conn, user).await?;
                    links::drop_of_user(conn, user, now).await?;
                    let detail =
                        json!({ "link": link.id, "dropped_second_factor": link.drops_second_factor });
                    let actor = Actor::person(user, request_id);
                    let line = actor.line(&*random, now, "password.reset", user.to_string(), &detail);
                    instance_audit::insert(conn, line).await
                })
            })
            .await?;
        tracing::info!(user.id = %user, "a password was set by a link");
        Ok(user)
    }
}
