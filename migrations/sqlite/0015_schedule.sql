-- The jobs that the program does by itself, and each of their runs. Which node runs a slot is decided by
-- the lease of the job's row, in the database's time.

CREATE TABLE jobs (
    name        TEXT    NOT NULL PRIMARY KEY,
    -- The next slot.
    due_at      INTEGER NOT NULL,
    paused      INTEGER NOT NULL DEFAULT 0,
    -- A person wants it run now.
    asked_at    INTEGER,
    asked_by    TEXT,
    -- Each holder gets a higher number; what a former one still writes changes nothing.
    lease_epoch INTEGER NOT NULL DEFAULT 0,
    lease_until INTEGER,
    -- The run under way.
    run_id      BLOB
) STRICT, WITHOUT ROWID;

CREATE TABLE job_runs (
    id          BLOB    NOT NULL PRIMARY KEY,
    job         TEXT    NOT NULL,
    -- The slot; NULL when a person asked for it.
    slot_at     INTEGER,
    asked_by    TEXT,
    -- Slots before this one that nobody ran.
    missed      INTEGER NOT NULL,
    node        TEXT    NOT NULL,
    -- How often another node went on with it after its holder was lost.
    takeovers   INTEGER NOT NULL DEFAULT 0,
    started_at  INTEGER NOT NULL,
    finished_at INTEGER,
    -- done, failed or refused.
    outcome     TEXT,
    -- What it did, as JSON.
    report      TEXT,
    error       TEXT
) STRICT, WITHOUT ROWID;

-- No slot is run twice, whatever the clocks do.
CREATE UNIQUE INDEX job_runs_slot ON job_runs (job, slot_at);
CREATE INDEX job_runs_newest ON job_runs (job, id);
