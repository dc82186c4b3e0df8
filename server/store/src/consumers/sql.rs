//! The statements on consumers.

use crate::engine::sql::statements;

statements! {
    /// Makes a consumer. One that takes events with a claim is the only kind there is yet.
    CONSUMER_INSERT = both
        "INSERT INTO consumers (tenant_id, id, name, mode, filter, max_attempts, enabled, start, backfill_from,
            backfill_to, created_at, updated_at)
            VALUES ($1, $2, $3, 'pull', $4, $5, $6, $7, $8, $9, $10, $10)";

    /// A consumer by its name.
    CONSUMER_BY_NAME = both
        "SELECT id, name, filter, max_attempts, enabled, start, backfill_from, backfill_to, last_claim_at,
            created_at, updated_at
            FROM consumers WHERE tenant_id = $1 AND name = $2 AND deleted_at IS NULL";

    /// The consumers of a tenant. Their number has a limit.
    CONSUMERS = both
        "SELECT id, name, filter, max_attempts, enabled, start, backfill_from, backfill_to, last_claim_at,
            created_at, updated_at
            FROM consumers WHERE tenant_id = $1 AND deleted_at IS NULL ORDER BY id DESC";

    /// A page of the consumers of a tenant.
    CONSUMERS_PAGE = both
        "SELECT id, name, filter, max_attempts, enabled, start, backfill_from, backfill_to, last_claim_at,
            created_at, updated_at
            FROM consumers WHERE tenant_id = $1 AND id < $2 AND deleted_at IS NULL ORDER BY id DESC LIMIT $3";

    /// Saves what may change.
    CONSUMER_UPDATE = both
        "UPDATE consumers SET filter = $3, max_attempts = $4, enabled = $5, updated_at = $6
            WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL";

    /// Notes a claim, unless another one did so a moment ago.
    CONSUMER_NOTE_CLAIM = both
        "UPDATE consumers SET last_claim_at = $3
            WHERE tenant_id = $1 AND id = $2 AND (last_claim_at IS NULL OR last_claim_at < $4)";

    /// Deletes a consumer; its row stays, because handoffs name it.
    CONSUMER_DELETE = both
        "UPDATE consumers SET deleted_at = $3, backfill_from = NULL, backfill_to = NULL
            WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL";

    // Differs in the list.
    /// Those of the endpoints that are there.
    ENDPOINTS_KNOWN =
        sqlite "SELECT e.id FROM json_each($2) AS r CROSS JOIN endpoints AS e
            ON e.tenant_id = $1 AND e.id = unhex(r.value) AND e.deleted_at IS NULL"
        postgres "SELECT e.id FROM UNNEST($2::uuid[]) AS r (id) JOIN endpoints AS e
            ON e.tenant_id = $1 AND e.id = r.id AND e.deleted_at IS NULL";

    /// The newest receipt of a tenant.
    RECEIPT_NEWEST = both
        "SELECT id FROM receipts WHERE tenant_id = $1 ORDER BY id DESC LIMIT 1";

    /// Consumers that are still being handed what was here before them.
    CONSUMERS_BACKFILLING = across_tenants "a scheduled job goes on with what any tenant has begun" both
        "SELECT tenant_id, id FROM consumers WHERE backfill_to IS NOT NULL ORDER BY tenant_id, id LIMIT $1";

    // Differs in the lock: two nodes may go on with the same consumer.
    /// How far the backfill of a consumer is.
    CONSUMER_BACKFILL =
        sqlite "SELECT filter, backfill_from, backfill_to FROM consumers
            WHERE tenant_id = $1 AND id = $2 AND backfill_to IS NOT NULL"
        postgres "SELECT filter, backfill_from, backfill_to FROM consumers
            WHERE tenant_id = $1 AND id = $2 AND backfill_to IS NOT NULL FOR UPDATE";

    /// The next receipts that a backfill looks at.
    RECEIPTS_TO_BACKFILL = both
        "SELECT id, endpoint_id, provider, type, received_at, reason, payload_state, deliveries FROM receipts
            WHERE tenant_id = $1 AND id >= $2 AND id <= $3 ORDER BY id LIMIT $4";

    // Differs in the list.
    /// By which other endpoints receipts came in as well.
    ENDPOINTS_OF_REPEATS =
        sqlite "SELECT d.receipt_id, d.endpoint_id FROM json_each($2) AS r CROSS JOIN deliveries AS d
            ON d.tenant_id = $1 AND d.receipt_id = unhex(r.value)"
        postgres "SELECT d.receipt_id, d.endpoint_id FROM UNNEST($2::uuid[]) AS r (id) JOIN deliveries AS d
            ON d.tenant_id = $1 AND d.receipt_id = r.id";

    /// Notes how far the backfill is; without a rest it is done.
    CONSUMER_BACKFILLED = both
        "UPDATE consumers SET backfill_from = $3, backfill_to = $4 WHERE tenant_id = $1 AND id = $2";

    /// Deleted consumers that still hold handoffs which nobody will take.
    CONSUMERS_TO_CANCEL = across_tenants "a scheduled job goes on with what any tenant has begun" both
        "SELECT c.tenant_id, c.id FROM consumers AS c WHERE c.deleted_at IS NOT NULL AND (
            EXISTS (SELECT 1 FROM handoffs AS h WHERE h.tenant_id = c.tenant_id AND h.consumer_id = c.id AND h.state = 0)
            OR EXISTS (SELECT 1 FROM handoffs AS h WHERE h.tenant_id = c.tenant_id AND h.consumer_id = c.id AND h.state = 1))
            ORDER BY c.tenant_id, c.id LIMIT $1";
}
