//! A claim: in one transaction, the leases that have run out end, and what is due gets new ones, in
//! the order in which it fell due. The bytes of the events are loaded after the commit.

use restante_core::id::{ReceiptId, ReplayId};
use restante_core::limits;
use restante_core::time::Timestamp;
use restante_core::token::LeaseToken;

use super::expire::{Expired, expire};
use super::sql;
use crate::consumers::{self, ConsumerRecord};
use crate::engine::{Batch, Conn, Row, StoreError, values};
use crate::rollups::{Lane, Tally};

/// What is asked.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Events at most: as many as there are random bits for.
    pub randoms: Vec<[u8; 16]>,
    /// How long the leases run.
    pub lease_seconds: u32,
    /// The version of the application that claims, kept on the attempt.
    pub handler_version: Option<String>,
}

/// A new lease.
#[derive(Debug)]
pub struct Lease {
    /// The receipt.
    pub receipt: ReceiptId,
    /// How many claims it has had, this one included.
    pub attempt: u32,
    /// What the holder presents.
    pub token: LeaseToken,
    /// When it runs out, by the database's clock.
    pub expires_at: Timestamp,
    /// The replay that made it pending, if one did.
    pub replay: Option<ReplayId>,
}

/// What a claim got.
#[derive(Debug)]
pub struct Claimed {
    /// The leases, in the order in which the events fell due.
    pub leases: Vec<Lease>,
    /// There was more that was due.
    pub more: bool,
    /// Leases of others that had run out.
    pub expired: Expired,
}

struct Due {
    receipt: ReceiptId,
    attempt: u32,
    replay: Option<ReplayId>,
}

/// Leases what is due to a consumer; nothing while it is paused.
///
/// # Errors
/// What the database ran into.
pub async fn claim(
    conn: &mut Conn<'_>,
    consumer: &ConsumerRecord,
    claim: Claim,
) -> Result<Claimed, StoreError> {
    let now = conn.now().await?;
    consumers::note_claim(conn, consumer, now).await?;
    let expired = expire(conn, consumer.tenant, consumer.id, consumer.max_attempts).await?;
    if !consumer.enabled {
        return Ok(Claimed { leases: Vec::new(), more: false, expired });
    }
    let limit = claim.randoms.len() as u32;
    let rows = conn.fetch_all(&sql::HANDOFFS_DUE, values![consumer.tenant, consumer.id, now, limit]).await?;
    let (due, cut) = within_budget(&rows)?;
    let more = cut || rows.len() == claim.randoms.len();
    let expires_at = now.plus_seconds(claim.lease_seconds.into());
    let leases: Vec<Lease> = due
        .into_iter()
        .zip(&claim.randoms)
        .map(|(Due { receipt, attempt, replay }, random)| Lease {
            receipt,
            attempt,
            token: LeaseToken::new(receipt, attempt, *random),
            expires_at,
            replay,
        })
        .collect();
    lease(conn, consumer, &leases, now, claim.handler_version).await?;
    Ok(Claimed { leases, more, expired })
}

/// Takes from the front what one answer may carry, at least one, and tells whether something is left.
fn within_budget(rows: &[Row]) -> Result<(Vec<Due>, bool), StoreError> {
    let mut due = Vec::with_capacity(rows.len());
    let mut bytes = 0_u64;
    for row in rows {
        bytes = bytes.saturating_add(row.count("slice_length")?);
        if bytes > limits::CLAIM_BODY_BYTES_MAX && !due.is_empty() {
            return Ok((due, true));
        }
        let attempt = u32::try_from(row.int("attempt")?).map_err(|_| row.broken("attempt"))?;
        due.push(Due {
            receipt: ReceiptId(row.uuid("receipt_id")?),
            attempt: attempt.checked_add(1).ok_or_else(|| row.broken("attempt"))?,
            replay: row.uuid_or_null("replay_id")?.map(ReplayId),
        });
    }
    Ok((due, false))
}

async fn lease(
    conn: &mut Conn<'_>,
    consumer: &ConsumerRecord,
    leases: &[Lease],
    now: Timestamp,
    handler_version: Option<String>,
) -> Result<(), StoreError> {
    if leases.is_empty() {
        return Ok(());
    }
    let batch = Batch::new()
        .uuids(leases.iter().map(|_| consumer.tenant.0))
        .uuids(leases.iter().map(|_| consumer.id.0))
        .uuids(leases.iter().map(|lease| lease.receipt.0))
        .ints(leases.iter().map(|lease| lease.attempt.into()))
        .blobs(leases.iter().map(|lease| lease.token.hash().0.to_vec()))
        .ints(leases.iter().map(|_| now.micros()))
        .ints(leases.iter().map(|lease| lease.expires_at.micros()))
        .texts_or_null(leases.iter().map(|_| handler_version.clone()));
    let changed = conn.execute_batch(&sql::HANDOFFS_LEASE, batch).await?;
    if changed != leases.len() as u64 {
        return Err(StoreError::Unavailable {
            statement: sql::HANDOFFS_LEASE.name,
            detail: "a handoff changed at this very moment".to_owned(),
        });
    }
    let mut tally = Tally::default();
    let count = leases.len() as i64;
    tally.shift(consumer.tenant, consumer.id.0, "pending", -count);
    tally.shift(consumer.tenant, consumer.id.0, "leased", count);
    tally.count(consumer.tenant, consumer.id.0, "attempts", now, count);
    tally.write(conn, Lane::Other).await
}
