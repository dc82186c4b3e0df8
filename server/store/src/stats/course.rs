//! The course of the counters: what was counted in each minute or hour. The rows are the counters
//! themselves, so their number depends on how long one looks back and on how many endpoints there are,
//! never on how many events there were.

use restante_core::id::TenantId;
use restante_core::time::Timestamp;
use uuid::Uuid;

use super::{HOUR, MINUTE};
use crate::engine::sql::statements;
use crate::engine::{Conn, StoreError, values};

/// How finely time is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grain {
    /// By the minute.
    Minute,
    /// By the hour.
    Hour,
}

impl Grain {
    const fn code(self) -> i64 {
        match self {
            Self::Minute => 1,
            Self::Hour => 2,
        }
    }

    /// Microseconds of one slot.
    pub const fn micros(self) -> i64 {
        match self {
            Self::Minute => MINUTE,
            Self::Hour => HOUR,
        }
    }
}

/// What was counted in one slot of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// When the slot begins.
    pub at: Timestamp,
    /// The endpoint or consumer.
    pub subject: Uuid,
    /// What was counted.
    pub metric: String,
    /// How often.
    pub count: u64,
}

statements! {
    /// What was counted in each slot since a moment.
    COUNTERS_COURSE = both
        "SELECT at, subject, metric, CAST(SUM(count) AS BIGINT) AS count FROM rollups
            WHERE tenant_id = $1 AND grain = $2 AND at >= $3 GROUP BY at, subject, metric ORDER BY at, subject, metric";

    /// What was counted of one subject in each slot since a moment.
    COUNTERS_COURSE_OF = both
        "SELECT at, subject, metric, CAST(SUM(count) AS BIGINT) AS count FROM rollups
            WHERE tenant_id = $1 AND grain = $2 AND at >= $3 AND subject = $4
            GROUP BY at, subject, metric ORDER BY at, subject, metric";
}

/// What was counted of a tenant, or of one of its endpoints or consumers, in each slot since a moment,
/// rounded down to its slot; the oldest first.
///
/// # Errors
/// What the database ran into.
pub async fn course(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    grain: Grain,
    since: Timestamp,
    subject: Option<Uuid>,
) -> Result<Vec<Counted>, StoreError> {
    let since = since.micros().div_euclid(grain.micros()) * grain.micros();
    let rows = match subject {
        None => conn.fetch_all(&COUNTERS_COURSE, values![tenant, grain.code(), since]).await?,
        Some(subject) => {
            conn.fetch_all(&COUNTERS_COURSE_OF, values![tenant, grain.code(), since, subject]).await?
        }
    };
    rows.iter()
        .map(|row| {
            Ok(Counted {
                at: row.time("at")?,
                subject: row.uuid("subject")?,
                metric: row.text("metric")?,
                count: u64::try_from(row.int("count")?).unwrap_or(0),
            })
        })
        .collect()
}
