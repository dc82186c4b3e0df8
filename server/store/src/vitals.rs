//! How the database is, for the operator: which one, how large, its schema, its connections. Asked for by
//! people who look, never by the road of a delivery.

use std::collections::BTreeMap;

use restante_core::seal::KeyState;

use crate::engine::sql::statements;
use crate::engine::{Conn, Pools, StoreError, migrations_known, values};
use crate::store::Store;

/// What is known of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vitals {
    /// The version of the engine, as it tells it.
    pub version: String,
    /// Bytes of the database: its file, or what PostgreSQL counts for it.
    pub bytes: u64,
    /// Bytes of these that are free for new rows (SQLite).
    pub free_bytes: Option<u64>,
    /// The number of the last migration that was applied, and how many were.
    pub migrated_to: u64,
    /// Migrations that were applied.
    pub migrations: u64,
    /// Connections of all programs to this database, and how many the server takes (PostgreSQL).
    pub connections: Option<(u64, u64)>,
}

/// The connections of this process to the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolUse {
    /// Open ones.
    pub open: u64,
    /// Those of them that nobody uses now.
    pub idle: u64,
    /// How many there may be.
    pub most: u64,
}

/// Keys of tenants that one master key wraps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WrappedKeys {
    /// By the id of the master key: how many keys are in use.
    pub by_master_key: BTreeMap<Vec<u8>, u64>,
    /// Keys that were destroyed on purpose.
    pub destroyed: u64,
}

statements! {
    // Differs in what each engine tells of itself.
    /// What the engine tells of itself.
    VITALS =
        sqlite "SELECT sqlite_version() AS version, c.page_count * s.page_size AS bytes, f.freelist_count * s.page_size AS free_bytes,
            NULL AS connections, NULL AS connections_max
            FROM pragma_page_count() AS c, pragma_page_size() AS s, pragma_freelist_count() AS f"
        postgres "SELECT current_setting('server_version') AS version, pg_database_size(current_database()) AS bytes,
            CAST(NULL AS BIGINT) AS free_bytes,
            (SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database()) AS connections,
            CAST(current_setting('max_connections') AS BIGINT) AS connections_max";

    /// The migrations that were applied.
    VITALS_MIGRATIONS = both
        "SELECT COALESCE(MAX(version), 0) AS latest, COUNT(*) AS applied FROM _sqlx_migrations";

    // The id stands in the wrapped key behind four bytes; see decisions/0003.
    /// How many keys each master key wraps.
    VITALS_KEYS = across_tenants "the master key wraps the keys of every tenant" both
        "SELECT CASE WHEN state = $1 THEN NULL ELSE substr(wrapped, 5, 8) END AS master_key, COUNT(*) AS keys
            FROM tenant_keys GROUP BY CASE WHEN state = $1 THEN NULL ELSE substr(wrapped, 5, 8) END";
}

/// How the database is.
///
/// # Errors
/// What the database ran into.
pub async fn read(conn: &mut Conn<'_>) -> Result<Vitals, StoreError> {
    let row = conn.fetch_one(&VITALS, values![]).await?;
    let schema = conn.fetch_one(&VITALS_MIGRATIONS, values![]).await?;
    let count = |column| row.int_or_null(column).map(|n| n.and_then(|n| u64::try_from(n).ok()));
    Ok(Vitals {
        version: row.text("version")?,
        bytes: row.count("bytes")?,
        free_bytes: count("free_bytes")?,
        migrated_to: schema.count("latest")?,
        migrations: schema.count("applied")?,
        connections: count("connections")?.zip(count("connections_max")?),
    })
}

/// The keys of tenants by the master key that wraps them.
///
/// # Errors
/// What the database ran into.
pub async fn wrapped_keys(conn: &mut Conn<'_>) -> Result<WrappedKeys, StoreError> {
    let mut found = WrappedKeys::default();
    for row in conn.fetch_all(&VITALS_KEYS, values![i64::from(KeyState::Destroyed.code())]).await? {
        let keys = row.count("keys")?;
        match row.blob_or_null("master_key")? {
            Some(id) => {
                found.by_master_key.insert(id, keys);
            }
            None => found.destroyed = keys,
        }
    }
    Ok(found)
}

impl Store {
    /// The connections of this process.
    pub fn pool_use(&self) -> PoolUse {
        let told = |open: u32, idle: usize, most: u32| PoolUse {
            open: open.into(),
            idle: idle as u64,
            most: most.into(),
        };
        match self.pools() {
            Pools::Sqlite { readers, .. } => {
                told(readers.size(), readers.num_idle(), readers.options().get_max_connections())
            }
            Pools::Postgres { pool } => {
                told(pool.size(), pool.num_idle(), pool.options().get_max_connections())
            }
        }
    }

    /// The number of the last migration that this program knows, and how many it knows.
    pub fn migrations_known(&self) -> (u64, u64) {
        migrations_known(self.engine())
    }
}

#[cfg(test)]
mod tests {
    use super::{WrappedKeys, read, wrapped_keys};
    use crate::both_engines;

    both_engines!(a_database_tells_its_version_size_and_schema, |t| async {
        let vitals = t.store.read(|conn| Box::pin(read(conn))).await.unwrap();
        assert!(vitals.version.starts_with(|c: char| c.is_ascii_digit()), "{}", vitals.version);
        assert!(vitals.bytes > 10_000);
        assert_eq!((vitals.migrated_to, vitals.migrations), t.store.migrations_known());
        assert_eq!(vitals.connections.is_some(), t.engine() == crate::Engine::Postgres);
        let used = t.store.pool_use();
        assert!(used.open <= used.most && used.most > 0);
        let keys = t.store.read(|conn| Box::pin(wrapped_keys(conn))).await.unwrap();
        assert_eq!(keys, WrappedKeys::default());
    });
}
