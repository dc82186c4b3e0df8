-- Endpoints and their secrets.

CREATE TABLE endpoints (
    tenant_id      UUID     NOT NULL REFERENCES tenants (id),
    id             UUID     NOT NULL,
    name           TEXT     NOT NULL,
    provider       TEXT     NOT NULL,
    token_hash     BYTEA    NOT NULL,
    token_sealed   BYTEA    NOT NULL,
    options        TEXT     NOT NULL,
    -- The options that the catalogue marks secret; NULL when there are none.
    options_sealed BYTEA,
    dedup_scope    TEXT,
    max_body_bytes BIGINT,
    enabled        BOOLEAN  NOT NULL,
    created_at     BIGINT   NOT NULL,
    updated_at     BIGINT   NOT NULL,
    -- A deleted endpoint keeps its row: its receipts still name it.
    deleted_at     BIGINT,
    PRIMARY KEY (tenant_id, id)
);

CREATE TABLE endpoint_secrets (
    tenant_id     UUID     NOT NULL,
    endpoint_id   UUID     NOT NULL,
    id            UUID     NOT NULL,
    secret_sealed BYTEA    NOT NULL,
    hint          TEXT     NOT NULL,
    created_at    BIGINT   NOT NULL,
    expires_at    BIGINT,
    PRIMARY KEY (tenant_id, endpoint_id, id),
    FOREIGN KEY (tenant_id, endpoint_id) REFERENCES endpoints (tenant_id, id)
);
