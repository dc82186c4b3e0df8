//! People as administrators see and change them.

use restante_core::id::UserId;
use restante_core::problem::{Code, Problem};
use restante_store::control::members::{self, MembershipRow};
use restante_store::control::users::{self, UserRow};
use restante_store::control::{devices, instance_audit, links, people, sessions};
use restante_store::{Conn, StoreError};
use serde_json::json;

use super::administrator;
use crate::App;
use crate::people::{Actor, email};

/// People on a page.
pub(crate) const PEOPLE_PER_PAGE: u32 = 50;
/// Tenants of one person that are shown.
const TENANTS_SHOWN_MAX: u32 = 50;

/// A page of people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeoplePage {
    /// The people, by address, with the tenants they belong to.
    pub people: Vec<(UserRow, Vec<MembershipRow>)>,
    /// The address behind which the next page goes on.
    pub next: Option<String>,
}

impl App {
    /// People whose address begins so, those behind an address.
    ///
    /// # Errors
    /// What the database ran into; `missing-scope` for who is no administrator.
    pub async fn people(
        &self,
        actor: &Actor,
        begins: &str,
        after: Option<&str>,
    ) -> Result<PeoplePage, StoreError> {
        let (begins, after) = (email::normal(begins), after.map(email::normal).unwrap_or_default());
        let actor = actor.clone();
        self.store
            .read(move |conn| {
                Box::pin(async move {
                    administrator(conn, &actor).await?;
                    let mut found = people::page(conn, &begins, &after, PEOPLE_PER_PAGE + 1).await?;
                    let more = found.len() > PEOPLE_PER_PAGE as usize;
                    found.truncate(PEOPLE_PER_PAGE as usize);
                    let next = found.last().filter(|_| more).map(|last| last.email.clone());
                    let mut people = Vec::with_capacity(found.len());
                    for person in found {
                        let tenants = members::of_user(conn, person.id, TENANTS_SHOWN_MAX).await?;
                        people.push((person, tenants));
                    }
                    Ok(PeoplePage { people, next })
                })
            })
            .await
    }

    /// One person with the tenants they belong to.
    ///
    /// # Errors
    /// `not-found` when there is no such person; `missing-scope` for who is no administrator.
    pub async fn person(
        &self,
        actor: &Actor,
        user: UserId,
    ) -> Result<(UserRow, Vec<MembershipRow>), StoreError> {
        let actor = actor.clone();
        self.store
            .read(move |conn| {
                Box::pin(async move {
                    administrator(conn, &actor).await?;
                    let person = person_or_none(conn, user).await?;
                    Ok((person, members::of_user(conn, user, TENANTS_SHOWN_MAX).await?))
                })
            })
            .await
    }

    /// Makes somebody administrator of the instance, or no longer.
    ///
    /// # Errors
    /// `not-found`; `conflict` for the last administrator; `missing-scope` for who is none.
    pub async fn set_administrator(&self, actor: &Actor, user: UserId, is: bool) -> Result<(), StoreError> {
        let now = self.clock.now();
        let action = if is { "administrator.make" } else { "administrator.revoke" };
        let line = actor.line(&*self.random, now, action, user.to_string(), &json!({}));
        let actor = actor.clone();
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    administrator(conn, &actor).await?;
                    let person = person_or_none(conn, user).await?;
                    if is && person.disabled_at.is_some() {
                        let detail = "This account is disabled. Enable it before.";
                        return Err(Problem::new(Code::Conflict, detail).into());
                    }
                    if !is {
                        leave_an_administrator(conn, user).await?;
                    }
                    if people::set_administrator(conn, user, is).await? {
                        instance_audit::insert(conn, line).await?;
                    }
                    Ok(())
                })
            })
            .await
    }

    /// Disables an account, which ends its sessions and links at once, or enables it again. What it made
    /// in tenants stays.
    ///
    /// # Errors
    /// `not-found`; `conflict` for the last administrator; `missing-scope` for who is none.
    pub async fn set_disabled(&self, actor: &Actor, user: UserId, is: bool) -> Result<(), StoreError> {
        let now = self.clock.now();
        let action = if is { "person.disable" } else { "person.enable" };
        let line = actor.line(&*self.random, now, action, user.to_string(), &json!({}));
        let actor = actor.clone();
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    administrator(conn, &actor).await?;
                    let person = person_or_none(conn, user).await?;
                    if person.disabled_at.is_some() == is {
                        return Ok(());
                    }
                    if is {
                        if actor.user() == Some(user) {
                            let detail = "You can't disable your own account. Another administrator can.";
                            return Err(Problem::new(Code::Conflict, detail).into());
                        }
                        leave_an_administrator(conn, user).await?;
                        sessions::revoke_all(conn, user, None).await?;
                        devices::forget(conn, user).await?;
                        links::drop_of_user(conn, user, now).await?;
                    }
                    people::set_disabled(conn, user, is.then_some(now)).await?;
                    instance_audit::insert(conn, line).await
                })
            })
            .await
    }

    /// Ends every session of somebody; tells how many.
    ///
    /// # Errors
    /// `not-found`; `missing-scope` for who is no administrator.
    pub async fn end_sessions_of(&self, actor: &Actor, user: UserId) -> Result<u64, StoreError> {
        let now = self.clock.now();
        let line = actor.line(&*self.random, now, "person.end_sessions", user.to_string(), &json!({}));
        let actor = actor.clone();
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    administrator(conn, &actor).await?;
                    person_or_none(conn, user).await?;
                    let ended = sessions::revoke_all(conn, user, None).await?;
                    instance_audit::insert(conn, line).await?;
                    Ok(ended)
                })
            })
            .await
    }
}

async fn person_or_none(conn: &mut Conn<'_>, user: UserId) -> Result<UserRow, StoreError> {
    match users::by_id(conn, user).await? {
        Some((person, _)) => Ok(person),
        None => Err(Problem::new(Code::NotFound, "There is no such person.").into()),
    }
}

/// Sees to it that somebody administers the instance when this person does no longer.
async fn leave_an_administrator(conn: &mut Conn<'_>, leaving: UserId) -> Result<(), StoreError> {
    if people::lock_administrators(conn).await? == [leaving] {
        let detail = "This is the only administrator of the instance. Make somebody else one before.";
        return Err(Problem::new(Code::Conflict, detail).into());
    }
    Ok(())
}
