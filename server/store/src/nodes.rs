//! The servers that run on this database. Each writes down now and then that it lives, and what an
//! operator has to know of all of them before a master key is changed.

use restante_core::seal::KekId;
use restante_core::time::Timestamp;
use uuid::Uuid;

use crate::engine::sql::statements;
use crate::engine::{Conn, Row, StoreError, values};

/// A server that has not been heard of for so long does not run any more.
pub const NODE_LIVES_SECONDS: i64 = 60;
/// Rows of servers that were killed go after a day.
const NODE_KEPT_SECONDS: i64 = 24 * 3_600;

/// A server, as it was when it was last heard of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeRow {
    /// Its id, anew at each start.
    pub id: Uuid,
    /// Since when it runs.
    pub started_at: Timestamp,
    /// When it was last heard of.
    pub seen_at: Timestamp,
    /// The program's version.
    pub version: String,
    /// The master keys that it has loaded, the active one first.
    pub master_keys: Vec<KekId>,
}

statements! {
    /// Says that a server lives.
    NODE_BEAT = both
        "INSERT INTO nodes (id, started_at, seen_at, version, master_keys) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, master_keys = excluded.master_keys";

    /// Says that a server has ended.
    NODE_GONE = both
        "DELETE FROM nodes WHERE id = $1";

    /// Forgets servers that were killed.
    NODES_FORGET = both
        "DELETE FROM nodes WHERE seen_at < $1";

    /// The servers that live.
    NODES_LIVE = both
        "SELECT id, started_at, seen_at, version, master_keys FROM nodes WHERE seen_at >= $1 ORDER BY id";
}

/// Says that a server lives, at the database's time.
///
/// # Errors
/// What the database ran into.
pub async fn beat(
    conn: &mut Conn<'_>,
    id: Uuid,
    started_at: Timestamp,
    version: &str,
    master_keys: &[KekId],
) -> Result<(), StoreError> {
    let now = conn.now().await?;
    let keys: Vec<String> = master_keys.iter().map(KekId::to_string).collect();
    conn.execute(&NODE_BEAT, values![id, started_at, now, version, keys.join(" ")]).await?;
    conn.execute(&NODES_FORGET, values![now.plus_seconds(-NODE_KEPT_SECONDS)]).await.map(|_| ())
}

/// Says that a server has ended.
///
/// # Errors
/// What the database ran into.
pub async fn gone(conn: &mut Conn<'_>, id: Uuid) -> Result<(), StoreError> {
    conn.execute(&NODE_GONE, values![id]).await.map(|_| ())
}

/// The servers that were heard of within [`NODE_LIVES_SECONDS`].
///
/// # Errors
/// What the database ran into.
pub async fn live(conn: &mut Conn<'_>) -> Result<Vec<NodeRow>, StoreError> {
    let since = conn.now().await?.plus_seconds(-NODE_LIVES_SECONDS);
    conn.fetch_all(&NODES_LIVE, values![since]).await?.iter().map(read).collect()
}

fn read(row: &Row) -> Result<NodeRow, StoreError> {
    let keys = row.text("master_keys")?;
    let keys: Result<Vec<KekId>, _> = keys.split_whitespace().map(str::parse).collect();
    Ok(NodeRow {
        id: row.uuid("id")?,
        started_at: row.time("started_at")?,
        seen_at: row.time("seen_at")?,
        version: row.text("version")?,
        master_keys: keys.map_err(|_| row.broken("master_keys"))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::both_engines;
    use crate::testing::TestStore;

    async fn beat_of(t: &TestStore, id: u128, keys: &'static [KekId]) {
        let work = t.store.write(move |conn| {
            Box::pin(async move {
                let at = conn.now().await?;
                beat(conn, Uuid::from_u128(id), at, "1.0", keys).await
            })
        });
        work.await.unwrap();
    }

    async fn living(t: &TestStore) -> Vec<(u128, Vec<KekId>)> {
        let rows = t.store.read(|conn| Box::pin(live(conn))).await.unwrap();
        rows.into_iter().map(|row| (row.id.as_u128(), row.master_keys)).collect()
    }

    const OLD: KekId = KekId([1; 8]);
    const NEW: KekId = KekId([2; 8]);

    both_engines!(a_server_lives_for_a_minute_after_it_was_last_heard_of, |t| async {
        beat_of(&t, 1, &[OLD]).await;
        t.clock.advance_seconds(40);
        beat_of(&t, 2, &[OLD]).await;
        beat_of(&t, 1, &[NEW, OLD]).await;
        assert_eq!(living(&t).await, [(1, vec![NEW, OLD]), (2, vec![OLD])]);
        t.clock.advance_seconds(NODE_LIVES_SECONDS);
        beat_of(&t, 2, &[OLD]).await;
        t.clock.advance_seconds(1);
        assert_eq!(living(&t).await, [(2, vec![OLD])]);
        t.store.write(|conn| Box::pin(gone(conn, Uuid::from_u128(2)))).await.unwrap();
        assert_eq!(living(&t).await, []);
        t.clock.advance_seconds(NODE_KEPT_SECONDS);
        beat_of(&t, 3, &[NEW]).await;
        assert_eq!(t.count("nodes").await, 1, "what was killed is forgotten");
    });
}
