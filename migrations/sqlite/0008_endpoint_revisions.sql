-- A commit compares it with what the request was verified by: whatever changes of an endpoint or of its
-- secrets raises it.

ALTER TABLE endpoints ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;
