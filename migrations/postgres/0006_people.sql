-- What people need to come in: sessions, second factors, one-time links, invitations; and what the
-- instance writes down of them.

ALTER TABLE users ADD COLUMN disabled_at BIGINT;
ALTER TABLE users ADD COLUMN signed_in_at BIGINT;
ALTER TABLE users ADD COLUMN password_changed_at BIGINT;
-- By code points, as SQLite sorts: lists of people go by address, and a search by how it begins.
ALTER TABLE users ALTER COLUMN email TYPE TEXT COLLATE "C";

-- Who belongs where, from the person's side.
CREATE INDEX members_user ON members (user_id, tenant_id);

CREATE TABLE sessions (
    -- SHA-256 of the id in the cookie.
    hash           BYTEA   NOT NULL PRIMARY KEY,
    -- What lists show and revoke.
    id             UUID    NOT NULL,
    user_id        UUID    NOT NULL REFERENCES users (id),
    -- Where the person works; what they may there is asked anew at each request.
    current_tenant UUID,
    -- The password was right, and the code of the second factor is still to come.
    awaits_code    BOOLEAN NOT NULL,
    csrf           BYTEA   NOT NULL,
    -- "Firefox on Linux", so that a person tells their sessions apart.
    device         TEXT    NOT NULL,
    signed_in_at   BIGINT  NOT NULL,
    -- When the person last proved that it is them.
    confirmed_at   BIGINT  NOT NULL,
    -- To the minute.
    seen_at        BIGINT  NOT NULL
);

CREATE INDEX sessions_user ON sessions (user_id, id);
CREATE INDEX sessions_seen ON sessions (seen_at);

-- Browsers in which a person has signed in: strangers who guess can't slow these down.
CREATE TABLE devices (
    hash    BYTEA   NOT NULL PRIMARY KEY,
    user_id UUID    NOT NULL REFERENCES users (id),
    seen_at BIGINT  NOT NULL
);

CREATE INDEX devices_user ON devices (user_id);
CREATE INDEX devices_seen ON devices (seen_at);

CREATE TABLE second_factors (
    user_id       UUID    NOT NULL PRIMARY KEY REFERENCES users (id),
    -- A key of its own under the master key, and the secret under that key.
    key_wrapped   BYTEA   NOT NULL,
    secret_sealed BYTEA   NOT NULL,
    -- The last time step whose code was taken: no code counts twice.
    last_step     BIGINT  NOT NULL,
    created_at    BIGINT  NOT NULL,
    -- NULL until the first right code; until then no one is asked for any.
    enabled_at    BIGINT
);

CREATE TABLE recovery_codes (
    user_id UUID    NOT NULL REFERENCES users (id),
    hash    BYTEA   NOT NULL,
    used_at BIGINT,
    PRIMARY KEY (user_id, hash)
);

-- One-time links for people: set_up, reset, sign_in.
CREATE TABLE links (
    hash                BYTEA   NOT NULL PRIMARY KEY,
    id                  UUID    NOT NULL,
    kind                TEXT    NOT NULL,
    user_id             UUID    REFERENCES users (id),
    -- Made by an owner: opens nothing once the person belongs elsewhere too.
    only_tenant         UUID,
    drops_second_factor BOOLEAN NOT NULL,
    created_by          TEXT    NOT NULL,
    created_at          BIGINT  NOT NULL,
    expires_at          BIGINT  NOT NULL,
    used_at             BIGINT
);

CREATE INDEX links_user ON links (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX links_expires ON links (expires_at);

-- An invitation is found by the hash of its link in `lookups`.
CREATE TABLE invites (
    tenant_id   UUID    NOT NULL REFERENCES tenants (id),
    id          UUID    NOT NULL,
    hash        BYTEA   NOT NULL,
    email       TEXT    NOT NULL,
    role        TEXT    NOT NULL,
    created_by  TEXT    NOT NULL,
    created_at  BIGINT  NOT NULL,
    expires_at  BIGINT  NOT NULL,
    accepted_at BIGINT,
    revoked_at  BIGINT,
    PRIMARY KEY (tenant_id, id)
);

-- What a tenant lets administrators of the instance see, and until when.
CREATE TABLE grants (
    tenant_id  UUID    NOT NULL REFERENCES tenants (id),
    id         UUID    NOT NULL,
    payloads   BOOLEAN NOT NULL,
    note       TEXT    NOT NULL,
    created_by TEXT    NOT NULL,
    created_at BIGINT  NOT NULL,
    ends_at    BIGINT  NOT NULL,
    ended_at   BIGINT,
    PRIMARY KEY (tenant_id, id)
);

-- What was done to people, tenants and the instance itself.
CREATE TABLE instance_audit_log (
    id         UUID    NOT NULL PRIMARY KEY,
    at         BIGINT  NOT NULL,
    actor      TEXT    NOT NULL,
    action     TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    detail     TEXT    NOT NULL,
    request_id TEXT
);

-- Each filter of the audit log's page.
CREATE INDEX audit_log_actor ON audit_log (tenant_id, actor, id);
CREATE INDEX audit_log_action ON audit_log (tenant_id, action, id);
