//! How a bare credential finds its tenant: the hash of an ingest token, of the look-up part of an API
//! key, or of an invitation's link. It is the only way from a credential to a tenant, and what else is asked names the tenant.

use restante_core::id::TenantId;
use restante_core::token::TokenHash;
use uuid::Uuid;

use crate::engine::sql::statements;
use crate::engine::{Conn, StoreError, values};

/// What a look-up leads to. The words are stored.
pub(super) const ENDPOINT: &str = "endpoint";
pub(super) const API_KEY: &str = "api_key";
pub(super) const INVITE: &str = "invite";

statements! {
    /// Adds a way from a credential to what it opens.
    LOOKUP_INSERT = both
        "INSERT INTO lookups (hash, kind, tenant_id, object_id) VALUES ($1, $2, $3, $4)";

    /// Takes it away.
    LOOKUP_DELETE = both
        "DELETE FROM lookups WHERE hash = $1 AND kind = $2 AND tenant_id = $3 AND object_id = $4";
}

pub(super) async fn insert(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    kind: &'static str,
    object: Uuid,
    hash: &TokenHash,
) -> Result<(), StoreError> {
    conn.execute(&LOOKUP_INSERT, values![hash.0, kind, tenant, object]).await.map(|_| ())
}

pub(super) async fn delete(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    kind: &'static str,
    object: Uuid,
    hash: &[u8],
) -> Result<(), StoreError> {
    conn.execute(&LOOKUP_DELETE, values![hash, kind, tenant, object]).await.map(|_| ())
}
