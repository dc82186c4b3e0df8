//! What an operator's check looks at: whether the file is sound, whether what belongs together is there, and
//! samples of what is sealed. In steps, so that it may run beside a server; each statement sees one moment.

use restante_core::id::{ConsumerId, PayloadId, ReceiptId, TenantId};
use uuid::Uuid;

use crate::backup::integrity;
use crate::engine::sql::statements;
use crate::engine::{Conn, Pools, Row, StoreError, values};
use crate::store::Store;

/// A row that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looked {
    /// Whose it is.
    pub tenant: TenantId,
    /// Its key within the tenant.
    pub key: (Uuid, Uuid),
    /// Whether all that it needs is there.
    pub is_whole: bool,
}

/// A payload, to try whether it opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SamplePayload {
    /// Its id.
    pub id: PayloadId,
    /// The sealed headers.
    pub headers_sealed: Vec<u8>,
    /// The sealed body.
    pub body_sealed: Vec<u8>,
}

/// What is looked through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookedThrough {
    /// Payloads: each is some receipt's, or a variant's.
    Payloads,
    /// Receipts: whoever says that its payload is stored has one.
    Receipts,
    /// Handoffs: each has its receipt and its consumer.
    Handoffs,
}

statements! {
    /// Payloads in steps, and whether a receipt or a variant points at each.
    CHECK_PAYLOADS = across_tenants "the operator's check looks through the whole database" both
        "SELECT p.tenant_id, p.id AS first, p.id AS second, CASE
            WHEN EXISTS (SELECT 1 FROM receipts AS r WHERE r.tenant_id = p.tenant_id AND r.id = p.id) THEN 1
            WHEN EXISTS (SELECT 1 FROM receipts AS r WHERE r.tenant_id = p.tenant_id AND r.payload_id = p.id
                AND r.payload_id <> r.id) THEN 1
            WHEN EXISTS (SELECT 1 FROM variants AS v WHERE v.tenant_id = p.tenant_id AND v.payload_id = p.id) THEN 1
            ELSE 0 END AS is_whole
            FROM payloads AS p WHERE (p.tenant_id, p.id) > ($1, $2) ORDER BY p.tenant_id, p.id LIMIT $3";

    /// Receipts in steps, and whether each has the payload that it says it has.
    CHECK_RECEIPTS = across_tenants "the operator's check looks through the whole database" both
        "SELECT r.tenant_id, r.id AS first, r.id AS second, CASE WHEN r.payload_state <> 'stored' THEN 1
            WHEN EXISTS (SELECT 1 FROM payloads AS p WHERE p.tenant_id = r.tenant_id AND p.id = r.payload_id) THEN 1
            ELSE 0 END AS is_whole
            FROM receipts AS r WHERE (r.tenant_id, r.id) > ($1, $2) ORDER BY r.tenant_id, r.id LIMIT $3";

    /// Handoffs in steps, and whether each has its receipt and its consumer.
    CHECK_HANDOFFS = across_tenants "the operator's check looks through the whole database" both
        "SELECT h.tenant_id, h.consumer_id AS first, h.receipt_id AS second, CASE
            WHEN NOT EXISTS (SELECT 1 FROM receipts AS r WHERE r.tenant_id = h.tenant_id AND r.id = h.receipt_id) THEN 0
            WHEN NOT EXISTS (SELECT 1 FROM consumers AS c WHERE c.tenant_id = h.tenant_id AND c.id = h.consumer_id)
            THEN 0 ELSE 1 END AS is_whole
            FROM handoffs AS h WHERE (h.tenant_id, h.consumer_id, h.receipt_id) > ($1, $2, $3)
            ORDER BY h.tenant_id, h.consumer_id, h.receipt_id LIMIT $4";

    /// The newest payloads of a tenant.
    CHECK_SAMPLES = both
        "SELECT id, headers_sealed, body_sealed FROM payloads WHERE tenant_id = $1 ORDER BY id DESC LIMIT $2";
}

/// Rows behind `after`, and whether each is whole.
///
/// # Errors
/// What the database ran into.
pub async fn look_through(
    conn: &mut Conn<'_>,
    what: LookedThrough,
    after: Option<&Looked>,
    limit: u32,
) -> Result<Vec<Looked>, StoreError> {
    let (tenant, first, second) = after
        .map_or((TenantId(Uuid::nil()), Uuid::nil(), Uuid::nil()), |row| (row.tenant, row.key.0, row.key.1));
    let rows = match what {
        LookedThrough::Payloads => {
            conn.fetch_all(&CHECK_PAYLOADS, values![tenant, PayloadId(first), limit]).await?
        }
        LookedThrough::Receipts => {
            conn.fetch_all(&CHECK_RECEIPTS, values![tenant, ReceiptId(first), limit]).await?
        }
        LookedThrough::Handoffs => {
            let values = values![tenant, ConsumerId(first), ReceiptId(second), limit];
            conn.fetch_all(&CHECK_HANDOFFS, values).await?
        }
    };
    let read = |row: &Row| {
        Ok(Looked {
            tenant: TenantId(row.uuid("tenant_id")?),
            key: (row.uuid("first")?, row.uuid("second")?),
            is_whole: row.int("is_whole")? != 0,
        })
    };
    rows.iter().map(read).collect()
}

/// The newest payloads of a tenant.
///
/// # Errors
/// What the database ran into.
pub async fn samples(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    limit: u32,
) -> Result<Vec<SamplePayload>, StoreError> {
    let rows = conn.fetch_all(&CHECK_SAMPLES, values![tenant, limit]).await?;
    let read = |row: &Row| {
        Ok(SamplePayload {
            id: PayloadId(row.uuid("id")?),
            headers_sealed: row.blob("headers_sealed")?,
            body_sealed: row.blob("body_sealed")?,
        })
    };
    rows.iter().map(read).collect()
}

impl Store {
    /// What the database finds wrong with its own file; `None` where it has no such check (PostgreSQL, whose
    /// `pg_amcheck` is the operator's).
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn faults_of_the_file(&self) -> Result<Option<Vec<String>>, StoreError> {
        match self.pools() {
            Pools::Sqlite { readers, .. } => {
                let no_connection = |error| StoreError::from_sqlx("acquire a connection", error);
                let mut connection = readers.acquire().await.map_err(no_connection)?;
                integrity(&mut connection).await.map(Some)
            }
            Pools::Postgres { .. } => Ok(None),
        }
    }
}
