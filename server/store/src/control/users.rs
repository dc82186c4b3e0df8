//! People: their address, the hash of their password, and whether they administer the instance. Which
//! tenants they belong to stands in `members.rs`.

use restante_core::id::UserId;
use restante_core::time::Timestamp;

use crate::engine::sql::statements;
use crate::engine::{Conn, Row, StoreError, values};

/// A person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserRow {
    /// Their id.
    pub id: UserId,
    /// Their e-mail address, in lower case.
    pub email: String,
    /// Whether they administer the instance.
    pub administrator: bool,
    /// When their account was made.
    pub created_at: Timestamp,
    /// Since when they can't sign in.
    pub disabled_at: Option<Timestamp>,
    /// When they last signed in.
    pub signed_in_at: Option<Timestamp>,
    /// Whether they are asked for a code after the password.
    pub has_second_factor: bool,
}

statements! {
    /// Makes a person unless the e-mail address is taken.
    USER_INSERT = both
        "INSERT INTO users (id, email, password_hash, administrator, created_at)
            VALUES ($1, $2, $3, FALSE, $4) ON CONFLICT DO NOTHING";

    /// A person with the hash of their password, for signing in.
    USER_BY_EMAIL = both
        "SELECT u.id, u.email, u.administrator, u.created_at, u.disabled_at, u.signed_in_at, u.password_hash,
            CASE WHEN f.enabled_at IS NULL THEN FALSE ELSE TRUE END AS has_second_factor
            FROM users AS u LEFT JOIN second_factors AS f ON f.user_id = u.id WHERE u.email = $1";

    /// A person.
    USER_BY_ID = both
        "SELECT u.id, u.email, u.administrator, u.created_at, u.disabled_at, u.signed_in_at, u.password_hash,
            CASE WHEN f.enabled_at IS NULL THEN FALSE ELSE TRUE END AS has_second_factor
            FROM users AS u LEFT JOIN second_factors AS f ON f.user_id = u.id WHERE u.id = $1";

    /// Notes when a person signed in.
    USER_SIGNED_IN = both
        "UPDATE users SET signed_in_at = $2 WHERE id = $1 AND (signed_in_at IS NULL OR signed_in_at < $2)";

    /// Sets a person's password.
    USER_SET_PASSWORD = both
        "UPDATE users SET password_hash = $2, password_changed_at = $3 WHERE id = $1";

    /// Replaces the hash that was read, so that a change meanwhile is not undone.
    USER_REHASH = both
        "UPDATE users SET password_hash = $3 WHERE id = $1 AND password_hash = $2";
}

/// Makes a person; `false` when the e-mail address is taken.
///
/// # Errors
/// What the database ran into.
pub async fn insert(
    conn: &mut Conn<'_>,
    user: UserId,
    email: &str,
    password_hash: &str,
    at: Timestamp,
) -> Result<bool, StoreError> {
    Ok(conn.execute(&USER_INSERT, values![user, email, password_hash, at]).await? == 1)
}

/// The person of an address, with the hash of their password if they have one.
///
/// # Errors
/// What the database ran into.
pub async fn by_email(
    conn: &mut Conn<'_>,
    email: &str,
) -> Result<Option<(UserRow, Option<String>)>, StoreError> {
    let row = conn.fetch_optional(&USER_BY_EMAIL, values![email]).await?;
    row.map(|row| Ok((read(&row)?, row.text_or_null("password_hash")?))).transpose()
}

/// The person of an id, with the hash of their password if they have one.
///
/// # Errors
/// What the database ran into.
pub async fn by_id(
    conn: &mut Conn<'_>,
    user: UserId,
) -> Result<Option<(UserRow, Option<String>)>, StoreError> {
    let row = conn.fetch_optional(&USER_BY_ID, values![user]).await?;
    row.map(|row| Ok((read(&row)?, row.text_or_null("password_hash")?))).transpose()
}

/// Notes when a person signed in.
///
/// # Errors
/// What the database ran into.
pub async fn signed_in(conn: &mut Conn<'_>, user: UserId, at: Timestamp) -> Result<(), StoreError> {
    conn.execute(&USER_SIGNED_IN, values![user, at]).await.map(|_| ())
}

/// Sets a person's password.
///
/// # Errors
/// What the database ran into.
pub async fn set_password(
    conn: &mut Conn<'_>,
    user: UserId,
    hash: &str,
    at: Timestamp,
) -> Result<(), StoreError> {
    conn.execute(&USER_SET_PASSWORD, values![user, hash, at]).await.map(|_| ())
}

/// Replaces the hash of a password by another one of the same password.
///
/// # Errors
/// What the database ran into.
pub async fn rehash(
    conn: &mut Conn<'_>,
    user: UserId,
    old_hash: &str,
    new_hash: &str,
) -> Result<(), StoreError> {
    conn.execute(&USER_REHASH, values![user, old_hash, new_hash]).await.map(|_| ())
}

pub(super) fn read(row: &Row) -> Result<UserRow, StoreError> {
    Ok(UserRow {
        id: UserId(row.uuid("id")?),
        email: row.text("email")?,
        administrator: row.bool("administrator")?,
        created_at: row.time("created_at")?,
        disabled_at: row.time_or_null("disabled_at")?,
        signed_in_at: row.time_or_null("signed_in_at")?,
        has_second_factor: row.bool("has_second_factor")?,
    })
}
