-- Replays of all that a filter matches: a row each, worked off in steps, so that a stop in between costs
-- nothing.

CREATE TABLE replay_jobs (
    tenant_id   UUID NOT NULL REFERENCES tenants (id),
    id          UUID NOT NULL,
    -- What is replayed, as JSON: the filters of a list of events.
    filter      TEXT NOT NULL,
    -- To whom; NULL for each that wants it.
    consumer_id UUID,
    actor       TEXT NOT NULL,
    reason      TEXT,
    created_at  BIGINT NOT NULL,
    -- The last receipt that was looked at, from the newest on.
    position    UUID,
    events      BIGINT NOT NULL DEFAULT 0,
    handoffs    BIGINT NOT NULL DEFAULT 0,
    refused     BIGINT NOT NULL DEFAULT 0,
    finished_at BIGINT,
    -- done, cancelled, or a sentence that says why it could not go on.
    outcome     TEXT,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX replay_jobs_open ON replay_jobs (tenant_id, id) WHERE finished_at IS NULL;

-- What is failed and settled as that has a counter from now on.
INSERT INTO rollups (tenant_id, grain, at, subject, metric, shard, count)
    SELECT tenant_id, 0, 0, consumer_id, 'settled', 0, COUNT(*) FROM handoffs
    WHERE state = 3 AND settled_at IS NOT NULL GROUP BY tenant_id, consumer_id ON CONFLICT DO NOTHING;
