//! The statements that look at events. Lists first find ids by an index, newest first, and then read
//! those rows: the wide statement stands here once. A state stands in the text of its statement, or
//! the planner would not find the index of it.

use crate::engine::sql::statements;

statements! {
    // Differs in the list.
    /// Receipts by their ids.
    RECEIPTS_BY_ID =
        sqlite "SELECT x.id, x.provider, x.scope, x.event_key, x.event_id, x.endpoint_id, x.type, x.account, x.api_version,
            x.livemode, x.occurred_at, x.received_at, x.origin, x.decoder, x.secret_id, x.payload_id, x.slice_decoded,
            x.slice_offset, x.slice_length, x.content_type, x.sha256_sealed, x.deliveries, x.variants, x.diverged,
            x.repeated_body, x.ambiguous, x.weak, x.reason, x.payload_state, x.payload_removed_at
            FROM json_each($2) AS r CROSS JOIN receipts AS x ON x.tenant_id = $1 AND x.id = unhex(r.value)"
        postgres "SELECT x.id, x.provider, x.scope, x.event_key, x.event_id, x.endpoint_id, x.type, x.account, x.api_version,
            x.livemode, x.occurred_at, x.received_at, x.origin, x.decoder, x.secret_id, x.payload_id, x.slice_decoded,
            x.slice_offset, x.slice_length, x.content_type, x.sha256_sealed, x.deliveries, x.variants, x.diverged,
            x.repeated_body, x.ambiguous, x.weak, x.reason, x.payload_state, x.payload_removed_at
            FROM UNNEST($2::uuid[]) AS r (id) JOIN receipts AS x ON x.tenant_id = $1 AND x.id = r.id";

    // Differs in the list.
    /// Sealed requests by their ids.
    PAYLOADS_BY_ID =
        sqlite "SELECT p.id, p.headers_sealed, p.body_sealed, p.decoded_sealed
            FROM json_each($2) AS r CROSS JOIN payloads AS p ON p.tenant_id = $1 AND p.id = unhex(r.value)"
        postgres "SELECT p.id, p.headers_sealed, p.body_sealed, p.decoded_sealed
            FROM UNNEST($2::uuid[]) AS r (id) JOIN payloads AS p ON p.tenant_id = $1 AND p.id = r.id";

    /// The newest receipts of a span.
    RECEIPTS_NEWEST = both
        "SELECT id FROM receipts WHERE tenant_id = $1 AND id < $2 AND id >= $3 ORDER BY id DESC LIMIT $4";

    /// The oldest receipts of a span.
    RECEIPTS_OLDEST = both
        "SELECT id FROM receipts WHERE tenant_id = $1 AND id >= $2 AND id < $3 ORDER BY id LIMIT $4";

    /// The newest receipts of an endpoint in a span.
    RECEIPTS_OF_ENDPOINT = both
        "SELECT id FROM receipts WHERE tenant_id = $1 AND endpoint_id = $5 AND id < $2 AND id >= $3
            ORDER BY id DESC LIMIT $4";

    /// The receipts with an event id. Where it is also the key, the key's index finds it.
    RECEIPTS_WITH_EVENT_ID = both
        "SELECT id FROM (
            SELECT id FROM receipts WHERE tenant_id = $1 AND event_key = $5 AND event_id = $5
            UNION
            SELECT id FROM receipts WHERE tenant_id = $1 AND event_id = $5 AND event_id <> event_key) AS found
            WHERE id < $2 AND id >= $3 ORDER BY id DESC LIMIT $4";

    /// The newest of what a consumer was handed, with their states.
    HANDOFFS_NEWEST = both
        "SELECT receipt_id AS id, state FROM handoffs WHERE tenant_id = $1 AND consumer_id = $5
            AND receipt_id < $2 AND receipt_id >= $3 ORDER BY receipt_id DESC LIMIT $4";

    /// The newest that are pending at a consumer.
    HANDOFFS_NEWEST_PENDING = both
        "SELECT receipt_id AS id FROM handoffs WHERE tenant_id = $1 AND consumer_id = $5 AND state = 0
            AND receipt_id < $2 AND receipt_id >= $3 ORDER BY receipt_id DESC LIMIT $4";

    /// The newest that are leased at a consumer.
    HANDOFFS_NEWEST_LEASED = both
        "SELECT receipt_id AS id FROM handoffs WHERE tenant_id = $1 AND consumer_id = $5 AND state = 1
            AND receipt_id < $2 AND receipt_id >= $3 ORDER BY receipt_id DESC LIMIT $4";

    /// The newest that are failed at a consumer.
    HANDOFFS_NEWEST_FAILED = both
        "SELECT receipt_id AS id FROM handoffs WHERE tenant_id = $1 AND consumer_id = $5 AND state = 3
            AND receipt_id < $2 AND receipt_id >= $3 ORDER BY receipt_id DESC LIMIT $4";

    /// The newest that are uncertain at a consumer.
    HANDOFFS_NEWEST_UNCERTAIN = both
        "SELECT receipt_id AS id FROM handoffs WHERE tenant_id = $1 AND consumer_id = $5 AND state = 4
            AND receipt_id < $2 AND receipt_id >= $3 ORDER BY receipt_id DESC LIMIT $4";

    /// Every consumer there was, deleted ones too, newest first.
    CONSUMERS_EVER = both
        "SELECT id FROM consumers WHERE tenant_id = $1 ORDER BY id DESC LIMIT $2";

    // Differs in the list.
    /// The handoffs of some receipts.
    HANDOFFS_OF_RECEIPTS =
        sqlite "SELECT h.receipt_id AS id, h.consumer_id, h.state FROM json_each($2) AS r
            CROSS JOIN consumers AS c ON c.tenant_id = $1
            CROSS JOIN handoffs AS h ON h.tenant_id = c.tenant_id AND h.consumer_id = c.id AND h.receipt_id = unhex(r.value)"
        postgres "SELECT h.receipt_id AS id, h.consumer_id, h.state FROM UNNEST($2::uuid[]) AS r (id)
            JOIN consumers AS c ON c.tenant_id = $1
            JOIN handoffs AS h ON h.tenant_id = c.tenant_id AND h.consumer_id = c.id AND h.receipt_id = r.id";

    /// The repeats of a receipt.
    DELIVERIES_OF_RECEIPT = both
        "SELECT id, endpoint_id, received_at, outcome, origin, same_body, secret_id, request_id FROM deliveries
            WHERE tenant_id = $1 AND receipt_id = $2 ORDER BY id LIMIT $3";

    /// The other bodies of a receipt.
    VARIANTS_OF_RECEIPT = both
        "SELECT id, received_at, payload_id, slice_decoded, slice_offset, slice_length FROM variants
            WHERE tenant_id = $1 AND receipt_id = $2 ORDER BY id LIMIT $3";
}
