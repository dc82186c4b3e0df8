//! PostgreSQL's statistics of the tables that grow. A plan that was made for an empty table may take
//! an index that only names the tenant, and read all that the tenant has, for every row: with a few
//! thousand receipts the commit was six times slower. PostgreSQL itself notices growth once a minute;
//! a first burst of deliveries doesn't wait that long, so the committer says when there is something
//! to look at. Fresh statistics also make PostgreSQL plan anew what it has prepared.

use std::time::Duration;

use sqlx::{Connection as _, PgConnection, PgPool, Row as _};
use tokio::time::timeout;

use crate::store::short;

/// After how many receipts of this process the tables are looked at. The growth after the last of
/// them is slow enough for PostgreSQL's own look.
const STEPS: [u64; 4] = [200, 2_000, 20_000, 200_000];
/// What grows with the receipts. Names of ours, so they can stand in a statement.
const TABLES: [&str; 6] = ["receipts", "payloads", "deliveries", "handoffs", "attempts", "rollups"];

/// More than PostgreSQL takes for any of these tables at its own pace.
const RENEW_MAX: Duration = Duration::from_secs(600);

/// How many receipts this process has written.
#[derive(Debug)]
pub(super) struct Growth {
    pool: PgPool,
    receipts: u64,
    step: usize,
}

impl Growth {
    pub(super) const fn new(pool: PgPool) -> Self {
        Self { pool, receipts: 0, step: 0 }
    }

    /// Counts receipts that were committed.
    pub(super) fn add(&mut self, receipts: usize) {
        self.receipts += receipts as u64;
        if STEPS.get(self.step).is_none_or(|step| self.receipts < *step) {
            return;
        }
        self.step += 1;
        let (pool, receipts) = (self.pool.clone(), self.receipts);
        tokio::spawn(async move {
            let Ok(mut connection) = pool.acquire().await else { return };
            let renewed = timeout(RENEW_MAX, renew(&mut connection, receipts)).await;
            if let Err(error) = renewed.unwrap_or(Err(sqlx::Error::PoolTimedOut)) {
                // Only speed depends on it, and PostgreSQL will look by itself. The connection may never
                // answer again, and must not take a place of the pool for that long.
                drop(connection.detach());
                tracing::debug!(error = %short(&error), "the statistics of PostgreSQL were not renewed");
            }
        });
    }
}

/// Renews the statistics, unless PostgreSQL knows of so many receipts already.
async fn renew(connection: &mut PgConnection, receipts: u64) -> Result<(), sqlx::Error> {
    let known = sqlx::query("SELECT reltuples::bigint FROM pg_class WHERE oid = 'receipts'::regclass")
        .fetch_one(&mut *connection)
        .await?
        .try_get::<i64, _>(0)?;
    if u64::try_from(known).is_ok_and(|known| known >= receipts) {
        return Ok(());
    }
    for table in TABLES {
        // One at a time: each holds a lock of its table until its transaction ends.
        let mut transaction = connection.begin().await?;
        sqlx::raw_sql("SET LOCAL statement_timeout = '60s'").execute(&mut *transaction).await?;
        sqlx::raw_sql(sqlx::AssertSqlSafe(format!("ANALYZE {table}"))).execute(&mut *transaction).await?;
        transaction.commit().await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use sqlx::{Executor as _, Row as _};

    use crate::deliveries::tests::{TENANT, batch_of, prepare};
    use crate::engine::Engine;
    use crate::testing::TestStore;

    /// How PostgreSQL would find the receipts that hold keys, in the statement that claims them.
    async fn plan(t: &TestStore) -> String {
        let mut connection = t.postgres_connection().await;
        let text = crate::deliveries::RECEIPTS_CLAIM.text(Engine::Postgres);
        let prepare = format!(
            "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; \
             SET enable_hashjoin = off; SET enable_mergejoin = off; PREPARE holding AS {text}"
        );
        connection.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(prepare))).await.unwrap();
        let explain = format!("EXPLAIN EXECUTE holding ('{{{}}}'{})", TENANT.0, ", '{}'".repeat(28));
        let rows = connection.fetch_all(sqlx::raw_sql(sqlx::AssertSqlSafe(explain))).await.unwrap();
        rows.iter().map(|row| row.get::<String, _>(0)).collect::<Vec<_>>().join("\n")
    }

    #[tokio::test]
    async fn after_a_first_burst_postgres_finds_keys_by_their_own_index() {
        let Some(t) = TestStore::postgres().await else {
            return crate::testing::say_skipped("after_a_first_burst_postgres_finds_keys_by_their_own_index");
        };
        prepare(&t).await;
        t.store.commit(batch_of(250)).await.unwrap();
        let known = "SELECT reltuples::bigint FROM pg_class WHERE oid = 'receipts'::regclass";
        for _ in 0..1_000 {
            if t.number(known).await > 0 {
                break;
            }
            tokio::task::yield_now().await;
        }
        assert_eq!(t.number(known).await, 250);
        let plan = plan(&t).await;
        assert!(plan.contains("receipts_key"), "{plan}");
    }
}
