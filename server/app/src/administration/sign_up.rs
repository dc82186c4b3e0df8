//! Signing up without an invitation: closed until an administrator opens it. Who signs up gets an account
//! and a tenant of their own.

use std::net::IpAddr;

use restante_core::access::Role;
use restante_core::id::{TenantId, UserId};
use restante_core::problem::{Code, Problem};
use restante_core::secret::Secret;
use restante_store::StoreError;
use restante_store::control::instance_settings::{self, InstanceSetting};
use restante_store::control::{audit, instance_audit, members, users};
use serde_json::json;

use super::administrator;
use crate::App;
use crate::people::throttle::Counted;
use crate::people::{Actor, SetUpDone, email, password};
use crate::tenants::make::{NewTenant, name_fault, slug_fault};
use crate::tenants::slug_of;

const OPEN: &str = "open";
const CLOSED: &str = "closed";

/// What somebody chooses who signs up.
#[derive(Debug, Clone)]
pub struct SignUp {
    /// Their e-mail address.
    pub email: String,
    /// Their password.
    pub password: Secret<String>,
    /// Their tenant's name for people.
    pub tenant_name: String,
    /// Its name in commands and URLs; empty: made of the other one.
    pub slug: String,
    /// Where they come from.
    pub address: IpAddr,
}

impl App {
    /// Whether strangers may make an account.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn sign_up_is_open(&self) -> Result<bool, StoreError> {
        let decided =
            self.store.read(|conn| Box::pin(instance_settings::read(conn, InstanceSetting::SignUp))).await?;
        Ok(decided.as_deref() == Some(OPEN))
    }

    /// Opens or closes signing up.
    ///
    /// # Errors
    /// `missing-scope` for who is no administrator.
    pub async fn set_sign_up(&self, actor: &Actor, open: bool) -> Result<(), StoreError> {
        let now = self.clock.now();
        let action = if open { "sign_up.open" } else { "sign_up.close" };
        let line = actor.line(&*self.random, now, action, "instance".to_owned(), &json!({}));
        let actor = actor.clone();
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    administrator(conn, &actor).await?;
                    let word = if open { OPEN } else { CLOSED };
                    instance_settings::write(conn, InstanceSetting::SignUp, word).await?;
                    instance_audit::insert(conn, line).await
                })
            })
            .await
    }

    /// Makes an account and a tenant, whose owner it is.
    ///
    /// # Errors
    /// `not-found` while signing up is closed; `rate-limited`; a fault of a field.
    pub async fn sign_up(&self, asked: SignUp, request_id: Option<String>) -> Result<SetUpDone, StoreError> {
        if !self.sign_up_is_open().await? {
            return Err(closed());
        }
        let now = self.clock.now();
        self.throttle.begin(&[Counted::address(asked.address)], now)?;
        let email = email::normal(&asked.email);
        let tenant_name = asked.tenant_name.trim().to_owned();
        let typed = asked.slug.trim();
        let slug = if typed.is_empty() { slug_of(&tenant_name) } else { typed.to_owned() };
        let mut errors = Vec::new();
        errors.extend(email::fault(&email, "/email"));
        errors.extend(password::fault(asked.password.expose(), &email, "/password"));
        errors.extend(name_fault(&tenant_name, "/tenant_name"));
        if errors.iter().all(|error| error.pointer != "/tenant_name") {
            errors.extend(slug_fault(&slug, "/slug"));
        }
        if !errors.is_empty() {
            return Err(Problem::fields(errors).into());
        }
        let password_hash = self.passwords.hash(asked.password).await?;
        let user = UserId::new(now, self.random.bytes());
        let new_tenant = NewTenant::draw(self, &slug, &tenant_name, now);
        let tenant: TenantId = new_tenant.row.id;
        let actor = Actor::person(user, request_id);
        let detail = json!({ "slug": slug, "owner": user });
        let line = actor.line(&*self.random, now, "tenant.create", tenant.to_string(), &detail);
        let of_instance =
            actor.line(&*self.random, now, "person.sign_up", user.to_string(), &json!({ "tenant": tenant }));
        let done = SetUpDone { user, tenant, slug };
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    let decided = instance_settings::read(conn, InstanceSetting::SignUp).await?;
                    if decided.as_deref() != Some(OPEN) {
                        return Err(closed());
                    }
                    new_tenant.insert(conn).await?;
                    if !users::insert(conn, user, &email, &password_hash, now).await? {
                        let detail = "There is already an account of this address.";
                        return Err(Problem::field("/email", detail).into());
                    }
                    members::insert(conn, tenant, user, Role::Owner, now).await?;
                    audit::insert(conn, tenant, line).await?;
                    instance_audit::insert(conn, of_instance).await
                })
            })
            .await?;
        Ok(done)
    }
}

fn closed() -> StoreError {
    Problem::new(Code::NotFound, "Nobody can sign up here without an invitation.").into()
}
