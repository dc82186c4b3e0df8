//! Browsers in which a person has signed in before. Knowing one opens nothing: it only keeps strangers
//! who guess passwords from slowing down the person whom they guess at.

use restante_core::id::UserId;
use restante_core::time::Timestamp;
use restante_core::token::TokenHash;

use crate::engine::sql::statements;
use crate::engine::{Conn, StoreError, values};

statements! {
    /// Remembers a browser, or that it was used again.
    DEVICE_SEEN = both
        "INSERT INTO devices (hash, user_id, seen_at) VALUES ($1, $2, $3)
            ON CONFLICT (hash) DO UPDATE SET seen_at = excluded.seen_at WHERE devices.user_id = excluded.user_id";

    /// Whether a browser is one of a person's.
    DEVICE_KNOWN = both
        "SELECT hash FROM devices WHERE hash = $1 AND user_id = $2 AND seen_at > $3";

    /// Forgets a person's browsers.
    DEVICES_FORGET = both
        "DELETE FROM devices WHERE user_id = $1";

    // Differs because only PostgreSQL has several writers, which must not wait for each other here.
    /// Forgets browsers that were not used for long.
    DEVICES_EXPIRE =
        sqlite "DELETE FROM devices WHERE hash IN
            (SELECT hash FROM devices WHERE seen_at <= $1 LIMIT $2)"
        postgres "DELETE FROM devices WHERE hash IN
            (SELECT hash FROM devices WHERE seen_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)";
}

/// Remembers a browser as one of the person's.
///
/// # Errors
/// What the database ran into.
pub async fn seen(
    conn: &mut Conn<'_>,
    user: UserId,
    hash: &TokenHash,
    at: Timestamp,
) -> Result<(), StoreError> {
    conn.execute(&DEVICE_SEEN, values![hash.0, user, at]).await.map(|_| ())
}

/// Whether a browser is one of the person's and was used since a time.
///
/// # Errors
/// What the database ran into.
pub async fn is_known(
    conn: &mut Conn<'_>,
    user: UserId,
    hash: &TokenHash,
    seen_after: Timestamp,
) -> Result<bool, StoreError> {
    Ok(conn.fetch_optional(&DEVICE_KNOWN, values![hash.0, user, seen_after]).await?.is_some())
}

/// Forgets a person's browsers, as after a change of the password.
///
/// # Errors
/// What the database ran into.
pub async fn forget(conn: &mut Conn<'_>, user: UserId) -> Result<u64, StoreError> {
    conn.execute(&DEVICES_FORGET, values![user]).await
}

/// Forgets at most `limit` browsers that were not used since a time; tells how many.
///
/// # Errors
/// What the database ran into.
pub async fn expire(conn: &mut Conn<'_>, unused_since: Timestamp, limit: u32) -> Result<u64, StoreError> {
    conn.execute(&DEVICES_EXPIRE, values![unused_since, limit]).await
}
