//! Setting a tenant's limits. They count from the next request on this node, and within five seconds on
//! others. What is above a new limit stays; nothing more comes on top of it.

use restante_core::id::TenantId;
use restante_core::problem::{FieldError, Problem};
use restante_core::tenant_limits::{Limited, TenantLimits};
use restante_store::StoreError;
use restante_store::control::{audit, instance_audit, tenant_limits, tenants};
use serde_json::{Map, Value};

use super::super::administrator;
use super::tenant_or_none;
use crate::App;
use crate::people::Actor;

impl App {
    /// Sets all limits of a tenant; what has no value is not limited.
    ///
    /// # Errors
    /// Faults of fields, which are named by [`Limited::as_str`]; `not-found`; `missing-scope`.
    pub async fn set_tenant_limits(
        &self,
        actor: &Actor,
        tenant: TenantId,
        limits: TenantLimits,
    ) -> Result<(), StoreError> {
        let errors: Vec<FieldError> =
            Limited::ALL.into_iter().filter_map(|what| fault(what, &limits)).collect();
        if !errors.is_empty() {
            return Err(Problem::fields(errors).into());
        }
        let now = self.clock.now();
        let (random, actor) = (std::sync::Arc::clone(&self.random), actor.clone());
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    administrator(conn, &actor).await?;
                    tenant_or_none(conn, tenant).await?;
                    let before = tenant_limits::of_tenant(conn, tenant).await?;
                    if before == limits {
                        return Ok(());
                    }
                    tenants::config_changed(conn, tenant).await?;
                    tenant_limits::set(conn, tenant, &limits, now).await?;
                    let detail = Value::Object(changes(&before, &limits));
                    let line = || actor.line(&*random, now, "tenant.limits", tenant.to_string(), &detail);
                    audit::insert(conn, tenant, line()).await?;
                    instance_audit::insert(conn, line()).await
                })
            })
            .await?;
        self.targets.forget_tenant(tenant);
        Ok(())
    }
}

fn fault(what: Limited, limits: &TenantLimits) -> Option<FieldError> {
    let value = limits.get(what)?;
    let (least, most) = (what.value_min(), what.value_max());
    (!(least..=most).contains(&value)).then(|| FieldError {
        pointer: format!("/{}", what.as_str()),
        detail: format!("A number from {least} to {most}, or nothing for no limit."),
    })
}

/// What has changed, from what to what.
fn changes(before: &TenantLimits, after: &TenantLimits) -> Map<String, Value> {
    let word = |value: Option<u64>| value.map_or_else(|| "none".to_owned(), |value| value.to_string());
    Limited::ALL
        .into_iter()
        .filter(|what| before.get(*what) != after.get(*what))
        .map(|what| {
            let told = format!("{} to {}", word(before.get(what)), word(after.get(what)));
            (what.as_str().to_owned(), Value::String(told))
        })
        .collect()
}
