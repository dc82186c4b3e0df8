-- What administrators decide of a tenant: a suspension with its reason, limits, its end.

ALTER TABLE tenants ADD COLUMN suspended_at INTEGER;
ALTER TABLE tenants ADD COLUMN suspended_because TEXT;
-- Set in the transaction that destroys its keys. From then on nobody finds it, and its rows go bit by bit.
ALTER TABLE tenants ADD COLUMN deleted_at INTEGER;

-- NULL is no limit; a tenant without a row has none.
CREATE TABLE tenant_limits (
    tenant_id                      BLOB    NOT NULL REFERENCES tenants (id),
    deliveries_per_minute          INTEGER,
    endpoint_deliveries_per_minute INTEGER,
    events_max                     INTEGER,
    payload_bytes_max              INTEGER,
    endpoints_max                  INTEGER,
    consumers_max                  INTEGER,
    members_max                    INTEGER,
    updated_at                     INTEGER NOT NULL,
    PRIMARY KEY (tenant_id)
) STRICT, WITHOUT ROWID;

-- It outlives its tenant, so it points at none.
CREATE TABLE tenant_deletions (
    tenant_id    BLOB    NOT NULL,
    slug         TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    actor        TEXT    NOT NULL,
    requested_at INTEGER NOT NULL,
    -- What the tenant held when it was asked for.
    events       INTEGER NOT NULL,
    rows_removed INTEGER NOT NULL DEFAULT 0,
    -- The table in which the last step removed something.
    at_table     TEXT    NOT NULL DEFAULT '',
    stepped_at   INTEGER,
    finished_at  INTEGER,
    PRIMARY KEY (tenant_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX tenant_deletions_open ON tenant_deletions (tenant_id) WHERE finished_at IS NULL;

-- What leads to a tenant is found from its side when it goes.
CREATE INDEX lookups_tenant ON lookups (tenant_id);

-- What a tenant holds has counters from now on. Their subject is the tenant itself.
INSERT INTO rollups (tenant_id, grain, at, subject, metric, shard, count)
    SELECT tenant_id, 0, 0, tenant_id, 'events_held', 0, COUNT(*) FROM receipts WHERE true GROUP BY tenant_id
    ON CONFLICT DO NOTHING;
INSERT INTO rollups (tenant_id, grain, at, subject, metric, shard, count)
    SELECT tenant_id, 0, 0, tenant_id, 'payload_bytes', 0,
        SUM(length(headers_sealed) + length(body_sealed) + COALESCE(length(decoded_sealed), 0))
    FROM payloads WHERE true GROUP BY tenant_id
    ON CONFLICT DO NOTHING;
