//! What is known of the sender's attempts at one event: the repeats, one by one as far as they are
//! logged, and the other bodies that came under its key.

use restante_core::id::{DeliveryId, EndpointId, PayloadId, ReceiptId, SecretId, TenantId};
use restante_core::limits;
use restante_core::time::Timestamp;
use uuid::Uuid;

use super::record::Slice;
use super::sql;
use crate::engine::{Conn, StoreError, values};

/// A repeated delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryRecord {
    /// Its id.
    pub id: DeliveryId,
    /// Where it came in.
    pub endpoint: EndpointId,
    /// When.
    pub received_at: Timestamp,
    /// `duplicate`.
    pub outcome: String,
    /// `delivery`, `reconciliation` or `test`.
    pub origin: String,
    /// Whether it carried the receipt's bytes.
    pub same_body: bool,
    /// Which secret verified it.
    pub secret: Option<SecretId>,
    /// The id of the request.
    pub request_id: Option<String>,
}

/// Another body of a receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VariantRecord {
    /// Its id.
    pub id: Uuid,
    /// When it came.
    pub received_at: Timestamp,
    /// The request that holds it.
    pub payload: PayloadId,
    /// Where in it.
    pub slice: Slice,
}

/// The logged repeats of a receipt, oldest first.
///
/// # Errors
/// What the database ran into.
pub async fn deliveries_of_receipt(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    receipt: ReceiptId,
) -> Result<Vec<DeliveryRecord>, StoreError> {
    let limit = limits::DELIVERIES_LOGGED_PER_RECEIPT_MAX as i64;
    let rows = conn.fetch_all(&sql::DELIVERIES_OF_RECEIPT, values![tenant, receipt, limit]).await?;
    rows.iter()
        .map(|row| {
            Ok(DeliveryRecord {
                id: DeliveryId(row.uuid("id")?),
                endpoint: EndpointId(row.uuid("endpoint_id")?),
                received_at: row.time("received_at")?,
                outcome: row.text("outcome")?,
                origin: row.text("origin")?,
                same_body: row.bool("same_body")?,
                secret: row.uuid_or_null("secret_id")?.map(SecretId),
                request_id: row.text_or_null("request_id")?,
            })
        })
        .collect()
}

/// The kept other bodies of a receipt, oldest first.
///
/// # Errors
/// What the database ran into.
pub async fn variants_of_receipt(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    receipt: ReceiptId,
) -> Result<Vec<VariantRecord>, StoreError> {
    let limit = limits::VARIANTS_PER_RECEIPT_MAX as i64;
    let rows = conn.fetch_all(&sql::VARIANTS_OF_RECEIPT, values![tenant, receipt, limit]).await?;
    rows.iter()
        .map(|row| {
            Ok(VariantRecord {
                id: row.uuid("id")?,
                received_at: row.time("received_at")?,
                payload: PayloadId(row.uuid("payload_id")?),
                slice: Slice::read(row)?,
            })
        })
        .collect()
}
