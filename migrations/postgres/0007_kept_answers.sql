-- Finds the kept answers whose day is over, of every tenant, without reading the others.

CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);
