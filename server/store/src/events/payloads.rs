//! The sealed requests. Who asks bounds how many at once: a request may hold 32 MiB.

use restante_core::id::{PayloadId, TenantId};
use uuid::Uuid;

use super::sql;
use crate::engine::{Conn, StoreError, values};

/// One request as it is kept: sealed.
#[derive(Debug, Clone)]
pub struct PayloadRecord {
    /// Its id.
    pub id: PayloadId,
    /// The headers.
    pub headers_sealed: Vec<u8>,
    /// The body.
    pub body_sealed: Vec<u8>,
    /// The elements that are no plain slices of the body.
    pub decoded_sealed: Option<Vec<u8>>,
}

/// Requests by their ids, in no order. One that was removed is left out.
///
/// # Errors
/// What the database ran into.
pub async fn payloads(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    ids: &[PayloadId],
) -> Result<Vec<PayloadRecord>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
    let rows = conn.fetch_all(&sql::PAYLOADS_BY_ID, values![tenant, ids]).await?;
    rows.iter()
        .map(|row| {
            Ok(PayloadRecord {
                id: PayloadId(row.uuid("id")?),
                headers_sealed: row.blob("headers_sealed")?,
                body_sealed: row.blob("body_sealed")?,
                decoded_sealed: row.blob_or_null("decoded_sealed")?,
            })
        })
        .collect()
}
