//! Second factors: the sealed secret that an app shares, the last step whose code was taken, and the
//! hashes of the recovery codes. Taking a code is a change of its row, so that none counts twice.

use restante_core::id::UserId;
use restante_core::time::Timestamp;
use restante_core::token::TokenHash;

use crate::engine::sql::statements;
use crate::engine::{Conn, Row, StoreError, values};
use crate::failpoint;

/// A second factor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecondFactorRow {
    /// Whose it is.
    pub user: UserId,
    /// The person's key, wrapped under the master key.
    pub key_wrapped: Vec<u8>,
    /// The secret, sealed under that key.
    pub secret_sealed: Vec<u8>,
    /// The last step whose code was taken.
    pub last_step: i64,
    /// When it was set up.
    pub created_at: Timestamp,
    /// Since when a code is asked for.
    pub enabled_at: Option<Timestamp>,
}

statements! {
    /// Keeps a secret that is still to be confirmed; one that is in use stays.
    SECOND_FACTOR_BEGIN = both
        "INSERT INTO second_factors (user_id, key_wrapped, secret_sealed, last_step, created_at, enabled_at)
            VALUES ($1, $2, $3, 0, $4, NULL)
            ON CONFLICT (user_id) DO UPDATE SET key_wrapped = excluded.key_wrapped,
            secret_sealed = excluded.secret_sealed, last_step = 0, created_at = excluded.created_at
            WHERE second_factors.enabled_at IS NULL";

    /// A person's second factor.
    SECOND_FACTOR_READ = both
        "SELECT user_id, key_wrapped, secret_sealed, last_step, created_at, enabled_at FROM second_factors
            WHERE user_id = $1";

    // Only the secret that was read is taken into use, not one that came meanwhile.
    /// Takes a secret into use after its first right code.
    SECOND_FACTOR_ENABLE = both
        "UPDATE second_factors SET enabled_at = $2, last_step = $3
            WHERE user_id = $1 AND enabled_at IS NULL AND secret_sealed = $4";

    /// Takes the code of a step, once.
    SECOND_FACTOR_TAKE_STEP = both
        "UPDATE second_factors SET last_step = $2 WHERE user_id = $1 AND last_step < $2 AND enabled_at IS NOT NULL";

    /// Takes a second factor away.
    SECOND_FACTOR_DELETE = both
        "DELETE FROM second_factors WHERE user_id = $1";

    /// Second factors in steps, for the operator's check of the master keys and for their change.
    SECOND_FACTORS_ALL = both
        "SELECT user_id, key_wrapped, secret_sealed, last_step, created_at, enabled_at FROM second_factors
            WHERE user_id > $1 ORDER BY user_id LIMIT $2";

    // Only the value that was read is replaced, so that two runs can't undo each other's work.
    /// Replaces the wrapping of a person's key.
    SECOND_FACTOR_REWRAP = both
        "UPDATE second_factors SET key_wrapped = $3 WHERE user_id = $1 AND key_wrapped = $2";

    /// Keeps a recovery code.
    RECOVERY_CODE_INSERT = both
        "INSERT INTO recovery_codes (user_id, hash, used_at) VALUES ($1, $2, NULL)";

    /// Takes a recovery code, once.
    RECOVERY_CODE_USE = both
        "UPDATE recovery_codes SET used_at = $3 WHERE user_id = $1 AND hash = $2 AND used_at IS NULL";

    /// Recovery codes that are left.
    RECOVERY_CODES_LEFT = both
        "SELECT COUNT(*) AS codes_left FROM recovery_codes WHERE user_id = $1 AND used_at IS NULL";

    /// Removes a person's recovery codes.
    RECOVERY_CODES_DELETE = both
        "DELETE FROM recovery_codes WHERE user_id = $1";
}

/// Keeps a secret that is still to be confirmed; `false` when one is in use already.
///
/// # Errors
/// What the database ran into.
pub async fn begin(
    conn: &mut Conn<'_>,
    user: UserId,
    key_wrapped: &[u8],
    secret_sealed: &[u8],
    at: Timestamp,
) -> Result<bool, StoreError> {
    let values = values![user, key_wrapped, secret_sealed, at];
    Ok(conn.execute(&SECOND_FACTOR_BEGIN, values).await? == 1)
}

/// A person's second factor.
///
/// # Errors
/// What the database ran into.
pub async fn find(conn: &mut Conn<'_>, user: UserId) -> Result<Option<SecondFactorRow>, StoreError> {
    conn.fetch_optional(&SECOND_FACTOR_READ, values![user]).await?.map(|row| read(&row)).transpose()
}

/// Takes a secret into use; `false` when it is not the one that was read, or one is in use already.
///
/// # Errors
/// What the database ran into.
pub async fn enable(
    conn: &mut Conn<'_>,
    user: UserId,
    secret_sealed: &[u8],
    step: i64,
    at: Timestamp,
) -> Result<bool, StoreError> {
    Ok(conn.execute(&SECOND_FACTOR_ENABLE, values![user, at, step, secret_sealed]).await? == 1)
}

/// Takes the code of a step; `false` when that step or a later one was taken before.
///
/// # Errors
/// What the database ran into.
pub async fn take_step(conn: &mut Conn<'_>, user: UserId, step: i64) -> Result<bool, StoreError> {
    Ok(conn.execute(&SECOND_FACTOR_TAKE_STEP, values![user, step]).await? == 1)
}

/// Takes a second factor away, with its recovery codes; `false` when there was none.
///
/// # Errors
/// What the database ran into.
pub async fn delete(conn: &mut Conn<'_>, user: UserId) -> Result<bool, StoreError> {
    conn.execute(&RECOVERY_CODES_DELETE, values![user]).await?;
    Ok(conn.execute(&SECOND_FACTOR_DELETE, values![user]).await? == 1)
}

/// Second factors in the order of their people, those behind `after`.
///
/// # Errors
/// What the database ran into.
pub async fn page(
    conn: &mut Conn<'_>,
    after: Option<UserId>,
    limit: u32,
) -> Result<Vec<SecondFactorRow>, StoreError> {
    let after = after.map_or(uuid::Uuid::nil(), |after| after.0);
    conn.fetch_all(&SECOND_FACTORS_ALL, values![after, limit]).await?.iter().map(read).collect()
}

/// Replaces the wrappings of people's keys, of each that is still as it was read; gives how many.
///
/// # Errors
/// What the database ran into.
pub async fn rewrap_all(
    conn: &mut Conn<'_>,
    keys: Vec<(UserId, Vec<u8>, Vec<u8>)>,
) -> Result<u64, StoreError> {
    let mut done = 0;
    for (user, read, wrapped) in keys {
        done += conn.execute(&SECOND_FACTOR_REWRAP, values![user, read, wrapped]).await?;
    }
    failpoint::pass(failpoint::REWRAP).await?;
    Ok(done)
}

/// Replaces a person's recovery codes.
///
/// # Errors
/// What the database ran into.
pub async fn replace_recovery_codes(
    conn: &mut Conn<'_>,
    user: UserId,
    hashes: &[TokenHash],
) -> Result<(), StoreError> {
    conn.execute(&RECOVERY_CODES_DELETE, values![user]).await?;
    for hash in hashes {
        conn.execute(&RECOVERY_CODE_INSERT, values![user, hash.0]).await?;
    }
    Ok(())
}

/// Takes a recovery code; `false` when it was taken before or is none.
///
/// # Errors
/// What the database ran into.
pub async fn take_recovery_code(
    conn: &mut Conn<'_>,
    user: UserId,
    hash: &TokenHash,
    at: Timestamp,
) -> Result<bool, StoreError> {
    Ok(conn.execute(&RECOVERY_CODE_USE, values![user, hash.0, at]).await? == 1)
}

/// Recovery codes that a person has left.
///
/// # Errors
/// What the database ran into.
pub async fn recovery_codes_left(conn: &mut Conn<'_>, user: UserId) -> Result<u64, StoreError> {
    conn.fetch_one(&RECOVERY_CODES_LEFT, values![user]).await?.count("codes_left")
}

fn read(row: &Row) -> Result<SecondFactorRow, StoreError> {
    Ok(SecondFactorRow {
        user: UserId(row.uuid("user_id")?),
        key_wrapped: row.blob("key_wrapped")?,
        secret_sealed: row.blob("secret_sealed")?,
        last_step: row.int("last_step")?,
        created_at: row.time("created_at")?,
        enabled_at: row.time_or_null("enabled_at")?,
    })
}
