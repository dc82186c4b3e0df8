//! When the instance was last seen alive, by the database's clock: what tells a clock that jumped from one that ran.

use restante_core::time::Timestamp;

use crate::engine::sql::statements;
use crate::engine::{Conn, StoreError, values};

statements! {
    /// When the instance was last seen alive.
    SEEN_READ = both
        "SELECT CAST(value AS BIGINT) AS seen FROM instance WHERE name = 'seen_at'";

    // Differs in how a text is compared as a number. It never goes back, and with a bound it takes no leap either.
    /// Notes that the instance is alive.
    SEEN_NOTE =
        sqlite "INSERT INTO instance (name, value) VALUES ('seen_at', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value
            WHERE CAST(instance.value AS INTEGER) < CAST(excluded.value AS INTEGER) AND CAST(instance.value AS INTEGER) >= $2"
        postgres "INSERT INTO instance (name, value) VALUES ('seen_at', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value
            WHERE CAST(instance.value AS BIGINT) < CAST(excluded.value AS BIGINT) AND CAST(instance.value AS BIGINT) >= $2";

    /// Has the instance be seen at a time, whatever it was before.
    SEEN_SET = both
        "INSERT INTO instance (name, value) VALUES ('seen_at', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
}

/// When the instance was last seen alive; `None` before the first time.
///
/// # Errors
/// What the database ran into.
pub async fn seen(conn: &mut Conn<'_>) -> Result<Option<Timestamp>, StoreError> {
    conn.fetch_optional(&SEEN_READ, values![]).await?.map(|row| row.time("seen")).transpose()
}

/// Notes that the instance is alive at `now`, unless it was last seen more than `leap_seconds_max` before; without a
/// bound it is so whatever was noted before.
///
/// # Errors
/// What the database ran into.
pub async fn note_seen(
    conn: &mut Conn<'_>,
    now: Timestamp,
    leap_seconds_max: Option<i64>,
) -> Result<(), StoreError> {
    let text = now.micros().to_string();
    match leap_seconds_max {
        Some(leap) => conn.execute(&SEEN_NOTE, values![text, now.plus_seconds(-leap)]).await.map(|_| ()),
        None => conn.execute(&SEEN_SET, values![text]).await.map(|_| ()),
    }
}
