//! Looking at kept refusals. There are a few per endpoint, so no list of them grows without bound.

use restante_core::id::{EndpointId, ReceiptId, RefusalId, TenantId};
use restante_core::time::Timestamp;

use crate::engine::sql::statements;
use crate::engine::{Conn, Row, StoreError, values};

/// Refusals that one list gives at most.
const LISTED_MAX: u32 = 200;

/// A refused request as it is kept, without its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusalRecord {
    /// Its id, in the order of time.
    pub id: RefusalId,
    /// Where it came in.
    pub endpoint: EndpointId,
    /// When.
    pub received_at: Timestamp,
    /// The stable word.
    pub reason: String,
    /// What was wrong, for the tenant.
    pub explanation: String,
    /// The id of the request.
    pub request_id: Option<String>,
    /// When it was verified again and entered, if it was.
    pub entered: Option<Entered>,
}

/// What became of a refused request that verified later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entered {
    /// When it entered.
    pub at: Timestamp,
    /// The receipt of its event, or of the first of several; `None` of a request without any.
    pub receipt: Option<ReceiptId>,
}

statements! {
    /// The newest refusals of a tenant.
    REFUSALS_NEWEST = both
        "SELECT id, endpoint_id, received_at, reason, explanation, request_id, entered_at, receipt_id
            FROM refusals
            WHERE tenant_id = $1 ORDER BY id DESC LIMIT $2";

    /// The newest refusals of an endpoint.
    REFUSALS_OF_ENDPOINT = both
        "SELECT id, endpoint_id, received_at, reason, explanation, request_id, entered_at, receipt_id
            FROM refusals
            WHERE tenant_id = $1 AND endpoint_id = $3 ORDER BY id DESC LIMIT $2";

    /// One refusal with its request.
    REFUSAL = both
        "SELECT id, endpoint_id, received_at, reason, explanation, request_id, entered_at, receipt_id, request_sealed
            FROM refusals
            WHERE tenant_id = $1 AND endpoint_id = $2 AND id = $3";

    /// The refusals of a request.
    REFUSALS_WITH_REQUEST_ID = both
        "SELECT id, endpoint_id, received_at, reason, explanation, request_id, entered_at, receipt_id
            FROM refusals
            WHERE tenant_id = $1 AND request_id = $2 ORDER BY id DESC LIMIT $3";
}

fn read(row: &Row) -> Result<RefusalRecord, StoreError> {
    let receipt = row.uuid_or_null("receipt_id")?.map(ReceiptId);
    Ok(RefusalRecord {
        id: RefusalId(row.uuid("id")?),
        endpoint: EndpointId(row.uuid("endpoint_id")?),
        received_at: row.time("received_at")?,
        reason: row.text("reason")?,
        explanation: row.text("explanation")?,
        request_id: row.text_or_null("request_id")?,
        entered: row.time_or_null("entered_at")?.map(|at| Entered { at, receipt }),
    })
}

/// The newest kept refusals of a tenant or of one of its endpoints, at most 200.
///
/// # Errors
/// What the database ran into.
pub async fn newest(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoint: Option<EndpointId>,
) -> Result<Vec<RefusalRecord>, StoreError> {
    let rows = match endpoint {
        None => conn.fetch_all(&REFUSALS_NEWEST, values![tenant, LISTED_MAX]).await?,
        Some(endpoint) => {
            conn.fetch_all(&REFUSALS_OF_ENDPOINT, values![tenant, LISTED_MAX, endpoint]).await?
        }
    };
    rows.iter().map(read).collect()
}

/// One refusal, with its sealed request.
///
/// # Errors
/// What the database ran into.
pub async fn one(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoint: EndpointId,
    id: RefusalId,
) -> Result<Option<(RefusalRecord, Vec<u8>)>, StoreError> {
    let row = conn.fetch_optional(&REFUSAL, values![tenant, endpoint, id]).await?;
    row.map(|row| Ok((read(&row)?, row.blob("request_sealed")?))).transpose()
}

/// The kept refusals of a request, by its id.
///
/// # Errors
/// What the database ran into.
pub async fn with_request_id(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    request_id: &str,
) -> Result<Vec<RefusalRecord>, StoreError> {
    let values = values![tenant, request_id.to_owned(), LISTED_MAX];
    conn.fetch_all(&REFUSALS_WITH_REQUEST_ID, values).await?.iter().map(read).collect()
}
