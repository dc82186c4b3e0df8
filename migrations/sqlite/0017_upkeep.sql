-- What operators need for changes of the master key and for moves: the servers that run, and the progress of a copy.

-- As each of them says so itself.
CREATE TABLE nodes (
    id          BLOB    NOT NULL PRIMARY KEY,
    started_at  INTEGER NOT NULL,
    seen_at     INTEGER NOT NULL,
    version     TEXT    NOT NULL,
    -- The ids of the master keys that it has loaded, the active one first, with a space between them.
    master_keys TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

-- How far `restante copy` has filled this database; empty before and after.
CREATE TABLE copy_progress (
    table_name TEXT    NOT NULL PRIMARY KEY,
    -- The id of the instance that is copied.
    source     TEXT    NOT NULL,
    -- The key of the last row, as JSON.
    position   TEXT,
    rows       INTEGER NOT NULL,
    finished   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
