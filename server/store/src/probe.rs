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

    use crate::both_engines;

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
