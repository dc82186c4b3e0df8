//! Accepting an invitation: with a new account, or as the person of that address who is signed in. The
//! link makes nobody sign in who has an account already: what protects it, a second factor too, stays.

use restante_core::id::{TenantId, UserId};
use restante_core::problem::{Code, Problem};
use restante_core::secret::Secret;
use restante_core::token::LinkToken;
use restante_store::control::invites::{self, FoundInvite};
use restante_store::control::{audit, instance_audit, members, users};
use restante_store::{Conn, StoreError};
use serde_json::json;

use crate::App;
use crate::people::{Actor, email, password};

/// Who joined what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// The person.
    pub user: UserId,
    /// The tenant.
    pub tenant: TenantId,
    /// Its name in URLs.
    pub slug: String,
}

impl App {
    /// Whether the address of an invitation has an account, so that its owner has to sign in to accept.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn has_account(&self, address: &str) -> Result<bool, StoreError> {
        Ok(self.person_of(address).await?.is_some())
    }

    /// Accepts an invitation with a new account.
    ///
    /// # Errors
    /// `gone` when the invitation can't be accepted any more; `conflict` when there is an account of its
    /// address; a fault of the password. Then the invitation is as good as before.
    pub async fn accept_as_new(
        &self,
        link: &LinkToken,
        password: Secret<String>,
        request_id: Option<String>,
    ) -> Result<Accepted, StoreError> {
        let (now, hash) = (self.clock.now(), link.hash());
        let found = self
            .store
            .read(move |conn| Box::pin(async move { invites::find(conn, &hash, now).await }))
            .await?
            .ok_or_else(over)?;
        let address = found.invite.email.clone();
        if let Some(error) = password::fault(password.expose(), &address, "/password") {
            return Err(Problem::fields(vec![error]).into());
        }
        let password_hash = self.passwords.hash(password).await?;
        let user = UserId::new(now, self.random.bytes());
        let actor = Actor::person(user, request_id);
        let made = json!({ "tenant": found.tenant, "invite": found.invite.id });
        let of_instance = actor.line(&*self.random, now, "person.create", user.to_string(), &made);
        let line = joined(self, &actor, &found, user);
        let accepted = Accepted { user, tenant: found.tenant, slug: found.slug.clone() };
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    take(conn, &found, now).await?;
                    if !users::insert(conn, user, &address, &password_hash, now).await? {
                        return Err(sign_in_first());
                    }
                    members::insert(conn, found.tenant, user, found.invite.role, now).await?;
                    audit::insert(conn, found.tenant, line).await?;
                    instance_audit::insert(conn, of_instance).await
                })
            })
            .await?;
        Ok(accepted)
    }

    /// Accepts an invitation as somebody who is signed in.
    ///
    /// # Errors
    /// `gone` when the invitation can't be accepted any more; `conflict` when it is for another address,
    /// or they belong to the tenant already.
    pub async fn accept_as(
        &self,
        link: &LinkToken,
        user: UserId,
        request_id: Option<String>,
    ) -> Result<Accepted, StoreError> {
        let (now, hash) = (self.clock.now(), link.hash());
        let (found, person) = self
            .store
            .read(move |conn| {
                Box::pin(async move {
                    Ok((invites::find(conn, &hash, now).await?, users::by_id(conn, user).await?))
                })
            })
            .await?;
        let found = found.ok_or_else(over)?;
        let is_theirs = person.is_some_and(|(person, _)| person.email == email::normal(&found.invite.email));
        if !is_theirs {
            let detail =
                "This invitation is for another address. Sign out, and in as the person whom it invites.";
            return Err(Problem::new(Code::Conflict, detail).into());
        }
        let line = joined(self, &Actor::person(user, request_id), &found, user);
        let accepted = Accepted { user, tenant: found.tenant, slug: found.slug.clone() };
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    take(conn, &found, now).await?;
                    if members::role_of(conn, found.tenant, user).await?.is_some() {
                        let detail = "You belong to this tenant already.";
                        return Err(Problem::new(Code::Conflict, detail).into());
                    }
                    members::insert(conn, found.tenant, user, found.invite.role, now).await?;
                    audit::insert(conn, found.tenant, line).await
                })
            })
            .await?;
        Ok(accepted)
    }
}

async fn take(
    conn: &mut Conn<'_>,
    found: &FoundInvite,
    now: restante_core::time::Timestamp,
) -> Result<(), StoreError> {
    if invites::accept(conn, found.tenant, found.invite.id, now).await? { Ok(()) } else { Err(over()) }
}

fn joined(
    app: &App,
    actor: &Actor,
    found: &FoundInvite,
    user: UserId,
) -> restante_store::control::audit::AuditRow {
    let detail = json!({ "invite": found.invite.id, "role": found.invite.role.as_str() });
    actor.line(&*app.random, app.clock.now(), "member.join", user.to_string(), &detail)
}

fn over() -> StoreError {
    let detail = "This invitation was accepted, taken back, or has run out. Ask for a new one.";
    Problem::new(Code::Gone, detail).into()
}

fn sign_in_first() -> StoreError {
    let detail = "There is an account of this address. Sign in, and open the invitation once more.";
    Problem::new(Code::Conflict, detail).into()
}
