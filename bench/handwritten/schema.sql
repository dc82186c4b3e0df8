-- What the hand-written handler keeps: one receipt an event under a unique key, with the bytes that were verified.
CREATE TABLE webhook_receipts (
  provider     text NOT NULL,
  event_id     text NOT NULL,
  event_type   text NOT NULL,
  account      text,
  payload      bytea NOT NULL,
  received_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  processed_at timestamptz,
  PRIMARY KEY (provider, event_id)
);
