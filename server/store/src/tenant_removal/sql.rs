//! The statements around the removal of a tenant. Those that remove rows stand in `tables.rs`.

use crate::engine::Sql;
use crate::engine::sql::statements;

statements! {
    /// Ends a tenant: nobody finds it any more, and its slug is free.
    TENANT_END = both
        "UPDATE tenants SET deleted_at = $2, suspended = TRUE, suspended_at = $2, slug = $3
            WHERE id = $1 AND deleted_at IS NULL";

    /// Takes the tenant itself away, after everything that belonged to it.
    TENANT_REMOVE = both
        "DELETE FROM tenants WHERE id = $1 AND deleted_at IS NOT NULL";

    /// Takes every way from a credential to the tenant away.
    LOOKUPS_END = both
        "DELETE FROM lookups WHERE tenant_id = $1";

    /// Takes its members away.
    MEMBERS_END = both
        "DELETE FROM members WHERE tenant_id = $1";

    /// Takes its grants away.
    GRANTS_END = both
        "DELETE FROM grants WHERE tenant_id = $1";

    /// Ends the links that its owners made for members.
    LINKS_END = both
        "DELETE FROM links WHERE only_tenant = $1";

    /// Nobody works in it any more.
    SESSIONS_LEAVE = both
        "UPDATE sessions SET current_tenant = NULL WHERE current_tenant = $1";

    /// Notes that a deletion began.
    REMOVAL_INSERT = both
        "INSERT INTO tenant_deletions (tenant_id, slug, name, actor, requested_at, events)
            VALUES ($1, $2, $3, $4, $5, $6)";

    // Differs in the lock, by which a second node passes over it.
    /// A deletion that is under way, locked.
    REMOVAL_LOCK =
        sqlite "SELECT at_table FROM tenant_deletions WHERE tenant_id = $1 AND finished_at IS NULL"
        postgres "SELECT at_table FROM tenant_deletions WHERE tenant_id = $1 AND finished_at IS NULL
            FOR UPDATE SKIP LOCKED";

    /// What a step has removed.
    REMOVAL_STEP = both
        "UPDATE tenant_deletions SET rows_removed = rows_removed + $2, at_table = $3, stepped_at = $4
            WHERE tenant_id = $1";

    /// The end of a deletion.
    REMOVAL_END = both
        "UPDATE tenant_deletions SET finished_at = $2, stepped_at = $2 WHERE tenant_id = $1";

    /// Deletions that are under way.
    REMOVALS_OPEN = across_tenants "the background task works off the deletions of every tenant" both
        "SELECT tenant_id FROM tenant_deletions WHERE finished_at IS NULL ORDER BY tenant_id LIMIT $1";

    /// The newest deletions.
    REMOVALS_NEWEST = across_tenants "administrators look after every tenant" both
        "SELECT tenant_id, slug, name, actor, requested_at, events, rows_removed, at_table, stepped_at, finished_at
            FROM tenant_deletions ORDER BY requested_at DESC, tenant_id LIMIT $1";

    /// The deletion of a tenant.
    REMOVAL = both
        "SELECT tenant_id, slug, name, actor, requested_at, events, rows_removed, at_table, stepped_at, finished_at
            FROM tenant_deletions WHERE tenant_id = $1";
}

/// What makes that nobody comes to a tenant any more.
pub(super) static WAYS_IN: &[&Sql] = &[&LOOKUPS_END, &MEMBERS_END, &GRANTS_END, &LINKS_END, &SESSIONS_LEAVE];
