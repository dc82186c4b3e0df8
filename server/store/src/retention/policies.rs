//! What tenants have said, as JSON of `core::retention::Policy`, and what administrators have overridden.

use restante_core::id::{EndpointId, TenantId};
use restante_core::retention::Policy;
use restante_core::time::Timestamp;

use crate::engine::sql::statements;
use crate::engine::{Conn, Row, StoreError, values};

/// Which policy of a tenant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum PolicyLevel {
    /// Its own.
    Tenant,
    /// That of all its endpoints of a provider.
    Provider(String),
    /// That of an endpoint.
    Endpoint(EndpointId),
}

impl PolicyLevel {
    fn stored(&self) -> (&'static str, String) {
        match self {
            Self::Tenant => ("tenant", String::new()),
            Self::Provider(provider) => ("provider", provider.clone()),
            Self::Endpoint(endpoint) => ("endpoint", endpoint.to_string()),
        }
    }
}

/// A policy as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyRow {
    /// Whose.
    pub level: PolicyLevel,
    /// What it says.
    pub policy: Policy,
    /// Who said it.
    pub updated_by: String,
    /// When.
    pub updated_at: Timestamp,
}

/// An override of an endpoint's windows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverrideRow {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// Days for which its keys stay, whatever the windows are.
    pub receipt_days: u32,
    /// Why.
    pub reason: String,
    /// Who said so.
    pub created_by: String,
    /// When.
    pub created_at: Timestamp,
}

statements! {
    /// Every policy of a tenant: its own, and at most one for each provider and endpoint.
    RETENTION_POLICIES = both
        "SELECT level, subject, policy, updated_by, updated_at FROM retention_policies WHERE tenant_id = $1";

    /// One of them.
    RETENTION_POLICY = both
        "SELECT level, subject, policy, updated_by, updated_at FROM retention_policies
            WHERE tenant_id = $1 AND level = $2 AND subject = $3";

    /// Says something.
    RETENTION_POLICY_PUT = both
        "INSERT INTO retention_policies (tenant_id, level, subject, policy, updated_by, updated_at)
            VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (tenant_id, level, subject)
            DO UPDATE SET policy = excluded.policy, updated_by = excluded.updated_by, updated_at = excluded.updated_at";

    /// Says nothing any more.
    RETENTION_POLICY_DELETE = both
        "DELETE FROM retention_policies WHERE tenant_id = $1 AND level = $2 AND subject = $3";

    /// Every override in a tenant, at most one for each endpoint.
    RETENTION_OVERRIDES = both
        "SELECT endpoint_id, receipt_days, reason, created_by, created_at FROM retention_overrides WHERE tenant_id = $1";

    /// Overrides.
    RETENTION_OVERRIDE_PUT = both
        "INSERT INTO retention_overrides (tenant_id, endpoint_id, receipt_days, reason, created_by, created_at)
            VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (tenant_id, endpoint_id)
            DO UPDATE SET receipt_days = excluded.receipt_days, reason = excluded.reason,
            created_by = excluded.created_by, created_at = excluded.created_at";

    /// Lifts an override.
    RETENTION_OVERRIDE_DELETE = both
        "DELETE FROM retention_overrides WHERE tenant_id = $1 AND endpoint_id = $2";
}

fn read(row: &Row) -> Result<PolicyRow, StoreError> {
    let subject = row.text("subject")?;
    let level = match row.text("level")?.as_str() {
        "tenant" => PolicyLevel::Tenant,
        "provider" => PolicyLevel::Provider(subject),
        "endpoint" => PolicyLevel::Endpoint(subject.parse().map_err(|_| row.broken("subject"))?),
        _ => return Err(row.broken("level")),
    };
    Ok(PolicyRow {
        level,
        policy: serde_json::from_str(&row.text("policy")?).map_err(|_| row.broken("policy"))?,
        updated_by: row.text("updated_by")?,
        updated_at: row.time("updated_at")?,
    })
}

/// Every policy of a tenant.
///
/// # Errors
/// What the database ran into.
pub async fn policies(conn: &mut Conn<'_>, tenant: TenantId) -> Result<Vec<PolicyRow>, StoreError> {
    conn.fetch_all(&RETENTION_POLICIES, values![tenant]).await?.iter().map(read).collect()
}

/// One policy of a tenant; `None` where it says nothing.
///
/// # Errors
/// What the database ran into.
pub async fn policy(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    level: &PolicyLevel,
) -> Result<Option<PolicyRow>, StoreError> {
    let (level, subject) = level.stored();
    let row = conn.fetch_optional(&RETENTION_POLICY, values![tenant, level, subject]).await?;
    row.as_ref().map(read).transpose()
}

/// Writes a policy. The caller has told commits that the configuration changes, which also keeps runs away.
///
/// # Errors
/// What the database ran into.
pub async fn put_policy(conn: &mut Conn<'_>, tenant: TenantId, row: &PolicyRow) -> Result<(), StoreError> {
    let (level, subject) = row.level.stored();
    let text = serde_json::json!(row.policy).to_string();
    let values = values![tenant, level, subject, text, row.updated_by.as_str(), row.updated_at];
    conn.execute(&RETENTION_POLICY_PUT, values).await.map(|_| ())
}

/// Removes a policy, so that a wider one counts; `false` when there is none.
///
/// # Errors
/// What the database ran into.
pub async fn delete_policy(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    level: &PolicyLevel,
) -> Result<bool, StoreError> {
    let (level, subject) = level.stored();
    Ok(conn.execute(&RETENTION_POLICY_DELETE, values![tenant, level, subject]).await? == 1)
}

/// Every override in a tenant.
pub(super) async fn overrides(conn: &mut Conn<'_>, tenant: TenantId) -> Result<Vec<OverrideRow>, StoreError> {
    let rows = conn.fetch_all(&RETENTION_OVERRIDES, values![tenant]).await?;
    rows.iter()
        .map(|row| {
            let days = row.int("receipt_days")?;
            Ok(OverrideRow {
                endpoint: EndpointId(row.uuid("endpoint_id")?),
                receipt_days: u32::try_from(days).map_err(|_| row.broken("receipt_days"))?,
                reason: row.text("reason")?,
                created_by: row.text("created_by")?,
                created_at: row.time("created_at")?,
            })
        })
        .collect()
}

/// Writes an override.
///
/// # Errors
/// What the database ran into.
pub async fn put_override(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    row: &OverrideRow,
) -> Result<(), StoreError> {
    let OverrideRow { endpoint, receipt_days, reason, created_by, created_at } = row;
    let values = values![tenant, *endpoint, *receipt_days, reason.as_str(), created_by.as_str(), *created_at];
    conn.execute(&RETENTION_OVERRIDE_PUT, values).await.map(|_| ())
}

/// Lifts an override; `false` when there is none.
///
/// # Errors
/// What the database ran into.
pub async fn delete_override(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoint: EndpointId,
) -> Result<bool, StoreError> {
    Ok(conn.execute(&RETENTION_OVERRIDE_DELETE, values![tenant, endpoint]).await? == 1)
}
