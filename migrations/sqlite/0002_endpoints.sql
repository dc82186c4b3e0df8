-- Endpoints and their secrets.

CREATE TABLE endpoints (
    tenant_id      BLOB    NOT NULL REFERENCES tenants (id),
    id             BLOB    NOT NULL,
    name           TEXT    NOT NULL,
    provider       TEXT    NOT NULL,
    token_hash     BLOB    NOT NULL,
    token_sealed   BLOB    NOT NULL,
    options        TEXT    NOT NULL,
    -- The options that the catalogue marks secret; NULL when there are none.
    options_sealed BLOB,
    dedup_scope    TEXT,
    max_body_bytes INTEGER,
    enabled        INTEGER NOT NULL,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    -- A deleted endpoint keeps its row: its receipts still name it.
    deleted_at     INTEGER,
    PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE endpoint_secrets (
    tenant_id     BLOB    NOT NULL,
    endpoint_id   BLOB    NOT NULL,
    id            BLOB    NOT NULL,
    secret_sealed BLOB    NOT NULL,
    hint          TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER,
    PRIMARY KEY (tenant_id, endpoint_id, id),
    FOREIGN KEY (tenant_id, endpoint_id) REFERENCES endpoints (tenant_id, id)
) STRICT, WITHOUT ROWID;
