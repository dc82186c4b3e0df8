//! The statements of reconciliation.

use crate::engine::sql::statements;

statements! {
    /// What is set for an endpoint.
    RECONCILIATION = both
        "SELECT endpoint_id, enabled, base_url, interval_seconds, overlap_seconds, options, credentials_sealed, credentials_hint,
            created_at, updated_at, checkpoint_at, wide_at, due_at, stopped, lease_epoch, lease_until
            FROM reconciliations WHERE tenant_id = $1 AND endpoint_id = $2";

    // Differs in the lock, by which a second node waits for the first one's claim and then sees it.
    /// The same, locked.
    RECONCILIATION_LOCK =
        sqlite "SELECT endpoint_id, enabled, base_url, interval_seconds, overlap_seconds, options, credentials_sealed, credentials_hint,
            created_at, updated_at, checkpoint_at, wide_at, due_at, stopped, lease_epoch, lease_until
            FROM reconciliations WHERE tenant_id = $1 AND endpoint_id = $2"
        postgres "SELECT endpoint_id, enabled, base_url, interval_seconds, overlap_seconds, options, credentials_sealed, credentials_hint,
            created_at, updated_at, checkpoint_at, wide_at, due_at, stopped, lease_epoch, lease_until
            FROM reconciliations WHERE tenant_id = $1 AND endpoint_id = $2 FOR UPDATE";

    /// What is set for the endpoints of a tenant that are not deleted.
    RECONCILIATIONS = both
        "SELECT r.endpoint_id, r.enabled, r.base_url, r.interval_seconds, r.overlap_seconds, r.options, r.credentials_sealed,
            r.credentials_hint, r.created_at, r.updated_at, r.checkpoint_at, r.wide_at, r.due_at, r.stopped, r.lease_epoch, r.lease_until
            FROM reconciliations AS r JOIN endpoints AS e ON e.tenant_id = r.tenant_id AND e.id = r.endpoint_id AND e.deleted_at IS NULL
            WHERE r.tenant_id = $1 ORDER BY r.endpoint_id DESC LIMIT $2";

    /// Sets it for an endpoint. A run under way goes on by what it began with until its next page.
    RECONCILIATION_PUT = both
        "INSERT INTO reconciliations (tenant_id, endpoint_id, enabled, base_url, interval_seconds, overlap_seconds, options,
            credentials_sealed, credentials_hint, created_at, updated_at, due_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $11)
            ON CONFLICT (tenant_id, endpoint_id) DO UPDATE SET enabled = excluded.enabled, base_url = excluded.base_url,
            interval_seconds = excluded.interval_seconds, overlap_seconds = excluded.overlap_seconds, options = excluded.options,
            credentials_sealed = excluded.credentials_sealed, credentials_hint = excluded.credentials_hint,
            updated_at = excluded.updated_at, due_at = excluded.due_at, stopped = NULL";

    /// Forgets it, with the credentials. The runs stay.
    RECONCILIATION_DELETE = both
        "DELETE FROM reconciliations WHERE tenant_id = $1 AND endpoint_id = $2";

    /// Endpoints of which a run is due, was asked for, or was left by its holder.
    RECONCILIATIONS_DUE = across_tenants "one job looks after the endpoints of every tenant" both
        "SELECT r.tenant_id, r.endpoint_id FROM reconciliations AS r
            JOIN endpoints AS e ON e.tenant_id = r.tenant_id AND e.id = r.endpoint_id AND e.deleted_at IS NULL
            JOIN tenants AS t ON t.id = r.tenant_id AND NOT t.suspended
            WHERE r.due_at <= $1 AND (r.lease_until IS NULL OR r.lease_until <= $1 OR r.lease_until > $2)
            AND ((r.enabled AND r.stopped IS NULL) OR EXISTS (SELECT 1 FROM reconciliation_runs AS o
                WHERE o.tenant_id = r.tenant_id AND o.endpoint_id = r.endpoint_id AND o.finished_at IS NULL))
            ORDER BY r.due_at, r.tenant_id, r.endpoint_id LIMIT $3";

    /// Gives an endpoint to a holder.
    RECONCILIATION_CLAIM = both
        "UPDATE reconciliations SET lease_epoch = $3, lease_until = $4 WHERE tenant_id = $1 AND endpoint_id = $2";

    /// A sign of life of the holder; its lease must not have run out.
    RECONCILIATION_RENEW = both
        "UPDATE reconciliations SET lease_until = $4 WHERE tenant_id = $1 AND endpoint_id = $2 AND lease_epoch = $3
            AND lease_until > $5";

    /// Takes an endpoint from its holder, and says when it is looked at again.
    RECONCILIATION_RELEASE = both
        "UPDATE reconciliations SET lease_until = NULL, due_at = COALESCE($4, due_at)
            WHERE tenant_id = $1 AND endpoint_id = $2 AND lease_epoch = $3 AND lease_until IS NOT NULL";

    /// What a run that came to its end has looked at. It never moves back.
    RECONCILIATION_CHECKPOINT = both
        "UPDATE reconciliations SET checkpoint_at = CASE WHEN checkpoint_at IS NULL OR checkpoint_at < $3 THEN $3 ELSE checkpoint_at END,
            wide_at = COALESCE($4, wide_at), stopped = NULL WHERE tenant_id = $1 AND endpoint_id = $2";

    /// Has no run begin by itself any more.
    RECONCILIATION_STOP = both
        "UPDATE reconciliations SET stopped = $3 WHERE tenant_id = $1 AND endpoint_id = $2";

    /// Has an endpoint be looked at now.
    RECONCILIATION_NOW = both
        "UPDATE reconciliations SET due_at = $3 WHERE tenant_id = $1 AND endpoint_id = $2 AND due_at > $3";

    /// Makes a run.
    RECONCILIATION_RUN_INSERT = both
        "INSERT INTO reconciliation_runs (tenant_id, endpoint_id, id, cause, actor, asked_at, from_at, to_at, trusting)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";

    /// A run.
    RECONCILIATION_RUN = both
        "SELECT id, cause, actor, asked_at, trusting, started_at, finished_at, from_at, to_at, position, pages, restarts, listed, known,
            inserted, redelivered, missing, mismatched, failed, tries, outcome, error, found, unprocessed, wanted_from, too_old
            FROM reconciliation_runs WHERE tenant_id = $1 AND endpoint_id = $2 AND id = $3";

    /// The oldest run that has not ended.
    RECONCILIATION_RUN_OPEN = both
        "SELECT id, cause, actor, asked_at, trusting, started_at, finished_at, from_at, to_at, position, pages, restarts, listed, known,
            inserted, redelivered, missing, mismatched, failed, tries, outcome, error, found, unprocessed, wanted_from, too_old
            FROM reconciliation_runs WHERE tenant_id = $1 AND endpoint_id = $2 AND finished_at IS NULL ORDER BY id LIMIT 1";

    /// The newest runs of an endpoint.
    RECONCILIATION_RUNS = both
        "SELECT id, cause, actor, asked_at, trusting, started_at, finished_at, from_at, to_at, position, pages, restarts, listed, known,
            inserted, redelivered, missing, mismatched, failed, tries, outcome, error, found, unprocessed, wanted_from, too_old
            FROM reconciliation_runs WHERE tenant_id = $1 AND endpoint_id = $2 AND id < $3 ORDER BY id DESC LIMIT $4";

    /// Begins a run that was made, or goes on with it.
    RECONCILIATION_RUN_BEGIN = both
        "UPDATE reconciliation_runs SET started_at = COALESCE(started_at, $4), from_at = $5, to_at = $6, wanted_from = $7
            WHERE tenant_id = $1 AND endpoint_id = $2 AND id = $3 AND finished_at IS NULL";

    /// What a page has brought, and where the next one is. A part that brought nothing is no better try than the one before.
    RECONCILIATION_RUN_PAGE = both
        "UPDATE reconciliation_runs SET position = $4, pages = pages + $15, listed = listed + $5, known = known + $6,
            inserted = inserted + $7, redelivered = redelivered + $8, missing = missing + $9, mismatched = mismatched + $10,
            failed = failed + $11, too_old = too_old + $12, found = $13, unprocessed = $14,
            tries = CASE WHEN $15 + $7 > 0 THEN 0 ELSE tries END, error = CASE WHEN $15 + $7 > 0 THEN NULL ELSE error END
            WHERE tenant_id = $1 AND endpoint_id = $2 AND id = $3 AND finished_at IS NULL";

    /// Notes that a page could not be had, or that it is asked for from the beginning again.
    RECONCILIATION_RUN_TRY = both
        "UPDATE reconciliation_runs SET tries = tries + $4, restarts = restarts + $5, error = $6,
            position = CASE WHEN $5 > 0 THEN NULL ELSE position END
            WHERE tenant_id = $1 AND endpoint_id = $2 AND id = $3 AND finished_at IS NULL";

    /// Ends a run.
    RECONCILIATION_RUN_END = both
        "UPDATE reconciliation_runs SET finished_at = $4, outcome = $5, error = $6
            WHERE tenant_id = $1 AND endpoint_id = $2 AND id = $3 AND finished_at IS NULL";

    /// Removes old runs but for the newest.
    RECONCILIATION_RUNS_FORGET = both
        "DELETE FROM reconciliation_runs WHERE tenant_id = $1 AND endpoint_id = $2 AND finished_at IS NOT NULL
            AND id < (SELECT id FROM reconciliation_runs WHERE tenant_id = $1 AND endpoint_id = $2 ORDER BY id DESC LIMIT 1 OFFSET $3)";

    // Differs in how rows come in.
    /// Which of the given keys are held, and by what.
    RECONCILIATION_KNOWN =
        sqlite "WITH r (value) AS MATERIALIZED (SELECT value FROM jsonb_each($1))
            SELECT r.value->>0 AS n, x.id, x.type, x.origin, EXISTS (SELECT 1 FROM deliveries AS d WHERE d.tenant_id = x.tenant_id
            AND d.receipt_id = x.id AND d.origin = 'delivery') AS delivered
            FROM r CROSS JOIN receipts AS x ON x.tenant_id = unhex(r.value->>1) AND x.event_key = r.value->>2
            AND x.provider = r.value->>3 AND x.scope = r.value->>4"
        postgres "SELECT r.n, x.id, x.type, x.origin, EXISTS (SELECT 1 FROM deliveries AS d WHERE d.tenant_id = x.tenant_id
            AND d.receipt_id = x.id AND d.origin = 'delivery') AS delivered
            FROM UNNEST($1::bigint[], $2::uuid[], $3::text[], $4::text[], $5::text[]) AS r (n, tenant_id, event_key, provider, scope)
            JOIN receipts AS x ON x.tenant_id = r.tenant_id AND x.event_key = r.event_key AND x.provider = r.provider
            AND x.scope = r.scope";

    // Differs in the list.
    /// Handoffs of some receipts that wait or have failed, by consumer.
    RECONCILIATION_UNPROCESSED =
        sqlite "SELECT c.name, COUNT(*) AS count FROM consumers AS c CROSS JOIN json_each($2) AS r
            JOIN handoffs AS h ON h.tenant_id = c.tenant_id AND h.consumer_id = c.id AND h.receipt_id = unhex(r.value)
            WHERE c.tenant_id = $1 AND c.deleted_at IS NULL AND h.state IN (0, 1, 3, 4) AND h.settled_at IS NULL GROUP BY c.name ORDER BY c.name"
        postgres "SELECT c.name, COUNT(*) AS count FROM consumers AS c
            JOIN handoffs AS h ON h.tenant_id = c.tenant_id AND h.consumer_id = c.id AND h.receipt_id = ANY($2)
            WHERE c.tenant_id = $1 AND c.deleted_at IS NULL AND h.state IN (0, 1, 3, 4) AND h.settled_at IS NULL GROUP BY c.name ORDER BY c.name";

    // Differs in how rows come in.
    /// Counts the types of a page.
    RECONCILIATION_TYPES_ADD =
        sqlite "WITH r (value) AS MATERIALIZED (SELECT value FROM jsonb_each($1))
            INSERT INTO reconciliation_types (tenant_id, endpoint_id, type, listed, delivered, listed_by)
            SELECT unhex(r.value->>0), unhex(r.value->>1), r.value->>2, r.value->>3, r.value->>4, unhex(r.value->>5) FROM r WHERE true
            ON CONFLICT (tenant_id, endpoint_id, type) DO UPDATE SET listed = reconciliation_types.listed + excluded.listed,
            delivered = reconciliation_types.delivered + excluded.delivered, listed_by = excluded.listed_by"
        postgres "INSERT INTO reconciliation_types (tenant_id, endpoint_id, type, listed, delivered, listed_by)
            SELECT * FROM UNNEST($1::uuid[], $2::uuid[], $3::text[], $4::bigint[], $5::bigint[], $6::uuid[])
            ON CONFLICT (tenant_id, endpoint_id, type) DO UPDATE SET listed = reconciliation_types.listed + excluded.listed,
            delivered = reconciliation_types.delivered + excluded.delivered, listed_by = excluded.listed_by";

    /// Types of events that were listed and never came by webhook, those of one run or of all.
    RECONCILIATION_TYPES_NEVER = both
        "SELECT type, listed, listed_by FROM reconciliation_types WHERE tenant_id = $1 AND endpoint_id = $2 AND delivered = 0
            ORDER BY type LIMIT $3";

    /// Whether enough of what happened in a stretch came by webhook, at most so many. An event that does not say when it
    /// happened counts when it came.
    RECONCILIATION_RECEIVED = both
        "SELECT COUNT(*) AS count FROM (SELECT 1 AS one FROM receipts WHERE tenant_id = $1 AND endpoint_id = $2 AND id >= $3 AND id < $4
            AND origin = 'delivery' AND COALESCE(occurred_at, received_at) > $5 AND COALESCE(occurred_at, received_at) <= $6
            LIMIT $7) AS found";
}
