-- Consumers, the handoffs of receipts to them, and what was tried.

CREATE TABLE consumers (
    tenant_id     UUID     NOT NULL REFERENCES tenants (id),
    id            UUID     NOT NULL,
    name          TEXT     NOT NULL,
    mode          TEXT     NOT NULL,
    filter        TEXT     NOT NULL,
    max_attempts  INTEGER  NOT NULL,
    enabled       BOOLEAN  NOT NULL,
    -- The text that was asked for: now, beginning, or a time.
    start         TEXT     NOT NULL,
    -- While what was here before is being handed off: the last receipt that is done.
    backfill_from UUID,
    backfill_to   UUID,
    last_claim_at BIGINT,
    created_at    BIGINT   NOT NULL,
    updated_at    BIGINT   NOT NULL,
    -- A deleted consumer keeps its row: its handoffs still name it.
    deleted_at    BIGINT,
    PRIMARY KEY (tenant_id, id)
);

CREATE UNIQUE INDEX consumers_name ON consumers (tenant_id, name) WHERE deleted_at IS NULL;
CREATE INDEX consumers_backfill ON consumers (tenant_id, id) WHERE backfill_to IS NOT NULL;

-- states: 0 pending, 1 leased, 2 processed, 3 failed, 4 uncertain, 5 cancelled
CREATE TABLE handoffs (
    tenant_id        UUID     NOT NULL,
    consumer_id      UUID     NOT NULL,
    receipt_id       UUID     NOT NULL,
    state            SMALLINT NOT NULL,
    due_at           BIGINT   NOT NULL,
    -- Claims ever made, and those since the last replay: the second is what max_attempts counts.
    attempt          INTEGER  NOT NULL DEFAULT 0,
    tries            INTEGER  NOT NULL DEFAULT 0,
    lease_hash       BYTEA,
    claimed_at       BIGINT,
    lease_expires_at BIGINT,
    handler_version  TEXT,
    -- The last replay; an attempt after it is one of a replay.
    replay_id        UUID,
    -- When a person settled it: from then on nobody waits for it, though it may be failed.
    settled_at       BIGINT,
    PRIMARY KEY (tenant_id, consumer_id, receipt_id)
);

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
    tenant_id           UUID     NOT NULL,
    consumer_id         UUID     NOT NULL,
    receipt_id          UUID     NOT NULL,
    attempt             INTEGER  NOT NULL,
    lease_hash          BYTEA    NOT NULL,
    claimed_at          BIGINT   NOT NULL,
    ended_at            BIGINT   NOT NULL,
    -- acked, retried, exhausted, failed, uncertain, expired, cancelled
    outcome             TEXT     NOT NULL,
    handler_version     TEXT,
    remote_operation_id TEXT,
    note                TEXT,
    PRIMARY KEY (tenant_id, consumer_id, receipt_id, attempt)
);

CREATE TABLE replays (
    tenant_id   UUID     NOT NULL,
    id          UUID     NOT NULL,
    receipt_id  UUID     NOT NULL,
    consumer_id UUID,
    at          BIGINT   NOT NULL,
    actor       TEXT     NOT NULL,
    reason      TEXT,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX replays_receipt ON replays (tenant_id, receipt_id, id);

-- A person's word on a handoff that waited for one.
CREATE TABLE settlements (
    tenant_id   UUID     NOT NULL,
    id          UUID     NOT NULL,
    receipt_id  UUID     NOT NULL,
    consumer_id UUID     NOT NULL,
    at          BIGINT   NOT NULL,
    actor       TEXT     NOT NULL,
    state       SMALLINT NOT NULL,
    note        TEXT,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX settlements_receipt ON settlements (tenant_id, receipt_id, id);
