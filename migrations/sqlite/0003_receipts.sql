-- Receipts, the sealed requests they point at, and what is known of the senders' attempts.

-- One request as received. Retention removes the row; receipts stay. A rowid table, because
-- large rows make a table without rowid slow.
CREATE TABLE payloads (
    tenant_id      BLOB    NOT NULL,
    id             BLOB    NOT NULL,
    received_at    INTEGER NOT NULL,
    headers_sealed BLOB    NOT NULL,
    body_sealed    BLOB    NOT NULL,
    -- The elements of a batch that are no plain slices of the body, one after another.
    decoded_sealed BLOB,
    PRIMARY KEY (tenant_id, id)
) STRICT;

-- The compact key. It outlives the payload as the tombstone, so nothing heavy is in it. No foreign
-- key: each commit holds the tenant's row locked, so nothing it names can go meanwhile.
CREATE TABLE receipts (
    tenant_id     BLOB    NOT NULL,
    id            BLOB    NOT NULL,
    provider      TEXT    NOT NULL,
    scope         TEXT    NOT NULL,
    event_key     TEXT    NOT NULL,
    event_id      TEXT,
    endpoint_id   BLOB    NOT NULL,
    type          TEXT,
    account       TEXT,
    api_version   TEXT,
    livemode      INTEGER,
    occurred_at   INTEGER,
    received_at   INTEGER NOT NULL,
    origin        TEXT    NOT NULL,
    decoder       TEXT    NOT NULL,
    secret_id     BLOB,
    -- Where the event's bytes stand: a slice of the payload's body, or of its decoded elements.
    payload_id    BLOB    NOT NULL,
    slice_decoded INTEGER NOT NULL,
    slice_offset  INTEGER NOT NULL,
    slice_length  INTEGER NOT NULL,
    content_type  TEXT,
    body_mac      BLOB    NOT NULL,
    sha256_sealed BLOB    NOT NULL,
    deliveries    INTEGER NOT NULL DEFAULT 1,
    variants      INTEGER NOT NULL DEFAULT 0,
    diverged      INTEGER NOT NULL DEFAULT 0,
    repeated_body INTEGER NOT NULL DEFAULT 0,
    ambiguous     INTEGER NOT NULL,
    id_unsigned   INTEGER NOT NULL,
    -- Words separated by spaces: body, id, time.
    weak          TEXT    NOT NULL,
    reason        TEXT,
    payload_state TEXT    NOT NULL,
    PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;

-- The one arbiter of who was first. The key stands before provider and scope, so that a search by
-- event id finds it here; where id and key differ, the next index helps.
CREATE UNIQUE INDEX receipts_key ON receipts (tenant_id, event_key, provider, scope);
CREATE INDEX receipts_event_id ON receipts (tenant_id, event_id) WHERE event_id <> event_key;
CREATE INDEX receipts_endpoint ON receipts (tenant_id, endpoint_id, id);
-- The receipts of one batch request; a request with one event has the receipt's own id.
CREATE INDEX receipts_payload ON receipts (tenant_id, payload_id) WHERE payload_id <> id;
-- Only where the signature doesn't cover the id can the same signed bytes come under another one.
CREATE INDEX receipts_body ON receipts (tenant_id, endpoint_id, body_mac) WHERE id_unsigned;

-- The second and later attempts of a sender; the first one is the receipt itself.
CREATE TABLE deliveries (
    tenant_id   BLOB    NOT NULL,
    receipt_id  BLOB    NOT NULL,
    id          BLOB    NOT NULL,
    endpoint_id BLOB    NOT NULL,
    received_at INTEGER NOT NULL,
    outcome     TEXT    NOT NULL,
    origin      TEXT    NOT NULL,
    same_body   INTEGER NOT NULL,
    secret_id   BLOB,
    request_id  TEXT,
    PRIMARY KEY (tenant_id, receipt_id, id)
) STRICT, WITHOUT ROWID;

-- Other bytes that came under the key of a receipt; a few are kept.
CREATE TABLE variants (
    tenant_id      BLOB    NOT NULL,
    receipt_id     BLOB    NOT NULL,
    id             BLOB    NOT NULL,
    received_at    INTEGER NOT NULL,
    body_mac       BLOB    NOT NULL,
    payload_id     BLOB    NOT NULL,
    slice_decoded  INTEGER NOT NULL,
    slice_offset   INTEGER NOT NULL,
    slice_length   INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, receipt_id, id)
) STRICT, WITHOUT ROWID;

-- A bounded sample of refused requests per endpoint, for the person who asks why.
CREATE TABLE refusals (
    tenant_id      BLOB    NOT NULL,
    endpoint_id    BLOB    NOT NULL,
    id             BLOB    NOT NULL,
    received_at    INTEGER NOT NULL,
    reason         TEXT    NOT NULL,
    explanation    TEXT    NOT NULL,
    request_sealed BLOB    NOT NULL,
    request_id     TEXT,
    PRIMARY KEY (tenant_id, endpoint_id, id)
) STRICT;
