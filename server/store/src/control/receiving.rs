//! What the receiving path reads of an endpoint, found by the token in its URL. The caller keeps it
//! for a few seconds; nothing here caches.

use restante_core::catalogue::DedupScope;
use restante_core::id::{EndpointId, SecretId, TenantId};
use restante_core::tenant_limits::{Limited, PerLimit, TenantLimits};
use restante_core::time::Timestamp;
use restante_core::token::TokenHash;

use super::{endpoints, lookups, secrets, tenant_limits};
use crate::deliveries::SeenEndpoint;
use crate::engine::sql::statements;
use crate::engine::{Conn, Row, StoreError, values};
use crate::store::Store;

/// An endpoint as deliveries need it. A deleted one is not found at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointRecord {
    /// Whose it is.
    pub tenant: TenantId,
    /// Whether the tenant takes no events for now.
    pub tenant_suspended: bool,
    /// The tenant's limits.
    pub limits: TenantLimits,
    /// Events and bytes that the tenant holds, where they are limited.
    pub held: PerLimit,
    /// What a commit compares, to find out whether this still holds.
    pub seen: SeenEndpoint,
    /// Its id.
    pub id: EndpointId,
    /// Its name for people.
    pub name: String,
    /// Its provider's slug.
    pub provider: String,
    /// Its options as a JSON object, without the secret ones.
    pub options: String,
    /// The secret options as a JSON object, sealed at `Place::endpoint_options`.
    pub options_sealed: Option<Vec<u8>>,
    /// Its secrets, ended ones among them, the oldest first.
    pub secrets: Vec<EndpointSecret>,
    /// The tenant's choice; `None` is what the catalogue knows.
    pub dedup_scope: Option<DedupScope>,
    /// The tenant's choice, in bytes; `None` is what the provider documents.
    pub max_body_bytes: Option<u64>,
    /// Whether it takes deliveries.
    pub enabled: bool,
}

/// One secret of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointSecret {
    /// Its id.
    pub id: SecretId,
    /// The secret, sealed at `Place::endpoint_secret`.
    pub secret_sealed: Vec<u8>,
    /// From when on it verifies nothing.
    pub expires_at: Option<Timestamp>,
}

impl EndpointSecret {
    /// Whether it verifies at a time.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|expires_at| now < expires_at)
    }
}

statements! {
    /// The endpoint that a token leads to.
    ENDPOINT_BY_TOKEN = across_tenants "the token is what names the tenant" both
        "SELECT t.id AS tenant_id, t.suspended, t.config_version, e.id, e.name, e.provider, e.options, e.options_sealed,
            e.dedup_scope, e.max_body_bytes, e.enabled, e.revision,
            q.deliveries_per_minute, q.endpoint_deliveries_per_minute, q.events_max, q.payload_bytes_max,
            q.endpoints_max, q.consumers_max, q.members_max,
            CASE WHEN q.events_max IS NULL THEN NULL ELSE (SELECT CAST(SUM(r.count) AS BIGINT) FROM rollups AS r
                WHERE r.tenant_id = t.id AND r.grain = 0 AND r.at = 0 AND r.subject = t.id AND r.metric = 'events_held') END AS events,
            CASE WHEN q.payload_bytes_max IS NULL THEN NULL ELSE (SELECT CAST(SUM(r.count) AS BIGINT) FROM rollups AS r
                WHERE r.tenant_id = t.id AND r.grain = 0 AND r.at = 0 AND r.subject = t.id AND r.metric = 'payload_bytes') END AS payload_bytes
            FROM lookups AS l JOIN tenants AS t ON t.id = l.tenant_id
            JOIN endpoints AS e ON e.tenant_id = l.tenant_id AND e.id = l.object_id
            LEFT JOIN tenant_limits AS q ON q.tenant_id = l.tenant_id
            WHERE l.hash = $1 AND l.kind = $2 AND e.deleted_at IS NULL AND t.deleted_at IS NULL";
}

impl Store {
    /// The endpoint that a token leads to; `None` for a token that is unknown or of a deleted endpoint.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn endpoint_by_token_hash(
        &self,
        token_hash: &TokenHash,
    ) -> Result<Option<EndpointRecord>, StoreError> {
        let hash = *token_hash;
        self.read(move |conn| Box::pin(find(conn, hash))).await
    }
}

async fn find(conn: &mut Conn<'_>, hash: TokenHash) -> Result<Option<EndpointRecord>, StoreError> {
    let Some(row) = conn.fetch_optional(&ENDPOINT_BY_TOKEN, values![hash.0, lookups::ENDPOINT]).await? else {
        return Ok(None);
    };
    let (tenant, id) = (TenantId(row.uuid("tenant_id")?), EndpointId(row.uuid("id")?));
    let secrets = secrets::of_endpoint(conn, tenant, id)
        .await?
        .into_iter()
        .map(|secret| EndpointSecret {
            id: secret.id,
            secret_sealed: secret.secret_sealed,
            expires_at: secret.expires_at,
        })
        .collect();
    Ok(Some(EndpointRecord {
        tenant,
        tenant_suspended: row.bool("suspended")?,
        limits: tenant_limits::read(&row)?,
        held: held(&row)?,
        seen: SeenEndpoint { config_version: row.int("config_version")?, revision: row.int("revision")? },
        id,
        name: row.text("name")?,
        provider: row.text("provider")?,
        options: row.text("options")?,
        options_sealed: row.blob_or_null("options_sealed")?,
        secrets,
        dedup_scope: endpoints::read_scope(&row)?,
        max_body_bytes: endpoints::read_max_body_bytes(&row)?,
        enabled: row.bool("enabled")?,
    }))
}

/// Where nothing was counted yet, nothing is held.
fn held(row: &Row) -> Result<PerLimit, StoreError> {
    let count = |column| row.int_or_null(column).map(|count| u64::try_from(count.unwrap_or(0)).unwrap_or(0));
    let held = PerLimit::default().with(Limited::Events, Some(count("events")?));
    Ok(held.with(Limited::PayloadBytes, Some(count("payload_bytes")?)))
}
