-- A refused request that verified later, under other secrets, is marked with the event that it became, so
-- that the same press of a button enters nothing twice.

ALTER TABLE refusals ADD COLUMN entered_at BIGINT;
ALTER TABLE refusals ADD COLUMN receipt_id UUID;

-- How many events a replay of many would take, counted when it was asked for, and whether those are all. NULL
-- for replays from before.

ALTER TABLE replay_jobs ADD COLUMN matched BIGINT;
ALTER TABLE replay_jobs ADD COLUMN matched_all BOOLEAN NOT NULL DEFAULT FALSE;
