//! The statements on handoffs and attempts. Many differ between the engines: in how lists come in
//! (see `engine::batch`), and in the locks, which SQLite with its one writer doesn't need.

use crate::engine::sql::statements;

statements! {
    // Differs in the lock. SKIP LOCKED: another claimer is taking what it skips. CROSS JOIN, or SQLite
    // might begin with the receipts.
    /// What is due to a consumer, in order.
    HANDOFFS_DUE =
        sqlite "SELECT h.receipt_id, h.attempt, h.replay_id, r.slice_length
            FROM handoffs AS h CROSS JOIN receipts AS r ON r.tenant_id = h.tenant_id AND r.id = h.receipt_id
            WHERE h.tenant_id = $1 AND h.consumer_id = $2 AND h.state = 0 AND h.due_at <= $3
            ORDER BY h.due_at, h.receipt_id LIMIT $4"
        postgres "SELECT h.receipt_id, h.attempt, h.replay_id, r.slice_length
            FROM handoffs AS h JOIN receipts AS r ON r.tenant_id = h.tenant_id AND r.id = h.receipt_id
            WHERE h.tenant_id = $1 AND h.consumer_id = $2 AND h.state = 0 AND h.due_at <= $3
            ORDER BY h.due_at, h.receipt_id LIMIT $4 FOR UPDATE OF h SKIP LOCKED";

    // Differs in the list.
    /// Gives handoffs their leases, all in one step.
    HANDOFFS_LEASE =
        sqlite "WITH r (value) AS MATERIALIZED (SELECT value FROM jsonb_each($1))
            UPDATE handoffs SET state = 1, attempt = r.value->>3, tries = tries + 1,
            lease_hash = substr($2, r.value->>4, r.value->>5), claimed_at = r.value->>6,
            lease_expires_at = r.value->>7, handler_version = r.value->>8
            FROM r
            WHERE tenant_id = unhex(r.value->>0) AND consumer_id = unhex(r.value->>1) AND receipt_id = unhex(r.value->>2)"
        postgres "UPDATE handoffs AS h SET state = 1, attempt = r.attempt, tries = h.tries + 1,
            lease_hash = r.lease_hash, claimed_at = r.claimed_at, lease_expires_at = r.expires_at,
            handler_version = r.handler_version
            FROM UNNEST($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::bytea[], $6::bigint[], $7::bigint[], $8::text[])
            AS r (tenant_id, consumer_id, receipt_id, attempt, lease_hash, claimed_at, expires_at, handler_version)
            WHERE h.tenant_id = r.tenant_id AND h.consumer_id = r.consumer_id AND h.receipt_id = r.receipt_id";

    // Differs in the lock.
    /// Leases of a consumer that have run out.
    LEASES_RUN_OUT =
        sqlite "SELECT receipt_id, state, attempt, tries, lease_hash, claimed_at, lease_expires_at, handler_version
            FROM handoffs WHERE tenant_id = $1 AND consumer_id = $2 AND state = 1 AND lease_expires_at <= $3
            ORDER BY lease_expires_at LIMIT $4"
        postgres "SELECT receipt_id, state, attempt, tries, lease_hash, claimed_at, lease_expires_at, handler_version
            FROM handoffs WHERE tenant_id = $1 AND consumer_id = $2 AND state = 1 AND lease_expires_at <= $3
            ORDER BY lease_expires_at LIMIT $4 FOR UPDATE SKIP LOCKED";

    /// Consumers with leases that have run out.
    CONSUMERS_WITH_RUN_OUT_LEASES = across_tenants "the sweep looks after the leases of every tenant" both
        "SELECT c.tenant_id, c.id, c.max_attempts FROM consumers AS c
            WHERE EXISTS (SELECT 1 FROM handoffs AS h WHERE h.tenant_id = c.tenant_id AND h.consumer_id = c.id
            AND h.state = 1 AND h.lease_expires_at <= $1) LIMIT $2";

    // Differs in the list and the lock. The list is in the order of receipts, and so are the locks.
    /// The handoffs that presented leases name.
    HANDOFFS_PRESENTED =
        sqlite "WITH r (value) AS MATERIALIZED (SELECT value FROM jsonb_each($1))
            SELECT h.receipt_id, h.state, h.attempt, h.tries, h.lease_hash, h.claimed_at, h.lease_expires_at, h.handler_version
            FROM r CROSS JOIN handoffs AS h ON h.tenant_id = unhex(r.value->>0)
            AND h.consumer_id = unhex(r.value->>1) AND h.receipt_id = unhex(r.value->>2)"
        postgres "SELECT h.receipt_id, h.state, h.attempt, h.tries, h.lease_hash, h.claimed_at, h.lease_expires_at, h.handler_version
            FROM UNNEST($1::uuid[], $2::uuid[], $3::uuid[]) AS r (tenant_id, consumer_id, receipt_id)
            JOIN handoffs AS h ON h.tenant_id = r.tenant_id AND h.consumer_id = r.consumer_id AND h.receipt_id = r.receipt_id
            FOR UPDATE OF h";

    // Differs in the list.
    /// The ended attempts that presented leases name.
    ATTEMPTS_PRESENTED =
        sqlite "WITH r (value) AS MATERIALIZED (SELECT value FROM jsonb_each($1))
            SELECT a.receipt_id, a.attempt, a.lease_hash, a.outcome
            FROM r CROSS JOIN attempts AS a ON a.tenant_id = unhex(r.value->>0)
            AND a.consumer_id = unhex(r.value->>1) AND a.receipt_id = unhex(r.value->>2) AND a.attempt = r.value->>3"
        postgres "SELECT a.receipt_id, a.attempt, a.lease_hash, a.outcome
            FROM UNNEST($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[]) AS r (tenant_id, consumer_id, receipt_id, attempt)
            JOIN attempts AS a ON a.tenant_id = r.tenant_id AND a.consumer_id = r.consumer_id
            AND a.receipt_id = r.receipt_id AND a.attempt = r.attempt";

    // Differs in the list.
    /// Makes leases run longer.
    LEASES_EXTEND =
        sqlite "WITH r (value) AS MATERIALIZED (SELECT value FROM jsonb_each($1))
            UPDATE handoffs SET lease_expires_at = r.value->>4 FROM r
            WHERE tenant_id = unhex(r.value->>0) AND consumer_id = unhex(r.value->>1)
            AND receipt_id = unhex(r.value->>2) AND state = 1 AND attempt = r.value->>3"
        postgres "UPDATE handoffs AS h SET lease_expires_at = r.expires_at
            FROM UNNEST($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::bigint[])
            AS r (tenant_id, consumer_id, receipt_id, attempt, expires_at)
            WHERE h.tenant_id = r.tenant_id AND h.consumer_id = r.consumer_id AND h.receipt_id = r.receipt_id
            AND h.state = 1 AND h.attempt = r.attempt";

    // Differs in the list.
    /// Keeps how attempts ended.
    ATTEMPTS_INSERT =
        sqlite "WITH r (value) AS MATERIALIZED (SELECT value FROM jsonb_each($1))
            INSERT INTO attempts (tenant_id, consumer_id, receipt_id, attempt, lease_hash, claimed_at, ended_at,
            outcome, handler_version, remote_operation_id, note)
            SELECT unhex(r.value->>0), unhex(r.value->>1), unhex(r.value->>2), r.value->>3,
            substr($2, r.value->>4, r.value->>5), r.value->>6, r.value->>7, r.value->>8, r.value->>9, r.value->>10,
            r.value->>11 FROM r"
        postgres "INSERT INTO attempts (tenant_id, consumer_id, receipt_id, attempt, lease_hash, claimed_at, ended_at,
            outcome, handler_version, remote_operation_id, note)
            SELECT * FROM UNNEST($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::bytea[], $6::bigint[],
            $7::bigint[], $8::text[], $9::text[], $10::text[], $11::text[])";

    // Differs in the list.
    /// Ends leases, or moves what has none. One row changes for each in the list, or none may.
    HANDOFFS_END =
        sqlite "WITH r (value) AS MATERIALIZED (SELECT value FROM jsonb_each($1))
            UPDATE handoffs SET state = r.value->>5, due_at = coalesce(r.value->>6, due_at), lease_hash = NULL,
            claimed_at = NULL, lease_expires_at = NULL, handler_version = NULL
            FROM r
            WHERE tenant_id = unhex(r.value->>0) AND consumer_id = unhex(r.value->>1)
            AND receipt_id = unhex(r.value->>2) AND state = r.value->>3 AND attempt = r.value->>4"
        postgres "UPDATE handoffs AS h SET state = r.state_after, due_at = coalesce(r.due_at, h.due_at), lease_hash = NULL,
            claimed_at = NULL, lease_expires_at = NULL, handler_version = NULL
            FROM UNNEST($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
            AS r (tenant_id, consumer_id, receipt_id, state_before, attempt, state_after, due_at)
            WHERE h.tenant_id = r.tenant_id AND h.consumer_id = r.consumer_id AND h.receipt_id = r.receipt_id
            AND h.state = r.state_before AND h.attempt = r.attempt";

    // Differs in the lock. The state is in the text, or the planner would not find the index of it.
    /// What is pending at a consumer, whether due or not.
    HANDOFFS_PENDING =
        sqlite "SELECT receipt_id, state, attempt, tries, lease_hash, claimed_at, lease_expires_at, handler_version
            FROM handoffs WHERE tenant_id = $1 AND consumer_id = $2 AND state = 0 ORDER BY receipt_id LIMIT $3"
        postgres "SELECT receipt_id, state, attempt, tries, lease_hash, claimed_at, lease_expires_at, handler_version
            FROM handoffs WHERE tenant_id = $1 AND consumer_id = $2 AND state = 0 ORDER BY receipt_id LIMIT $3 FOR UPDATE";

    // Differs in the lock.
    /// What is leased at a consumer.
    HANDOFFS_LEASED =
        sqlite "SELECT receipt_id, state, attempt, tries, lease_hash, claimed_at, lease_expires_at, handler_version
            FROM handoffs WHERE tenant_id = $1 AND consumer_id = $2 AND state = 1 ORDER BY receipt_id LIMIT $3"
        postgres "SELECT receipt_id, state, attempt, tries, lease_hash, claimed_at, lease_expires_at, handler_version
            FROM handoffs WHERE tenant_id = $1 AND consumer_id = $2 AND state = 1 ORDER BY receipt_id LIMIT $3 FOR UPDATE";

    /// When the next thing of a consumer becomes visible.
    CONSUMER_IDLE = both
        "SELECT
            (SELECT due_at FROM handoffs WHERE tenant_id = $1 AND consumer_id = $2 AND state = 0
                ORDER BY due_at LIMIT 1) AS due_at,
            (SELECT lease_expires_at FROM handoffs WHERE tenant_id = $1 AND consumer_id = $2 AND state = 1
                ORDER BY lease_expires_at LIMIT 1) AS expires_at,
            (SELECT CAST(COALESCE(SUM(count), 0) AS BIGINT) FROM rollups WHERE tenant_id = $1 AND grain = 0 AND at = 0
                AND subject = $2 AND metric = 'leased') AS leased";

    /// The handoffs of a receipt to every consumer there was.
    HANDOFFS_OF_RECEIPT = both
        "SELECT c.name, c.deleted_at, h.state, h.due_at, h.attempt, h.tries, h.claimed_at, h.lease_expires_at,
            h.handler_version, h.replay_id, h.settled_at
            FROM consumers AS c JOIN handoffs AS h ON h.tenant_id = c.tenant_id AND h.consumer_id = c.id
            WHERE c.tenant_id = $1 AND h.receipt_id = $2 ORDER BY c.id";

    // Differs in the list.
    /// Where some receipts stand at every consumer there was.
    STATES_OF_RECEIPTS =
        sqlite "SELECT h.receipt_id, c.name, h.state, h.settled_at FROM json_each($2) AS r
            CROSS JOIN consumers AS c ON c.tenant_id = $1
            CROSS JOIN handoffs AS h ON h.tenant_id = c.tenant_id AND h.consumer_id = c.id AND h.receipt_id = unhex(r.value)
            ORDER BY c.id"
        postgres "SELECT h.receipt_id, c.name, h.state, h.settled_at FROM UNNEST($2::uuid[]) AS r (id)
            JOIN consumers AS c ON c.tenant_id = $1
            JOIN handoffs AS h ON h.tenant_id = c.tenant_id AND h.consumer_id = c.id AND h.receipt_id = r.id
            ORDER BY c.id";

    // The newest first, up to a bound, and only then those that nobody settled: what was settled stays
    // in the index, and a page must not read past all of it.
    /// The newest failed handoffs of a consumer that wait for a person, with how the last attempt ended.
    FAILURES_NEWEST = both
        "SELECT h.receipt_id, h.attempt, a.outcome, a.note, a.ended_at, r.reason, r.type, r.provider
            FROM (SELECT n.receipt_id, n.attempt FROM (SELECT receipt_id, attempt, settled_at FROM handoffs
                    WHERE tenant_id = $1 AND consumer_id = $2 AND state = 3 ORDER BY receipt_id DESC LIMIT $3) AS n
                WHERE n.settled_at IS NULL ORDER BY n.receipt_id DESC LIMIT $4) AS h
            JOIN receipts AS r ON r.tenant_id = $1 AND r.id = h.receipt_id
            LEFT JOIN attempts AS a ON a.tenant_id = $1 AND a.consumer_id = $2 AND a.receipt_id = h.receipt_id
                AND a.attempt = h.attempt
            ORDER BY h.receipt_id DESC";

    /// The newest uncertain handoffs of a consumer, with how the last attempt ended.
    UNCERTAIN_NEWEST = both
        "SELECT h.receipt_id, h.attempt, a.outcome, a.note, a.ended_at, r.reason, r.type, r.provider
            FROM (SELECT receipt_id, attempt FROM handoffs WHERE tenant_id = $1 AND consumer_id = $2
                AND state = 4 ORDER BY receipt_id DESC LIMIT $3) AS h
            JOIN receipts AS r ON r.tenant_id = $1 AND r.id = h.receipt_id
            LEFT JOIN attempts AS a ON a.tenant_id = $1 AND a.consumer_id = $2 AND a.receipt_id = h.receipt_id
                AND a.attempt = h.attempt
            ORDER BY h.receipt_id DESC";

    /// The ended attempts of a receipt, newest first.
    ATTEMPTS_OF_RECEIPT = both
        "SELECT c.name, a.attempt, a.claimed_at, a.ended_at, a.outcome, a.handler_version, a.remote_operation_id, a.note
            FROM consumers AS c JOIN attempts AS a ON a.tenant_id = c.tenant_id AND a.consumer_id = c.id
            WHERE c.tenant_id = $1 AND a.receipt_id = $2 ORDER BY a.ended_at DESC, a.attempt DESC, c.id LIMIT $3";

    // Differs in the lock.
    /// The handoff of a receipt to a consumer.
    HANDOFF =
        sqlite "SELECT receipt_id, state, attempt, tries, lease_hash, claimed_at, lease_expires_at, handler_version, settled_at
            FROM handoffs WHERE tenant_id = $1 AND consumer_id = $2 AND receipt_id = $3"
        postgres "SELECT receipt_id, state, attempt, tries, lease_hash, claimed_at, lease_expires_at, handler_version, settled_at
            FROM handoffs WHERE tenant_id = $1 AND consumer_id = $2 AND receipt_id = $3 FOR UPDATE";

    /// Makes a handoff pending again, with its tries counted from none.
    HANDOFF_REPLAY = both
        "UPDATE handoffs SET state = 0, due_at = $5, tries = 0, replay_id = $6, settled_at = NULL
            WHERE tenant_id = $1 AND consumer_id = $2 AND receipt_id = $3 AND state = $4";

    /// Makes pending what waited for a repair.
    HANDOFF_REPAIR = both
        "UPDATE handoffs SET state = 0, due_at = $4, tries = 0
            WHERE tenant_id = $1 AND consumer_id = $2 AND receipt_id = $3 AND state = 3 AND settled_at IS NULL";

    /// Hands a receipt to a consumer that never had it, unless someone else did so this moment.
    HANDOFF_INSERT = both
        "INSERT INTO handoffs (tenant_id, consumer_id, receipt_id, state, due_at, replay_id)
            VALUES ($1, $2, $3, 0, $4, $5) ON CONFLICT DO NOTHING";

    /// Settles a handoff that waited for a person.
    HANDOFF_SETTLE = both
        "UPDATE handoffs SET state = $5, settled_at = $6
            WHERE tenant_id = $1 AND consumer_id = $2 AND receipt_id = $3 AND state = $4";

    /// Keeps who replayed what.
    REPLAY_INSERT = both
        "INSERT INTO replays (tenant_id, id, receipt_id, consumer_id, at, actor, reason) VALUES ($1, $2, $3, $4, $5, $6, $7)";

    /// The replays of a receipt, newest first.
    REPLAYS_OF_RECEIPT = both
        "SELECT r.id, r.at, r.actor, r.reason, c.name FROM replays AS r
            LEFT JOIN consumers AS c ON c.tenant_id = r.tenant_id AND c.id = r.consumer_id
            WHERE r.tenant_id = $1 AND r.receipt_id = $2 ORDER BY r.id DESC LIMIT $3";

    // Differs in the list.
    /// The last replay of each of some receipts.
    REPLAYS_LATEST =
        sqlite "SELECT r.receipt_id, r.id, r.at, r.actor, r.reason, c.name FROM json_each($2) AS n
            CROSS JOIN replays AS r ON r.tenant_id = $1 AND r.receipt_id = unhex(n.value)
            LEFT JOIN consumers AS c ON c.tenant_id = r.tenant_id AND c.id = r.consumer_id
            WHERE r.id = (SELECT y.id FROM replays AS y WHERE y.tenant_id = $1 AND y.receipt_id = r.receipt_id
            ORDER BY y.id DESC LIMIT 1)"
        postgres "SELECT r.receipt_id, r.id, r.at, r.actor, r.reason, c.name FROM UNNEST($2::uuid[]) AS n (id)
            JOIN replays AS r ON r.tenant_id = $1 AND r.receipt_id = n.id
            LEFT JOIN consumers AS c ON c.tenant_id = r.tenant_id AND c.id = r.consumer_id
            WHERE r.id = (SELECT y.id FROM replays AS y WHERE y.tenant_id = $1 AND y.receipt_id = r.receipt_id
            ORDER BY y.id DESC LIMIT 1)";

    // Differs in the list.
    /// Some replays by their ids.
    REPLAYS_BY_ID =
        sqlite "SELECT r.id, r.at, r.actor, r.reason, c.name FROM json_each($2) AS n
            CROSS JOIN replays AS r ON r.tenant_id = $1 AND r.id = unhex(n.value)
            LEFT JOIN consumers AS c ON c.tenant_id = r.tenant_id AND c.id = r.consumer_id"
        postgres "SELECT r.id, r.at, r.actor, r.reason, c.name FROM UNNEST($2::uuid[]) AS n (id)
            JOIN replays AS r ON r.tenant_id = $1 AND r.id = n.id
            LEFT JOIN consumers AS c ON c.tenant_id = r.tenant_id AND c.id = r.consumer_id";

    /// Keeps who settled what.
    SETTLEMENT_INSERT = both
        "INSERT INTO settlements (tenant_id, id, receipt_id, consumer_id, at, actor, state, note)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

    /// The settlements of a receipt, newest first.
    SETTLEMENTS_OF_RECEIPT = both
        "SELECT s.at, s.actor, s.state, s.note, c.name FROM settlements AS s
            JOIN consumers AS c ON c.tenant_id = s.tenant_id AND c.id = s.consumer_id
            WHERE s.tenant_id = $1 AND s.receipt_id = $2 ORDER BY s.id DESC LIMIT $3";

    // Differs in the lock: the consumers may not change while their handoffs are made, as at a commit.
    /// Holds the tenant's configuration still.
    TENANT_HELD =
        sqlite "SELECT config_version FROM tenants WHERE id = $1"
        postgres "SELECT config_version FROM tenants WHERE id = $1 FOR SHARE";

    // Differs in the lock.
    /// What a repair needs to know of a receipt.
    RECEIPT_TO_REPAIR =
        sqlite "SELECT provider, scope, endpoint_id, reason, payload_state FROM receipts
            WHERE tenant_id = $1 AND id = $2"
        postgres "SELECT provider, scope, endpoint_id, reason, payload_state FROM receipts
            WHERE tenant_id = $1 AND id = $2 FOR UPDATE";

    // Differs in the lock, which retention waits for before it removes the payload.
    /// What a replay needs to know of a receipt.
    RECEIPT_TO_REPLAY =
        sqlite "SELECT provider, endpoint_id, type, reason, payload_state FROM receipts
            WHERE tenant_id = $1 AND id = $2"
        postgres "SELECT provider, endpoint_id, type, reason, payload_state FROM receipts
            WHERE tenant_id = $1 AND id = $2 FOR KEY SHARE";

    /// Who holds a key.
    RECEIPT_HOLDING = both
        "SELECT id FROM receipts WHERE tenant_id = $1 AND event_key = $2 AND provider = $3 AND scope = $4";

    /// Gives a receipt its key, its id and its type.
    RECEIPT_REPAIR = both
        "UPDATE receipts SET event_key = $3, event_id = $4, type = $5, sha256_sealed = $6, reason = NULL
            WHERE tenant_id = $1 AND id = $2 AND reason IS NOT NULL";
}
