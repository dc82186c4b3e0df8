//! Every table of tenants' things, with the statement that removes some of a tenant's rows from it. A new
//! table joins the list here; a test finds the one that was forgotten.
//!
//! Rows go by their primary key, which begins with the tenant, so that a step reads what it removes and
//! nothing else.

use crate::engine::Sql;
use crate::engine::sql::statements;

/// A table and how its rows go.
pub(super) struct Table {
    /// Its name.
    pub(super) name: &'static str,
    /// Removes rows of the tenant `$1`, at most `$2` of them.
    pub(super) remove: &'static Sql,
    /// Whether `$3` bounds the bytes as well.
    pub(super) by_bytes: bool,
}

const fn table(name: &'static str, remove: &'static Sql) -> Table {
    Table { name, remove, by_bytes: false }
}

/// The tables in the order in which they are emptied: first what work goes on with, last what others point at.
pub(super) static TABLES: &[Table] = &[
    table("replay_jobs", &REMOVE_REPLAY_JOBS),
    table("reconciliations", &REMOVE_RECONCILIATIONS),
    table("reconciliation_runs", &REMOVE_RECONCILIATION_RUNS),
    table("reconciliation_types", &REMOVE_RECONCILIATION_TYPES),
    table("consumers", &REMOVE_CONSUMERS),
    table("handoffs", &REMOVE_HANDOFFS),
    table("attempts", &REMOVE_ATTEMPTS),
    table("replays", &REMOVE_REPLAYS),
    table("settlements", &REMOVE_SETTLEMENTS),
    table("deliveries", &REMOVE_DELIVERIES),
    table("variants", &REMOVE_VARIANTS),
    table("receipts", &REMOVE_RECEIPTS),
    Table { name: "payloads", remove: &REMOVE_PAYLOADS, by_bytes: true },
    table("removed_keys", &REMOVE_REMOVED_KEYS),
    table("retention_run_lines", &REMOVE_RETENTION_RUN_LINES),
    table("retention_overrides", &REMOVE_RETENTION_OVERRIDES),
    table("retention_holds", &REMOVE_RETENTION_HOLDS),
    table("retention_policies", &REMOVE_RETENTION_POLICIES),
    table("endpoint_secrets", &REMOVE_ENDPOINT_SECRETS),
    table("endpoints", &REMOVE_ENDPOINTS),
    table("refusals", &REMOVE_REFUSALS),
    table("rollups", &REMOVE_ROLLUPS),
    table("api_keys", &REMOVE_API_KEYS),
    table("lookups", &REMOVE_LOOKUPS),
    table("idempotency_keys", &REMOVE_IDEMPOTENCY_KEYS),
    table("members", &REMOVE_MEMBERS),
    table("invites", &REMOVE_INVITES),
    table("grants", &REMOVE_GRANTS),
    table("audit_log", &REMOVE_AUDIT_LOG),
    table("tenant_limits", &REMOVE_TENANT_LIMITS),
    table("tenant_keys", &REMOVE_TENANT_KEYS),
];

statements! {
    /// Removes rows of `replay_jobs`.
    REMOVE_REPLAY_JOBS = both
        "DELETE FROM replay_jobs WHERE tenant_id = $1 AND id IN
            (SELECT id FROM replay_jobs WHERE tenant_id = $1 ORDER BY id LIMIT $2)";

    /// Removes rows of `reconciliations`.
    REMOVE_RECONCILIATIONS = both
        "DELETE FROM reconciliations WHERE tenant_id = $1 AND endpoint_id IN
            (SELECT endpoint_id FROM reconciliations WHERE tenant_id = $1 ORDER BY endpoint_id LIMIT $2)";

    /// Removes rows of `reconciliation_runs`.
    REMOVE_RECONCILIATION_RUNS = both
        "DELETE FROM reconciliation_runs WHERE tenant_id = $1 AND (endpoint_id, id) IN
            (SELECT endpoint_id, id FROM reconciliation_runs WHERE tenant_id = $1 ORDER BY endpoint_id, id LIMIT $2)";

    /// Removes rows of `reconciliation_types`.
    REMOVE_RECONCILIATION_TYPES = both
        "DELETE FROM reconciliation_types WHERE tenant_id = $1 AND (endpoint_id, type) IN
            (SELECT endpoint_id, type FROM reconciliation_types WHERE tenant_id = $1 ORDER BY endpoint_id, type LIMIT $2)";

    /// Removes rows of `consumers`.
    REMOVE_CONSUMERS = both
        "DELETE FROM consumers WHERE tenant_id = $1 AND id IN
            (SELECT id FROM consumers WHERE tenant_id = $1 ORDER BY id LIMIT $2)";

    /// Removes rows of `handoffs`.
    REMOVE_HANDOFFS = both
        "DELETE FROM handoffs WHERE tenant_id = $1 AND (consumer_id, receipt_id) IN
            (SELECT consumer_id, receipt_id FROM handoffs WHERE tenant_id = $1 ORDER BY consumer_id, receipt_id LIMIT $2)";

    /// Removes rows of `attempts`.
    REMOVE_ATTEMPTS = both
        "DELETE FROM attempts WHERE tenant_id = $1 AND (consumer_id, receipt_id, attempt) IN
            (SELECT consumer_id, receipt_id, attempt FROM attempts WHERE tenant_id = $1 ORDER BY consumer_id, receipt_id, attempt LIMIT $2)";

    /// Removes rows of `replays`.
    REMOVE_REPLAYS = both
        "DELETE FROM replays WHERE tenant_id = $1 AND id IN
            (SELECT id FROM replays WHERE tenant_id = $1 ORDER BY id LIMIT $2)";

    /// Removes rows of `settlements`.
    REMOVE_SETTLEMENTS = both
        "DELETE FROM settlements WHERE tenant_id = $1 AND id IN
            (SELECT id FROM settlements WHERE tenant_id = $1 ORDER BY id LIMIT $2)";

    /// Removes rows of `deliveries`.
    REMOVE_DELIVERIES = both
        "DELETE FROM deliveries WHERE tenant_id = $1 AND (receipt_id, id) IN
            (SELECT receipt_id, id FROM deliveries WHERE tenant_id = $1 ORDER BY receipt_id, id LIMIT $2)";

    /// Removes rows of `variants`.
    REMOVE_VARIANTS = both
        "DELETE FROM variants WHERE tenant_id = $1 AND (receipt_id, id) IN
            (SELECT receipt_id, id FROM variants WHERE tenant_id = $1 ORDER BY receipt_id, id LIMIT $2)";

    /// Removes rows of `receipts`.
    REMOVE_RECEIPTS = both
        "DELETE FROM receipts WHERE tenant_id = $1 AND id IN
            (SELECT id FROM receipts WHERE tenant_id = $1 ORDER BY id LIMIT $2)";

    // A payload may be as large as a body; what one step frees is bounded by bytes too.
    /// Removes payloads.
    REMOVE_PAYLOADS = both
        "DELETE FROM payloads WHERE tenant_id = $1 AND id IN (SELECT id FROM (SELECT id,
            SUM(size) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
            FROM (SELECT id, length(headers_sealed) + length(body_sealed) + COALESCE(length(decoded_sealed), 0) AS size
                FROM payloads WHERE tenant_id = $1 ORDER BY id LIMIT $2) AS sized) AS summed
            WHERE before IS NULL OR before < $3)";

    /// Removes rows of `removed_keys`.
    REMOVE_REMOVED_KEYS = both
        "DELETE FROM removed_keys WHERE tenant_id = $1 AND (provider, scope) IN
            (SELECT provider, scope FROM removed_keys WHERE tenant_id = $1 ORDER BY provider, scope LIMIT $2)";

    /// Removes rows of `retention_run_lines`.
    REMOVE_RETENTION_RUN_LINES = both
        "DELETE FROM retention_run_lines WHERE tenant_id = $1 AND (run_id, endpoint_id) IN
            (SELECT run_id, endpoint_id FROM retention_run_lines WHERE tenant_id = $1 ORDER BY run_id, endpoint_id LIMIT $2)";

    /// Removes rows of `retention_overrides`.
    REMOVE_RETENTION_OVERRIDES = both
        "DELETE FROM retention_overrides WHERE tenant_id = $1 AND endpoint_id IN
            (SELECT endpoint_id FROM retention_overrides WHERE tenant_id = $1 ORDER BY endpoint_id LIMIT $2)";

    /// Removes rows of `retention_holds`.
    REMOVE_RETENTION_HOLDS = both
        "DELETE FROM retention_holds WHERE tenant_id = $1 AND id IN
            (SELECT id FROM retention_holds WHERE tenant_id = $1 ORDER BY id LIMIT $2)";

    /// Removes rows of `retention_policies`.
    REMOVE_RETENTION_POLICIES = both
        "DELETE FROM retention_policies WHERE tenant_id = $1 AND (level, subject) IN
            (SELECT level, subject FROM retention_policies WHERE tenant_id = $1 ORDER BY level, subject LIMIT $2)";

    /// Removes rows of `endpoint_secrets`.
    REMOVE_ENDPOINT_SECRETS = both
        "DELETE FROM endpoint_secrets WHERE tenant_id = $1 AND (endpoint_id, id) IN
            (SELECT endpoint_id, id FROM endpoint_secrets WHERE tenant_id = $1 ORDER BY endpoint_id, id LIMIT $2)";

    /// Removes rows of `endpoints`.
    REMOVE_ENDPOINTS = both
        "DELETE FROM endpoints WHERE tenant_id = $1 AND id IN
            (SELECT id FROM endpoints WHERE tenant_id = $1 ORDER BY id LIMIT $2)";

    /// Removes rows of `refusals`.
    REMOVE_REFUSALS = both
        "DELETE FROM refusals WHERE tenant_id = $1 AND (endpoint_id, id) IN
            (SELECT endpoint_id, id FROM refusals WHERE tenant_id = $1 ORDER BY endpoint_id, id LIMIT $2)";

    /// Removes rows of `rollups`.
    REMOVE_ROLLUPS = both
        "DELETE FROM rollups WHERE tenant_id = $1 AND (grain, at, subject, metric, shard) IN
            (SELECT grain, at, subject, metric, shard FROM rollups WHERE tenant_id = $1 ORDER BY grain, at, subject, metric, shard LIMIT $2)";

    /// Removes rows of `api_keys`.
    REMOVE_API_KEYS = both
        "DELETE FROM api_keys WHERE tenant_id = $1 AND id IN
            (SELECT id FROM api_keys WHERE tenant_id = $1 ORDER BY id LIMIT $2)";

    /// Removes rows of `lookups`.
    REMOVE_LOOKUPS = both
        "DELETE FROM lookups WHERE tenant_id = $1 AND hash IN
            (SELECT hash FROM lookups WHERE tenant_id = $1 ORDER BY hash LIMIT $2)";

    /// Removes rows of `idempotency_keys`.
    REMOVE_IDEMPOTENCY_KEYS = both
        "DELETE FROM idempotency_keys WHERE tenant_id = $1 AND key_hash IN
            (SELECT key_hash FROM idempotency_keys WHERE tenant_id = $1 ORDER BY key_hash LIMIT $2)";

    /// Removes rows of `members`.
    REMOVE_MEMBERS = both
        "DELETE FROM members WHERE tenant_id = $1 AND user_id IN
            (SELECT user_id FROM members WHERE tenant_id = $1 ORDER BY user_id LIMIT $2)";

    /// Removes rows of `invites`.
    REMOVE_INVITES = both
        "DELETE FROM invites WHERE tenant_id = $1 AND id IN
            (SELECT id FROM invites WHERE tenant_id = $1 ORDER BY id LIMIT $2)";

    /// Removes rows of `grants`.
    REMOVE_GRANTS = both
        "DELETE FROM grants WHERE tenant_id = $1 AND id IN
            (SELECT id FROM grants WHERE tenant_id = $1 ORDER BY id LIMIT $2)";

    /// Removes rows of `audit_log`.
    REMOVE_AUDIT_LOG = both
        "DELETE FROM audit_log WHERE tenant_id = $1 AND id IN
            (SELECT id FROM audit_log WHERE tenant_id = $1 ORDER BY id LIMIT $2)";

    // One row at most; the number is asked for all the same.
    /// Removes the limits.
    REMOVE_TENANT_LIMITS = both
        "DELETE FROM tenant_limits WHERE tenant_id = $1 AND $2 > 0";

    /// Removes rows of `tenant_keys`.
    REMOVE_TENANT_KEYS = both
        "DELETE FROM tenant_keys WHERE tenant_id = $1 AND (class, version) IN
            (SELECT class, version FROM tenant_keys WHERE tenant_id = $1 ORDER BY class, version LIMIT $2)";
}
