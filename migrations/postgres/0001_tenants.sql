-- Tenants, people, keys, and how a bare credential finds its tenant.

CREATE TABLE instance (
    name  TEXT     NOT NULL PRIMARY KEY,
    value TEXT     NOT NULL
);

CREATE TABLE tenants (
    id             UUID     NOT NULL PRIMARY KEY,
    slug           TEXT     NOT NULL UNIQUE,
    name           TEXT     NOT NULL,
    suspended      BOOLEAN  NOT NULL DEFAULT FALSE,
    -- Raised by every change that a commit must see: consumers, their filters, a suspension.
    config_version BIGINT   NOT NULL DEFAULT 1,
    created_at     BIGINT   NOT NULL
);

CREATE TABLE tenant_keys (
    tenant_id  UUID     NOT NULL REFERENCES tenants (id),
    class      SMALLINT NOT NULL,
    version    INTEGER  NOT NULL,
    state      SMALLINT NOT NULL,
    wrapped    BYTEA    NOT NULL,
    created_at BIGINT   NOT NULL,
    PRIMARY KEY (tenant_id, class, version)
);

-- At most one key of a class seals new data (state 1 is "active").
CREATE UNIQUE INDEX tenant_keys_active ON tenant_keys (tenant_id, class) WHERE state = 1;

CREATE TABLE users (
    id            UUID     NOT NULL PRIMARY KEY,
    email         TEXT     NOT NULL UNIQUE,
    password_hash TEXT,
    administrator BOOLEAN  NOT NULL DEFAULT FALSE,
    created_at    BIGINT   NOT NULL
);

CREATE TABLE members (
    tenant_id  UUID     NOT NULL REFERENCES tenants (id),
    user_id    UUID     NOT NULL REFERENCES users (id),
    role       TEXT     NOT NULL,
    created_at BIGINT   NOT NULL,
    PRIMARY KEY (tenant_id, user_id)
);

-- From a credential that names no tenant (an ingest token, an API key) to its owner. The only
-- table of tenants' things that is not keyed by tenant, because the tenant is what it answers.
CREATE TABLE lookups (
    hash      BYTEA    NOT NULL PRIMARY KEY,
    kind      TEXT     NOT NULL,
    tenant_id UUID     NOT NULL REFERENCES tenants (id),
    object_id UUID     NOT NULL
);

CREATE TABLE api_keys (
    tenant_id    UUID     NOT NULL REFERENCES tenants (id),
    id           UUID     NOT NULL,
    name         TEXT     NOT NULL,
    hint         TEXT     NOT NULL,
    lookup_hash  BYTEA    NOT NULL,
    secret_hash  BYTEA    NOT NULL,
    scopes       TEXT     NOT NULL,
    created_by   TEXT     NOT NULL,
    created_at   BIGINT   NOT NULL,
    expires_at   BIGINT,
    last_used_at BIGINT,
    deleted_at   BIGINT,
    PRIMARY KEY (tenant_id, id)
);

CREATE TABLE idempotency_keys (
    tenant_id     UUID     NOT NULL REFERENCES tenants (id),
    key_hash      BYTEA    NOT NULL,
    request_hash  BYTEA    NOT NULL,
    answer_sealed BYTEA    NOT NULL,
    created_at    BIGINT   NOT NULL,
    PRIMARY KEY (tenant_id, key_hash)
);

CREATE TABLE audit_log (
    tenant_id  UUID     NOT NULL REFERENCES tenants (id),
    id         UUID     NOT NULL,
    at         BIGINT   NOT NULL,
    actor      TEXT     NOT NULL,
    action     TEXT     NOT NULL,
    subject    TEXT     NOT NULL,
    detail     TEXT     NOT NULL,
    request_id TEXT,
    PRIMARY KEY (tenant_id, id)
);
