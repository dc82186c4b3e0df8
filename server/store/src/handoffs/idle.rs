//! What an empty claim tells: how much others hold, and when to look again.

use restante_core::time::Timestamp;

use super::sql;
use crate::consumers::ConsumerRecord;
use crate::engine::{Conn, StoreError, values};

/// A consumer that has nothing to give now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Idle {
    /// Events that others hold.
    pub leased: u64,
    /// When the next event becomes visible, if nothing comes before: a retry that is due then, or a
    /// lease that runs out. Not later than `now` when there is something to claim.
    pub next_at: Option<Timestamp>,
    /// The database's time when it was asked.
    pub now: Timestamp,
}

/// Looks at a consumer without changing anything.
///
/// # Errors
/// What the database ran into.
pub async fn idle(conn: &mut Conn<'_>, consumer: &ConsumerRecord) -> Result<Idle, StoreError> {
    let now = conn.now().await?;
    let row = conn.fetch_one(&sql::CONSUMER_IDLE, values![consumer.tenant, consumer.id]).await?;
    let moments = [row.time_or_null("due_at")?, row.time_or_null("expires_at")?];
    Ok(Idle {
        leased: u64::try_from(row.int("leased")?).unwrap_or(0),
        next_at: moments.into_iter().flatten().min(),
        now,
    })
}
