//! Sessions of people, by the hash of the id in their cookie. Saving changes a row that is there and
//! never makes one, so that a slow request can't bring back a session that has ended.

use restante_core::id::{SessionId, TenantId, UserId};
use restante_core::time::Timestamp;
use restante_core::token::TokenHash;

use crate::engine::sql::statements;
use crate::engine::{Conn, Row, StoreError, values};

/// A session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// What lists show and revoke. It opens nothing.
    pub id: SessionId,
    /// Whose it is.
    pub user: UserId,
    /// The tenant in which the person works.
    pub current_tenant: Option<TenantId>,
    /// Whether the code of the second factor is still to come; then it opens nothing else.
    pub awaits_code: bool,
    /// What every form of this session carries.
    pub csrf: [u8; 32],
    /// The browser and system, for the list.
    pub device: String,
    /// When the person signed in.
    pub signed_in_at: Timestamp,
    /// When the person last proved that it is them.
    pub confirmed_at: Timestamp,
    /// When it was last used, to the minute.
    pub seen_at: Timestamp,
}

statements! {
    /// Begins a session.
    SESSION_INSERT = both
        "INSERT INTO sessions (hash, id, user_id, current_tenant, awaits_code, csrf, device, signed_in_at, confirmed_at, seen_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";

    /// Changes a session that is there.
    SESSION_SAVE = both
        "UPDATE sessions SET current_tenant = $2, confirmed_at = $3 WHERE hash = $1";

    /// A session that has not run out, of a person who was not disabled.
    SESSION_LOAD = both
        "SELECT s.id, s.user_id, s.current_tenant, s.awaits_code, s.csrf, s.device, s.signed_in_at, s.confirmed_at, s.seen_at
            FROM sessions AS s JOIN users AS u ON u.id = s.user_id
            WHERE s.hash = $1 AND s.seen_at > $2 AND s.signed_in_at > $3 AND u.disabled_at IS NULL";

    /// Notes that a session is in use; never turns back.
    SESSION_SEEN = both
        "UPDATE sessions SET seen_at = $2 WHERE hash = $1 AND seen_at < $2";

    /// Ends a session.
    SESSION_DELETE = both
        "DELETE FROM sessions WHERE hash = $1";

    /// A person's sessions that have not run out, the newest first.
    SESSIONS_OF_USER = both
        "SELECT id, user_id, current_tenant, awaits_code, csrf, device, signed_in_at, confirmed_at, seen_at FROM sessions
            WHERE user_id = $1 AND seen_at > $2 AND signed_in_at > $3 ORDER BY id DESC LIMIT $4";

    /// Ends one of a person's sessions.
    SESSION_REVOKE = both
        "DELETE FROM sessions WHERE user_id = $1 AND id = $2";

    /// Ends a person's sessions but one.
    SESSIONS_REVOKE_OTHERS = both
        "DELETE FROM sessions WHERE user_id = $1 AND id <> $2";

    // Differs because only PostgreSQL has several writers, which must not wait for each other here.
    /// Removes sessions that have run out.
    SESSIONS_EXPIRE =
        sqlite "DELETE FROM sessions WHERE hash IN
            (SELECT hash FROM sessions WHERE seen_at <= $1 LIMIT $2)"
        postgres "DELETE FROM sessions WHERE hash IN
            (SELECT hash FROM sessions WHERE seen_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)";
}

/// Until when a session is good, seen from now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alive {
    /// It was used after this.
    pub seen_after: Timestamp,
    /// The person signed in after this.
    pub signed_in_after: Timestamp,
}

/// Begins a session.
///
/// # Errors
/// What the database ran into; [`StoreError::Taken`] when another session has this id.
pub async fn insert(conn: &mut Conn<'_>, hash: &TokenHash, session: SessionRow) -> Result<(), StoreError> {
    let values = values![
        hash.0,
        session.id,
        session.user,
        session.current_tenant,
        session.awaits_code,
        session.csrf,
        session.device,
        session.signed_in_at,
        session.confirmed_at,
        session.seen_at,
    ];
    conn.execute(&SESSION_INSERT, values).await.map(|_| ())
}

/// Changes what may change in a session; `false` when it has ended.
///
/// # Errors
/// What the database ran into.
pub async fn save(
    conn: &mut Conn<'_>,
    hash: &TokenHash,
    current_tenant: Option<TenantId>,
    confirmed_at: Timestamp,
) -> Result<bool, StoreError> {
    Ok(conn.execute(&SESSION_SAVE, values![hash.0, current_tenant, confirmed_at]).await? == 1)
}

/// The session, unless it has ended or run out, or its person was disabled.
///
/// # Errors
/// What the database ran into.
pub async fn load(
    conn: &mut Conn<'_>,
    hash: &TokenHash,
    alive: Alive,
) -> Result<Option<SessionRow>, StoreError> {
    let values = values![hash.0, alive.seen_after, alive.signed_in_after];
    let row = conn.fetch_optional(&SESSION_LOAD, values).await?;
    row.map(|row| read(&row)).transpose()
}

/// Notes that a session is in use.
///
/// # Errors
/// What the database ran into.
pub async fn seen(conn: &mut Conn<'_>, hash: &TokenHash, at: Timestamp) -> Result<(), StoreError> {
    conn.execute(&SESSION_SEEN, values![hash.0, at]).await.map(|_| ())
}

/// Ends a session.
///
/// # Errors
/// What the database ran into.
pub async fn delete(conn: &mut Conn<'_>, hash: &TokenHash) -> Result<(), StoreError> {
    conn.execute(&SESSION_DELETE, values![hash.0]).await.map(|_| ())
}

/// A person's sessions, the newest first.
///
/// # Errors
/// What the database ran into.
pub async fn of_user(
    conn: &mut Conn<'_>,
    user: UserId,
    alive: Alive,
    limit: u32,
) -> Result<Vec<SessionRow>, StoreError> {
    let values = values![user, alive.seen_after, alive.signed_in_after, limit];
    conn.fetch_all(&SESSIONS_OF_USER, values).await?.iter().map(read).collect()
}

/// Ends one of a person's sessions; `false` when it isn't there.
///
/// # Errors
/// What the database ran into.
pub async fn revoke(conn: &mut Conn<'_>, user: UserId, session: SessionId) -> Result<bool, StoreError> {
    Ok(conn.execute(&SESSION_REVOKE, values![user, session]).await? > 0)
}

/// Ends a person's sessions, all but the one to keep; tells how many.
///
/// # Errors
/// What the database ran into.
pub async fn revoke_all(
    conn: &mut Conn<'_>,
    user: UserId,
    but: Option<SessionId>,
) -> Result<u64, StoreError> {
    // No session has the id of zeros.
    let but = but.map_or(uuid::Uuid::nil(), |session| session.0);
    conn.execute(&SESSIONS_REVOKE_OTHERS, values![user, but]).await
}

/// Removes at most `limit` sessions that were not used since a time; tells how many.
///
/// # Errors
/// What the database ran into.
pub async fn expire(conn: &mut Conn<'_>, unused_since: Timestamp, limit: u32) -> Result<u64, StoreError> {
    conn.execute(&SESSIONS_EXPIRE, values![unused_since, limit]).await
}

fn read(row: &Row) -> Result<SessionRow, StoreError> {
    Ok(SessionRow {
        id: SessionId(row.uuid("id")?),
        user: UserId(row.uuid("user_id")?),
        current_tenant: row.uuid_or_null("current_tenant")?.map(TenantId),
        awaits_code: row.bool("awaits_code")?,
        csrf: row.blob("csrf")?.try_into().map_err(|_| row.broken("csrf"))?,
        device: row.text("device")?,
        signed_in_at: row.time("signed_in_at")?,
        confirmed_at: row.time("confirmed_at")?,
        seen_at: row.time("seen_at")?,
    })
}
