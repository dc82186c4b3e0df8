//! Whether a commit goes through now: one tiny write, made in earnest. It is no measurement of how
//! long commits take; those of deliveries are measured where they are made.

use restante_core::time::Timestamp;

use crate::Store;
use crate::engine::sql::statements;
use crate::engine::{StoreError, values};

impl Store {
    /// Writes the time into a row that exists for this, and commits. Gives the database's time.
    ///
    /// # Errors
    /// What keeps the database from committing.
    pub async fn check_commit(&self) -> Result<Timestamp, StoreError> {
        self.write(|conn| {
            Box::pin(async move {
                let now = conn.now().await?;
                // An unchanged row might not reach the disk, so the value is another one each time.
                conn.execute(&PROBE_COMMIT, values![now.micros().to_string()]).await?;
                Ok(now)
            })
        })
        .await
    }
}

statements! {
    /// The one row of the probe.
    PROBE_COMMIT = both "INSERT INTO instance (name, value) VALUES ('commit_probe', $1)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value";
}

#[cfg(test)]
mod tests {
    use restante_core::time::Clock as _;

    use super::PROBE_COMMIT;
    use crate::both_engines;
    use crate::engine::{StoreError, values};
    use crate::testing::{TestStore, say_skipped};

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_write_that_is_given_up_half_way_on_postgres_is_rolled_back() {
        let Some(t) = TestStore::postgres().await else {
            return say_skipped("a_write_that_is_given_up_half_way_on_postgres_is_rolled_back");
        };
        let (written, was_written) = tokio::sync::oneshot::channel();
        let write = t.store.write(move |conn| {
            Box::pin(async move {
                conn.execute(&PROBE_COMMIT, values!["half way".to_owned()]).await?;
                written.send(()).unwrap();
                std::future::pending::<Result<(), StoreError>>().await
            })
        });
        tokio::select! {
            _ = write => panic!("it never ends"),
            done = was_written => done.unwrap(),
        }
        // The row is free again, and it is not there.
        t.store.check_commit().await.unwrap();
        assert_eq!(t.number("SELECT COUNT(*) FROM instance WHERE value = 'half way'").await, 0);
    }

    both_engines!(a_probe_commits_into_one_row, |t| async {
        for _ in 0..3 {
            t.store.check_commit().await.unwrap();
            t.clock.advance_seconds(1);
        }
        assert_eq!(t.number("SELECT COUNT(*) FROM instance WHERE name = 'commit_probe'").await, 1);
        let kept = t.number("SELECT CAST(value AS BIGINT) FROM instance WHERE name = 'commit_probe'").await;
        assert_eq!(kept, t.clock.now().plus_seconds(-1).micros());
    });
}
