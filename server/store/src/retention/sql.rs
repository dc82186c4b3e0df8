//! The statements of retention on events. Lists come in as in `engine::batch`; on PostgreSQL what is removed is
//! locked first, and what another transaction holds is left to the next batch.

use crate::engine::sql::statements;

statements! {
    // Differs in the lock: policies, holds and consumers may not change while a batch goes by them, as at a commit.
    /// Holds the tenant's configuration still.
    RETENTION_TENANT_HELD =
        sqlite "SELECT id FROM tenants WHERE id = $1"
        postgres "SELECT id FROM tenants WHERE id = $1 FOR SHARE";

    /// A page of tenants.
    RETENTION_TENANTS = across_tenants "a scheduled job looks after every tenant" both
        "SELECT id FROM tenants WHERE id > $1 ORDER BY id LIMIT $2";

    /// Endpoints, deleted ones too, with the day from which a secret of theirs still verifies.
    RETENTION_ENDPOINTS = both
        "SELECT e.id, e.name, e.provider, e.deleted_at,
            (SELECT MIN(s.created_at) FROM endpoint_secrets AS s WHERE s.tenant_id = e.tenant_id AND s.endpoint_id = e.id
                AND (s.expires_at IS NULL OR s.expires_at > $2)) AS secret_since
            FROM endpoints AS e WHERE e.tenant_id = $1 AND e.id > $3 ORDER BY e.id LIMIT $4";

    /// One of them.
    RETENTION_ENDPOINT = both
        "SELECT e.id, e.name, e.provider, e.deleted_at,
            (SELECT MIN(s.created_at) FROM endpoint_secrets AS s WHERE s.tenant_id = e.tenant_id AND s.endpoint_id = e.id
                AND (s.expires_at IS NULL OR s.expires_at > $2)) AS secret_since
            FROM endpoints AS e WHERE e.tenant_id = $1 AND e.id = $3";

    /// The day from which a secret of any endpoint of a provider still verifies, for each provider.
    RETENTION_SECRETS = both
        "SELECT e.provider, MIN(s.created_at) AS since FROM endpoint_secrets AS s
            JOIN endpoints AS e ON e.tenant_id = s.tenant_id AND e.id = s.endpoint_id
            WHERE s.tenant_id = $1 AND (s.expires_at IS NULL OR s.expires_at > $2) GROUP BY e.provider";

    /// Whether a consumer is being handed what was here before it.
    RETENTION_BACKFILLING = both
        "SELECT 1 AS found FROM consumers WHERE tenant_id = $1 AND backfill_to IS NOT NULL LIMIT 1";

    /// Stored events of an endpoint, the oldest first.
    PAYLOADS_DUE = both
        "SELECT id, payload_id, stored_at, slice_length, variants, reason FROM receipts
            WHERE tenant_id = $1 AND endpoint_id = $2 AND payload_state = 'stored'
            AND (stored_at, id) > ($3, $4) AND stored_at < $5 ORDER BY stored_at, id LIMIT $6";

    // Differs in the list and the lock.
    /// Some of them, locked.
    PAYLOADS_DUE_LOCKED =
        sqlite "SELECT x.id, x.payload_id, x.stored_at, x.slice_length, x.variants, x.reason FROM json_each($2) AS r
            CROSS JOIN receipts AS x ON x.tenant_id = $1 AND x.id = unhex(r.value)
            WHERE x.payload_state = 'stored' ORDER BY x.id"
        postgres "SELECT x.id, x.payload_id, x.stored_at, x.slice_length, x.variants, x.reason FROM UNNEST($2::uuid[]) AS r (id)
            JOIN receipts AS x ON x.tenant_id = $1 AND x.id = r.id
            WHERE x.payload_state = 'stored' ORDER BY x.id FOR UPDATE OF x SKIP LOCKED";

    // Differs in the list. INDEXED BY, or SQLite would read all of the tenant's receipts for each request.
    /// The other events of requests.
    RETENTION_SIBLINGS =
        sqlite "SELECT x.id, x.payload_id, x.stored_at, x.slice_length, x.variants, x.reason FROM json_each($2) AS r
            CROSS JOIN receipts AS x INDEXED BY receipts_payload ON x.tenant_id = $1 AND x.payload_id = unhex(r.value)
            AND x.payload_id <> x.id WHERE x.payload_state = 'stored'"
        postgres "SELECT x.id, x.payload_id, x.stored_at, x.slice_length, x.variants, x.reason FROM UNNEST($2::uuid[]) AS r (id)
            JOIN receipts AS x ON x.tenant_id = $1 AND x.payload_id = r.id AND x.payload_id <> x.id
            WHERE x.payload_state = 'stored'";

    // Differs in the list.
    /// Which handoffs of events somebody still has to do something about.
    RETENTION_OPEN =
        sqlite "SELECT h.receipt_id AS id, h.state FROM json_each($2) AS r
            CROSS JOIN consumers AS c ON c.tenant_id = $1
            CROSS JOIN handoffs AS h ON h.tenant_id = c.tenant_id AND h.consumer_id = c.id AND h.receipt_id = unhex(r.value)
            WHERE h.state IN (0, 1, 4) OR (h.state = 3 AND h.settled_at IS NULL)"
        postgres "SELECT h.receipt_id AS id, h.state FROM UNNEST($2::uuid[]) AS r (id)
            JOIN consumers AS c ON c.tenant_id = $1
            JOIN handoffs AS h ON h.tenant_id = c.tenant_id AND h.consumer_id = c.id AND h.receipt_id = r.id
            WHERE h.state IN (0, 1, 4) OR (h.state = 3 AND h.settled_at IS NULL)";

    // Differs in the list.
    /// When the last attempt at events ended, or a person settled them, and whether anybody ever had them.
    RETENTION_DONE_AT =
        sqlite "SELECT h.receipt_id AS id, MAX(COALESCE((SELECT MAX(a.ended_at) FROM attempts AS a WHERE a.tenant_id = h.tenant_id
                AND a.consumer_id = h.consumer_id AND a.receipt_id = h.receipt_id), 0)) AS ended_at,
            MAX(COALESCE(h.settled_at, 0)) AS settled_at FROM json_each($2) AS r
            CROSS JOIN consumers AS c ON c.tenant_id = $1
            CROSS JOIN handoffs AS h ON h.tenant_id = c.tenant_id AND h.consumer_id = c.id AND h.receipt_id = unhex(r.value)
            WHERE h.state <> 5 GROUP BY h.receipt_id"
        postgres "SELECT h.receipt_id AS id, MAX(COALESCE((SELECT MAX(a.ended_at) FROM attempts AS a WHERE a.tenant_id = h.tenant_id
                AND a.consumer_id = h.consumer_id AND a.receipt_id = h.receipt_id), 0)) AS ended_at,
            MAX(COALESCE(h.settled_at, 0)) AS settled_at FROM UNNEST($2::uuid[]) AS r (id)
            JOIN consumers AS c ON c.tenant_id = $1
            JOIN handoffs AS h ON h.tenant_id = c.tenant_id AND h.consumer_id = c.id AND h.receipt_id = r.id
            WHERE h.state <> 5 GROUP BY h.receipt_id";

    // Differs in the list.
    /// Which requests hold other bytes of events, and of which.
    RETENTION_VARIANTS_IN =
        sqlite "SELECT v.receipt_id, v.payload_id FROM json_each($2) AS r
            CROSS JOIN variants AS v ON v.tenant_id = $1 AND v.payload_id = unhex(r.value)"
        postgres "SELECT v.receipt_id, v.payload_id FROM UNNEST($2::uuid[]) AS r (id)
            JOIN variants AS v ON v.tenant_id = $1 AND v.payload_id = r.id";

    // Differs in the list.
    /// Which requests hold the other bytes of events.
    RETENTION_VARIANTS_OF =
        sqlite "SELECT v.receipt_id, v.payload_id FROM json_each($2) AS r
            CROSS JOIN variants AS v ON v.tenant_id = $1 AND v.receipt_id = unhex(r.value)"
        postgres "SELECT v.receipt_id, v.payload_id FROM UNNEST($2::uuid[]) AS r (id)
            JOIN variants AS v ON v.tenant_id = $1 AND v.receipt_id = r.id";

    // Differs in the list. INDEXED BY as above.
    /// Which requests an event that is stored still needs.
    RETENTION_NEEDED =
        sqlite "SELECT unhex(r.value) AS id FROM json_each($2) AS r
            WHERE EXISTS (SELECT 1 FROM receipts AS x WHERE x.tenant_id = $1 AND x.id = unhex(r.value)
                AND x.payload_id = x.id AND x.payload_state = 'stored')
            OR EXISTS (SELECT 1 FROM receipts AS x INDEXED BY receipts_payload WHERE x.tenant_id = $1 AND x.payload_id = unhex(r.value)
                AND x.payload_id <> x.id AND x.payload_state = 'stored')
            OR EXISTS (SELECT 1 FROM variants AS v WHERE v.tenant_id = $1 AND v.payload_id = unhex(r.value))"
        postgres "SELECT r.id FROM UNNEST($2::uuid[]) AS r (id)
            WHERE EXISTS (SELECT 1 FROM receipts AS x WHERE x.tenant_id = $1 AND x.id = r.id
                AND x.payload_id = x.id AND x.payload_state = 'stored')
            OR EXISTS (SELECT 1 FROM receipts AS x WHERE x.tenant_id = $1 AND x.payload_id = r.id
                AND x.payload_id <> x.id AND x.payload_state = 'stored')
            OR EXISTS (SELECT 1 FROM variants AS v WHERE v.tenant_id = $1 AND v.payload_id = r.id)";

    // Differs in the list.
    /// What requests take on the disk.
    RETENTION_SIZES =
        sqlite "SELECT COUNT(*) AS payloads,
            COALESCE(SUM(length(p.headers_sealed) + length(p.body_sealed) + COALESCE(length(p.decoded_sealed), 0)), 0) AS bytes
            FROM json_each($2) AS r CROSS JOIN payloads AS p ON p.tenant_id = $1 AND p.id = unhex(r.value)"
        postgres "SELECT COUNT(*) AS payloads,
            CAST(COALESCE(SUM(octet_length(p.headers_sealed) + octet_length(p.body_sealed)
                + COALESCE(octet_length(p.decoded_sealed), 0)), 0) AS BIGINT) AS bytes
            FROM UNNEST($2::uuid[]) AS r (id) JOIN payloads AS p ON p.tenant_id = $1 AND p.id = r.id";

    // Differs in the list.
    /// Removes requests; tells their sizes.
    PAYLOADS_DELETE =
        sqlite "DELETE FROM payloads WHERE tenant_id = $1 AND id IN (SELECT unhex(value) FROM json_each($2))
            RETURNING length(headers_sealed) + length(body_sealed) + COALESCE(length(decoded_sealed), 0) AS bytes"
        postgres "DELETE FROM payloads WHERE tenant_id = $1 AND id = ANY($2)
            RETURNING octet_length(headers_sealed) + octet_length(body_sealed) + COALESCE(octet_length(decoded_sealed), 0) AS bytes";

    // Differs in the list.
    /// Removes the other bytes of events.
    VARIANTS_DELETE =
        sqlite "DELETE FROM variants WHERE tenant_id = $1 AND receipt_id IN (SELECT unhex(value) FROM json_each($2))"
        postgres "DELETE FROM variants WHERE tenant_id = $1 AND receipt_id = ANY($2)";

    // Differs in the list.
    /// Makes tombstones of receipts.
    RECEIPTS_ENTOMB =
        sqlite "UPDATE receipts SET payload_state = $3, payload_removed_at = $4, variants = 0
            WHERE tenant_id = $1 AND payload_state = 'stored' AND id IN (SELECT unhex(value) FROM json_each($2))"
        postgres "UPDATE receipts SET payload_state = $3, payload_removed_at = $4, variants = 0
            WHERE tenant_id = $1 AND payload_state = 'stored' AND id = ANY($2)";

    /// Tombstones of an endpoint, the oldest first.
    KEYS_DUE = both
        "SELECT id, endpoint_id, scope, stored_at, weak, deliveries FROM receipts
            WHERE tenant_id = $1 AND endpoint_id = $2 AND payload_state = $7
            AND (stored_at, id) > ($3, $4) AND stored_at < $5 ORDER BY stored_at, id LIMIT $6";

    // Differs in the list and the lock.
    /// Some of them, locked.
    KEYS_DUE_LOCKED =
        sqlite "SELECT x.id, x.endpoint_id, x.provider, x.scope, x.received_at, x.stored_at, x.weak, x.deliveries FROM json_each($2) AS r
            CROSS JOIN receipts AS x ON x.tenant_id = $1 AND x.id = unhex(r.value)
            WHERE x.payload_state <> 'stored' ORDER BY x.id"
        postgres "SELECT x.id, x.endpoint_id, x.provider, x.scope, x.received_at, x.stored_at, x.weak, x.deliveries FROM UNNEST($2::uuid[]) AS r (id)
            JOIN receipts AS x ON x.tenant_id = $1 AND x.id = r.id
            WHERE x.payload_state <> 'stored' ORDER BY x.id FOR UPDATE OF x SKIP LOCKED";

    // Differs in the list.
    /// When senders last sent events again.
    RETENTION_LAST_SENT =
        sqlite "SELECT d.receipt_id AS id, MAX(d.received_at) AS at FROM json_each($2) AS r
            CROSS JOIN deliveries AS d ON d.tenant_id = $1 AND d.receipt_id = unhex(r.value) GROUP BY d.receipt_id"
        postgres "SELECT d.receipt_id AS id, MAX(d.received_at) AS at FROM UNNEST($2::uuid[]) AS r (id)
            JOIN deliveries AS d ON d.tenant_id = $1 AND d.receipt_id = r.id GROUP BY d.receipt_id";

    // Differs in the list.
    /// Removes the log of repeated deliveries.
    DELIVERIES_DELETE =
        sqlite "DELETE FROM deliveries WHERE tenant_id = $1 AND receipt_id IN (SELECT unhex(value) FROM json_each($2))"
        postgres "DELETE FROM deliveries WHERE tenant_id = $1 AND receipt_id = ANY($2)";

    // Differs in the list.
    /// Removes ended attempts.
    ATTEMPTS_DELETE =
        sqlite "DELETE FROM attempts WHERE tenant_id = $1 AND (consumer_id, receipt_id) IN
            (SELECT c.id, unhex(r.value) FROM json_each($2) AS r CROSS JOIN consumers AS c ON c.tenant_id = $1)"
        postgres "DELETE FROM attempts AS a USING UNNEST($2::uuid[]) AS r (id), consumers AS c
            WHERE c.tenant_id = $1 AND a.tenant_id = $1 AND a.consumer_id = c.id AND a.receipt_id = r.id";

    // Differs in the list.
    /// Removes handoffs; tells whose they were and how they stood.
    HANDOFFS_DELETE =
        sqlite "DELETE FROM handoffs WHERE tenant_id = $1 AND (consumer_id, receipt_id) IN
            (SELECT c.id, unhex(r.value) FROM json_each($2) AS r CROSS JOIN consumers AS c ON c.tenant_id = $1)
            RETURNING consumer_id, state, settled_at"
        postgres "DELETE FROM handoffs AS h USING UNNEST($2::uuid[]) AS r (id), consumers AS c
            WHERE c.tenant_id = $1 AND h.tenant_id = $1 AND h.consumer_id = c.id AND h.receipt_id = r.id
            RETURNING h.consumer_id, h.state, h.settled_at";

    // Differs in the list.
    /// Removes the record of replays.
    REPLAYS_DELETE =
        sqlite "DELETE FROM replays WHERE tenant_id = $1 AND receipt_id IN (SELECT unhex(value) FROM json_each($2))"
        postgres "DELETE FROM replays WHERE tenant_id = $1 AND receipt_id = ANY($2)";

    // Differs in the list.
    /// Removes the record of settlements.
    SETTLEMENTS_DELETE =
        sqlite "DELETE FROM settlements WHERE tenant_id = $1 AND receipt_id IN (SELECT unhex(value) FROM json_each($2))"
        postgres "DELETE FROM settlements WHERE tenant_id = $1 AND receipt_id = ANY($2)";

    // Differs in the list.
    /// Removes receipts, and with them their keys.
    RECEIPTS_DELETE =
        sqlite "DELETE FROM receipts WHERE tenant_id = $1 AND payload_state <> 'stored'
            AND id IN (SELECT unhex(value) FROM json_each($2))"
        postgres "DELETE FROM receipts WHERE tenant_id = $1 AND payload_state <> 'stored' AND id = ANY($2)";

    // Differs in the lock.
    /// An event that is to be erased.
    RECEIPT_TO_ERASE =
        sqlite "SELECT id, payload_id, endpoint_id, stored_at, slice_length, variants, reason, payload_state FROM receipts
            WHERE tenant_id = $1 AND id = $2"
        postgres "SELECT id, payload_id, endpoint_id, stored_at, slice_length, variants, reason, payload_state FROM receipts
            WHERE tenant_id = $1 AND id = $2 FOR UPDATE";

    /// Some stored events of a tenant, in the order of their ids.
    RECEIPTS_TO_ERASE = both
        "SELECT id, payload_id FROM receipts WHERE tenant_id = $1 AND id > $2 AND id <= $3 AND payload_state = 'stored'
            ORDER BY id LIMIT $4";

    // Differs in the list. There are a few samples an endpoint.
    /// Removes the samples of refused requests that became these events.
    REFUSALS_OF_EVENTS =
        sqlite "DELETE FROM refusals WHERE tenant_id = $1 AND receipt_id IN (SELECT unhex(value) FROM json_each($2))"
        postgres "DELETE FROM refusals WHERE tenant_id = $1 AND receipt_id = ANY($2)";

    // Differs in the list and the lock.
    /// Handoffs of events that somebody still has to do something about, locked in the order of consumers and receipts.
    RETENTION_OPEN_LOCKED =
        sqlite "SELECT h.consumer_id, h.receipt_id, h.state, h.attempt, h.tries, h.lease_hash, h.claimed_at, h.lease_expires_at,
            h.handler_version, h.settled_at FROM json_each($2) AS r
            CROSS JOIN consumers AS c ON c.tenant_id = $1
            CROSS JOIN handoffs AS h ON h.tenant_id = c.tenant_id AND h.consumer_id = c.id AND h.receipt_id = unhex(r.value)
            WHERE h.state IN (0, 1, 4) OR (h.state = 3 AND h.settled_at IS NULL) ORDER BY h.consumer_id, h.receipt_id"
        postgres "SELECT h.consumer_id, h.receipt_id, h.state, h.attempt, h.tries, h.lease_hash, h.claimed_at, h.lease_expires_at,
            h.handler_version, h.settled_at FROM UNNEST($2::uuid[]) AS r (id)
            JOIN consumers AS c ON c.tenant_id = $1
            JOIN handoffs AS h ON h.tenant_id = c.tenant_id AND h.consumer_id = c.id AND h.receipt_id = r.id
            WHERE h.state IN (0, 1, 4) OR (h.state = 3 AND h.settled_at IS NULL)
            ORDER BY h.consumer_id, h.receipt_id FOR UPDATE OF h";
}
