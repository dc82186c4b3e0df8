//! A receipt as it is read.

use restante_core::id::{EndpointId, PayloadId, ReceiptId, SecretId, TenantId};
use restante_core::time::Timestamp;
use uuid::Uuid;

use super::sql;
use crate::engine::{Conn, Row, StoreError, values};

/// Whether the bytes are still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PayloadState {
    /// They are.
    Stored,
    /// Retention has removed them; the receipt is a tombstone.
    Removed,
    /// They were erased on request.
    Erased,
}

impl PayloadState {
    /// The word in the API and in storage.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stored => "stored",
            Self::Removed => "removed",
            Self::Erased => "erased",
        }
    }
}

/// The durable record that Restante holds an event.
#[derive(Debug, Clone)]
pub struct Receipt {
    /// Its id.
    pub id: ReceiptId,
    /// The endpoint's provider.
    pub provider: String,
    /// Within what the key is unique.
    pub scope: String,
    /// What makes two deliveries the same event.
    pub event_key: String,
    /// The provider's id, for people.
    pub event_id: Option<String>,
    /// Where it came in first.
    pub endpoint: EndpointId,
    /// The event's type.
    pub event_type: Option<String>,
    /// The provider's account.
    pub account: Option<String>,
    /// The provider's API version.
    pub api_version: Option<String>,
    /// Live or test, where the provider tells.
    pub livemode: Option<bool>,
    /// When it happened, by the provider.
    pub occurred_at: Option<Timestamp>,
    /// When it came.
    pub received_at: Timestamp,
    /// `delivery`, `reconciliation` or `test`.
    pub origin: String,
    /// The revision that read it.
    pub decoder: String,
    /// Which secret verified the first delivery.
    pub secret: Option<SecretId>,
    /// The request that holds its bytes.
    pub payload: PayloadId,
    /// Where in it they stand.
    pub slice: Slice,
    /// The request's content type.
    pub content_type: Option<String>,
    /// The sealed SHA-256 of its bytes.
    pub sha256_sealed: Vec<u8>,
    /// The sender's attempts seen so far.
    pub deliveries: u64,
    /// Other bodies that are kept.
    pub variants: u64,
    /// Other bytes came under the same key.
    pub diverged: bool,
    /// The same signed bytes came before under another id.
    pub repeated_body: bool,
    /// A key that identity depends on stood twice.
    pub ambiguous: bool,
    /// What the scheme doesn't protect, in words separated by spaces.
    pub weak: String,
    /// `envelope` while it waits for a repair.
    pub reason: Option<String>,
    /// Whether its bytes are still there.
    pub payload_state: PayloadState,
    /// Since when they are not.
    pub payload_removed_at: Option<Timestamp>,
}

/// Where an event's bytes stand in its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    /// In the decoded elements instead of the body.
    pub decoded: bool,
    /// From which byte on.
    pub offset: usize,
    /// How many.
    pub length: usize,
}

impl Slice {
    pub(super) fn read(row: &Row) -> Result<Self, StoreError> {
        let size = |column| row.int(column).and_then(|n| usize::try_from(n).map_err(|_| row.broken(column)));
        Ok(Self {
            decoded: row.bool("slice_decoded")?,
            offset: size("slice_offset")?,
            length: size("slice_length")?,
        })
    }
}

impl Receipt {
    fn read(row: &Row) -> Result<Self, StoreError> {
        let payload_state = match row.text("payload_state")?.as_str() {
            "stored" => PayloadState::Stored,
            "removed" => PayloadState::Removed,
            "erased" => PayloadState::Erased,
            _ => return Err(row.broken("payload_state")),
        };
        Ok(Self {
            id: ReceiptId(row.uuid("id")?),
            provider: row.text("provider")?,
            scope: row.text("scope")?,
            event_key: row.text("event_key")?,
            event_id: row.text_or_null("event_id")?,
            endpoint: EndpointId(row.uuid("endpoint_id")?),
            event_type: row.text_or_null("type")?,
            account: row.text_or_null("account")?,
            api_version: row.text_or_null("api_version")?,
            livemode: row.bool_or_null("livemode")?,
            occurred_at: row.time_or_null("occurred_at")?,
            received_at: row.time("received_at")?,
            origin: row.text("origin")?,
            decoder: row.text("decoder")?,
            secret: row.uuid_or_null("secret_id")?.map(SecretId),
            payload: PayloadId(row.uuid("payload_id")?),
            slice: Slice::read(row)?,
            content_type: row.text_or_null("content_type")?,
            sha256_sealed: row.blob("sha256_sealed")?,
            // An event that the provider listed has not been sent; the attempts of a sender count from its first one.
            deliveries: row
                .count("deliveries")?
                .saturating_sub(u64::from(row.text("origin")? == "reconciliation")),
            variants: row.count("variants")?,
            diverged: row.bool("diverged")?,
            repeated_body: row.bool("repeated_body")?,
            ambiguous: row.bool("ambiguous")?,
            weak: row.text("weak")?,
            reason: row.text_or_null("reason")?,
            payload_state,
            payload_removed_at: row.time_or_null("payload_removed_at")?,
        })
    }
}

/// Receipts by their ids, in no order. An id that isn't there is left out.
///
/// # Errors
/// What the database ran into.
pub async fn by_ids(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    ids: &[ReceiptId],
) -> Result<Vec<Receipt>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
    conn.fetch_all(&sql::RECEIPTS_BY_ID, values![tenant, ids]).await?.iter().map(Receipt::read).collect()
}

/// The receipt of that id.
///
/// # Errors
/// What the database ran into.
pub async fn by_id(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    id: ReceiptId,
) -> Result<Option<Receipt>, StoreError> {
    Ok(by_ids(conn, tenant, &[id]).await?.pop())
}

/// The ids of receipts from a moment on and before another, oldest first, at most so many.
///
/// # Errors
/// What the database ran into.
pub async fn ids_between(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    from: Uuid,
    before: Uuid,
    limit: u32,
) -> Result<Vec<ReceiptId>, StoreError> {
    let rows = conn.fetch_all(&sql::RECEIPTS_OLDEST, values![tenant, from, before, limit]).await?;
    rows.iter().map(|row| Ok(ReceiptId(row.uuid("id")?))).collect()
}

/// The ids of the newest receipts, at most so many.
///
/// # Errors
/// What the database ran into.
pub async fn ids_newest(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    limit: u32,
) -> Result<Vec<ReceiptId>, StoreError> {
    let values = values![tenant, Uuid::max(), Uuid::nil(), limit];
    let rows = conn.fetch_all(&sql::RECEIPTS_NEWEST, values).await?;
    rows.iter().map(|row| Ok(ReceiptId(row.uuid("id")?))).collect()
}
