-- A refused request that verified later, under other secrets, is marked with the event that it became, so
-- that the same press of a button enters nothing twice.

ALTER TABLE refusals ADD COLUMN entered_at INTEGER;
ALTER TABLE refusals ADD COLUMN receipt_id BLOB;

-- How many events a replay of many would take, counted when it was asked for, and whether those are all. NULL
-- for replays from before.

ALTER TABLE replay_jobs ADD COLUMN matched INTEGER;
ALTER TABLE replay_jobs ADD COLUMN matched_all INTEGER NOT NULL DEFAULT 0;
