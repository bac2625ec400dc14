-- Events, runs with what belongs to them, and records of requests stand in partitions by time, so that old ones can be dropped
-- instead of deleted row by row. What is here already becomes the first partition as it stands: nothing is copied.
--
-- Events and requests are divided by their ids, which begin with the time they were made at. The id is in the key that keeps it
-- from being stored twice, so that key holds across partitions, and who looks for an id looks into one partition. By
-- `received_at` neither would be so: a sender that repeats a request repeats the ids, not the time.
--
-- Runs are divided by their numbers, which from now on begin with the day: everything that works on a run knows its number, and
-- steps, attempts and calls have nothing else. So what is done with a run touches one partition of each table.
--
-- A partition is named for its first day. `_before` holds what is older than the first of them, `_rest` what fits nowhere: ids
-- whose makers had another idea of the time, and whatever comes when no partition was made in time. See partitions.ts.

CREATE FUNCTION first_id_at(p_ms bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((p_ms >> (5 * n)) & 31)::integer + 1, 1), '' ORDER BY n DESC) || repeat('0', 16)
  FROM generate_series(0, 9) AS n
$$;

-- Days are counted from 1970; a partition that begins with day 0 is the one called `_before`.
CREATE TABLE time_partitions (
  kind     text NOT NULL CHECK (kind IN ('events', 'runs', 'requests')),
  from_day integer NOT NULL,
  to_day   integer NOT NULL,
  PRIMARY KEY (kind, from_day)
);

-- Everything up to and including today.
INSERT INTO time_partitions
SELECT kind, 0, floor(extract(epoch FROM clock_timestamp()) / 86400)::integer + 1 FROM unnest('{events,runs,requests}'::text[]) AS kind;

-- Events. `sequence` comes from one sequence, so it needs no key to be unique.
ALTER TABLE events RENAME TO events_before;
ALTER TABLE events_before DROP CONSTRAINT events_pkey;
ALTER INDEX events_by_id RENAME TO events_before_by_id;
ALTER INDEX events_by_time RENAME TO events_before_by_time;
ALTER INDEX events_by_name RENAME TO events_before_by_name;
ALTER INDEX events_by_dedup_id RENAME TO events_before_by_dedup_id;
CREATE TABLE events (LIKE events_before INCLUDING DEFAULTS) PARTITION BY RANGE (event_id);
CREATE TABLE events_rest PARTITION OF events DEFAULT;

-- Requests.
ALTER TABLE webhook_requests RENAME TO webhook_requests_before;
ALTER TABLE webhook_requests_before DROP CONSTRAINT webhook_requests_pkey;
ALTER INDEX webhook_requests_by_time RENAME TO webhook_requests_before_by_time;
ALTER INDEX webhook_requests_by_id RENAME TO webhook_requests_before_by_id;
CREATE TABLE webhook_requests (LIKE webhook_requests_before INCLUDING DEFAULTS) PARTITION BY RANGE (request_id);
CREATE TABLE webhook_requests_rest PARTITION OF webhook_requests DEFAULT;

-- Ids from the future go where ids belong that fit nowhere.
DO $$
DECLARE
  begin_ms CONSTANT bigint := (SELECT to_day FROM time_partitions WHERE kind = 'events') * 86400000::bigint;
BEGIN
  EXECUTE format('WITH moved AS (DELETE FROM events_before WHERE event_id >= %1$L RETURNING *) INSERT INTO events_rest SELECT * FROM moved', first_id_at(begin_ms));
  EXECUTE format('ALTER TABLE events ATTACH PARTITION events_before FOR VALUES FROM (MINVALUE) TO (%L)', first_id_at(begin_ms));
  EXECUTE format('WITH moved AS (DELETE FROM webhook_requests_before WHERE request_id >= %1$L RETURNING *) INSERT INTO webhook_requests_rest SELECT * FROM moved', 'req_' || first_id_at(begin_ms));
  EXECUTE format('ALTER TABLE webhook_requests ATTACH PARTITION webhook_requests_before FOR VALUES FROM (MINVALUE) TO (%L)', 'req_' || first_id_at(begin_ms));
END $$;
CREATE UNIQUE INDEX events_by_id ON events (environment_id, event_id);
CREATE INDEX events_by_sequence ON events (sequence);
CREATE INDEX events_by_time ON events (environment_id, received_at, sequence);
CREATE INDEX events_by_name ON events (environment_id, name_id, received_at, sequence);
CREATE INDEX events_by_dedup_id ON events (environment_id, md5(dedup_id), received_at, sequence) WHERE dedup_id IS NOT NULL;
CREATE UNIQUE INDEX webhook_requests_by_id ON webhook_requests (environment_id, webhook_id, request_id);
CREATE INDEX webhook_requests_by_sequence ON webhook_requests (sequence);
CREATE INDEX webhook_requests_by_time ON webhook_requests (environment_id, webhook_id, received_at, sequence);

-- Runs, and what belongs to them. That there is one run of each id holds within a partition: ids are made by the service, of the
-- same moment as the number. A partition cannot have an identity of its own, so numbers come from sequences.
CREATE SEQUENCE attempt_numbers;
CREATE SEQUENCE call_numbers;
ALTER TABLE failed_attempts ALTER attempt_no DROP IDENTITY, ALTER attempt_no SET DEFAULT nextval('attempt_numbers');
ALTER TABLE calls ALTER call_no DROP IDENTITY, ALTER call_no SET DEFAULT nextval('call_numbers');
SELECT setval('attempt_numbers', (SELECT coalesce(max(attempt_no), 0) + 1 FROM failed_attempts));
SELECT setval('call_numbers', (SELECT coalesce(max(call_no), 0) + 1 FROM calls));
ALTER INDEX runs_by_id RENAME TO runs_before_by_id;
ALTER INDEX runs_by_event RENAME TO runs_before_by_event;
ALTER INDEX runs_completed_by_function RENAME TO runs_before_completed_by_function;
ALTER INDEX runs_by_function_and_status RENAME TO runs_before_by_function_and_status;
ALTER INDEX runs_by_status RENAME TO runs_before_by_status;
ALTER INDEX failed_attempts_by_run RENAME TO failed_attempts_before_by_run;
DO $$
DECLARE
  begin_no CONSTANT bigint := (SELECT to_day FROM time_partitions WHERE kind = 'runs') * 100000000000;
  one record;
BEGIN
  FOR one IN SELECT * FROM (VALUES ('runs', 'run_no'), ('batched_events', 'event_no, run_no'), ('steps', 'run_no, step_id'),
    ('failed_attempts', NULL), ('calls', 'run_no, call_no')) AS t(name, key)
  LOOP
    EXECUTE format('ALTER TABLE %1$I RENAME TO %1$s_before', one.name);
    IF one.key IS NOT NULL THEN
      EXECUTE format('ALTER TABLE %1$s_before RENAME CONSTRAINT %1$s_pkey TO %1$s_before_pkey', one.name);
    END IF;
    EXECUTE format('CREATE TABLE %1$I (LIKE %1$s_before INCLUDING DEFAULTS) PARTITION BY RANGE (run_no)', one.name);
    EXECUTE format('CREATE TABLE %1$s_rest PARTITION OF %1$I DEFAULT', one.name);
    EXECUTE format('ALTER TABLE %1$I ATTACH PARTITION %1$s_before FOR VALUES FROM (MINVALUE) TO (%2$s)', one.name, begin_no);
    IF one.key IS NOT NULL THEN
      EXECUTE format('ALTER TABLE %1$I ADD PRIMARY KEY (%2$s)', one.name, one.key);
    END IF;
  END LOOP;
END $$;
CREATE UNIQUE INDEX runs_rest_by_id ON runs_rest (environment_id, run_id);
CREATE INDEX runs_by_event ON runs (environment_id, event_no);
CREATE INDEX runs_completed_by_function ON runs (environment_id, function_no, run_id) WHERE status = 'completed';
CREATE INDEX runs_by_function_and_status ON runs (environment_id, function_no, status, run_id) WHERE status <> 'completed';
CREATE INDEX runs_by_status ON runs (environment_id, status, run_id) WHERE status <> 'completed';
CREATE INDEX failed_attempts_by_run ON failed_attempts (run_no, ended_at, attempt_no);
ALTER TABLE runs_rest SET (fillfactor = 80);

-- What must stay although it is old: events of runs that have not ended, and of starts that are to be decided on.
CREATE INDEX runs_going_on ON runs (event_no) WHERE ended_at IS NULL;
CREATE INDEX queue_by_event ON queue (event_no) WHERE event_no IS NOT NULL;
