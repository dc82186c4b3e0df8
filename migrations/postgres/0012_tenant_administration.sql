-- What administrators decide of a tenant: a suspension with its reason, limits, its end.

ALTER TABLE tenants ADD COLUMN suspended_at BIGINT;
ALTER TABLE tenants ADD COLUMN suspended_because TEXT;
-- Set in the transaction that destroys its keys. From then on nobody finds it, and its rows go bit by bit.
ALTER TABLE tenants ADD COLUMN deleted_at BIGINT;
-- By code points, as SQLite sorts: lists of tenants go by it, and a search by how it begins.
ALTER TABLE tenants ALTER COLUMN slug TYPE TEXT COLLATE "C";

-- NULL is no limit; a tenant without a row has none.
CREATE TABLE tenant_limits (
    tenant_id                      UUID    NOT NULL REFERENCES tenants (id),
    deliveries_per_minute          BIGINT,
    endpoint_deliveries_per_minute BIGINT,
    events_max                     BIGINT,
    payload_bytes_max              BIGINT,
    endpoints_max                  BIGINT,
    consumers_max                  BIGINT,
    members_max                    BIGINT,
    updated_at                     BIGINT  NOT NULL,
    PRIMARY KEY (tenant_id)
);

-- It outlives its tenant, so it points at none.
CREATE TABLE tenant_deletions (
    tenant_id    UUID    NOT NULL,
    slug         TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    actor        TEXT    NOT NULL,
    requested_at BIGINT  NOT NULL,
    -- What the tenant held when it was asked for.
    events       BIGINT  NOT NULL,
    rows_removed BIGINT  NOT NULL DEFAULT 0,
    -- The table in which the last step removed something.
    at_table     TEXT    NOT NULL DEFAULT '',
    stepped_at   BIGINT,
    finished_at  BIGINT,
    PRIMARY KEY (tenant_id)
);

CREATE INDEX tenant_deletions_open ON tenant_deletions (tenant_id) WHERE finished_at IS NULL;

-- What leads to a tenant is found from its side when it goes.
CREATE INDEX lookups_tenant ON lookups (tenant_id);

-- What a tenant holds has counters from now on. Their subject is the tenant itself.
INSERT INTO rollups (tenant_id, grain, at, subject, metric, shard, count)
    SELECT tenant_id, 0, 0, tenant_id, 'events_held', 0, COUNT(*) FROM receipts GROUP BY tenant_id
    ON CONFLICT DO NOTHING;
INSERT INTO rollups (tenant_id, grain, at, subject, metric, shard, count)
    SELECT tenant_id, 0, 0, tenant_id, 'payload_bytes', 0,
        SUM(length(headers_sealed) + length(body_sealed) + COALESCE(length(decoded_sealed), 0))
    FROM payloads GROUP BY tenant_id
    ON CONFLICT DO NOTHING;
