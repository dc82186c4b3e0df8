//! The tenants themselves, and the version of their configuration that commits compare.

use restante_core::id::{TenantId, UserId};
use restante_core::time::Timestamp;

use crate::engine::sql::statements;
use crate::engine::{Conn, StoreError, values};

/// A tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantRow {
    /// Its id.
    pub id: TenantId,
    /// Its name in commands and URLs, unique in the instance.
    pub slug: String,
    /// Its name for people.
    pub name: String,
    /// Whether it takes no events for now.
    pub suspended: bool,
    /// When it was made.
    pub created_at: Timestamp,
}

statements! {
    /// Makes a tenant unless its slug is taken.
    TENANT_INSERT = across_tenants "a new tenant belongs to nobody yet" both
        "INSERT INTO tenants (id, slug, name, suspended, config_version, created_at)
            VALUES ($1, $2, $3, $4, 1, $5) ON CONFLICT DO NOTHING";

    /// A tenant by its slug.
    TENANT_BY_SLUG = across_tenants "the slug is what the operator names a tenant by" both
        "SELECT id, slug, name, suspended, created_at FROM tenants WHERE slug = $1";

    /// Tenants that are not suspended, by their ids.
    TENANTS_AFTER = across_tenants "the watch looks after every tenant" both
        "SELECT id FROM tenants WHERE id > $1 AND NOT suspended ORDER BY id LIMIT $2";

    /// A tenant.
    TENANT_BY_ID = both
        "SELECT id, slug, name, suspended, created_at FROM tenants WHERE id = $1 AND deleted_at IS NULL";

    // Without an account of the tenant's commits the update waits for those under way: on PostgreSQL
    // they hold the row FOR SHARE, on SQLite there is one writer.
    /// Tells commits that what they may have remembered of the tenant has changed.
    TENANT_CONFIG_CHANGED = both
        "UPDATE tenants SET config_version = config_version + 1 WHERE id = $1";

    // The update of a row that exists locks it, so that two first administrators can't both be first.
    /// Takes the lock under which the first administrator is made.
    FIRST_ADMINISTRATOR_LOCK = across_tenants "administrators belong to the instance" both
        "INSERT INTO instance (name, value) VALUES ('administrator_made_at', $1)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value";

    /// Whether somebody administers the instance.
    ADMINISTRATOR_EXISTS = both
        "SELECT id FROM users WHERE administrator LIMIT 1";

    /// Makes a person administrator when nobody is.
    FIRST_ADMINISTRATOR = across_tenants "administrators belong to the instance" both
        "UPDATE users SET administrator = TRUE WHERE id = $1
            AND NOT EXISTS (SELECT 1 FROM users AS other WHERE other.administrator)";
}

/// Makes a tenant; `false` when its slug is taken.
///
/// # Errors
/// What the database ran into.
pub async fn insert(conn: &mut Conn<'_>, tenant: &TenantRow) -> Result<bool, StoreError> {
    let TenantRow { id, slug, name, suspended, created_at } = tenant;
    let values = values![*id, slug.as_str(), name.as_str(), *suspended, *created_at];
    Ok(conn.execute(&TENANT_INSERT, values).await? == 1)
}

/// The ids of tenants that are not suspended, those behind `after`.
///
/// # Errors
/// What the database ran into.
pub async fn ids_after(
    conn: &mut Conn<'_>,
    after: TenantId,
    limit: u32,
) -> Result<Vec<TenantId>, StoreError> {
    let rows = conn.fetch_all(&TENANTS_AFTER, values![after, limit]).await?;
    rows.iter().map(|row| Ok(TenantId(row.uuid("id")?))).collect()
}

/// The tenant of that slug.
///
/// # Errors
/// What the database ran into.
pub async fn by_slug(conn: &mut Conn<'_>, slug: &str) -> Result<Option<TenantRow>, StoreError> {
    let row = conn.fetch_optional(&TENANT_BY_SLUG, values![slug]).await?;
    row.map(|row| read(&row)).transpose()
}

/// The tenant of that id, unless it was deleted.
///
/// # Errors
/// What the database ran into.
pub async fn by_id(conn: &mut Conn<'_>, tenant: TenantId) -> Result<Option<TenantRow>, StoreError> {
    let row = conn.fetch_optional(&TENANT_BY_ID, values![tenant]).await?;
    row.map(|row| read(&row)).transpose()
}

/// Tells commits that the tenant's configuration changes in this transaction. It comes first in it:
/// the tenant's row is what such transactions wait for each other at.
///
/// # Errors
/// What the database ran into.
pub async fn config_changed(conn: &mut Conn<'_>, tenant: TenantId) -> Result<(), StoreError> {
    conn.execute(&TENANT_CONFIG_CHANGED, values![tenant]).await.map(|_| ())
}

/// Whether somebody administers the instance.
///
/// # Errors
/// What the database ran into.
pub async fn has_administrator(conn: &mut Conn<'_>) -> Result<bool, StoreError> {
    Ok(conn.fetch_optional(&ADMINISTRATOR_EXISTS, values![]).await?.is_some())
}

/// Makes a person administrator of the instance when it has none; tells whether it did.
///
/// # Errors
/// What the database ran into.
pub async fn make_first_administrator(
    conn: &mut Conn<'_>,
    user: UserId,
    at: Timestamp,
) -> Result<bool, StoreError> {
    conn.execute(&FIRST_ADMINISTRATOR_LOCK, values![at.to_string()]).await?;
    Ok(conn.execute(&FIRST_ADMINISTRATOR, values![user]).await? == 1)
}

fn read(row: &crate::engine::Row) -> Result<TenantRow, StoreError> {
    Ok(TenantRow {
        id: TenantId(row.uuid("id")?),
        slug: row.text("slug")?,
        name: row.text("name")?,
        suspended: row.bool("suspended")?,
        created_at: row.time("created_at")?,
    })
}
