-- How far the keys of events are gone, so that reconciliation gives no event a second life.

-- The newest event whose key retention has removed, within each scope that keys are unique in.
CREATE TABLE removed_keys (
    tenant_id UUID   NOT NULL,
    provider  TEXT   NOT NULL,
    scope     TEXT   NOT NULL,
    -- The later one of its commit and its receipt. It never moves back.
    newest_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, provider, scope)
);

-- Where a run would have begun if every key were still here; NULL when it began there.
ALTER TABLE reconciliation_runs ADD COLUMN wanted_from BIGINT;
-- Listed events that are older than the keys that are held.
ALTER TABLE reconciliation_runs ADD COLUMN too_old BIGINT NOT NULL DEFAULT 0;
