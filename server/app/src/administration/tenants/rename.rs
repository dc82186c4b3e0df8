//! Giving a tenant other names. The URLs of its endpoints hold a token and no name, so they stay.

use restante_core::id::TenantId;
use restante_core::problem::Problem;
use restante_store::StoreError;
use restante_store::control::{audit, instance_audit, tenant_changes};
use serde_json::json;

use super::super::administrator;
use super::create::at_slug;
use super::{no_tenant, tenant_or_none};
use crate::App;
use crate::people::Actor;
use crate::tenants::make::{name_fault, slug_fault};

impl App {
    /// Gives a tenant other names: the one for people, and the one in commands and addresses of pages.
    ///
    /// # Errors
    /// Faults of fields, among them a slug that is taken; `not-found`; `missing-scope`.
    pub async fn rename_tenant(
        &self,
        actor: &Actor,
        tenant: TenantId,
        name: &str,
        slug: &str,
    ) -> Result<(), StoreError> {
        let (name, slug) = (name.trim().to_owned(), slug.trim().to_owned());
        let errors: Vec<_> =
            name_fault(&name, "/name").into_iter().chain(slug_fault(&slug, "/slug")).collect();
        if !errors.is_empty() {
            return Err(Problem::fields(errors).into());
        }
        let now = self.clock.now();
        let (random, actor) = (std::sync::Arc::clone(&self.random), actor.clone());
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    administrator(conn, &actor).await?;
                    let before = tenant_or_none(conn, tenant).await?;
                    if before.name == name && before.slug == slug {
                        return Ok(());
                    }
                    let renamed = tenant_changes::rename(conn, tenant, &slug, &name).await;
                    if !renamed.map_err(|error| at_slug(error, &slug))? {
                        return Err(no_tenant());
                    }
                    let detail = json!({
                        "name": name, "slug": slug, "name_before": before.name, "slug_before": before.slug,
                    });
                    let line = || actor.line(&*random, now, "tenant.rename", tenant.to_string(), &detail);
                    audit::insert(conn, tenant, line()).await?;
                    instance_audit::insert(conn, line()).await
                })
            })
            .await
    }
}
