-- Figures that the commit path keeps, so that no page counts rows.

-- grain: 0 what is now (at = 0: handoffs of a consumer by state), 1 a minute, 2 an hour.
-- `shard` keeps two nodes from waiting for one row.
CREATE TABLE rollups (
    tenant_id UUID     NOT NULL,
    grain     SMALLINT NOT NULL,
    at        BIGINT   NOT NULL,
    subject   UUID     NOT NULL,
    metric    TEXT     NOT NULL,
    shard     SMALLINT NOT NULL,
    count     BIGINT   NOT NULL,
    PRIMARY KEY (tenant_id, grain, at, subject, metric, shard)
);
