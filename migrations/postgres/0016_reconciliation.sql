-- Asking providers what they sent: what a tenant has set for an endpoint, each run, and which types of
-- events are listed that never come by webhook.

CREATE TABLE reconciliations (
    tenant_id          UUID    NOT NULL,
    endpoint_id        UUID    NOT NULL,
    enabled            BOOLEAN NOT NULL,
    base_url           TEXT,
    interval_seconds   BIGINT NOT NULL,
    overlap_seconds    BIGINT NOT NULL,
    -- As JSON.
    options            TEXT    NOT NULL,
    credentials_sealed BYTEA    NOT NULL,
    -- What people know them by, as JSON.
    credentials_hint   TEXT    NOT NULL,
    created_at         BIGINT NOT NULL,
    updated_at         BIGINT NOT NULL,
    -- Everything up to here has been looked at. It never moves back.
    checkpoint_at      BIGINT,
    -- When a run last looked further back than it had to.
    wide_at            BIGINT,
    -- When the next run is due.
    due_at             BIGINT NOT NULL,
    -- Why no run begins by itself any more; a person has to do something.
    stopped            TEXT,
    lease_epoch        BIGINT NOT NULL DEFAULT 0,
    lease_until        BIGINT,
    PRIMARY KEY (tenant_id, endpoint_id)
);

CREATE INDEX reconciliations_due ON reconciliations (due_at);

CREATE TABLE reconciliation_runs (
    tenant_id   UUID    NOT NULL,
    endpoint_id UUID    NOT NULL,
    id          UUID    NOT NULL,
    -- due, wide or asked.
    cause       TEXT    NOT NULL,
    actor       TEXT,
    asked_at    BIGINT NOT NULL,
    -- Whether a person has said that it may find everything missing.
    trusting    BOOLEAN NOT NULL DEFAULT FALSE,
    started_at  BIGINT,
    finished_at BIGINT,
    from_at     BIGINT,
    to_at       BIGINT,
    -- Where the next page is; NULL at the beginning.
    position    TEXT,
    pages       BIGINT NOT NULL DEFAULT 0,
    restarts    BIGINT NOT NULL DEFAULT 0,
    listed      BIGINT NOT NULL DEFAULT 0,
    known       BIGINT NOT NULL DEFAULT 0,
    inserted    BIGINT NOT NULL DEFAULT 0,
    redelivered BIGINT NOT NULL DEFAULT 0,
    missing     BIGINT NOT NULL DEFAULT 0,
    mismatched  BIGINT NOT NULL DEFAULT 0,
    failed      BIGINT NOT NULL DEFAULT 0,
    -- Tries of the present page that went wrong, and when it is tried again.
    tries       BIGINT NOT NULL DEFAULT 0,
    -- done, failed or refused.
    outcome     TEXT,
    -- What went wrong last, in a sentence.
    error       TEXT,
    -- Events that were missing, a few, as JSON.
    found       TEXT    NOT NULL DEFAULT '[]',
    -- Events that are here and not processed, by consumer, as JSON.
    unprocessed TEXT    NOT NULL DEFAULT '{}',
    PRIMARY KEY (tenant_id, endpoint_id, id)
);

CREATE INDEX reconciliation_runs_open ON reconciliation_runs (tenant_id, endpoint_id, id) WHERE finished_at IS NULL;

-- A type of events that a list held, and whether one of it ever came by webhook.
CREATE TABLE reconciliation_types (
    tenant_id   UUID    NOT NULL,
    endpoint_id UUID    NOT NULL,
    type        TEXT    NOT NULL,
    listed      BIGINT NOT NULL,
    delivered   BIGINT NOT NULL,
    listed_by   UUID    NOT NULL,
    PRIMARY KEY (tenant_id, endpoint_id, type)
);
