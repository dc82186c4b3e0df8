//! What decides about the things of a tenant: its policies, overrides, holds, consumers and endpoints. Each batch
//! reads them anew inside its transaction.

use std::collections::HashMap;

use restante_core::filter::Filter;
use restante_core::id::{EndpointId, TenantId};
use restante_core::retention::{LiveSecrets, Policy};
use restante_core::time::Timestamp;
use uuid::Uuid;

use super::held::HoldFacts;
use super::policies::{self, OverrideRow, PolicyLevel};
use super::{holds, sql};
use crate::consumers;
use crate::control::instance_settings::{self, InstanceSetting};
use crate::engine::{Conn, Row, StoreError, values};

/// An endpoint, be it deleted: its events are still here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointFacts {
    /// Its id.
    pub id: EndpointId,
    /// Its name.
    pub name: String,
    /// Its provider's slug.
    pub provider: String,
    /// Whether it is deleted.
    pub deleted: bool,
    /// Its secrets that verify.
    pub secrets: LiveSecrets,
}

/// A consumer, as far as keys depend on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsumerFacts {
    /// Its name.
    pub name: String,
    /// Which events it may be handed.
    pub filter: Filter,
    /// How often it tries.
    pub max_attempts: u32,
}

/// What decides about the things of a tenant.
#[derive(Debug, Clone)]
pub struct TenantFacts {
    /// What administrators have set for the instance, as JSON; `None` while they have set nothing.
    pub instance: Option<String>,
    /// What the tenant has said.
    pub policies: HashMap<PolicyLevel, Policy>,
    /// What administrators have overridden.
    pub overrides: HashMap<EndpointId, OverrideRow>,
    /// What is held.
    pub holds: HoldFacts,
    /// Its consumers.
    pub consumers: Vec<ConsumerFacts>,
    /// Whether one of them is being handed what was here before it.
    pub backfilling: bool,
    /// Its endpoints: all, or the one that was asked for.
    pub endpoints: Vec<EndpointFacts>,
}

// A policy is a key of a map.
impl std::hash::Hash for PolicyLevel {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        match self {
            Self::Tenant => 0_u8.hash(state),
            Self::Provider(provider) => (1_u8, provider).hash(state),
            Self::Endpoint(endpoint) => (2_u8, endpoint).hash(state),
        }
    }
}

/// Endpoints that are read at once.
const ENDPOINTS_AT_ONCE: u32 = 1_000;

/// Holds the tenant's configuration still until the transaction ends; `false` when there is no such tenant.
///
/// # Errors
/// What the database ran into.
pub async fn hold_still(conn: &mut Conn<'_>, tenant: TenantId) -> Result<bool, StoreError> {
    Ok(conn.fetch_optional(&sql::RETENTION_TENANT_HELD, values![tenant]).await?.is_some())
}

/// The next tenants after one.
///
/// # Errors
/// What the database ran into.
pub async fn tenants_after(
    conn: &mut Conn<'_>,
    after: Option<TenantId>,
    limit: u32,
) -> Result<Vec<TenantId>, StoreError> {
    let after = after.map_or(Uuid::nil(), |tenant| tenant.0);
    let rows = conn.fetch_all(&sql::RETENTION_TENANTS, values![after, limit]).await?;
    rows.iter().map(|row| row.uuid("id").map(TenantId)).collect()
}

/// What decides about the things of a tenant now, with all of its endpoints or one of them. `at` is the time by which
/// a secret counts as ended.
///
/// # Errors
/// What the database ran into.
pub async fn facts(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    only: Option<EndpointId>,
    at: Timestamp,
) -> Result<TenantFacts, StoreError> {
    let instance = instance_settings::read(conn, InstanceSetting::Retention).await?;
    let policies =
        policies::policies(conn, tenant).await?.into_iter().map(|row| (row.level, row.policy)).collect();
    let overrides =
        policies::overrides(conn, tenant).await?.into_iter().map(|row| (row.endpoint, row)).collect();
    let held = HoldFacts::of(&holds::active_holds(conn, tenant).await?);
    let consumers = consumers::all(conn, tenant)
        .await?
        .into_iter()
        .map(|consumer| ConsumerFacts {
            name: consumer.name,
            filter: consumer.filter,
            max_attempts: consumer.max_attempts,
        })
        .collect();
    let backfilling = conn.fetch_optional(&sql::RETENTION_BACKFILLING, values![tenant]).await?.is_some();
    let mut since = HashMap::new();
    for row in conn.fetch_all(&sql::RETENTION_SECRETS, values![tenant, at]).await? {
        since.insert(row.text("provider")?, row.time("since")?);
    }
    let mut endpoints: Vec<EndpointFacts> = match only {
        Some(endpoint) => {
            let rows = conn.fetch_all(&sql::RETENTION_ENDPOINT, values![tenant, at, endpoint]).await?;
            rows.iter().map(endpoint_facts).collect::<Result<_, _>>()?
        }
        None => all_endpoints(conn, tenant, at).await?,
    };
    for endpoint in &mut endpoints {
        endpoint.secrets.oldest_of_provider = since.get(&endpoint.provider).copied();
    }
    Ok(TenantFacts { instance, policies, overrides, holds: held, consumers, backfilling, endpoints })
}

async fn all_endpoints(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    at: Timestamp,
) -> Result<Vec<EndpointFacts>, StoreError> {
    let mut found: Vec<EndpointFacts> = Vec::new();
    loop {
        let after = found.last().map_or(Uuid::nil(), |last| last.id.0);
        let values = values![tenant, at, after, ENDPOINTS_AT_ONCE];
        let rows = conn.fetch_all(&sql::RETENTION_ENDPOINTS, values).await?;
        for row in &rows {
            found.push(endpoint_facts(row)?);
        }
        if rows.len() < ENDPOINTS_AT_ONCE as usize {
            return Ok(found);
        }
    }
}

fn endpoint_facts(row: &Row) -> Result<EndpointFacts, StoreError> {
    Ok(EndpointFacts {
        id: EndpointId(row.uuid("id")?),
        name: row.text("name")?,
        provider: row.text("provider")?,
        deleted: row.time_or_null("deleted_at")?.is_some(),
        secrets: LiveSecrets { oldest: row.time_or_null("secret_since")?, oldest_of_provider: None },
    })
}
