//! The first start: a one-time link, printed on the console, makes the first administrator and the first
//! tenant. Once there is an administrator, no such link opens anything.

use restante_core::access::Role;
use restante_core::id::{LinkId, TenantId, UserId};
use restante_core::problem::{Code, Problem};
use restante_core::secret::Secret;
use restante_core::token::LinkToken;
use restante_store::StoreError;
use restante_store::control::links::{self, LinkKind, LinkRow};
use restante_store::control::{audit, instance_audit, members, tenants, users};
use serde_json::json;

use super::actor::{Actor, OPERATOR};
use super::links::used_up;
use super::{email, password};
use crate::App;
use crate::tenants::make::{NewTenant, name_fault, slug_fault};
use crate::tenants::slug_of;

/// How long a set-up link is good; the next start makes a new one.
const SET_UP_SECONDS: i64 = 24 * 60 * 60;

/// What the first person chooses.
#[derive(Debug, Clone)]
pub struct SetUp {
    /// Their e-mail address.
    pub email: String,
    /// Their password.
    pub password: Secret<String>,
    /// The first tenant's name for people.
    pub tenant_name: String,
    /// Its name in commands and URLs; empty: made of the other one.
    pub slug: String,
}

/// What was set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetUpDone {
    /// The first administrator.
    pub user: UserId,
    /// The first tenant.
    pub tenant: TenantId,
    /// Its name in commands and URLs.
    pub slug: String,
}

impl App {
    /// Whether nobody administers the instance yet.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn needs_set_up(&self) -> Result<bool, StoreError> {
        self.store.read(|conn| Box::pin(async move { Ok(!tenants::has_administrator(conn).await?) })).await
    }

    /// Makes a set-up link, good for a day.
    ///
    /// # Errors
    /// `conflict` when somebody administers the instance already.
    pub async fn new_set_up_link(&self) -> Result<LinkToken, StoreError> {
        let now = self.clock.now();
        let token = LinkToken::new(self.random.bytes());
        let hash = token.hash();
        let link = LinkRow {
            id: LinkId::new(now, self.random.bytes()),
            kind: LinkKind::SetUp,
            user: None,
            only_tenant: None,
            drops_second_factor: false,
            created_by: OPERATOR.to_owned(),
            created_at: now,
            expires_at: now.plus_seconds(SET_UP_SECONDS),
        };
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    if tenants::has_administrator(conn).await? {
                        return Err(is_set_up());
                    }
                    links::insert(conn, &hash, link).await
                })
            })
            .await?;
        Ok(token)
    }

    /// Makes the first administrator and the first tenant, whose owner they are.
    ///
    /// # Errors
    /// A [`Problem`]: the link is used up, somebody was first, or a field at fault. Then nothing was made,
    /// and the link is as good as before.
    pub async fn set_up(
        &self,
        link: &LinkToken,
        asked: SetUp,
        request_id: Option<String>,
    ) -> Result<SetUpDone, StoreError> {
        let SetUp { email, password, tenant_name, slug } = asked;
        let email = email::normal(&email);
        let tenant_name = tenant_name.trim().to_owned();
        let slug = if slug.trim().is_empty() { slug_of(&tenant_name) } else { slug.trim().to_owned() };
        let mut errors = Vec::new();
        errors.extend(email::fault(&email, "/email"));
        errors.extend(password::fault(password.expose(), &email, "/password"));
        errors.extend(name_fault(&tenant_name, "/tenant_name"));
        if errors.iter().all(|error| error.pointer != "/tenant_name") {
            errors.extend(slug_fault(&slug, "/slug"));
        }
        if !errors.is_empty() {
            return Err(Problem::fields(errors).into());
        }
        let now = self.clock.now();
        let hash = link.hash();
        // Before the password is hashed, so that who has no link makes no work.
        let is_good = self
            .store
            .read(move |conn| {
                Box::pin(async move {
                    Ok(links::find(conn, &hash, now).await?.is_some_and(|link| link.kind == LinkKind::SetUp))
                })
            })
            .await?;
        if !is_good {
            return Err(used_up());
        }
        let password_hash = self.passwords.hash(password).await?;
        let user = UserId::new(now, self.random.bytes());
        let new_tenant = NewTenant::draw(self, &slug, &tenant_name, now);
        let tenant = new_tenant.row.id;
        let actor = Actor::person(user, request_id);
        let detail = json!({ "slug": slug, "owner": user });
        let line = actor.line(&*self.random, now, "tenant.create", tenant.to_string(), &detail);
        let of_instance =
            actor.line(&*self.random, now, "instance.set_up", user.to_string(), &json!({ "tenant": tenant }));
        let done = SetUpDone { user, tenant, slug };
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    if links::take(conn, &hash, LinkKind::SetUp, now).await?.is_none() {
                        return Err(used_up());
                    }
                    new_tenant.insert(conn).await?;
                    if !users::insert(conn, user, &email, &password_hash, now).await? {
                        return Err(
                            Problem::field("/email", "There is already an account of this address.").into()
                        );
                    }
                    members::insert(conn, tenant, user, Role::Owner, now).await?;
                    if !tenants::make_first_administrator(conn, user, now).await? {
                        return Err(is_set_up());
                    }
                    links::drop_of_kind(conn, LinkKind::SetUp, now).await?;
                    audit::insert(conn, tenant, line).await?;
                    instance_audit::insert(conn, of_instance).await
                })
            })
            .await?;
        tracing::info!(user.id = %user, tenant.id = %tenant, "the instance was set up");
        Ok(done)
    }
}

fn is_set_up() -> StoreError {
    Problem::new(Code::Conflict, "This instance is set up already: somebody administers it. Sign in.").into()
}
