-- Consumers, the handoffs of receipts to them, and what was tried.

CREATE TABLE consumers (
    tenant_id     BLOB    NOT NULL REFERENCES tenants (id),
    id            BLOB    NOT NULL,
    name          TEXT    NOT NULL,
    mode          TEXT    NOT NULL,
    filter        TEXT    NOT NULL,
    max_attempts  INTEGER NOT NULL,
    enabled       INTEGER NOT NULL,
    -- The text that was asked for: now, beginning, or a time.
    start         TEXT    NOT NULL,
    -- While what was here before is being handed off: the last receipt that is done.
    backfill_from BLOB,
    backfill_to   BLOB,
    last_claim_at INTEGER,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    -- A deleted consumer keeps its row: its handoffs still name it.
    deleted_at    INTEGER,
    PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX consumers_name ON consumers (tenant_id, name) WHERE deleted_at IS NULL;
CREATE INDEX consumers_backfill ON consumers (tenant_id, id) WHERE backfill_to IS NOT NULL;

-- states: 0 pending, 1 leased, 2 processed, 3 failed, 4 uncertain, 5 cancelled
CREATE TABLE handoffs (
    tenant_id        BLOB    NOT NULL,
    consumer_id      BLOB    NOT NULL,
    receipt_id       BLOB    NOT NULL,
    state            INTEGER NOT NULL,
    due_at           INTEGER NOT NULL,
    -- Claims ever made, and those since the last replay: the second is what max_attempts counts.
    attempt          INTEGER NOT NULL DEFAULT 0,
    tries            INTEGER NOT NULL DEFAULT 0,
    lease_hash       BLOB,
    claimed_at       INTEGER,
    lease_expires_at INTEGER,
    handler_version  TEXT,
    -- The last replay; an attempt after it is one of a replay.
    replay_id        BLOB,
    -- When a person settled it: from then on nobody waits for it, though it may be failed.
    settled_at       INTEGER,
    PRIMARY KEY (tenant_id, consumer_id, receipt_id)
) STRICT, WITHOUT ROWID;

-- What a claim takes, in its order.
CREATE INDEX handoffs_due ON handoffs (tenant_id, consumer_id, due_at, receipt_id) WHERE state = 0;
-- What a list of one state shows, and the oldest that is pending. OR, since SQLite can't tell that
-- `state = 0` is within `state IN (…)`.
CREATE INDEX handoffs_open ON handoffs (tenant_id, consumer_id, state, receipt_id)
    WHERE state = 0 OR state = 1 OR state = 3 OR state = 4;
-- Which leases have run out.
CREATE INDEX handoffs_leased ON handoffs (tenant_id, consumer_id, lease_expires_at) WHERE state = 1;

-- Ended attempts; the one under way is the handoff itself.
CREATE TABLE attempts (
    tenant_id           BLOB    NOT NULL,
    consumer_id         BLOB    NOT NULL,
    receipt_id          BLOB    NOT NULL,
    attempt             INTEGER NOT NULL,
    lease_hash          BLOB    NOT NULL,
    claimed_at          INTEGER NOT NULL,
    ended_at            INTEGER NOT NULL,
    -- acked, retried, exhausted, failed, uncertain, expired, cancelled
    outcome             TEXT    NOT NULL,
    handler_version     TEXT,
    remote_operation_id TEXT,
    note                TEXT,
    PRIMARY KEY (tenant_id, consumer_id, receipt_id, attempt)
) STRICT, WITHOUT ROWID;

CREATE TABLE replays (
    tenant_id   BLOB    NOT NULL,
    id          BLOB    NOT NULL,
    receipt_id  BLOB    NOT NULL,
    consumer_id BLOB,
    at          INTEGER NOT NULL,
    actor       TEXT    NOT NULL,
    reason      TEXT,
    PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX replays_receipt ON replays (tenant_id, receipt_id, id);

-- A person's word on a handoff that waited for one.
CREATE TABLE settlements (
    tenant_id   BLOB    NOT NULL,
    id          BLOB    NOT NULL,
    receipt_id  BLOB    NOT NULL,
    consumer_id BLOB    NOT NULL,
    at          INTEGER NOT NULL,
    actor       TEXT    NOT NULL,
    state       INTEGER NOT NULL,
    note        TEXT,
    PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX settlements_receipt ON settlements (tenant_id, receipt_id, id);
