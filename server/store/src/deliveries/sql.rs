//! The statements of the commit. They differ between the engines because PostgreSQL takes columns as
//! arrays and SQLite takes rows as JSON (see `engine::batch`).

use crate::engine::sql::statements;

statements! {
    // Differs in the list. FOR SHARE: a change of the tenant's consumers waits for commits under way,
    // and commits after it see the new version, so no event misses a consumer that existed.
    /// The tenants of a group with their configuration's version, and the database's time.
    TENANTS_OF_GROUP =
        sqlite "SELECT id, config_version, suspended, CAST(unixepoch('subsec') * 1000 AS INTEGER) * 1000 AS now FROM tenants WHERE id IN (SELECT unhex(value) FROM json_each($1)) ORDER BY id"
        postgres "SELECT id, config_version, suspended,
            CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) AS now FROM tenants WHERE id = ANY($1) ORDER BY id FOR SHARE";

    // A change of an endpoint holds its tenant's row from its beginning, so that this sees it or
    // comes before it.
    /// The revisions that endpoints have now; those that were deleted have none.
    ENDPOINTS_NOW =
        sqlite "SELECT r.value->>0 AS n, e.revision FROM json_each($1) AS r CROSS JOIN endpoints AS e
            ON e.tenant_id = unhex(r.value->>1) AND e.id = unhex(r.value->>2) AND e.deleted_at IS NULL"
        postgres "SELECT r.n, e.revision FROM UNNEST($1::bigint[], $2::uuid[], $3::uuid[]) AS r (n, tenant_id, id)
            JOIN endpoints AS e ON e.tenant_id = r.tenant_id AND e.id = r.id AND e.deleted_at IS NULL";

    /// The consumers that events of a tenant may be handed to.
    CONSUMERS_FOR_COMMIT = both
        "SELECT id, filter FROM consumers WHERE tenant_id = $1 AND deleted_at IS NULL ORDER BY id";

    /// Which of the given bodies came before under an id that the signature doesn't cover.
    REPEATED_BODIES =
        sqlite "WITH r (value) AS MATERIALIZED (SELECT value FROM jsonb_each($1))
            SELECT r.value->>0 AS n FROM r CROSS JOIN receipts AS x
            ON x.tenant_id = unhex(r.value->>1) AND x.endpoint_id = unhex(r.value->>2)
            AND x.body_mac = substr($2, r.value->>3, r.value->>4) AND x.id_unsigned GROUP BY n"
        postgres "SELECT r.n FROM UNNEST($1::bigint[], $2::uuid[], $3::uuid[], $4::bytea[]) AS r (n, tenant_id, endpoint_id, body_mac)
            WHERE EXISTS (SELECT 1 FROM receipts AS x WHERE x.tenant_id = r.tenant_id
            AND x.endpoint_id = r.endpoint_id AND x.body_mac = r.body_mac AND x.id_unsigned)";

    // One way to the database and back for both questions. SQLite runs two statements one after the other; in
    // PostgreSQL's one the second part sees what was there before the first, so a key that came twice in one
    // group, or that somebody else took just now, is found when it is asked anew.
    // FOR KEY SHARE: until the commit retention removes neither the receipt nor its payload, and what it has just
    // removed is seen as it is now. CROSS JOIN, or SQLite would scan the table.
    /// Claims the keys. Rows without `n` were first; the others tell who holds the key of the record at that place.
    RECEIPTS_CLAIM =
        sqlite "WITH r (value) AS MATERIALIZED (SELECT value FROM jsonb_each($1))
            INSERT INTO receipts (tenant_id, id, provider, scope, event_key, event_id, endpoint_id, type, account,
            api_version, livemode, occurred_at, received_at, origin, decoder, secret_id, payload_id, slice_decoded,
            slice_offset, slice_length, content_type, body_mac, sha256_sealed, repeated_body, ambiguous, id_unsigned,
            weak, reason, stored_at, payload_state)
            SELECT unhex(r.value->>0), unhex(r.value->>1), r.value->>2, r.value->>3, r.value->>4, r.value->>5,
            unhex(r.value->>6), r.value->>7, r.value->>8, r.value->>9, r.value->>10, r.value->>11, r.value->>12,
            r.value->>13, r.value->>14, unhex(r.value->>15), unhex(r.value->>16), r.value->>17, r.value->>18,
            r.value->>19, r.value->>20, substr($2, r.value->>21, r.value->>22), substr($2, r.value->>23, r.value->>24),
            r.value->>25, r.value->>26, r.value->>27, r.value->>28, r.value->>29, r.value->>30, 'stored'
            FROM r WHERE true ON CONFLICT DO NOTHING;
            WITH r (n, value) AS MATERIALIZED (SELECT key, value FROM jsonb_each($1))
            SELECT '[' || group_concat(CASE WHEN x.id = unhex(r.value->>1) THEN json_object('id', hex(x.id)) ELSE
            json_object('n', r.n, 'id', hex(x.id), 'body_mac', hex(x.body_mac), 'endpoint_id', hex(x.endpoint_id),
            'payload_state', x.payload_state, 'reason', x.reason, 'variants', x.variants, 'deliveries', x.deliveries,
            'origin', x.origin) END) || ']' AS gathered
            FROM r CROSS JOIN receipts AS x
            ON x.tenant_id = unhex(r.value->>0) AND x.event_key = r.value->>4 AND x.provider = r.value->>2
            AND x.scope = r.value->>3"
        postgres "WITH r (tenant_id, id, provider, scope, event_key, event_id, endpoint_id, type, account,
            api_version, livemode, occurred_at, received_at, origin, decoder, secret_id, payload_id, slice_decoded,
            slice_offset, slice_length, content_type, body_mac, sha256_sealed, repeated_body, ambiguous, id_unsigned,
            weak, reason, stored_at, n) AS MATERIALIZED (SELECT * FROM UNNEST($1::uuid[], $2::uuid[], $3::text[], $4::text[],
            $5::text[], $6::text[], $7::uuid[], $8::text[], $9::text[], $10::text[], $11::boolean[], $12::bigint[],
            $13::bigint[], $14::text[], $15::text[], $16::uuid[], $17::uuid[], $18::boolean[], $19::bigint[], $20::bigint[],
            $21::text[], $22::bytea[], $23::bytea[], $24::boolean[], $25::boolean[], $26::boolean[], $27::text[],
            $28::text[], $29::bigint[]) WITH ORDINALITY),
            claimed AS (INSERT INTO receipts (tenant_id, id, provider, scope, event_key, event_id, endpoint_id, type, account,
            api_version, livemode, occurred_at, received_at, origin, decoder, secret_id, payload_id, slice_decoded,
            slice_offset, slice_length, content_type, body_mac, sha256_sealed, repeated_body, ambiguous, id_unsigned,
            weak, reason, stored_at, payload_state)
            SELECT tenant_id, id, provider, scope, event_key, event_id, endpoint_id, type, account,
            api_version, livemode, occurred_at, received_at, origin, decoder, secret_id, payload_id, slice_decoded,
            slice_offset, slice_length, content_type, body_mac, sha256_sealed, repeated_body, ambiguous, id_unsigned,
            weak, reason, stored_at, 'stored' FROM r ORDER BY r.n ON CONFLICT DO NOTHING RETURNING id),
            held AS (SELECT r.n - 1 AS n, x.id, x.body_mac, x.endpoint_id, x.payload_state, x.reason, x.variants,
            x.deliveries, x.origin
            FROM r JOIN receipts AS x ON x.tenant_id = r.tenant_id AND x.event_key = r.event_key AND x.provider = r.provider
            AND x.scope = r.scope FOR KEY SHARE OF x)
            SELECT NULL::bigint AS n, id, NULL::bytea AS body_mac, NULL::uuid AS endpoint_id, NULL::text AS payload_state,
            NULL::text AS reason, NULL::integer AS variants, NULL::integer AS deliveries, NULL::text AS origin FROM claimed
            UNION ALL SELECT * FROM held";

    /// Keeps the sealed requests.
    PAYLOADS_INSERT =
        sqlite "WITH r (value) AS MATERIALIZED (SELECT value FROM jsonb_each($1))
            INSERT INTO payloads (tenant_id, id, received_at, headers_sealed, body_sealed, decoded_sealed)
            SELECT unhex(r.value->>0), unhex(r.value->>1), r.value->>2, substr($2, r.value->>3, r.value->>4),
            substr($2, r.value->>5, r.value->>6), substr($2, r.value->>7, r.value->>8) FROM r"
        postgres "INSERT INTO payloads (tenant_id, id, received_at, headers_sealed, body_sealed, decoded_sealed)
            SELECT * FROM UNNEST($1::uuid[], $2::uuid[], $3::bigint[], $4::bytea[], $5::bytea[], $6::bytea[])";

    /// Hands receipts to consumers, once each. What comes back is new.
    HANDOFFS_INSERT =
        sqlite "WITH r (value) AS MATERIALIZED (SELECT value FROM jsonb_each($1))
            INSERT INTO handoffs (tenant_id, consumer_id, receipt_id, state, due_at)
            SELECT unhex(r.value->>0), unhex(r.value->>1), unhex(r.value->>2), r.value->>3, r.value->>4
            FROM r WHERE true ON CONFLICT DO NOTHING RETURNING tenant_id, consumer_id, state"
        postgres "INSERT INTO handoffs (tenant_id, consumer_id, receipt_id, state, due_at)
            SELECT * FROM UNNEST($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::bigint[])
            ON CONFLICT DO NOTHING RETURNING tenant_id, consumer_id, state";

    // Without RETURNING: on SQLite each row that comes back wakes who waits for the statement.
    /// Hands new receipts to consumers. Nobody else knows of them yet.
    HANDOFFS_INSERT_NEW =
        sqlite "WITH r (value) AS MATERIALIZED (SELECT value FROM jsonb_each($1))
            INSERT INTO handoffs (tenant_id, consumer_id, receipt_id, state, due_at)
            SELECT unhex(r.value->>0), unhex(r.value->>1), unhex(r.value->>2), r.value->>3, r.value->>4 FROM r"
        postgres "INSERT INTO handoffs (tenant_id, consumer_id, receipt_id, state, due_at)
            SELECT * FROM UNNEST($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::bigint[])";

    /// Counts repeated deliveries on their receipts.
    RECEIPTS_COUNT_REPEATS =
        sqlite "WITH r (value) AS MATERIALIZED (SELECT value FROM jsonb_each($1))
            UPDATE receipts AS x SET deliveries = x.deliveries + (r.value->>2), variants = x.variants + (r.value->>3),
            diverged = max(x.diverged, r.value->>4)
            FROM r WHERE x.tenant_id = unhex(r.value->>0) AND x.id = unhex(r.value->>1)"
        postgres "UPDATE receipts AS x SET deliveries = x.deliveries + r.deliveries, variants = x.variants + r.variants,
            diverged = x.diverged OR r.diverged
            FROM UNNEST($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[], $5::boolean[])
            AS r (tenant_id, id, deliveries, variants, diverged) WHERE x.tenant_id = r.tenant_id AND x.id = r.id";

    /// Logs repeated deliveries one by one.
    DELIVERIES_INSERT =
        sqlite "WITH r (value) AS MATERIALIZED (SELECT value FROM jsonb_each($1))
            INSERT INTO deliveries (tenant_id, receipt_id, id, endpoint_id, received_at, outcome, origin, same_body, secret_id, request_id)
            SELECT unhex(r.value->>0), unhex(r.value->>1), unhex(r.value->>2), unhex(r.value->>3), r.value->>4, 'duplicate',
            r.value->>5, r.value->>6, unhex(r.value->>7), r.value->>8 FROM r"
        postgres "INSERT INTO deliveries (tenant_id, receipt_id, id, endpoint_id, received_at, outcome, origin, same_body, secret_id, request_id)
            SELECT r.tenant_id, r.receipt_id, r.id, r.endpoint_id, r.received_at, 'duplicate', r.origin, r.same_body,
            r.secret_id, r.request_id
            FROM UNNEST($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::bigint[], $6::text[], $7::boolean[], $8::uuid[], $9::text[])
            AS r (tenant_id, receipt_id, id, endpoint_id, received_at, origin, same_body, secret_id, request_id)";

    // Ids are in the order of time. 98: before the last of those that are always logged; the receipt itself is one more.
    /// Forgets what a later repeat by the same endpoint supersedes, beyond the first hundred of a receipt.
    DELIVERIES_SUPERSEDE =
        sqlite "WITH r (value) AS MATERIALIZED (SELECT value FROM jsonb_each($1))
            DELETE FROM deliveries WHERE (tenant_id, receipt_id, id) IN (
                SELECT d.tenant_id, d.receipt_id, d.id FROM r CROSS JOIN deliveries AS d
                ON d.tenant_id = unhex(r.value->>0) AND d.receipt_id = unhex(r.value->>1)
                WHERE d.endpoint_id = unhex(r.value->>2) AND d.id < unhex(r.value->>3)
                AND d.id > (SELECT x.id FROM deliveries AS x WHERE x.tenant_id = unhex(r.value->>0)
                AND x.receipt_id = unhex(r.value->>1) ORDER BY x.id LIMIT 1 OFFSET 98))"
        postgres "DELETE FROM deliveries AS d USING UNNEST($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[])
            AS r (tenant_id, receipt_id, endpoint_id, id)
            WHERE d.tenant_id = r.tenant_id AND d.receipt_id = r.receipt_id AND d.endpoint_id = r.endpoint_id AND d.id < r.id
            AND d.id > (SELECT x.id FROM deliveries AS x WHERE x.tenant_id = r.tenant_id AND x.receipt_id = r.receipt_id
                ORDER BY x.id LIMIT 1 OFFSET 98)";

    /// The variants that are kept of a receipt.
    VARIANTS_OF = both
        "SELECT body_mac FROM variants WHERE tenant_id = $1 AND receipt_id = $2";

    /// Keeps other bytes that came under a key.
    VARIANT_INSERT = both
        "INSERT INTO variants (tenant_id, receipt_id, id, received_at, body_mac, payload_id, slice_decoded, slice_offset, slice_length)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
}
