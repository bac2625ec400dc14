-- The environment leads every key, so that a sharded PostgreSQL can distribute all that belongs to an environment by it, and whoever
-- works for one environment works on one shard. How the tables would be distributed is told in docs/scaling.md;
-- environment-leads-keys.test.ts holds every later migration to it.
--
-- Numbers of runs, entries and events stay unique in the whole database. They are looked for together with their environment all the
-- same: a number does not tell the shard.
--
-- This changes what programs before it rely on: they say no environment, and would find no key. So none of them may work with this
-- database from here on, and a node that is still alive keeps this migration from being made.
UPDATE schema_version SET oldest_program = version + 1;

-- Keys are taken away before rows are written anew, and made at the end: so a large table is written once, and each index built once.

-- Runs, and what belongs to them. The partitions stay as they are: divided by the number of the run, which is part of each key.
ALTER TABLE runs DROP CONSTRAINT runs_pkey;
DROP INDEX runs_going_on;
ALTER TABLE runs ADD PRIMARY KEY (environment_id, run_no);
CREATE INDEX runs_going_on ON runs (environment_id, event_no) WHERE ended_at IS NULL;

ALTER TABLE steps DROP CONSTRAINT steps_pkey;
ALTER TABLE calls DROP CONSTRAINT calls_pkey;
ALTER TABLE batched_events DROP CONSTRAINT batched_events_pkey;
DROP INDEX failed_attempts_by_run;
DO $$
DECLARE
  part text;
BEGIN
  FOREACH part IN ARRAY '{steps,calls,failed_attempts,batched_events}'::text[] LOOP
    EXECUTE format('ALTER TABLE %I ADD COLUMN environment_id integer', part);
    EXECUTE format('UPDATE %1$I SET environment_id = runs.environment_id FROM runs WHERE runs.run_no = %1$I.run_no', part);
    -- What belongs to no run cannot be reached by anybody.
    EXECUTE format('DELETE FROM %I WHERE environment_id IS NULL', part);
    EXECUTE format('ALTER TABLE %I ALTER COLUMN environment_id SET NOT NULL', part);
  END LOOP;
END $$;
ALTER TABLE steps ADD PRIMARY KEY (environment_id, run_no, step_id);
ALTER TABLE calls ADD PRIMARY KEY (environment_id, run_no, call_no);
ALTER TABLE batched_events ADD PRIMARY KEY (environment_id, event_no, run_no);
CREATE INDEX failed_attempts_by_run ON failed_attempts (environment_id, run_no, ended_at, attempt_no);

ALTER TABLE run_places DROP CONSTRAINT run_places_pkey;
ALTER TABLE run_places ADD COLUMN environment_id integer;
UPDATE run_places SET environment_id = runs.environment_id FROM runs WHERE runs.run_no = run_places.run_no;
DELETE FROM run_places WHERE environment_id IS NULL;
ALTER TABLE run_places ADD PRIMARY KEY (environment_id, place, run_no);

ALTER TABLE marks DROP CONSTRAINT marks_pkey;
ALTER TABLE marks ADD COLUMN environment_id integer;
UPDATE marks SET environment_id = functions.environment_id FROM functions WHERE functions.function_no = marks.function_no;
DELETE FROM marks WHERE environment_id IS NULL;
ALTER TABLE marks ADD PRIMARY KEY (environment_id, function_no, kind, key);

ALTER TABLE waits DROP CONSTRAINT waits_pkey;
DROP INDEX waits_by_run;
ALTER TABLE waits ADD PRIMARY KEY (environment_id, wait_no);
CREATE INDEX waits_by_run ON waits (environment_id, run_no);

-- The queue. A lane is of one environment, so that who claims from it asks one shard. The timers are everybody's: there is one order
-- of what is due next, and each shard would be asked for its own.
ALTER TABLE queue DROP CONSTRAINT queue_pkey;
DROP INDEX queue_by_lane, queue_by_home_lane, queue_by_run, queue_by_subject, queue_by_event;
ALTER TABLE queue ADD PRIMARY KEY (environment_id, entry_no);
CREATE INDEX queue_by_lane ON queue (environment_id, lane_no, rank, entry_no) WHERE lane_no <> 1;
CREATE INDEX queue_timers ON queue (rank, entry_no) WHERE lane_no = 1;
CREATE INDEX queue_by_home_lane ON queue (environment_id, home_lane_no) WHERE lane_no <> home_lane_no;
CREATE UNIQUE INDEX queue_by_run ON queue (environment_id, run_no, step_id, kind) WHERE run_no IS NOT NULL;
CREATE UNIQUE INDEX queue_by_subject ON queue (environment_id, function_no, kind, md5(subject)) WHERE subject IS NOT NULL;
CREATE INDEX queue_by_event ON queue (environment_id, event_no) WHERE event_no IS NOT NULL;

-- Lanes are words, on every shard, and say in which environment their entries are. Null: the timers, and lanes that nobody needs: who
-- comes to need one says its environment.
ALTER TABLE lanes ADD COLUMN environment_id integer;
UPDATE lanes SET environment_id = used.environment_id
FROM (SELECT home_lane_no AS lane_no, min(environment_id) AS environment_id FROM queue GROUP BY 1
      UNION SELECT lane_no, min(environment_id) FROM queue GROUP BY 1) AS used
WHERE lanes.lane_no = used.lane_no AND lanes.lane_no <> 1;

-- Apps and functions, and webhooks with their versions. The token of a webhook is all that its address says, so it is unique in the
-- whole database, and leads to the environment.
ALTER TABLE functions DROP CONSTRAINT functions_app_no_fkey, DROP CONSTRAINT functions_pkey;
ALTER TABLE apps DROP CONSTRAINT apps_pkey, DROP CONSTRAINT apps_app_id_key;
ALTER TABLE apps ADD PRIMARY KEY (environment_id, app_no), ADD UNIQUE (environment_id, app_id);
ALTER TABLE functions ADD PRIMARY KEY (environment_id, function_no);
ALTER TABLE functions ADD FOREIGN KEY (environment_id, app_no) REFERENCES apps (environment_id, app_no);
ALTER TABLE webhook_tokens DROP CONSTRAINT webhook_tokens_webhook_id_fkey;
ALTER TABLE webhook_versions DROP CONSTRAINT webhook_versions_webhook_id_fkey, DROP CONSTRAINT webhook_versions_pkey;
ALTER TABLE webhooks DROP CONSTRAINT webhooks_pkey;
ALTER TABLE webhooks ADD PRIMARY KEY (environment_id, webhook_id);
ALTER TABLE webhook_tokens ADD COLUMN environment_id integer;
UPDATE webhook_tokens AS t SET environment_id = w.environment_id FROM webhooks AS w WHERE w.webhook_id = t.webhook_id;
ALTER TABLE webhook_tokens ALTER COLUMN environment_id SET NOT NULL;
ALTER TABLE webhook_tokens ADD FOREIGN KEY (environment_id, webhook_id) REFERENCES webhooks (environment_id, webhook_id);
ALTER TABLE webhook_versions ADD COLUMN environment_id integer;
UPDATE webhook_versions AS v SET environment_id = w.environment_id FROM webhooks AS w WHERE w.webhook_id = v.webhook_id;
ALTER TABLE webhook_versions ADD PRIMARY KEY (environment_id, webhook_id, version);
ALTER TABLE webhook_versions ADD FOREIGN KEY (environment_id, webhook_id) REFERENCES webhooks (environment_id, webhook_id);

-- These need not begin with the environment: none of them is a key, and each is walked across all environments of a shard. Who looks
-- for one event or request by its number names its environment too, and so asks one shard.
COMMENT ON INDEX events_by_sequence IS 'in the order they were stored: event types are counted, and old events removed';
COMMENT ON INDEX webhook_requests_by_sequence IS 'in the order they were stored: old requests are removed';
COMMENT ON INDEX dedup_keys_by_age IS 'the oldest of all environments expire first';
COMMENT ON INDEX marks_by_age IS 'the oldest of all environments expire first';
COMMENT ON INDEX event_type_hours_by_age IS 'the oldest of all environments expire first';
COMMENT ON INDEX queue_timers IS 'what is due next, in all environments: each shard is asked';

-- Functions of the same name, and of the same purpose as before. See 004-reads-and-writes-in-partitions.sql.
CREATE OR REPLACE FUNCTION write_units(
  -- [{k, x}] in order: advisory locks, exclusive or shared. Events share the lock of their name, a step that begins to wait for
  -- that name takes it alone: so neither misses the other.
  p_locks json,
  p_lanes integer[],     -- lanes that entries are written to: none of them may be forgotten meanwhile
  p_runs_read json,      -- [{u, environment_id, run_no, revision}]: unchanged, and not ended
  p_held json,           -- [{u, environment_id, entry_no, node}]: held by this node
  p_marks_read json,     -- [{u, environment_id, function_no, kind, key, value}]
  p_waits_read json,     -- [{u, environment_id, event_name, seen}]: nothing else waits for this name
  p_events_read json,    -- [{u, environment_id, name_id, since, after, seen}]: no other event of this name came since
  -- Events, one element each; an event's place in these arrays is its number below.
  p_unit integer[], p_environment integer[], p_id text[], p_name integer[], p_ts bigint[], p_received bigint[], p_dedup text[],
  p_dedup_key text[], p_since bigint[], p_source integer[], p_extras text[], p_data text[], p_repeats integer[],
  p_may_exist integer[],  -- 1: the sender chose the id; 2: written again, because the answer to the first time was lost; else 0
  p_must_be_new integer[],  -- numbers of events on whose being no duplicates the rest of their unit relies
  p_new_runs json, p_new_entries json, p_new_waits json, p_requests json,
  p_runs json, p_steps json, p_attempts json, p_calls json, p_entries json, p_entries_gone json, p_waits_gone json, p_marks json
) RETURNS TABLE (stale integer[], repeated integer[], firsts text[], sequences bigint[]) LANGUAGE plpgsql
-- Everything here is found by its key. While PostgreSQL knows little of young tables it would rather read them whole, and keep to
-- that plan as they grow.
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
DECLARE
  contested integer[];
  wanted integer;
  written integer;
  one record;
  known record;
  home record;
  -- Between which all ids and all numbers of runs are: other partitions are not even opened.
  low_id text;
  high_id text;
  low_run bigint;
  high_run bigint;
BEGIN
  stale := '{}';
  repeated := '{}';
  firsts := '{}';
  sequences := '{}';
  IF p_locks IS NOT NULL THEN
    PERFORM CASE WHEN l.x THEN pg_advisory_xact_lock(l.k) ELSE pg_advisory_xact_lock_shared(l.k) END
    FROM json_to_recordset(p_locks) AS l(k bigint, x boolean);
  END IF;

  IF p_lanes IS NOT NULL THEN
    PERFORM 1 FROM lanes WHERE lane_no = ANY (p_lanes) ORDER BY lane_no FOR KEY SHARE;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written < cardinality(p_lanes) THEN
      RAISE EXCEPTION 'a lane was forgotten meanwhile' USING ERRCODE = 'serialization_failure', HINT = 'lanes';
    END IF;
  END IF;

  -- What was read, is it still so?
  IF p_runs_read IS NOT NULL THEN
    SELECT min(r.run_no), max(r.run_no) INTO low_run, high_run FROM json_to_recordset(p_runs_read) AS r(run_no bigint);
    -- Each is locked as it is looked at, in the order of their numbers, and seen as it is then.
    SELECT stale || coalesce(array_agg(DISTINCT r.u), '{}') INTO stale
    FROM (SELECT * FROM json_to_recordset(p_runs_read) AS r(u integer, environment_id integer, run_no bigint, revision integer)
          ORDER BY r.run_no) AS r
    LEFT JOIN LATERAL (
      SELECT runs.revision, runs.ended_at FROM runs
      WHERE runs.environment_id = r.environment_id AND runs.run_no = r.run_no AND runs.run_no BETWEEN low_run AND high_run
      FOR UPDATE) AS now ON true
    WHERE now.revision IS DISTINCT FROM r.revision OR now.ended_at IS NOT NULL;
  END IF;
  IF p_held IS NOT NULL THEN
    SELECT stale || coalesce(array_agg(DISTINCT h.u), '{}') INTO stale
    FROM (SELECT * FROM json_to_recordset(p_held) AS h(u integer, environment_id integer, entry_no bigint, node text)
          ORDER BY h.entry_no) AS h
    LEFT JOIN LATERAL (
      SELECT queue.leased_by FROM queue WHERE queue.environment_id = h.environment_id AND queue.entry_no = h.entry_no FOR UPDATE) AS now ON true
    WHERE now.leased_by IS DISTINCT FROM h.node;
  END IF;
  IF p_marks_read IS NOT NULL THEN
    SELECT stale || coalesce(array_agg(DISTINCT m.u), '{}') INTO stale
    FROM json_to_recordset(p_marks_read) AS m(u integer, environment_id integer, function_no integer, kind text, key text, value text)
    LEFT JOIN marks USING (environment_id, function_no, kind, key)
    WHERE marks.value IS DISTINCT FROM m.value;
  END IF;
  IF p_waits_read IS NOT NULL THEN
    SELECT stale || coalesce(array_agg(DISTINCT w.u), '{}') INTO stale
    FROM json_to_recordset(p_waits_read) AS w(u integer, environment_id integer, event_name text, seen bigint[]),
      -- The limit keeps this from becoming a join, for which all waits would be read.
      LATERAL (SELECT FROM waits WHERE waits.environment_id = w.environment_id AND waits.event_name = w.event_name
               AND waits.wait_no <> ALL (w.seen) LIMIT 1) AS other;
  END IF;
  IF p_events_read IS NOT NULL THEN
    SELECT stale || coalesce(array_agg(DISTINCT e.u), '{}') INTO stale
    FROM json_to_recordset(p_events_read) AS e(u integer, environment_id integer, name_id integer, since bigint, after bigint, seen bigint[])
    WHERE EXISTS (SELECT FROM events WHERE events.environment_id = e.environment_id AND events.name_id = e.name_id
                  AND events.received_at >= e.since AND events.sequence > e.after AND events.sequence <> ALL (e.seen));
  END IF;

  IF p_id IS NOT NULL THEN
    -- An id that senders chose, or that we write again because the answer to the first time was lost: is it there?
    IF 0 < ANY (p_may_exist) THEN
      SELECT min(e.id), max(e.id) INTO low_id, high_id FROM unnest(p_id) AS e(id);
      SELECT repeated || coalesce(array_agg(e.no::integer), '{}'), firsts || coalesce(array_agg(e.id), '{}') INTO repeated, firsts
      FROM unnest(p_environment, p_id, p_may_exist) WITH ORDINALITY AS e(environment_id, id, may_exist, no)
      JOIN events ON events.environment_id = e.environment_id AND events.event_id = e.id
        AND events.event_id BETWEEN low_id AND high_id
      WHERE e.may_exist > 0;
    END IF;

    IF p_dedup_key IS NOT NULL THEN
      -- Of events with one dedup id, on whatever node, the first to write its key wins; the others wait here for its commit.
      WITH fresh AS (
        SELECT e.no, e.environment_id, e.key, e.id, e.received_at
        FROM unnest(p_unit, p_environment, p_dedup_key, p_id, p_received) WITH ORDINALITY AS e(u, environment_id, key, id, received_at, no)
        WHERE e.key IS NOT NULL AND e.u <> ALL (stale) AND e.no <> ALL (repeated)
      ), kept AS (
        INSERT INTO dedup_keys (environment_id, dedup_key, event_id, first_seen_at)
        SELECT fresh.environment_id, fresh.key, fresh.id, fresh.received_at FROM fresh ORDER BY fresh.environment_id, fresh.key
        ON CONFLICT DO NOTHING RETURNING dedup_keys.event_id
      )
      SELECT array_agg(fresh.no::integer) INTO contested FROM fresh WHERE fresh.id NOT IN (SELECT kept.event_id FROM kept);
    END IF;
    IF contested IS NOT NULL THEN
      FOR one IN
        SELECT e.no::integer AS no, e.environment_id, e.key, e.id, e.received_at, e.since
        FROM unnest(p_environment, p_dedup_key, p_id, p_received, p_since) WITH ORDINALITY AS e(environment_id, key, id, received_at, since, no)
        WHERE e.no = ANY (contested) ORDER BY e.environment_id, e.key
      LOOP
        SELECT d.event_id, d.first_seen_at INTO known FROM dedup_keys d
        WHERE d.environment_id = one.environment_id AND d.dedup_key = one.key FOR UPDATE;
        IF NOT FOUND THEN
          RAISE EXCEPTION 'a dedup key expired meanwhile' USING ERRCODE = 'serialization_failure';
        ELSIF known.first_seen_at > one.since THEN
          repeated := repeated || one.no;
          firsts := firsts || known.event_id;
        ELSE
          UPDATE dedup_keys d SET event_id = one.id, first_seen_at = one.received_at
          WHERE d.environment_id = one.environment_id AND d.dedup_key = one.key;
        END IF;
      END LOOP;
    END IF;

    -- Whoever follows events must not pass a number that is still to be committed. The lock says "numbers above this one are
    -- being given out", and is gone when they are committed: see follow-events.ts.
    PERFORM pg_advisory_xact_lock_shared(7264, (s.last_value & 2147483647)::integer) FROM event_sequence AS s;
    SELECT array_agg(nextval('event_sequence')) INTO sequences FROM generate_series(1, cardinality(p_id));
    INSERT INTO events (sequence, environment_id, event_id, name_id, ts, received_at, dedup_id, source_no, duplicates, extras, data)
    SELECT sequences[e.no], e.environment_id, e.id, e.name_id, e.ts, e.received_at, e.dedup_id, e.source_no, e.repeats, e.extras, e.data
    FROM unnest(p_unit, p_environment, p_id, p_name, p_ts, p_received, p_dedup, p_source, p_extras, p_data, p_repeats)
      WITH ORDINALITY AS e(u, environment_id, id, name_id, ts, received_at, dedup_id, source_no, extras, data, repeats, no)
    WHERE e.u <> ALL (stale) AND e.no <> ALL (repeated)
    ORDER BY e.no
    ON CONFLICT (environment_id, event_id) DO NOTHING;
    GET DIAGNOSTICS written = ROW_COUNT;
    SELECT count(*) INTO wanted FROM unnest(p_unit) WITH ORDINALITY AS e(u, no) WHERE e.u <> ALL (stale) AND e.no <> ALL (repeated);
    IF written < wanted THEN
      FOR one IN
        SELECT e.no::integer AS no, e.id, e.may_exist
        FROM unnest(p_unit, p_environment, p_id, p_may_exist) WITH ORDINALITY AS e(u, environment_id, id, may_exist, no)
        WHERE e.u <> ALL (stale) AND e.no <> ALL (repeated)
          AND NOT EXISTS (SELECT FROM events WHERE events.environment_id = e.environment_id AND events.event_id = e.id
                          AND events.sequence = sequences[e.no])
      LOOP
        IF one.may_exist = 0 THEN
          RAISE EXCEPTION 'the event id % exists already', one.id USING ERRCODE = 'unique_violation';
        END IF;
        repeated := repeated || one.no;
        firsts := firsts || one.id;
      END LOOP;
    END IF;
    IF repeated && p_must_be_new THEN
      RAISE EXCEPTION 'an event was stored meanwhile' USING ERRCODE = 'serialization_failure';
    END IF;
    IF cardinality(repeated) > 0 THEN
      SELECT min(f.id), max(f.id) INTO low_id, high_id FROM unnest(firsts) AS f(id);
      UPDATE events SET duplicates = duplicates + d.count
      FROM (SELECT p_environment[r.no] AS environment_id, r.first, sum(1 + p_repeats[r.no]) AS count
            FROM unnest(repeated, firsts) AS r(no, first)
            WHERE p_unit[r.no] <> ALL (stale) AND NOT (p_may_exist[r.no] = 2 AND r.first = p_id[r.no])
            GROUP BY 1, 2 ORDER BY 1, 2) AS d
      WHERE events.environment_id = d.environment_id AND events.event_id = d.first
        AND events.event_id BETWEEN low_id AND high_id;
    END IF;
  END IF;

  -- What belongs to an event (`e` is its number) is written only if the event was.
  IF p_new_runs IS NOT NULL THEN
    INSERT INTO runs (run_no, environment_id, run_id, function_no, event_no, event_nos, status, lane_no, created_at, cron,
                      original_run_id, invoker_run_no, invoker_step_id)
    SELECT r.run_no, r.environment_id, r.run_id, r.function_no, coalesce(r.event_no, sequences[r.e]), r.event_nos, r.status, r.lane_no,
           r.created_at, r.cron, r.original_run_id, r.invoker_run_no, r.invoker_step_id
    FROM json_to_recordset(p_new_runs) AS r(u integer, e integer, run_no bigint, environment_id integer, run_id text, function_no integer,
      event_no bigint, event_nos text, status text, lane_no integer, created_at bigint, cron text, original_run_id text,
      invoker_run_no bigint, invoker_step_id text)
    WHERE r.u <> ALL (stale) AND (r.e IS NULL OR r.e <> ALL (repeated));
    INSERT INTO batched_events (environment_id, event_no, run_no)
    SELECT r.environment_id, b.event_no::bigint, r.run_no
    FROM json_to_recordset(p_new_runs) AS r(u integer, environment_id integer, run_no bigint, event_no bigint, event_nos text),
      json_array_elements_text(r.event_nos::json) AS b(event_no)
    WHERE r.event_nos IS NOT NULL AND b.event_no::bigint <> r.event_no AND r.u <> ALL (stale);
  END IF;
  -- Entries are named, so that PostgreSQL looks for these even if it thinks that the queue is empty, which it often was when it looked:
  -- it would rather read all of it.
  IF p_entries_gone IS NOT NULL THEN
    FOR home IN
      SELECT g.environment_id, array_agg(g.entry_no) AS entry_nos
      FROM json_to_recordset(p_entries_gone) AS g(u integer, environment_id integer, entry_no bigint) WHERE g.u <> ALL (stale) GROUP BY 1
    LOOP
      DELETE FROM queue WHERE queue.environment_id = home.environment_id AND queue.entry_no = ANY (home.entry_nos);
    END LOOP;
  END IF;
  IF p_entries IS NOT NULL THEN
    FOR home IN
      SELECT w.environment_id, array_agg(w.entry_no) AS entry_nos
      FROM json_to_recordset(p_entries) AS w(u integer, environment_id integer, entry_no bigint) WHERE w.u <> ALL (stale) GROUP BY 1
    LOOP
      UPDATE queue SET lane_no = w.lane_no, rank = w.rank, due_at = w.due_at, attempt = w.attempt, claims = w.claims,
        trials = 0, leased_by = w.leased_by, again = 0
      FROM json_to_recordset(p_entries) AS w(environment_id integer, entry_no bigint, lane_no integer, rank bigint,
        due_at bigint, attempt integer, claims integer, leased_by text, change text)
      WHERE queue.environment_id = home.environment_id AND queue.entry_no = ANY (home.entry_nos)
        AND queue.entry_no = w.entry_no AND w.environment_id = home.environment_id AND w.change = 'anew';
      -- An entry that another node may be about to claim is changed in one column only.
      UPDATE queue SET again = CASE w.change WHEN 'again' THEN 1 ELSE again END,
        attempt = CASE w.change WHEN 'attempt' THEN w.attempt ELSE queue.attempt END
      FROM json_to_recordset(p_entries) AS w(environment_id integer, entry_no bigint, attempt integer, change text)
      WHERE queue.environment_id = home.environment_id AND queue.entry_no = ANY (home.entry_nos)
        AND queue.entry_no = w.entry_no AND w.environment_id = home.environment_id AND w.change <> 'anew';
    END LOOP;
  END IF;
  IF p_new_entries IS NOT NULL THEN
    INSERT INTO queue (entry_no, environment_id, lane_no, home_lane_no, rank, due_at, kind, run_no, function_no, step_id, attempt,
                       claims, leased_by, subject, event_no)
    SELECT w.entry_no, w.environment_id, w.lane_no, w.home_lane_no, w.rank, w.due_at, w.kind, w.run_no, w.function_no, w.step_id,
           w.attempt, w.claims, w.leased_by, w.subject, coalesce(w.event_no, CASE WHEN w.of_event THEN sequences[w.e] END)
    FROM json_to_recordset(p_new_entries) AS w(u integer, e integer, entry_no bigint, environment_id integer, lane_no integer,
      home_lane_no integer, rank bigint, due_at bigint, kind text, run_no bigint, function_no integer, step_id text, attempt integer,
      claims integer, leased_by text, subject text, of_event boolean, event_no bigint)
    WHERE w.u <> ALL (stale) AND (w.e IS NULL OR w.e <> ALL (repeated))
    ON CONFLICT (environment_id, function_no, kind, md5(subject)) WHERE subject IS NOT NULL DO UPDATE SET
      rank = excluded.rank, due_at = excluded.due_at, claims = 0, trials = 0, leased_by = NULL, event_no = excluded.event_no;
  END IF;
  IF p_waits_gone IS NOT NULL THEN
    DELETE FROM waits USING json_to_recordset(p_waits_gone) AS g(u integer, environment_id integer, run_no bigint, step_id text)
    WHERE waits.environment_id = g.environment_id AND waits.run_no = g.run_no AND (g.step_id IS NULL OR waits.step_id = g.step_id) AND g.u <> ALL (stale);
  END IF;
  IF p_new_waits IS NOT NULL THEN
    INSERT INTO waits (environment_id, event_name, match_path, match_key, kind, run_no, step_id, expression, expires_at)
    SELECT w.environment_id, w.event_name, w.match_path, w.match_key, w.kind, w.run_no, w.step_id, w.expression, w.expires_at
    FROM json_to_recordset(p_new_waits) AS w(u integer, e integer, environment_id integer, event_name text, match_path text,
      match_key text, kind text, run_no bigint, step_id text, expression text, expires_at bigint)
    WHERE w.u <> ALL (stale) AND (w.e IS NULL OR w.e <> ALL (repeated));
  END IF;
  IF p_requests IS NOT NULL THEN
    PERFORM pg_advisory_xact_lock_shared(7265, (s.last_value & 2147483647)::integer) FROM request_sequence AS s;
    INSERT INTO webhook_requests (environment_id, webhook_id, request_id, received_at, ip, method, headers, query, content_type, body,
      body_base64, status, outcome, error, event_id, delivered_to, transform_version, duration_ms, logs)
    SELECT r.environment_id, r.webhook_id, r.request_id, r.received_at, r.ip, r.method, r.headers, r.query, r.content_type, r.body,
      r.body_base64, r.status, r.outcome, r.error, coalesce(firsts[array_position(repeated, r.e)], p_id[r.e]), r.delivered_to,
      r.transform_version, r.duration_ms, r.logs
    FROM json_to_recordset(p_requests) AS r(u integer, e integer, environment_id integer, webhook_id text, request_id text,
      received_at bigint, ip text, method text, headers text, query text, content_type text, body text, body_base64 text,
      status integer, outcome text, error text, delivered_to integer, transform_version integer, duration_ms double precision, logs text)
    WHERE r.u <> ALL (stale)
    -- Written again because the first answer was lost.
    ON CONFLICT (environment_id, webhook_id, request_id) DO NOTHING;
  END IF;

  IF p_runs IS NOT NULL THEN
    -- Environment by environment: else PostgreSQL would not begin with the key of the runs, but read all of it.
    FOR home IN
      SELECT w.environment_id, min(w.run_no) AS low_run, max(w.run_no) AS high_run
      FROM json_to_recordset(p_runs) AS w(environment_id integer, run_no bigint) GROUP BY 1
    LOOP
      UPDATE runs SET revision = runs.revision + 1, status = coalesce(w.status, runs.status), started_at = w.started_at,
        request_version = w.request_version, is_parallel = w.is_parallel, state_bytes = w.state_bytes, ended_at = w.ended_at,
        output = w.output, error = w.error
      FROM json_to_recordset(p_runs) AS w(u integer, environment_id integer, run_no bigint, status text, started_at bigint,
        request_version integer, is_parallel smallint, state_bytes bigint, ended_at bigint, output text, error text)
      WHERE runs.environment_id = home.environment_id AND w.environment_id = home.environment_id AND runs.run_no = w.run_no
        AND runs.run_no BETWEEN home.low_run AND home.high_run AND w.u <> ALL (stale);
    END LOOP;
  END IF;
  IF p_steps IS NOT NULL THEN
    INSERT INTO steps (environment_id, run_no, step_id, kind, name, status, position, done_position, started_at, ended_at, attempts, until,
                       detail, value)
    SELECT s.environment_id, s.run_no, s.step_id, s.kind, s.name, s.status, s.position, s.done_position, s.started_at, s.ended_at,
           s.attempts, s.until, s.detail, s.value
    FROM json_to_recordset(p_steps) AS s(u integer, environment_id integer, run_no bigint, step_id text, kind text, name text, status text,
      position integer, done_position integer, started_at bigint, ended_at bigint, attempts integer, until bigint, detail text, value text)
    WHERE s.u <> ALL (stale)
    ON CONFLICT (environment_id, run_no, step_id) DO UPDATE SET kind = excluded.kind, status = excluded.status, done_position = excluded.done_position,
      ended_at = excluded.ended_at, attempts = excluded.attempts, until = excluded.until, detail = excluded.detail, value = excluded.value
    WHERE steps.done_position IS NULL;
  END IF;
  IF p_attempts IS NOT NULL THEN
    INSERT INTO failed_attempts (environment_id, run_no, step_id, attempt, started_at, ended_at, http_status, error)
    SELECT a.environment_id, a.run_no, a.step_id, a.attempt, a.started_at, a.ended_at, a.http_status, a.error
    FROM json_to_recordset(p_attempts) AS a(u integer, environment_id integer, run_no bigint, step_id text, attempt integer,
      started_at bigint, ended_at bigint, http_status integer, error text)
    WHERE a.u <> ALL (stale);
  END IF;
  IF p_calls IS NOT NULL THEN
    INSERT INTO calls (environment_id, run_no, step_id, attempt, started_at, ended_at, http_status, is_error, path, steps_given, answer,
                       answer_length)
    SELECT c.environment_id, c.run_no, c.step_id, c.attempt, c.started_at, c.ended_at, c.http_status, c.is_error, c.path, c.steps_given,
           c.answer, c.answer_length
    FROM json_to_recordset(p_calls) AS c(u integer, environment_id integer, run_no bigint, step_id text, attempt integer, started_at bigint,
      ended_at bigint, http_status integer, is_error smallint, path text, steps_given integer, answer text, answer_length integer)
    WHERE c.u <> ALL (stale);
  END IF;
  IF p_marks IS NOT NULL THEN
    DELETE FROM marks USING json_to_recordset(p_marks) AS m(u integer, environment_id integer, function_no integer, kind text, key text, value text)
    WHERE marks.environment_id = m.environment_id AND marks.function_no = m.function_no AND marks.kind = m.kind AND marks.key = m.key
      AND m.value IS NULL AND m.u <> ALL (stale);
    INSERT INTO marks (environment_id, function_no, kind, key, value, expires_at)
    SELECT m.environment_id, m.function_no, m.kind, m.key, m.value, m.expires_at
    FROM json_to_recordset(p_marks) AS m(u integer, environment_id integer, function_no integer, kind text, key text, value text,
      expires_at bigint)
    WHERE m.value IS NOT NULL AND m.u <> ALL (stale)
    ON CONFLICT (environment_id, function_no, kind, key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at;
  END IF;
  RETURN NEXT;
END $$;

-- By their numbers first, then by their environment: both at once, PostgreSQL might take an index that begins with the environment and
-- holds the number further on, and read all of the environment. The limit that is none keeps the two apart.
DROP FUNCTION events_at(bigint[]);
CREATE FUNCTION events_at(p_environment integer, p_sequences bigint[])
RETURNS TABLE (sequence bigint, environment_id integer, event_id text, name text, ts bigint, received_at bigint, dedup_id text,
  source_kind text, source_id text, duplicates integer, extras text, data text)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET max_parallel_workers_per_gather = 0
AS $$
BEGIN
  RETURN QUERY
  SELECT e.sequence, e.environment_id, e.event_id, n.name, e.ts, e.received_at, e.dedup_id, s.source_kind, s.source_id, e.duplicates,
    e.extras, e.data
  FROM (SELECT * FROM events WHERE events.sequence = ANY (p_sequences) OFFSET 0) AS e
  JOIN event_names AS n USING (name_id) JOIN event_sources AS s USING (source_no)
  WHERE e.environment_id = p_environment;
END $$;

DROP FUNCTION events_named(bigint[]);
CREATE FUNCTION events_named(p_environment integer, p_sequences bigint[])
RETURNS TABLE (sequence bigint, event_id text, name text) LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET max_parallel_workers_per_gather = 0
AS $$
BEGIN
  RETURN QUERY
  SELECT e.sequence, e.event_id, n.name
  FROM (SELECT * FROM events WHERE events.sequence = ANY (p_sequences) OFFSET 0) AS e JOIN event_names AS n USING (name_id)
  WHERE e.environment_id = p_environment;
END $$;

DROP FUNCTION runs_at(bigint[]);
CREATE FUNCTION runs_at(p_environment integer, p_runs bigint[])
RETURNS TABLE (run_no bigint, revision integer, environment_id integer, run_id text, function_no integer, event_no bigint, event_nos text,
  status text, lane text, created_at bigint, started_at bigint, ended_at bigint, request_version integer, is_parallel smallint,
  state_bytes bigint, cron text, original_run_id text, invoker_run_no bigint, invoker_step_id text)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
DECLARE
  low_run CONSTANT bigint := (SELECT min(no) FROM unnest(p_runs) AS no);
  high_run CONSTANT bigint := (SELECT max(no) FROM unnest(p_runs) AS no);
BEGIN
  RETURN QUERY
  SELECT r.run_no, r.revision, r.environment_id, r.run_id, r.function_no, r.event_no, r.event_nos, r.status, coalesce(l.key, ''),
    r.created_at, r.started_at, r.ended_at, r.request_version, r.is_parallel, r.state_bytes, r.cron, r.original_run_id, r.invoker_run_no,
    r.invoker_step_id
  -- One by one: for several at once PostgreSQL, while it knows nothing of a table, would rather read all of the environment.
  FROM unnest(p_runs) AS asked(no)
  CROSS JOIN LATERAL (
    SELECT * FROM runs WHERE runs.environment_id = p_environment AND runs.run_no = asked.no AND runs.run_no BETWEEN low_run AND high_run
    LIMIT 1) AS r
  LEFT JOIN lanes AS l USING (lane_no);
END $$;

DROP FUNCTION steps_of(bigint);
CREATE FUNCTION steps_of(p_environment integer, p_run bigint) RETURNS json LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  RETURN (SELECT json_agg(s) FROM (
    SELECT step_id, kind, name, status, position, started_at, ended_at, attempts, until, detail
    FROM steps WHERE steps.environment_id = p_environment AND steps.run_no = p_run ORDER BY position) AS s);
END $$;

DROP FUNCTION step_values_of(bigint);
CREATE FUNCTION step_values_of(p_environment integer, p_run bigint) RETURNS json LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  RETURN (SELECT json_agg(s) FROM (
    SELECT step_id AS id, value FROM steps
    WHERE steps.environment_id = p_environment AND steps.run_no = p_run AND done_position IS NOT NULL ORDER BY done_position) AS s);
END $$;

DROP FUNCTION begin_runs(bigint[]);
CREATE FUNCTION begin_runs(p_environment integer, p_runs bigint[]) RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
DECLARE
  low_run CONSTANT bigint := (SELECT min(no) FROM unnest(p_runs) AS no);
  high_run CONSTANT bigint := (SELECT max(no) FROM unnest(p_runs) AS no);
BEGIN
  UPDATE runs SET status = 'running' FROM (
    SELECT locked.run_no FROM unnest(p_runs) AS asked(no)
    CROSS JOIN LATERAL (
      SELECT r.run_no FROM runs AS r
      WHERE r.environment_id = p_environment AND r.run_no = asked.no AND r.run_no BETWEEN low_run AND high_run
        -- Written so that no index of statuses is taken for it, which holds all that are queued.
        AND r.status || '' = 'queued'
      FOR UPDATE SKIP LOCKED) AS locked) AS free
  WHERE runs.environment_id = p_environment AND runs.run_no = free.run_no AND runs.run_no BETWEEN low_run AND high_run;
END $$;
