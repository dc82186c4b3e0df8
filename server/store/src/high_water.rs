//! How far an instance has come, as its database knows it: a number that only grows, raised at each start and
//! now and then after it. What stands outside of the database and is compared with it is the caller's.
//! Beside it stand the marks of a database that is not to be served as it is: a backup, and one that was
//! moved elsewhere.

use restante_core::id::{ReceiptId, TenantId};
use restante_core::time::Timestamp;
use uuid::Uuid;

use crate::engine::sql::statements;
use crate::engine::{Conn, StoreError, values};

/// What the database says of itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Marks {
    /// The instance's id, made at its first start.
    pub instance: Option<Uuid>,
    /// How far it has come: a time in microseconds, or a little more.
    pub high_water: i64,
    /// When `restante backup` took it: this is a copy.
    pub backup_taken_at: Option<Timestamp>,
    /// When `restante copy` moved it elsewhere: this is what was left behind.
    pub moved_at: Option<Timestamp>,
    /// Whether `restante copy` began to fill it, and has not come to its end.
    pub half_copied: bool,
}

statements! {
    // The clock may go back; the number does not.
    /// Raises the number to a time, and by one at least.
    HIGH_WATER_RAISE = both
        "INSERT INTO instance (name, value) VALUES ('high_water', $1) ON CONFLICT (name) DO UPDATE SET value =
            CASE WHEN CAST(instance.value AS BIGINT) < CAST(excluded.value AS BIGINT) THEN excluded.value
            ELSE CAST(CAST(instance.value AS BIGINT) + 1 AS TEXT) END RETURNING value";

    /// Gives an instance its id, once.
    INSTANCE_ID_MAKE = both
        "INSERT INTO instance (name, value) VALUES ('instance_id', $1) ON CONFLICT DO NOTHING";

    /// What the database says of itself.
    INSTANCE_MARKS = both
        "SELECT name, value FROM instance
            WHERE name IN ('instance_id', 'high_water', 'backup_taken_at', 'moved_at')";

    /// Whether a copy into it is under way.
    COPY_UNDER_WAY = both
        "SELECT table_name FROM copy_progress LIMIT 1";

    /// Lets a database be served again.
    INSTANCE_MARKS_CLEAR = both
        "DELETE FROM instance WHERE name IN ('backup_taken_at', 'moved_at')";

    /// Marks a database that was moved elsewhere.
    INSTANCE_MOVED = both
        "INSERT INTO instance (name, value) VALUES ('moved_at', $1)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value";

    /// Signs everybody out.
    SESSIONS_END_ALL = both
        "DELETE FROM sessions";

    // Of a tenant without keys nothing is to be found: it was deleted.
    /// Whether a receipt is there, or its tenant has gone.
    ACKNOWLEDGED_IS_THERE = both
        "SELECT CASE WHEN EXISTS (SELECT 1 FROM receipts WHERE tenant_id = $1 AND id = $2) THEN 1
            WHEN EXISTS (SELECT 1 FROM tenant_keys WHERE tenant_id = $1 AND class = 1 AND state = 1) THEN 0
            ELSE 1 END AS is_there";
}

/// Reads the marks.
///
/// # Errors
/// What the database ran into.
pub async fn read(conn: &mut Conn<'_>) -> Result<Marks, StoreError> {
    let mut marks = Marks::default();
    for row in conn.fetch_all(&INSTANCE_MARKS, values![]).await? {
        let (name, value) = (row.text("name")?, row.text("value")?);
        let micros = || value.parse::<i64>().map_err(|_| row.broken("value"));
        match name.as_str() {
            "instance_id" => marks.instance = Some(Uuid::parse_str(&value).map_err(|_| row.broken("value"))?),
            "high_water" => marks.high_water = micros()?,
            "backup_taken_at" => marks.backup_taken_at = Some(Timestamp::from_micros(micros()?)),
            _ => marks.moved_at = Some(Timestamp::from_micros(micros()?)),
        }
    }
    marks.half_copied = conn.fetch_optional(&COPY_UNDER_WAY, values![]).await?.is_some();
    Ok(marks)
}

/// Raises the number to the database's time, or to `at_least`, and gives the instance its id if it has none
/// yet. Gives the id and the number.
///
/// # Errors
/// What the database ran into.
pub async fn raise(conn: &mut Conn<'_>, new_id: Uuid, at_least: i64) -> Result<(Uuid, i64), StoreError> {
    conn.execute(&INSTANCE_ID_MAKE, values![new_id.to_string()]).await?;
    let to = conn.now().await?.micros().max(at_least);
    let row = conn.fetch_one(&HIGH_WATER_RAISE, values![to.to_string()]).await?;
    let raised = row.text("value")?.parse().map_err(|_| row.broken("value"))?;
    let id = read(conn).await?.instance.ok_or_else(|| row.broken("instance_id"))?;
    Ok((id, raised))
}

/// Takes the marks of a backup and of a move away, and signs everybody out: what was signed out or taken
/// from somebody since would be valid again.
///
/// # Errors
/// What the database ran into.
pub async fn let_serve_again(conn: &mut Conn<'_>) -> Result<(), StoreError> {
    conn.execute(&SESSIONS_END_ALL, values![]).await?;
    conn.execute(&INSTANCE_MARKS_CLEAR, values![]).await.map(|_| ())
}

/// Marks the database as moved elsewhere.
///
/// # Errors
/// What the database ran into.
pub async fn mark_moved(conn: &mut Conn<'_>, at: Timestamp) -> Result<(), StoreError> {
    conn.execute(&INSTANCE_MOVED, values![at.micros().to_string()]).await.map(|_| ())
}

/// Whether an acknowledged event is there; also when its tenant is gone, which explains its absence.
///
/// # Errors
/// What the database ran into.
pub async fn is_there(conn: &mut Conn<'_>, tenant: TenantId, receipt: ReceiptId) -> Result<bool, StoreError> {
    let row = conn.fetch_one(&ACKNOWLEDGED_IS_THERE, values![tenant, receipt]).await?;
    Ok(row.int("is_there")? != 0)
}
