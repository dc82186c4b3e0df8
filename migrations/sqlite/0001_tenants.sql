-- Tenants, people, keys, and how a bare credential finds its tenant.

CREATE TABLE instance (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tenants (
    id             BLOB    NOT NULL PRIMARY KEY,
    slug           TEXT    NOT NULL UNIQUE,
    name           TEXT    NOT NULL,
    suspended      INTEGER NOT NULL DEFAULT 0,
    -- Raised by every change that a commit must see: consumers, their filters, a suspension.
    config_version INTEGER NOT NULL DEFAULT 1,
    created_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tenant_keys (
    tenant_id  BLOB    NOT NULL REFERENCES tenants (id),
    class      INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    state      INTEGER NOT NULL,
    wrapped    BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, class, version)
) STRICT, WITHOUT ROWID;

-- At most one key of a class seals new data (state 1 is "active").
CREATE UNIQUE INDEX tenant_keys_active ON tenant_keys (tenant_id, class) WHERE state = 1;

CREATE TABLE users (
    id            BLOB    NOT NULL PRIMARY KEY,
    email         TEXT    NOT NULL UNIQUE,
    password_hash TEXT,
    administrator INTEGER NOT NULL DEFAULT 0,
    created_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE members (
    tenant_id  BLOB    NOT NULL REFERENCES tenants (id),
    user_id    BLOB    NOT NULL REFERENCES users (id),
    role       TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, user_id)
) STRICT, WITHOUT ROWID;

-- From a credential that names no tenant (an ingest token, an API key) to its owner. The only
-- table of tenants' things that is not keyed by tenant, because the tenant is what it answers.
CREATE TABLE lookups (
    hash      BLOB NOT NULL PRIMARY KEY,
    kind      TEXT NOT NULL,
    tenant_id BLOB NOT NULL REFERENCES tenants (id),
    object_id BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE api_keys (
    tenant_id    BLOB    NOT NULL REFERENCES tenants (id),
    id           BLOB    NOT NULL,
    name         TEXT    NOT NULL,
    hint         TEXT    NOT NULL,
    lookup_hash  BLOB    NOT NULL,
    secret_hash  BLOB    NOT NULL,
    scopes       TEXT    NOT NULL,
    created_by   TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    last_used_at INTEGER,
    deleted_at   INTEGER,
    PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency_keys (
    tenant_id     BLOB    NOT NULL REFERENCES tenants (id),
    key_hash      BLOB    NOT NULL,
    request_hash  BLOB    NOT NULL,
    answer_sealed BLOB    NOT NULL,
    created_at    INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, key_hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE audit_log (
    tenant_id  BLOB    NOT NULL REFERENCES tenants (id),
    id         BLOB    NOT NULL,
    at         INTEGER NOT NULL,
    actor      TEXT    NOT NULL,
    action     TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    detail     TEXT    NOT NULL,
    request_id TEXT,
    PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;
