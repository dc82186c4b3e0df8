//! Answers that are kept for a day, so that a POST which is sent again with the same
//! `Idempotency-Key` makes nothing twice. The key is claimed in the transaction of what it makes:
//! the unique key decides who is first, and the second one waits for the first one's commit.

use restante_core::id::TenantId;
use restante_core::time::Timestamp;

use crate::engine::sql::statements;
use crate::engine::{Conn, StoreError, values};

/// A kept answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptAnswer {
    /// The keyed digest of the request that it answered.
    pub request_hash: Vec<u8>,
    /// What was answered, sealed.
    pub answer_sealed: Vec<u8>,
}

statements! {
    /// Claims a key, also one whose answer is older than it is kept.
    IDEMPOTENCY_CLAIM = both
        "INSERT INTO idempotency_keys (tenant_id, key_hash, request_hash, answer_sealed, created_at)
            VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (tenant_id, key_hash) DO UPDATE SET request_hash = excluded.request_hash,
            answer_sealed = excluded.answer_sealed, created_at = excluded.created_at
            WHERE idempotency_keys.created_at < $6";

    /// The answer under a key.
    IDEMPOTENCY_KEPT = both
        "SELECT request_hash, answer_sealed FROM idempotency_keys
            WHERE tenant_id = $1 AND key_hash = $2 AND created_at >= $3";

    // Differs because only PostgreSQL has several writers, which must not wait for each other here.
    /// Removes answers that are no longer kept.
    IDEMPOTENCY_EXPIRE =
        across_tenants "time alone decides which answers go"
        sqlite "DELETE FROM idempotency_keys WHERE (tenant_id, key_hash) IN
            (SELECT tenant_id, key_hash FROM idempotency_keys WHERE created_at < $1 LIMIT $2)"
        postgres "DELETE FROM idempotency_keys WHERE (tenant_id, key_hash) IN
            (SELECT tenant_id, key_hash FROM idempotency_keys WHERE created_at < $1 LIMIT $2 FOR UPDATE SKIP LOCKED)";
}

/// Claims a key for an answer. Gives the answer that already stands under it, if there is one that
/// was kept since `kept_since`; then nothing was claimed and nothing may be made.
///
/// # Errors
/// What the database ran into.
pub async fn claim(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    key_hash: &[u8; 32],
    answer: KeptAnswer,
    at: Timestamp,
    kept_since: Timestamp,
) -> Result<Option<KeptAnswer>, StoreError> {
    let KeptAnswer { request_hash, answer_sealed } = answer;
    let values = values![tenant, *key_hash, request_hash, answer_sealed, at, kept_since];
    if conn.execute(&IDEMPOTENCY_CLAIM, values).await? == 1 {
        return Ok(None);
    }
    kept(conn, tenant, key_hash, kept_since).await
}

/// The answer that stands under a key, if one was kept since `kept_since`.
///
/// # Errors
/// What the database ran into.
pub async fn kept(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    key_hash: &[u8; 32],
    kept_since: Timestamp,
) -> Result<Option<KeptAnswer>, StoreError> {
    let row = conn.fetch_optional(&IDEMPOTENCY_KEPT, values![tenant, *key_hash, kept_since]).await?;
    row.map(|row| {
        Ok(KeptAnswer { request_hash: row.blob("request_hash")?, answer_sealed: row.blob("answer_sealed")? })
    })
    .transpose()
}

/// Removes at most `limit` answers that were kept before a time; tells how many.
///
/// # Errors
/// What the database ran into.
pub async fn expire(conn: &mut Conn<'_>, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
    conn.execute(&IDEMPOTENCY_EXPIRE, values![before, limit]).await
}
