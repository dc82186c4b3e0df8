//! Figures that are kept as counters, so that no answer counts rows of a table that grows.
//!
//! A counter belongs to a subject (an endpoint or a consumer) and a metric, and is kept by the minute
//! and by the hour; what is "now" (handoffs by state) is kept once. Each process writes shards of its
//! own, so that two nodes seldom wait for one row.

use std::collections::BTreeMap;

use restante_core::id::TenantId;
use restante_core::time::Timestamp;
use uuid::Uuid;

use crate::engine::sql::statements;
use crate::engine::{Batch, Conn, StoreError, Together};

/// Microseconds in a minute and in an hour: what the grains 1 and 2 round down to.
const GRAINS: [(i64, i64); 2] = [(1, 60_000_000), (2, 3_600_000_000)];
/// The grain of what is now.
pub(crate) const GRAIN_NOW: i64 = 0;
/// Shards that processes and their lanes spread over.
const SHARDS: i64 = 64;

/// Who writes counters within this process. Two lanes that wrote the same rows would each hold the
/// other up for the length of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// A committer of deliveries, by its number from 0; there are at most [`COMMITTERS_MAX`].
    Committer(u8),
    /// Every other write.
    Other,
}

/// Committers of one process.
pub(crate) const COMMITTERS_MAX: u8 = 3;

impl Lane {
    fn shard(self) -> i64 {
        let number = match self {
            Self::Committer(number) => number.min(COMMITTERS_MAX - 1),
            Self::Other => COMMITTERS_MAX,
        };
        let lanes = i64::from(COMMITTERS_MAX) + 1;
        (i64::from(std::process::id()) * lanes + i64::from(number)) % SHARDS
    }
}

/// Changes to counters that one transaction writes together.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    changes: BTreeMap<(Uuid, i64, i64, Uuid, String), i64>,
}

impl Tally {
    /// Counts something that happened at a time.
    pub(crate) fn count(&mut self, tenant: TenantId, subject: Uuid, metric: &str, at: Timestamp, by: i64) {
        for (grain, micros) in GRAINS {
            let slot = at.micros().div_euclid(micros) * micros;
            *self.changes.entry((tenant.0, grain, slot, subject, metric.to_owned())).or_default() += by;
        }
    }

    /// Moves a counter of what is now.
    pub(crate) fn shift(&mut self, tenant: TenantId, subject: Uuid, metric: &str, by: i64) {
        *self.changes.entry((tenant.0, GRAIN_NOW, 0, subject, metric.to_owned())).or_default() += by;
    }

    /// Writes the changes, in the order of the key, so that two nodes can't lock each other out.
    pub(crate) async fn write(self, conn: &mut Conn<'_>, lane: Lane) -> Result<(), StoreError> {
        let mut writes = Together::default();
        self.add_to(&mut writes, lane);
        conn.execute_together(writes).await
    }

    /// Adds the changes to other writes.
    pub(crate) fn add_to(self, writes: &mut Together, lane: Lane) {
        let rows: Vec<_> = self.changes.into_iter().filter(|(_, by)| *by != 0).collect();
        if rows.is_empty() {
            return;
        }
        let shard = lane.shard();
        let batch = Batch::new()
            .uuids(rows.iter().map(|(key, _)| key.0))
            .ints(rows.iter().map(|(key, _)| key.1))
            .ints(rows.iter().map(|(key, _)| key.2))
            .uuids(rows.iter().map(|(key, _)| key.3))
            .texts(rows.iter().map(|(key, _)| key.4.clone()))
            .ints(rows.iter().map(|_| shard))
            .ints(rows.iter().map(|(_, by)| *by));
        writes.add(&ROLLUPS_ADD, batch);
    }
}

statements! {
    // Differs in how rows come in.
    /// Adds to counters.
    ROLLUPS_ADD =
        sqlite "WITH r (value) AS MATERIALIZED (SELECT value FROM jsonb_each($1))
            INSERT INTO rollups (tenant_id, grain, at, subject, metric, shard, count)
            SELECT unhex(r.value->>0), r.value->>1, r.value->>2, unhex(r.value->>3), r.value->>4, r.value->>5, r.value->>6
            FROM r WHERE true
            ON CONFLICT (tenant_id, grain, at, subject, metric, shard) DO UPDATE SET count = rollups.count + excluded.count"
        postgres "INSERT INTO rollups (tenant_id, grain, at, subject, metric, shard, count)
            SELECT * FROM UNNEST($1::uuid[], $2::bigint[], $3::bigint[], $4::uuid[], $5::text[], $6::bigint[], $7::bigint[])
            ON CONFLICT (tenant_id, grain, at, subject, metric, shard) DO UPDATE SET count = rollups.count + excluded.count";
}
