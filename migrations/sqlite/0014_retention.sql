-- Retention: what is said about it, what is held, what it did, and the index by which it finds what is due.

-- The database's time of the commit, from which ages count; `received_at` is a node's clock.
ALTER TABLE receipts ADD COLUMN stored_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE receipts ADD COLUMN payload_removed_at INTEGER;
UPDATE receipts SET stored_at = received_at;

-- Finds what is due of an endpoint, payloads and keys alike, the oldest first.
CREATE INDEX receipts_age ON receipts (tenant_id, endpoint_id, payload_state, stored_at, id);
-- Whether a request is still needed for other bytes that came under the key of a receipt.
CREATE INDEX variants_payload ON variants (tenant_id, payload_id);

-- What one level says. subject: '' for the tenant itself, a provider's name, or an endpoint's id.
CREATE TABLE retention_policies (
    tenant_id  BLOB    NOT NULL REFERENCES tenants (id),
    level      TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    policy     TEXT    NOT NULL,
    updated_by TEXT    NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, level, subject)
) STRICT, WITHOUT ROWID;

-- An administrator's word that the keys of an endpoint may go before its windows are over.
CREATE TABLE retention_overrides (
    tenant_id    BLOB    NOT NULL,
    endpoint_id  BLOB    NOT NULL,
    receipt_days INTEGER NOT NULL,
    reason       TEXT    NOT NULL,
    created_by   TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, endpoint_id),
    FOREIGN KEY (tenant_id, endpoint_id) REFERENCES endpoints (tenant_id, id)
) STRICT, WITHOUT ROWID;

-- What must not go, whatever the policies say: a tenant (both NULL), an endpoint, or one event.
CREATE TABLE retention_holds (
    tenant_id   BLOB    NOT NULL REFERENCES tenants (id),
    id          BLOB    NOT NULL,
    endpoint_id BLOB,
    receipt_id  BLOB,
    reason      TEXT    NOT NULL,
    created_by  TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    released_by TEXT,
    released_at INTEGER,
    PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX retention_holds_active ON retention_holds (tenant_id, receipt_id) WHERE released_at IS NULL;

-- One run over the whole instance.
CREATE TABLE retention_runs (
    id          BLOB    NOT NULL PRIMARY KEY,
    -- schedule, command, person.
    cause       TEXT    NOT NULL,
    actor       TEXT    NOT NULL,
    -- The time that it took for now.
    at          INTEGER NOT NULL,
    started_at  INTEGER NOT NULL,
    -- When its last batch was committed.
    seen_at     INTEGER NOT NULL,
    finished_at INTEGER,
    -- done, or a sentence that says why it ended before that.
    outcome     TEXT,
    -- What it removed beside events, as JSON: lines of logs, counters, pages given back.
    beside      TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX retention_runs_open ON retention_runs (seen_at) WHERE finished_at IS NULL;

-- What a run did to the events of one endpoint. The counts are added by the transactions that remove.
CREATE TABLE retention_run_lines (
    tenant_id     BLOB    NOT NULL,
    run_id        BLOB    NOT NULL,
    endpoint_id   BLOB    NOT NULL,
    payloads      INTEGER NOT NULL DEFAULT 0,
    payload_bytes INTEGER NOT NULL DEFAULT 0,
    keys          INTEGER NOT NULL DEFAULT 0,
    expired       INTEGER NOT NULL DEFAULT 0,
    -- What was left although its time is over, by reason, as JSON.
    kept          TEXT,
    PRIMARY KEY (tenant_id, run_id, endpoint_id)
) STRICT, WITHOUT ROWID;
