//! Suspending a tenant, and letting it go on. While it is suspended its endpoints answer 503 with
//! `Retry-After`, and nothing of what they were sent is stored; no events are handed out; nothing is lost of
//! what is there. Its people see it, and why.

use restante_core::id::TenantId;
use restante_core::problem::Problem;
use restante_store::StoreError;
use restante_store::control::{audit, instance_audit, tenant_changes};
use serde_json::json;

use super::super::administrator;
use super::tenant_or_none;
use crate::App;
use crate::people::Actor;

/// Characters of a reason.
pub const REASON_CHARS_MAX: usize = 200;

impl App {
    /// Suspends a tenant. What is being committed ends before; what comes behind is answered 503.
    ///
    /// # Errors
    /// A fault of the reason; `not-found`; `missing-scope` for who is no administrator.
    pub async fn suspend_tenant(
        &self,
        actor: &Actor,
        tenant: TenantId,
        because: &str,
    ) -> Result<(), StoreError> {
        let because = because.trim().to_owned();
        if because.chars().count() > REASON_CHARS_MAX || because.chars().any(char::is_control) {
            let detail = format!("A reason has at most {REASON_CHARS_MAX} characters on one line.");
            return Err(Problem::field("/because", detail).into());
        }
        let because = (!because.is_empty()).then_some(because);
        let now = self.clock.now();
        let detail = json!({ "because": because });
        let line = || actor.line(&*self.random, now, "tenant.suspend", tenant.to_string(), &detail);
        let (of_tenant, of_instance) = (line(), line());
        let actor = actor.clone();
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    administrator(conn, &actor).await?;
                    tenant_or_none(conn, tenant).await?;
                    if tenant_changes::suspend(conn, tenant, now, because.as_deref()).await? {
                        audit::insert(conn, tenant, of_tenant).await?;
                        instance_audit::insert(conn, of_instance).await?;
                    }
                    Ok(())
                })
            })
            .await?;
        self.targets.forget_tenant(tenant);
        Ok(())
    }

    /// Lets a suspended tenant go on.
    ///
    /// # Errors
    /// `not-found`; `missing-scope` for who is no administrator.
    pub async fn resume_tenant(&self, actor: &Actor, tenant: TenantId) -> Result<(), StoreError> {
        let now = self.clock.now();
        let line = || actor.line(&*self.random, now, "tenant.resume", tenant.to_string(), &json!({}));
        let (of_tenant, of_instance) = (line(), line());
        let actor = actor.clone();
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    administrator(conn, &actor).await?;
                    tenant_or_none(conn, tenant).await?;
                    if tenant_changes::resume(conn, tenant).await? {
                        audit::insert(conn, tenant, of_tenant).await?;
                        instance_audit::insert(conn, of_instance).await?;
                    }
                    Ok(())
                })
            })
            .await?;
        self.targets.forget_tenant(tenant);
        Ok(())
    }
}
