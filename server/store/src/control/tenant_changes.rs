//! What administrators of the instance change of a tenant: its names, and whether it takes events.

use restante_core::id::TenantId;
use restante_core::time::Timestamp;

use super::tenants;
use crate::engine::sql::statements;
use crate::engine::{Conn, StoreError, values};

statements! {
    /// Gives a tenant other names.
    TENANT_RENAME = both
        "UPDATE tenants SET slug = $2, name = $3 WHERE id = $1 AND deleted_at IS NULL";

    /// Suspends a tenant, or lets it go on.
    TENANT_SUSPEND = both
        "UPDATE tenants SET suspended = $2, suspended_at = $3, suspended_because = $4
            WHERE id = $1 AND deleted_at IS NULL AND suspended <> $2";
}

/// Gives a tenant other names; `false` when there is no such tenant.
///
/// # Errors
/// What the database ran into; [`StoreError::Taken`] when another tenant has the slug.
pub async fn rename(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    slug: &str,
    name: &str,
) -> Result<bool, StoreError> {
    Ok(conn.execute(&TENANT_RENAME, values![tenant, slug, name]).await? == 1)
}

/// Suspends a tenant from a time on; `false` when it is suspended already or is not there. Commits under
/// way end before; those behind it store nothing.
///
/// # Errors
/// What the database ran into.
pub async fn suspend(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    at: Timestamp,
    because: Option<&str>,
) -> Result<bool, StoreError> {
    tenants::config_changed(conn, tenant).await?;
    Ok(conn.execute(&TENANT_SUSPEND, values![tenant, true, Some(at), because]).await? == 1)
}

/// Lets a suspended tenant go on; `false` when it is not suspended or not there.
///
/// # Errors
/// What the database ran into.
pub async fn resume(conn: &mut Conn<'_>, tenant: TenantId) -> Result<bool, StoreError> {
    tenants::config_changed(conn, tenant).await?;
    let none = (None::<Timestamp>, None::<&str>);
    Ok(conn.execute(&TENANT_SUSPEND, values![tenant, false, none.0, none.1]).await? == 1)
}
