//! People as administrators of the instance see them: listed by address, made administrators, disabled.
//! That somebody has to administer the instance is decided by the callers, under the lock that stands here.

use restante_core::id::UserId;
use restante_core::time::Timestamp;
use uuid::Uuid;

use super::users::{self, UserRow};
use crate::engine::sql::statements;
use crate::engine::{Conn, StoreError, values};

statements! {
    /// A page of people whose addresses lie in a span, by address.
    PEOPLE_PAGE = both
        "SELECT u.id, u.email, u.administrator, u.created_at, u.disabled_at, u.signed_in_at,
            CASE WHEN f.enabled_at IS NULL THEN FALSE ELSE TRUE END AS has_second_factor
            FROM users AS u LEFT JOIN second_factors AS f ON f.user_id = u.id
            WHERE u.email > $1 AND u.email >= $2 AND u.email < $3 ORDER BY u.email LIMIT $4";

    // Differs in the list.
    /// The addresses of some people.
    PEOPLE_EMAILS =
        sqlite "SELECT u.id, u.email FROM json_each($1) AS r CROSS JOIN users AS u ON u.id = unhex(r.value)"
        postgres "SELECT u.id, u.email FROM UNNEST($1::uuid[]) AS r (id) JOIN users AS u ON u.id = r.id";

    // Of two who take an administrator away at once, the second waits here, and then counts what is left.
    /// Locks the administrators who can sign in, and names them.
    ADMINISTRATORS_LOCK = both
        "UPDATE users SET administrator = administrator WHERE administrator AND disabled_at IS NULL RETURNING id";

    /// Makes a person administrator of the instance, or no longer.
    PERSON_SET_ADMINISTRATOR = both
        "UPDATE users SET administrator = $2 WHERE id = $1 AND administrator <> $2";

    /// Disables a person's account, or enables it again.
    PERSON_SET_DISABLED = both
        "UPDATE users SET disabled_at = $2 WHERE id = $1";
}

/// What comes behind every address: no character of one is larger.
const AFTER_ALL: &str = "\u{10ffff}";

/// People whose address begins so, by address, those behind `after`.
///
/// # Errors
/// What the database ran into.
pub async fn page(
    conn: &mut Conn<'_>,
    begins: &str,
    after: &str,
    limit: u32,
) -> Result<Vec<UserRow>, StoreError> {
    let until = format!("{begins}{AFTER_ALL}");
    let values = values![after, begins, until, limit];
    conn.fetch_all(&PEOPLE_PAGE, values).await?.iter().map(users::read).collect()
}

/// The addresses of some people; those who are not there are left out.
///
/// # Errors
/// What the database ran into.
pub async fn emails(conn: &mut Conn<'_>, people: Vec<Uuid>) -> Result<Vec<(UserId, String)>, StoreError> {
    let rows = conn.fetch_all(&PEOPLE_EMAILS, values![people]).await?;
    rows.iter().map(|row| Ok((UserId(row.uuid("id")?), row.text("email")?))).collect()
}

/// Locks the administrators who can sign in until the end of the transaction, and names them.
///
/// # Errors
/// What the database ran into.
pub async fn lock_administrators(conn: &mut Conn<'_>) -> Result<Vec<UserId>, StoreError> {
    let rows = conn.fetch_all(&ADMINISTRATORS_LOCK, values![]).await?;
    rows.iter().map(|row| row.uuid("id").map(UserId)).collect()
}

/// Makes a person administrator, or no longer; `false` when nothing changed.
///
/// # Errors
/// What the database ran into.
pub async fn set_administrator(
    conn: &mut Conn<'_>,
    user: UserId,
    administrator: bool,
) -> Result<bool, StoreError> {
    Ok(conn.execute(&PERSON_SET_ADMINISTRATOR, values![user, administrator]).await? == 1)
}

/// Disables a person's account from a time on, or enables it again; `false` when there is none.
///
/// # Errors
/// What the database ran into.
pub async fn set_disabled(
    conn: &mut Conn<'_>,
    user: UserId,
    disabled_at: Option<Timestamp>,
) -> Result<bool, StoreError> {
    Ok(conn.execute(&PERSON_SET_DISABLED, values![user, disabled_at]).await? == 1)
}
