//! A new key for a tenant. The old one goes on opening what it sealed.

use restante_core::id::{TenantId, uuid_v7};
use restante_core::problem::{Code, Problem};
use restante_core::seal::KeyClass;
use restante_store::StoreError;
use restante_store::control::audit::AuditRow;
use restante_store::control::{audit, instance_audit, tenant_keys, tenants};
use serde_json::json;

use crate::App;
use crate::people::Actor;

impl App {
    /// The tenant that an operator names.
    ///
    /// # Errors
    /// `not-found`.
    pub async fn tenant_of_slug(&self, slug: &str) -> Result<TenantId, StoreError> {
        let name = slug.to_owned();
        let found =
            self.store.read(move |conn| Box::pin(async move { tenants::by_slug(conn, &name).await })).await?;
        let detail = format!("There is no tenant \"{slug}\".");
        found.map(|tenant| tenant.id).ok_or_else(|| Problem::new(Code::NotFound, detail).into())
    }

    /// Gives a tenant a new key of a class; gives its version. It seals from two minutes on, when every
    /// server has it; what the old one sealed stays as it is.
    ///
    /// # Errors
    /// `conflict` when another rotation came between; a sentence for the class of digests, which does not
    /// rotate.
    pub async fn rotate_tenant_key(
        &self,
        actor: &Actor,
        tenant: TenantId,
        class: KeyClass,
    ) -> Result<u32, StoreError> {
        if class == KeyClass::Digest {
            let detail = "The digest key does not rotate: digests of bodies are compared for as long as an event's id \
                          is known, and only the key that made one can compare it.";
            return Err(Problem::new(Code::Conflict, detail).into());
        }
        let (app, actor) = (self.clone(), actor.clone());
        let version = self
            .store
            .write(move |conn| {
                Box::pin(async move {
                    let rows = tenant_keys::of_tenant(conn, tenant).await?;
                    let newest = rows.iter().filter(|row| row.class == class).map(|row| row.version).max();
                    let gone = || Problem::new(Code::NotFound, "There is no such tenant.");
                    let version = newest.and_then(|newest| newest.checked_add(1)).ok_or_else(gone)?;
                    if tenant_keys::demote_active(conn, tenant, class).await? == 0 {
                        return Err(gone().into());
                    }
                    let now = conn.now().await?;
                    let row = app.keys.replacement(tenant, class, version, &*app.random);
                    tenant_keys::insert(conn, tenant, &row, now).await?;
                    let detail = json!({ "class": class.as_str(), "version": version });
                    note(conn, &app, &actor, tenant, "keys.rotate", &detail).await?;
                    Ok(version)
                })
            })
            .await?;
        self.keys.forget(tenant);
        Ok(version)
    }
}

/// Writes a line into the tenant's log and into the instance's.
pub(super) async fn note(
    conn: &mut restante_store::Conn<'_>,
    app: &App,
    actor: &Actor,
    tenant: TenantId,
    action: &'static str,
    detail: &serde_json::Value,
) -> Result<(), StoreError> {
    let now = app.clock.now();
    let line = actor.line(&*app.random, now, action, tenant.to_string(), detail);
    let of_instance = AuditRow { id: uuid_v7(now, app.random.bytes()), ..line.clone() };
    audit::insert(conn, tenant, line).await?;
    instance_audit::insert(conn, of_instance).await
}
