//! Making a tenant, with an invitation for its first owner. Until they accept it, nobody is in it.

use restante_core::access::Role;
use restante_core::id::{InviteId, TenantId};
use restante_core::problem::Problem;
use restante_core::token::LinkToken;
use restante_store::StoreError;
use restante_store::control::invites::{self, InviteRow};
use restante_store::control::{audit, instance_audit};
use serde_json::json;

use super::super::administrator;
use crate::App;
use crate::members::INVITE_SECONDS;
use crate::people::{Actor, email};
use crate::tenants::make::{NewTenant, name_fault, slug_fault};
use crate::tenants::slug_of;

/// What is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewTenantAsked {
    /// Its name for people.
    pub name: String,
    /// Its name in commands and URLs; empty: made of the other one.
    pub slug: String,
    /// Who is to own it.
    pub owner: String,
}

/// A tenant that was made, with the link for its owner.
#[derive(Debug, Clone)]
pub struct CreatedTenant {
    /// The tenant.
    pub tenant: TenantId,
    /// Its name in commands and URLs.
    pub slug: String,
    /// Who is invited.
    pub owner: String,
    /// The link of the invitation, which is shown this once.
    pub link: LinkToken,
}

impl App {
    /// Makes a tenant and invites its owner.
    ///
    /// # Errors
    /// Faults of fields; `conflict` when the slug is taken; `missing-scope` for who is no administrator.
    pub async fn create_tenant(
        &self,
        actor: &Actor,
        asked: NewTenantAsked,
    ) -> Result<CreatedTenant, StoreError> {
        let now = self.clock.now();
        let name = asked.name.trim().to_owned();
        let typed = asked.slug.trim();
        let slug = if typed.is_empty() { slug_of(&name) } else { typed.to_owned() };
        let owner = email::normal(&asked.owner);
        let mut errors = Vec::new();
        errors.extend(name_fault(&name, "/name"));
        if errors.is_empty() {
            errors.extend(slug_fault(&slug, "/slug"));
        }
        errors.extend(email::fault(&owner, "/owner"));
        if !errors.is_empty() {
            return Err(Problem::fields(errors).into());
        }
        let new = NewTenant::draw(self, &slug, &name, now);
        let (tenant, link) = (new.row.id, LinkToken::new(self.random.bytes()));
        let invite = InviteRow {
            id: InviteId::new(now, self.random.bytes()),
            email: owner.clone(),
            role: Role::Owner,
            created_by: actor.name(),
            created_at: now,
            expires_at: now.plus_seconds(INVITE_SECONDS),
        };
        let detail = json!({ "slug": slug, "invited": owner });
        let line = |action| actor.line(&*self.random, now, action, tenant.to_string(), &detail);
        let (of_tenant, of_instance) = (line("tenant.create"), line("tenant.create"));
        let created = CreatedTenant { tenant, slug: slug.clone(), owner, link: link.clone() };
        let (actor, hash) = (actor.clone(), link.hash());
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    administrator(conn, &actor).await?;
                    new.insert(conn).await.map_err(|error| at_slug(error, &slug))?;
                    invites::insert(conn, tenant, &hash, invite).await?;
                    audit::insert(conn, tenant, of_tenant).await?;
                    instance_audit::insert(conn, of_instance).await
                })
            })
            .await?;
        Ok(created)
    }
}

/// A name that is taken is a fault of the field.
pub(super) fn at_slug(error: StoreError, slug: &str) -> StoreError {
    match error {
        StoreError::Problem(problem) if problem.code == restante_core::problem::Code::Conflict => taken(slug),
        StoreError::Taken { .. } => taken(slug),
        other => other,
    }
}

fn taken(slug: &str) -> StoreError {
    Problem::field("/slug", format!("There is already a tenant \"{slug}\". Choose another name.")).into()
}
