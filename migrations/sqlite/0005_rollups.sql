-- Figures that the commit path keeps, so that no page counts rows.

-- grain: 0 what is now (at = 0: handoffs of a consumer by state), 1 a minute, 2 an hour.
-- `shard` keeps two nodes from waiting for one row.
CREATE TABLE rollups (
    tenant_id BLOB    NOT NULL,
    grain     INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    subject   BLOB    NOT NULL,
    metric    TEXT    NOT NULL,
    shard     INTEGER NOT NULL,
    count     INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, grain, at, subject, metric, shard)
) STRICT, WITHOUT ROWID;
