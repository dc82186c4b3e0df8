//! What administrators decide: bounds and defaults for every tenant, and the override of one endpoint's windows.

use restante_core::id::{EndpointId, TenantId};
use restante_core::problem::{FieldError, Problem};
use restante_core::retention::check;
use restante_store::StoreError;
use restante_store::control::instance_settings::{self, InstanceSetting};
use restante_store::control::{audit, endpoints, instance_audit, tenants};
use restante_store::retention::{self, OverrideRow};
use serde_json::json;

use super::holds::reason;
use super::plan::{EndpointPlan, InstanceRetention};
use crate::App;
use crate::administration::administrator;
use crate::people::Actor;

impl App {
    /// The bounds and defaults of the instance.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn instance_retention(&self) -> Result<InstanceRetention, StoreError> {
        let stored = self
            .store
            .read(|conn| Box::pin(instance_settings::read(conn, InstanceSetting::Retention)))
            .await?;
        InstanceRetention::read(stored.as_deref())
    }

    /// Sets the bounds and defaults of the instance. What tenants have said stays, and counts within the bounds.
    ///
    /// # Errors
    /// `missing-scope` for who is no administrator; a fault of a value.
    pub async fn set_instance_retention(
        &self,
        actor: &Actor,
        wanted: InstanceRetention,
    ) -> Result<(), StoreError> {
        let mut faults = wanted.bounds.faults();
        if faults.is_empty() {
            let in_defaults = |fault: FieldError| FieldError {
                pointer: format!("/defaults{}", fault.pointer),
                detail: fault.detail,
            };
            faults.extend(wanted.defaults.faults(&wanted.bounds, false).into_iter().map(in_defaults));
        }
        if !faults.is_empty() {
            return Err(Problem::fields(faults).into());
        }
        let now = self.clock.now();
        let line =
            actor.line(&*self.random, now, "retention.instance", "instance".to_owned(), &json!(wanted));
        let actor = actor.clone();
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    administrator(conn, &actor).await?;
                    let text = json!(wanted).to_string();
                    instance_settings::write(conn, InstanceSetting::Retention, &text).await?;
                    instance_audit::insert(conn, line).await
                })
            })
            .await
    }

    /// The tenant of a short name, for administrators.
    ///
    /// # Errors
    /// `missing-scope` for who is no administrator; a fault of the name.
    pub async fn tenant_named(&self, actor: &Actor, slug: &str) -> Result<TenantId, StoreError> {
        let (actor, slug) = (actor.clone(), slug.trim().to_owned());
        self.store
            .read(move |conn| {
                Box::pin(async move {
                    administrator(conn, &actor).await?;
                    let found = tenants::by_slug(conn, &slug).await?;
                    let none = || Problem::field("/tenant", "There is no tenant of that short name.");
                    Ok(found.ok_or_else(none)?.id)
                })
            })
            .await
    }

    /// Overrides the windows of an endpoint: its keys stay so many days, whatever may come again. Both audit logs say so.
    ///
    /// # Errors
    /// `missing-scope` for who is no administrator; not found; a fault of the days or the reason.
    pub async fn override_retention(
        &self,
        actor: &Actor,
        tenant: TenantId,
        endpoint: EndpointId,
        receipt_days: u32,
        why: &str,
    ) -> Result<(), StoreError> {
        let why = reason(why)?;
        if !(1..=3_650).contains(&receipt_days) {
            return Err(Problem::field("/receipt_days", "This is 1 to 3650 days.").into());
        }
        let now = self.clock.now();
        let row =
            OverrideRow { endpoint, receipt_days, reason: why, created_by: actor.name(), created_at: now };
        let detail = json!({ "tenant": tenant, "receipt_days": receipt_days, "reason": row.reason });
        let of_tenant = actor.line(&*self.random, now, "retention.override", endpoint.to_string(), &detail);
        let of_instance = actor.line(&*self.random, now, "retention.override", endpoint.to_string(), &detail);
        let actor = actor.clone();
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    administrator(conn, &actor).await?;
                    tenants::config_changed(conn, tenant).await?;
                    if endpoints::get(conn, tenant, endpoint).await?.is_none() {
                        return Err(Problem::not_found("endpoint").into());
                    }
                    let facts = retention::facts(conn, tenant, Some(endpoint), now).await?;
                    let instance = InstanceRetention::read(facts.instance.as_deref())?;
                    let plan = facts.endpoints.first().map(|one| EndpointPlan::new(&facts, &instance, one));
                    if plan.is_some_and(|plan| check(receipt_days, &plan.windows).is_ok()) {
                        let detail = "No window is broken by this, so there is nothing to override. The tenant can set it.";
                        return Err(Problem::field("/receipt_days", detail).into());
                    }
                    retention::put_override(conn, tenant, &row).await?;
                    audit::insert(conn, tenant, of_tenant).await?;
                    instance_audit::insert(conn, of_instance).await
                })
            })
            .await
    }

    /// Lifts an override.
    ///
    /// # Errors
    /// `missing-scope` for who is no administrator; not found.
    pub async fn lift_override(
        &self,
        actor: &Actor,
        tenant: TenantId,
        endpoint: EndpointId,
    ) -> Result<(), StoreError> {
        let now = self.clock.now();
        let detail = json!({ "tenant": tenant });
        let action = "retention.override_lift";
        let of_tenant = actor.line(&*self.random, now, action, endpoint.to_string(), &detail);
        let of_instance = actor.line(&*self.random, now, action, endpoint.to_string(), &detail);
        let actor = actor.clone();
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    administrator(conn, &actor).await?;
                    tenants::config_changed(conn, tenant).await?;
                    if !retention::delete_override(conn, tenant, endpoint).await? {
                        return Err(Problem::not_found("override of this endpoint").into());
                    }
                    audit::insert(conn, tenant, of_tenant).await?;
                    instance_audit::insert(conn, of_instance).await
                })
            })
            .await
    }
}
