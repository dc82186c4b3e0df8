//! One-time links for people, by the hash of their token. Using one is a change of its row, so that of
//! two who use it at once one is too late.

use restante_core::id::{LinkId, TenantId, UserId};
use restante_core::time::Timestamp;
use restante_core::token::TokenHash;

use crate::engine::sql::statements;
use crate::engine::{Conn, Row, StoreError, values};

/// What a link is for. The words are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkKind {
    /// Makes the first administrator and the first tenant.
    SetUp,
    /// Sets a new password.
    Reset,
    /// Signs in, as the demo does.
    SignIn,
}

impl LinkKind {
    const ALL: [Self; 3] = [Self::SetUp, Self::Reset, Self::SignIn];

    const fn as_str(self) -> &'static str {
        match self {
            Self::SetUp => "set_up",
            Self::Reset => "reset",
            Self::SignIn => "sign_in",
        }
    }
}

/// A link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkRow {
    /// What the log names it by. It opens nothing.
    pub id: LinkId,
    /// What it is for.
    pub kind: LinkKind,
    /// Whom it is for; `None` for a set-up.
    pub user: Option<UserId>,
    /// The tenant whose owner made it: it is good only while the person belongs nowhere else.
    pub only_tenant: Option<TenantId>,
    /// Whether using it also takes the second factor away.
    pub drops_second_factor: bool,
    /// Who made it.
    pub created_by: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on it opens nothing.
    pub expires_at: Timestamp,
}

statements! {
    /// Keeps a link.
    LINK_INSERT = both
        "INSERT INTO links (hash, id, kind, user_id, only_tenant, drops_second_factor, created_by, created_at, expires_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";

    /// A link that can still be used.
    LINK_READ = both
        "SELECT id, kind, user_id, only_tenant, drops_second_factor, created_by, created_at, expires_at FROM links
            WHERE hash = $1 AND used_at IS NULL AND expires_at > $2";

    /// Uses a link, once.
    LINK_USE = both
        "UPDATE links SET used_at = $2 WHERE hash = $1 AND kind = $3 AND used_at IS NULL AND expires_at > $2
            RETURNING id, kind, user_id, only_tenant, drops_second_factor, created_by, created_at, expires_at";

    /// Makes every open link of a person useless.
    LINKS_DROP_OF_USER = both
        "UPDATE links SET used_at = $2 WHERE user_id = $1 AND used_at IS NULL";

    /// Makes every open link of a kind useless.
    LINKS_DROP_OF_KIND = both
        "UPDATE links SET used_at = $2 WHERE kind = $1 AND used_at IS NULL";

    // Differs because only PostgreSQL has several writers, which must not wait for each other here.
    /// Removes links that ran out long ago.
    LINKS_EXPIRE =
        sqlite "DELETE FROM links WHERE hash IN
            (SELECT hash FROM links WHERE expires_at <= $1 LIMIT $2)"
        postgres "DELETE FROM links WHERE hash IN
            (SELECT hash FROM links WHERE expires_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)";
}

/// Keeps a link.
///
/// # Errors
/// What the database ran into.
pub async fn insert(conn: &mut Conn<'_>, hash: &TokenHash, link: LinkRow) -> Result<(), StoreError> {
    let LinkRow { id, kind, user, only_tenant, drops_second_factor, created_by, created_at, expires_at } =
        link;
    let values = values![
        hash.0,
        id,
        kind.as_str(),
        user,
        only_tenant,
        drops_second_factor,
        created_by,
        created_at,
        expires_at,
    ];
    conn.execute(&LINK_INSERT, values).await.map(|_| ())
}

/// A link that can still be used.
///
/// # Errors
/// What the database ran into.
pub async fn find(
    conn: &mut Conn<'_>,
    hash: &TokenHash,
    now: Timestamp,
) -> Result<Option<LinkRow>, StoreError> {
    conn.fetch_optional(&LINK_READ, values![hash.0, now]).await?.map(|row| read(&row)).transpose()
}

/// Uses a link; `None` when it was used, has run out, is of another kind, or never was.
///
/// # Errors
/// What the database ran into.
pub async fn take(
    conn: &mut Conn<'_>,
    hash: &TokenHash,
    kind: LinkKind,
    now: Timestamp,
) -> Result<Option<LinkRow>, StoreError> {
    let row = conn.fetch_optional(&LINK_USE, values![hash.0, now, kind.as_str()]).await?;
    row.map(|row| read(&row)).transpose()
}

/// Makes every open link of a person useless, as after a change of the password.
///
/// # Errors
/// What the database ran into.
pub async fn drop_of_user(conn: &mut Conn<'_>, user: UserId, at: Timestamp) -> Result<u64, StoreError> {
    conn.execute(&LINKS_DROP_OF_USER, values![user, at]).await
}

/// Makes every open link of a kind useless.
///
/// # Errors
/// What the database ran into.
pub async fn drop_of_kind(conn: &mut Conn<'_>, kind: LinkKind, at: Timestamp) -> Result<u64, StoreError> {
    conn.execute(&LINKS_DROP_OF_KIND, values![kind.as_str(), at]).await
}

/// Removes at most `limit` links that ran out before a time; tells how many.
///
/// # Errors
/// What the database ran into.
pub async fn expire(conn: &mut Conn<'_>, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
    conn.execute(&LINKS_EXPIRE, values![before, limit]).await
}

fn read(row: &Row) -> Result<LinkRow, StoreError> {
    let kind = row.text("kind")?;
    Ok(LinkRow {
        id: LinkId(row.uuid("id")?),
        kind: LinkKind::ALL
            .into_iter()
            .find(|known| known.as_str() == kind)
            .ok_or_else(|| row.broken("kind"))?,
        user: row.uuid_or_null("user_id")?.map(UserId),
        only_tenant: row.uuid_or_null("only_tenant")?.map(TenantId),
        drops_second_factor: row.bool("drops_second_factor")?,
        created_by: row.text("created_by")?,
        created_at: row.time("created_at")?,
        expires_at: row.time("expires_at")?,
    })
}
