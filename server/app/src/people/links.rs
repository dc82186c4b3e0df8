//! One-time links: what one is for, before it is used; and making those that set a new password. A link
//! is shown once to whoever makes it; what is kept is a hash.

use restante_core::access::Role;
use restante_core::id::{LinkId, TenantId, UserId};
use restante_core::problem::{Code, Problem};
use restante_core::time::Timestamp;
use restante_core::token::LinkToken;
use restante_store::control::invites::{self, FoundInvite};
use restante_store::control::links::{self, LinkKind, LinkRow};
use restante_store::control::{audit, instance_audit, members, users};
use restante_store::{Conn, StoreError};
use serde_json::json;

use super::actor::Actor;
use super::email;
use crate::{App, By};

/// How long a link for a new password is good.
pub const RESET_SECONDS: i64 = 60 * 60;
/// How long a link of the demo is good: as long as a session at most.
const SIGN_IN_SECONDS: i64 = 12 * 60 * 60;

/// What a link is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenLink {
    /// Setting the instance up.
    SetUp,
    /// A new password for the person of this address.
    Reset {
        /// Whose.
        email: String,
        /// Whether the second factor goes with it.
        drops_second_factor: bool,
    },
    /// Signing in as the person of this address.
    SignIn {
        /// Whose.
        email: String,
    },
    /// An invitation into a tenant.
    Invite(Box<FoundInvite>),
}

impl App {
    /// What a link is for; `None` when it was used, has run out, or never was.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn open_link(&self, token: &LinkToken) -> Result<Option<OpenLink>, StoreError> {
        let (now, hash) = (self.clock.now(), token.hash());
        self.store
            .read(move |conn| {
                Box::pin(async move {
                    if let Some(invite) = invites::find(conn, &hash, now).await? {
                        return Ok(Some(OpenLink::Invite(Box::new(invite))));
                    }
                    let Some(link) = links::find(conn, &hash, now).await? else { return Ok(None) };
                    let Some(user) = link.user else { return Ok(Some(OpenLink::SetUp)) };
                    let Some((person, _)) = users::by_id(conn, user).await? else { return Ok(None) };
                    Ok(Some(match link.kind {
                        LinkKind::SetUp => OpenLink::SetUp,
                        LinkKind::Reset => OpenLink::Reset {
                            email: person.email,
                            drops_second_factor: link.drops_second_factor,
                        },
                        LinkKind::SignIn => OpenLink::SignIn { email: person.email },
                    }))
                })
            })
            .await
    }

    /// Makes a link with which somebody sets a new password, as an administrator or the operator. It also
    /// takes the second factor away when that is asked for, as it is for who has lost it.
    ///
    /// # Errors
    /// `not-found` when there is no such person.
    pub async fn new_reset_link(
        &self,
        actor: &Actor,
        user: UserId,
        drops_second_factor: bool,
    ) -> Result<LinkToken, StoreError> {
        let now = self.clock.now();
        let (token, mut link) = self.draw_link(LinkKind::Reset, user, actor.name(), RESET_SECONDS, now);
        link.drops_second_factor = drops_second_factor;
        let hash = token.hash();
        let detail = json!({ "link": link.id, "drops_second_factor": drops_second_factor });
        let line = actor.line(&*self.random, now, "person.reset_link", user.to_string(), &detail);
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    if users::by_id(conn, user).await?.is_none() {
                        return Err(no_person());
                    }
                    links::insert(conn, &hash, link).await?;
                    instance_audit::insert(conn, line).await
                })
            })
            .await?;
        Ok(token)
    }

    /// Makes such a link for a member, as an owner of the tenant. Only for who belongs to this tenant and
    /// nowhere else: with the password of anybody else the owner would come into other tenants too.
    ///
    /// # Errors
    /// `not-found` when it is no member; `conflict` when they belong elsewhere too.
    pub async fn new_member_reset_link(&self, by: &By, user: UserId) -> Result<LinkToken, StoreError> {
        let (now, tenant) = (self.clock.now(), by.tenant());
        let (token, mut link) = self.draw_link(LinkKind::Reset, user, by.actor(), RESET_SECONDS, now);
        link.only_tenant = Some(tenant);
        let hash = token.hash();
        let detail = json!({ "link": link.id });
        let line = by.audit(&*self.random, now, "member.reset_link", user.to_string(), &detail);
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    if members::role_of(conn, tenant, user).await?.is_none() {
                        return Err(Problem::not_found("member").into());
                    }
                    if !belongs_here_alone(conn, tenant, user).await? {
                        return Err(belongs_elsewhere());
                    }
                    links::insert(conn, &hash, link).await?;
                    audit::insert(conn, tenant, line).await
                })
            })
            .await?;
        Ok(token)
    }

    /// Makes a link that signs somebody in. Only the demo does so, for the person that it has just made.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn new_sign_in_link(&self, user: UserId) -> Result<LinkToken, StoreError> {
        let now = self.clock.now();
        let actor = Actor::operator();
        let (token, link) = self.draw_link(LinkKind::SignIn, user, actor.name(), SIGN_IN_SECONDS, now);
        let hash = token.hash();
        let line = actor.line(
            &*self.random,
            now,
            "person.sign_in_link",
            user.to_string(),
            &json!({ "link": link.id }),
        );
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    links::insert(conn, &hash, link).await?;
                    instance_audit::insert(conn, line).await
                })
            })
            .await?;
        Ok(token)
    }

    /// Who a link signs in, once.
    ///
    /// # Errors
    /// `gone` when it was used or has run out.
    pub async fn take_sign_in_link(&self, token: &LinkToken) -> Result<UserId, StoreError> {
        let (now, hash) = (self.clock.now(), token.hash());
        let taken = self
            .store
            .write(move |conn| Box::pin(async move { links::take(conn, &hash, LinkKind::SignIn, now).await }))
            .await?;
        taken.and_then(|link| link.user).ok_or_else(used_up)
    }

    /// The person of an address.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn person_of(&self, address: &str) -> Result<Option<UserId>, StoreError> {
        let address = email::normal(address);
        let found = self
            .store
            .read(move |conn| Box::pin(async move { users::by_email(conn, &address).await }))
            .await?;
        Ok(found.map(|(person, _)| person.id))
    }

    fn draw_link(
        &self,
        kind: LinkKind,
        user: UserId,
        created_by: String,
        seconds: i64,
        now: Timestamp,
    ) -> (LinkToken, LinkRow) {
        let row = LinkRow {
            id: LinkId::new(now, self.random.bytes()),
            kind,
            user: Some(user),
            only_tenant: None,
            drops_second_factor: false,
            created_by,
            created_at: now,
            expires_at: now.plus_seconds(seconds),
        };
        (LinkToken::new(self.random.bytes()), row)
    }
}

/// Whether the person belongs to this tenant, to no other, and does not administer the instance.
pub(super) async fn belongs_here_alone(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    user: UserId,
) -> Result<bool, StoreError> {
    let all = members::of_user(conn, user, 2).await?;
    let administers = users::by_id(conn, user).await?.is_some_and(|(person, _)| person.administrator);
    Ok(!administers && all.len() == 1 && all[0].tenant == tenant)
}

/// What is said of a link that can't be used.
pub(super) fn used_up() -> StoreError {
    Problem::new(
        Code::Gone,
        "This link was used, has run out, or was cut short. Ask whoever gave it to you for a new one.",
    )
    .into()
}

fn no_person() -> StoreError {
    Problem::new(Code::NotFound, "There is no such person.").into()
}

pub(super) fn belongs_elsewhere() -> StoreError {
    Problem::new(
        Code::Conflict,
        format!(
            "This person belongs to other tenants too, or administers the instance, so an {} of this one can't set their \
             password. An administrator of the instance can.",
            Role::Owner
        ),
    )
    .into()
}
