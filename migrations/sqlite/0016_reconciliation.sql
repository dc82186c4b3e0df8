-- Asking providers what they sent: what a tenant has set for an endpoint, each run, and which types of
-- events are listed that never come by webhook.

CREATE TABLE reconciliations (
    tenant_id          BLOB    NOT NULL,
    endpoint_id        BLOB    NOT NULL,
    enabled            INTEGER NOT NULL,
    base_url           TEXT,
    interval_seconds   INTEGER NOT NULL,
    overlap_seconds    INTEGER NOT NULL,
    -- As JSON.
    options            TEXT    NOT NULL,
    credentials_sealed BLOB    NOT NULL,
    -- What people know them by, as JSON.
    credentials_hint   TEXT    NOT NULL,
    created_at         INTEGER NOT NULL,
    updated_at         INTEGER NOT NULL,
    -- Everything up to here has been looked at. It never moves back.
    checkpoint_at      INTEGER,
    -- When a run last looked further back than it had to.
    wide_at            INTEGER,
    -- When the next run is due.
    due_at             INTEGER NOT NULL,
    -- Why no run begins by itself any more; a person has to do something.
    stopped            TEXT,
    lease_epoch        INTEGER NOT NULL DEFAULT 0,
    lease_until        INTEGER,
    PRIMARY KEY (tenant_id, endpoint_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX reconciliations_due ON reconciliations (due_at);

CREATE TABLE reconciliation_runs (
    tenant_id   BLOB    NOT NULL,
    endpoint_id BLOB    NOT NULL,
    id          BLOB    NOT NULL,
    -- due, wide or asked.
    cause       TEXT    NOT NULL,
    actor       TEXT,
    asked_at    INTEGER NOT NULL,
    -- Whether a person has said that it may find everything missing.
    trusting    INTEGER NOT NULL DEFAULT 0,
    started_at  INTEGER,
    finished_at INTEGER,
    from_at     INTEGER,
    to_at       INTEGER,
    -- Where the next page is; NULL at the beginning.
    position    TEXT,
    pages       INTEGER NOT NULL DEFAULT 0,
    restarts    INTEGER NOT NULL DEFAULT 0,
    listed      INTEGER NOT NULL DEFAULT 0,
    known       INTEGER NOT NULL DEFAULT 0,
    inserted    INTEGER NOT NULL DEFAULT 0,
    redelivered INTEGER NOT NULL DEFAULT 0,
    missing     INTEGER NOT NULL DEFAULT 0,
    mismatched  INTEGER NOT NULL DEFAULT 0,
    failed      INTEGER NOT NULL DEFAULT 0,
    -- Tries of the present page that went wrong, and when it is tried again.
    tries       INTEGER NOT NULL DEFAULT 0,
    -- done, failed or refused.
    outcome     TEXT,
    -- What went wrong last, in a sentence.
    error       TEXT,
    -- Events that were missing, a few, as JSON.
    found       TEXT    NOT NULL DEFAULT '[]',
    -- Events that are here and not processed, by consumer, as JSON.
    unprocessed TEXT    NOT NULL DEFAULT '{}',
    PRIMARY KEY (tenant_id, endpoint_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX reconciliation_runs_open ON reconciliation_runs (tenant_id, endpoint_id, id) WHERE finished_at IS NULL;

-- A type of events that a list held, and whether one of it ever came by webhook.
CREATE TABLE reconciliation_types (
    tenant_id   BLOB    NOT NULL,
    endpoint_id BLOB    NOT NULL,
    type        TEXT    NOT NULL,
    listed      INTEGER NOT NULL,
    delivered   INTEGER NOT NULL,
    listed_by   BLOB    NOT NULL,
    PRIMARY KEY (tenant_id, endpoint_id, type)
) STRICT, WITHOUT ROWID;
