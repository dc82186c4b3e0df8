//! Saying how long things are kept. A policy is refused when it, or what it changes, would let a key go while its
//! event may still come again; the refusal names the endpoint, the window and its source.

use restante_core::catalogue::Catalogue;
use restante_core::id::{EndpointId, TenantId};
use restante_core::problem::{FieldError, Problem};
use restante_core::retention::{
    Bounds, DAY_SECONDS, Facts, Policy, Resolved, WindowKind, check, resolve, windows,
};
use restante_core::time::Timestamp;
use restante_store::control::{audit, endpoints, tenants};
use restante_store::retention::{self, PolicyLevel, PolicyRow, TenantFacts};
use restante_store::{Conn, StoreError};
use serde_json::json;

use super::plan::{EndpointPlan, InstanceRetention, levels};
use crate::{App, By};

/// What a tenant has said, and what is in force.
#[derive(Debug, Clone)]
pub struct TenantRetention {
    /// What the tenant itself says.
    pub own: Policy,
    /// What it says for single providers.
    pub providers: Vec<(String, Policy)>,
    /// What is in force where no endpoint and no provider says otherwise.
    pub in_force: Resolved,
    /// Within what every level has to stay.
    pub bounds: Bounds,
    /// Whether everything of the tenant is held.
    pub held: bool,
    /// Its endpoints, deleted ones too, with what holds for each.
    pub endpoints: Vec<EndpointPlan>,
}

impl TenantRetention {
    pub(super) fn new(facts: &TenantFacts) -> Result<Self, StoreError> {
        let instance = InstanceRetention::read(facts.instance.as_deref())?;
        let mut providers: Vec<(String, Policy)> = facts
            .policies
            .iter()
            .filter_map(|(level, policy)| match level {
                PolicyLevel::Provider(provider) => Some((provider.clone(), *policy)),
                PolicyLevel::Tenant | PolicyLevel::Endpoint(_) => None,
            })
            .collect();
        providers.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(Self {
            own: facts.policies.get(&PolicyLevel::Tenant).copied().unwrap_or_default(),
            providers,
            in_force: resolve(&levels(facts, &instance, None, None), &instance.bounds),
            bounds: instance.bounds,
            held: facts.holds.tenant,
            endpoints: facts.endpoints.iter().map(|one| EndpointPlan::new(facts, &instance, one)).collect(),
        })
    }
}

impl App {
    /// What the caller's tenant has said, and what is in force.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn retention(&self, by: &By) -> Result<TenantRetention, StoreError> {
        let (tenant, now) = (by.tenant(), self.clock.now());
        let facts = self.store.read(move |conn| Box::pin(retention::facts(conn, tenant, None, now))).await?;
        TenantRetention::new(&facts)
    }

    /// What holds for an endpoint of the caller's tenant.
    ///
    /// # Errors
    /// Not found.
    pub async fn endpoint_retention(&self, by: &By, id: EndpointId) -> Result<EndpointPlan, StoreError> {
        let (tenant, now) = (by.tenant(), self.clock.now());
        let facts =
            self.store.read(move |conn| Box::pin(retention::facts(conn, tenant, Some(id), now))).await?;
        let instance = InstanceRetention::read(facts.instance.as_deref())?;
        let found = facts.endpoints.first().filter(|endpoint| !endpoint.deleted);
        let found = found.ok_or_else(|| Problem::not_found("endpoint"))?;
        Ok(EndpointPlan::new(&facts, &instance, found))
    }

    /// Days for which the keys of an endpoint's events stay by what is in force now, also of one that was deleted.
    ///
    /// # Errors
    /// Not found.
    pub async fn key_days(&self, by: &By, id: EndpointId) -> Result<u64, StoreError> {
        let (tenant, now) = (by.tenant(), self.clock.now());
        let facts =
            self.store.read(move |conn| Box::pin(retention::facts(conn, tenant, Some(id), now))).await?;
        let instance = InstanceRetention::read(facts.instance.as_deref())?;
        let found = facts.endpoints.first().ok_or_else(|| Problem::not_found("endpoint"))?;
        Ok(EndpointPlan::new(&facts, &instance, found).life.seconds / DAY_SECONDS)
    }

    /// Says how long the caller's tenant keeps things; an empty policy says nothing.
    ///
    /// # Errors
    /// Each value out of bounds, or the window that a key would not outlive; then nothing is changed.
    pub async fn set_retention(&self, by: &By, policy: Policy) -> Result<TenantRetention, StoreError> {
        self.say(by, PolicyLevel::Tenant, policy).await
    }

    /// Says how long the caller's tenant keeps the things of a provider.
    ///
    /// # Errors
    /// As [`App::set_retention`]; not found for a provider that the catalogue lacks.
    pub async fn set_provider_retention(
        &self,
        by: &By,
        provider: &str,
        policy: Policy,
    ) -> Result<TenantRetention, StoreError> {
        if Catalogue::builtin().get(provider).is_none() {
            return Err(Problem::not_found("provider").into());
        }
        self.say(by, PolicyLevel::Provider(provider.to_owned()), policy).await
    }

    /// Says how long an endpoint keeps things.
    ///
    /// # Errors
    /// As [`App::set_retention`]; not found.
    pub async fn set_endpoint_retention(
        &self,
        by: &By,
        id: EndpointId,
        policy: Policy,
    ) -> Result<TenantRetention, StoreError> {
        self.say(by, PolicyLevel::Endpoint(id), policy).await
    }

    /// Whether the caller's tenant may say this. Nothing is saved.
    ///
    /// # Errors
    /// As [`App::set_retention`].
    pub async fn check_retention(
        &self,
        by: &By,
        level: PolicyLevel,
        policy: Policy,
    ) -> Result<(), StoreError> {
        let (tenant, now) = (by.tenant(), self.clock.now());
        let facts = self.store.read(move |conn| Box::pin(retention::facts(conn, tenant, None, now))).await?;
        let instance = InstanceRetention::read(facts.instance.as_deref())?;
        let faults = faults(&facts, &instance, &level, policy);
        if faults.is_empty() { Ok(()) } else { Err(Problem::fields(faults).into()) }
    }

    async fn say(&self, by: &By, level: PolicyLevel, policy: Policy) -> Result<TenantRetention, StoreError> {
        let (tenant, now) = (by.tenant(), self.clock.now());
        let (subject, detail) = match &level {
            PolicyLevel::Tenant => (tenant.to_string(), json!({ "policy": policy })),
            PolicyLevel::Provider(name) => {
                (tenant.to_string(), json!({ "provider": name, "policy": policy }))
            }
            PolicyLevel::Endpoint(id) => (id.to_string(), json!({ "policy": policy })),
        };
        let line = by.audit(&*self.random, now, "retention.policy", subject, &detail);
        let actor = by.actor();
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    tenants::config_changed(conn, tenant).await?;
                    if let PolicyLevel::Endpoint(id) = &level
                        && endpoints::get(conn, tenant, *id).await?.is_none()
                    {
                        return Err(Problem::not_found("endpoint").into());
                    }
                    write(conn, tenant, level, policy, actor, now, "").await?;
                    audit::insert(conn, tenant, line).await?;
                    TenantRetention::new(&retention::facts(conn, tenant, None, now).await?)
                })
            })
            .await
    }
}

/// Writes a policy if it may be. The caller has told commits that the tenant's configuration changes. `pointer`
/// stands before the fields at fault.
pub(crate) async fn write(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    level: PolicyLevel,
    policy: Policy,
    actor: String,
    now: Timestamp,
    pointer: &str,
) -> Result<(), StoreError> {
    let facts = retention::facts(conn, tenant, None, now).await?;
    let instance = InstanceRetention::read(facts.instance.as_deref())?;
    let mut faults = faults(&facts, &instance, &level, policy);
    if !faults.is_empty() {
        for fault in &mut faults {
            fault.pointer.insert_str(0, pointer);
        }
        return Err(Problem::fields(faults).into());
    }
    if policy.is_empty() {
        return retention::delete_policy(conn, tenant, &level).await.map(|_| ());
    }
    let row = PolicyRow { level, policy, updated_by: actor, updated_at: now };
    retention::put_policy(conn, tenant, &row).await
}

/// What is wrong with a policy.
fn faults(
    facts: &TenantFacts,
    instance: &InstanceRetention,
    level: &PolicyLevel,
    policy: Policy,
) -> Vec<FieldError> {
    let mut faults = policy.faults(&instance.bounds, *level != PolicyLevel::Tenant);
    if faults.is_empty() {
        faults.extend(breach(facts, &said(facts, level, policy), instance, level));
    }
    faults
}

/// The facts as they would be with another policy.
pub(super) fn said(facts: &TenantFacts, level: &PolicyLevel, policy: Policy) -> TenantFacts {
    let mut after = facts.clone();
    if policy.is_empty() {
        after.policies.remove(level);
    } else {
        after.policies.insert(level.clone(), policy);
    }
    after
}

/// The first endpoint whose keys would not outlive a window, of those for which something changes. What an
/// administrator has overridden is left to them.
fn breach(
    before: &TenantFacts,
    after: &TenantFacts,
    instance: &InstanceRetention,
    level: &PolicyLevel,
) -> Option<FieldError> {
    let found = after.endpoints.iter().filter(|endpoint| !endpoint.deleted).find_map(|endpoint| {
        let plan = EndpointPlan::new(after, instance, endpoint);
        if plan.overridden.is_some()
            || plan.resolved == EndpointPlan::new(before, instance, endpoint).resolved
        {
            return None;
        }
        let breach = check(plan.resolved.receipt_days.value, &plan.windows).err()?;
        Some((Some(plan.name), breach))
    });
    // A tenant without endpoints has windows of its own already.
    let of_tenant = || {
        let resolved = resolve(&levels(after, instance, None, None), &instance.bounds);
        let mut windows = windows(&Facts {
            provider: None,
            consumers: Vec::new(),
            payload_days: resolved.payload_days.value,
            replay_days: resolved.replay_days.value,
            audit_days: resolved.audit_days.value,
            outage_days: resolved.outage_days.value,
        });
        windows.retain(|window| window.kind != WindowKind::ProviderRetry);
        check(resolved.receipt_days.value, &windows).err().map(|breach| (None, breach))
    };
    let (name, breach) = found.or_else(|| (*level == PolicyLevel::Tenant).then(of_tenant).flatten())?;
    let detail = match name {
        Some(name) if !matches!(level, PolicyLevel::Endpoint(_)) => format!("Endpoint “{name}”: {breach}"),
        _ => breach.to_string(),
    };
    Some(FieldError { pointer: "/receipt_days".to_owned(), detail })
}
