//! Writing refusals: counters, and the newest few per endpoint as sealed samples.

use restante_core::id::{EndpointId, RefusalId, TenantId};
use restante_core::limits;
use restante_core::time::Timestamp;

use super::Entered;
use crate::Store;
use crate::engine::sql::statements;
use crate::engine::{Conn, StoreError, values};
use crate::rollups::{Lane, Tally};

/// Metric, minute and how often.
pub type RefusalCounts = Vec<(String, Timestamp, i64)>;

/// A refused request as it is kept.
#[derive(Debug, Clone)]
pub struct RefusalSample {
    /// Its id, in the order of time.
    pub id: RefusalId,
    /// When it came.
    pub received_at: Timestamp,
    /// The stable word.
    pub reason: &'static str,
    /// What was wrong, for the tenant.
    pub explanation: String,
    /// Its headers and the beginning of its body.
    pub request_sealed: Vec<u8>,
    /// The id of the request.
    pub request_id: Option<String>,
}

impl Store {
    /// Adds to an endpoint's counters and keeps the newest samples.
    ///
    /// # Errors
    /// What the database ran into; then neither counts nor samples were written.
    pub async fn write_refusals(
        &self,
        tenant: TenantId,
        endpoint: EndpointId,
        counts: RefusalCounts,
        samples: Vec<RefusalSample>,
    ) -> Result<(), StoreError> {
        self.write(move |conn| {
            Box::pin(async move {
                if conn.fetch_optional(&REFUSALS_TENANT, values![tenant]).await?.is_none() {
                    // It was deleted meanwhile, and what is written now would outlive it.
                    return Ok(());
                }
                let mut tally = Tally::default();
                for (metric, minute, count) in counts {
                    tally.count(tenant, endpoint.0, &metric, minute, count);
                }
                tally.write(conn, Lane::Other).await?;
                if samples.is_empty() {
                    return Ok(());
                }
                for sample in samples {
                    let row = values![
                        tenant,
                        endpoint,
                        sample.id,
                        sample.received_at,
                        sample.reason,
                        sample.explanation,
                        sample.request_sealed,
                        sample.request_id,
                    ];
                    conn.execute(&REFUSAL_INSERT, row).await?;
                }
                let kept = limits::REFUSALS_KEPT_PER_ENDPOINT as i64;
                conn.execute(&REFUSALS_TRIM, values![tenant, endpoint, kept]).await?;
                Ok(())
            })
        })
        .await
    }
}

/// Marks a refused request as entered, unless it is marked already.
///
/// # Errors
/// What the database ran into.
pub async fn enter(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    endpoint: EndpointId,
    id: RefusalId,
    entered: Entered,
) -> Result<(), StoreError> {
    let row = values![tenant, endpoint, id, entered.at, entered.receipt];
    conn.execute(&REFUSAL_ENTER, row).await.map(|_| ())
}

statements! {
    /// What a refused request became. It may have been trimmed meanwhile.
    REFUSAL_ENTER = both
        "UPDATE refusals SET entered_at = $4, receipt_id = $5
            WHERE tenant_id = $1 AND endpoint_id = $2 AND id = $3 AND entered_at IS NULL";

    // Differs in the lock: while it is held the tenant can't be deleted, so that nothing comes behind that.
    /// A tenant that is there.
    REFUSALS_TENANT =
        sqlite "SELECT id FROM tenants WHERE id = $1 AND deleted_at IS NULL"
        postgres "SELECT id FROM tenants WHERE id = $1 AND deleted_at IS NULL FOR SHARE";

    /// Keeps a sample.
    REFUSAL_INSERT = both
        "INSERT INTO refusals (tenant_id, endpoint_id, id, received_at, reason, explanation, request_sealed, request_id)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

    /// Drops all but the newest samples of an endpoint.
    REFUSALS_TRIM = both
        "DELETE FROM refusals WHERE tenant_id = $1 AND endpoint_id = $2 AND id NOT IN
            (SELECT id FROM refusals WHERE tenant_id = $1 AND endpoint_id = $2 ORDER BY id DESC LIMIT $3)";
}
