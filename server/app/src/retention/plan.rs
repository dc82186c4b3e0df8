//! From the facts of a tenant to what holds for one of its endpoints: what is in force, the windows of its events,
//! how long its keys live, and from which moments on things are due.

use restante_core::catalogue::Catalogue;
use restante_core::filter::Filter;
use restante_core::id::EndpointId;
use restante_core::retention::{
    Bounds, DAY_SECONDS, Facts, KeyLife, Level, LiveSecrets, Policy, Resolved, RetryHorizon,
    UNKNOWN_WINDOW_DAYS, Window, key_life, resolve, windows,
};
use restante_core::time::Timestamp;
use restante_store::StoreError;
use restante_store::retention::{Cutoffs, EndpointFacts, OverrideRow, PolicyLevel, TenantFacts};
use serde::{Deserialize, Serialize};

/// What administrators have set for the whole instance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InstanceRetention {
    /// Within what every level has to stay.
    pub bounds: Bounds,
    /// What counts where no tenant says anything.
    pub defaults: Policy,
}

impl InstanceRetention {
    /// Reads what is stored.
    pub(crate) fn read(stored: Option<&str>) -> Result<Self, StoreError> {
        let Some(text) = stored else { return Ok(Self::default()) };
        serde_json::from_str(text).map_err(|_| StoreError::Corrupt {
            statement: "retention of the instance",
            column: "value".to_owned(),
        })
    }
}

/// What holds for the events of an endpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct EndpointPlan {
    /// The endpoint.
    pub id: EndpointId,
    /// Its name.
    pub name: String,
    /// Its provider's slug.
    pub provider: String,
    /// Whether it is deleted; its events are still here.
    pub deleted: bool,
    /// What is in force, and where it comes from.
    pub resolved: Resolved,
    /// In which windows its events may come again.
    pub windows: Vec<Window>,
    /// How long its keys live.
    pub life: KeyLife,
    /// An administrator's word.
    pub overridden: Option<OverrideRow>,
    /// The secrets that keep keys whose scheme signs no id or no time.
    pub secrets: LiveSecrets,
    /// Whether all of its events are held.
    pub held: bool,
}

/// The levels of an endpoint of a provider, the narrowest first.
pub(super) fn levels(
    facts: &TenantFacts,
    instance: &InstanceRetention,
    endpoint: Option<EndpointId>,
    provider: Option<&str>,
) -> Vec<(Level, Policy)> {
    let of = |level: PolicyLevel| facts.policies.get(&level).copied();
    let own = endpoint.and_then(|endpoint| of(PolicyLevel::Endpoint(endpoint)));
    let providers = provider.and_then(|provider| of(PolicyLevel::Provider(provider.to_owned())));
    let levels = [
        (Level::Endpoint, own),
        (Level::Provider, providers),
        (Level::Tenant, of(PolicyLevel::Tenant)),
        (Level::Instance, Some(instance.defaults)),
    ];
    levels.into_iter().filter_map(|(level, policy)| Some((level, policy?))).collect()
}

impl EndpointPlan {
    /// What the facts make of an endpoint.
    pub(super) fn new(facts: &TenantFacts, instance: &InstanceRetention, endpoint: &EndpointFacts) -> Self {
        let levels = levels(facts, instance, Some(endpoint.id), Some(&endpoint.provider));
        let resolved = resolve(&levels, &instance.bounds);
        let consumers =
            facts.consumers.iter().filter(|consumer| reaches(&consumer.filter, endpoint)).map(|consumer| {
                RetryHorizon { name: consumer.name.clone(), max_attempts: consumer.max_attempts }
            });
        let windows = windows(&Facts {
            provider: Catalogue::builtin().get(&endpoint.provider),
            consumers: consumers.collect(),
            payload_days: resolved.payload_days.value,
            replay_days: resolved.replay_days.value,
            audit_days: resolved.audit_days.value,
            outage_days: resolved.outage_days.value,
        });
        let overridden = facts.overrides.get(&endpoint.id).cloned();
        let days = overridden.as_ref().map(|one| one.receipt_days);
        Self {
            id: endpoint.id,
            name: endpoint.name.clone(),
            provider: endpoint.provider.clone(),
            deleted: endpoint.deleted,
            resolved,
            life: key_life(resolved.receipt_days.value, &windows, days),
            windows,
            overridden,
            secrets: endpoint.secrets,
            held: facts.holds.tenant || facts.holds.endpoints.contains(&endpoint.id),
        }
    }

    /// From which moments on things are due at a time.
    pub fn cutoffs(&self, at: Timestamp) -> Cutoffs {
        let ago = |seconds: u64| at.plus_seconds(-i64::try_from(seconds).unwrap_or(i64::MAX));
        let days = |days: u32| ago(u64::from(days) * DAY_SECONDS);
        let Resolved { payload_days, payload_after_processed_hours, expire_unprocessed_days, .. } =
            self.resolved;
        Cutoffs {
            payload: days(payload_days.value),
            processed: payload_after_processed_hours.value.value().map(|hours| ago(u64::from(hours) * 3_600)),
            unprocessed: expire_unprocessed_days.value.value().map(days),
            key: ago(self.life.seconds),
        }
    }

    /// A key whose event a sender sent again after this moment stays: the provider may still be trying.
    pub(super) fn sent_before(&self, at: Timestamp) -> Timestamp {
        let known = Catalogue::builtin().get(&self.provider).and_then(|provider| provider.windows_known().0);
        let seconds = known.unwrap_or(UNKNOWN_WINDOW_DAYS * DAY_SECONDS);
        at.plus_seconds(-i64::try_from(seconds).unwrap_or(i64::MAX))
    }
}

/// Whether a consumer may be handed events of an endpoint, whatever their type.
fn reaches(filter: &Filter, endpoint: &EndpointFacts) -> bool {
    (filter.endpoints.is_empty() || filter.endpoints.contains(&endpoint.id))
        && (filter.providers.is_empty() || filter.providers.contains(&endpoint.provider))
}
