-- Retention: what is said about it, what is held, what it did, and the index by which it finds what is due.

-- The database's time of the commit, from which ages count; `received_at` is a node's clock.
ALTER TABLE receipts ADD COLUMN stored_at BIGINT  NOT NULL DEFAULT 0;
ALTER TABLE receipts ADD COLUMN payload_removed_at BIGINT;
UPDATE receipts SET stored_at = received_at;

-- Finds what is due of an endpoint, payloads and keys alike, the oldest first.
CREATE INDEX receipts_age ON receipts (tenant_id, endpoint_id, payload_state, stored_at, id);
-- Whether a request is still needed for other bytes that came under the key of a receipt.
CREATE INDEX variants_payload ON variants (tenant_id, payload_id);

-- What one level says. subject: '' for the tenant itself, a provider's name, or an endpoint's id.
CREATE TABLE retention_policies (
    tenant_id  UUID    NOT NULL REFERENCES tenants (id),
    level      TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    policy     TEXT    NOT NULL,
    updated_by TEXT    NOT NULL,
    updated_at BIGINT  NOT NULL,
    PRIMARY KEY (tenant_id, level, subject)
);

-- An administrator's word that the keys of an endpoint may go before its windows are over.
CREATE TABLE retention_overrides (
    tenant_id    UUID    NOT NULL,
    endpoint_id  UUID    NOT NULL,
    receipt_days INTEGER NOT NULL,
    reason       TEXT    NOT NULL,
    created_by   TEXT    NOT NULL,
    created_at   BIGINT  NOT NULL,
    PRIMARY KEY (tenant_id, endpoint_id),
    FOREIGN KEY (tenant_id, endpoint_id) REFERENCES endpoints (tenant_id, id)
);

-- What must not go, whatever the policies say: a tenant (both NULL), an endpoint, or one event.
CREATE TABLE retention_holds (
    tenant_id   UUID    NOT NULL REFERENCES tenants (id),
    id          UUID    NOT NULL,
    endpoint_id UUID,
    receipt_id  UUID,
    reason      TEXT    NOT NULL,
    created_by  TEXT    NOT NULL,
    created_at  BIGINT  NOT NULL,
    released_by TEXT,
    released_at BIGINT,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX retention_holds_active ON retention_holds (tenant_id, receipt_id) WHERE released_at IS NULL;

-- One run over the whole instance.
CREATE TABLE retention_runs (
    id          UUID    NOT NULL PRIMARY KEY,
    -- schedule, command, person.
    cause       TEXT    NOT NULL,
    actor       TEXT    NOT NULL,
    -- The time that it took for now.
    at          BIGINT  NOT NULL,
    started_at  BIGINT  NOT NULL,
    -- When its last batch was committed.
    seen_at     BIGINT  NOT NULL,
    finished_at BIGINT,
    -- done, or a sentence that says why it ended before that.
    outcome     TEXT,
    -- What it removed beside events, as JSON: lines of logs, counters, pages given back.
    beside      TEXT
);

CREATE INDEX retention_runs_open ON retention_runs (seen_at) WHERE finished_at IS NULL;

-- What a run did to the events of one endpoint. The counts are added by the transactions that remove.
CREATE TABLE retention_run_lines (
    tenant_id     UUID    NOT NULL,
    run_id        UUID    NOT NULL,
    endpoint_id   UUID    NOT NULL,
    payloads      BIGINT  NOT NULL DEFAULT 0,
    payload_bytes BIGINT  NOT NULL DEFAULT 0,
    keys          BIGINT  NOT NULL DEFAULT 0,
    expired       BIGINT  NOT NULL DEFAULT 0,
    -- What was left although its time is over, by reason, as JSON.
    kept          TEXT,
    PRIMARY KEY (tenant_id, run_id, endpoint_id)
);

-- Removing leaves dead rows behind, and vacuum makes room of them. By default it would wait until a fifth of
-- the table is dead, which for these tables is a large part of the disk.
ALTER TABLE payloads SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
    toast.autovacuum_vacuum_scale_factor = 0.02, toast.autovacuum_vacuum_threshold = 1000);
ALTER TABLE receipts SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
ALTER TABLE handoffs SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
ALTER TABLE attempts SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
ALTER TABLE rollups SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
