-- Runs are changed by their numbers, and by nothing else.
--
-- The bounds of the numbers, which keep PostgreSQL from opening other partitions, were also what it looked for in the index: for each
-- of n runs it read all between the lowest and the highest, so that a group cost the square of its size, and a run that had slept for a
-- month cost all runs of that month. And write_units was planned anew each time, an eighth of what it cost.

-- `p_runs` holds those of other environments as well.
CREATE FUNCTION change_runs(p_environment integer, p_run_nos bigint[], p_runs json) RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
-- One look into the index for each run, and one pass over the rows.
SET enable_hashjoin = on
SET enable_nestloop = off
SET enable_mergejoin = off
AS $$
DECLARE
  low_run CONSTANT bigint := (SELECT min(no) FROM unnest(p_run_nos) AS no);
  high_run CONSTANT bigint := (SELECT max(no) FROM unnest(p_run_nos) AS no);
BEGIN
  UPDATE runs SET revision = runs.revision + 1, status = coalesce(w.status, runs.status), started_at = w.started_at,
    request_version = w.request_version, is_parallel = w.is_parallel, state_bytes = w.state_bytes, ended_at = w.ended_at,
    output = w.output, error = w.error
  FROM json_to_recordset(p_runs) AS w(environment_id integer, run_no bigint, status text, started_at bigint, request_version integer,
    is_parallel smallint, state_bytes bigint, ended_at bigint, output text, error text)
  WHERE runs.environment_id = p_environment AND runs.run_no = ANY (p_run_nos) AND runs.run_no BETWEEN low_run AND high_run
    AND w.environment_id = p_environment AND w.run_no = runs.run_no;
END $$;

CREATE OR REPLACE FUNCTION begin_runs(p_environment integer, p_runs bigint[]) RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
DECLARE
  low_run CONSTANT bigint := (SELECT min(no) FROM unnest(p_runs) AS no);
  high_run CONSTANT bigint := (SELECT max(no) FROM unnest(p_runs) AS no);
  free bigint[];
BEGIN
  SELECT array_agg(locked.run_no) INTO free
  FROM unnest(p_runs) AS asked(no)
  CROSS JOIN LATERAL (
    SELECT r.run_no FROM runs AS r
    WHERE r.environment_id = p_environment AND r.run_no = asked.no AND r.run_no BETWEEN low_run AND high_run
      -- Written so that no index of statuses is taken for it, which holds all that are queued.
      AND r.status || '' = 'queued'
    FOR UPDATE SKIP LOCKED) AS locked;
  IF free IS NOT NULL THEN
    UPDATE runs SET status = 'running'
    WHERE runs.environment_id = p_environment AND runs.run_no = ANY (free) AND runs.run_no BETWEEN low_run AND high_run;
  END IF;
END $$;

-- What claims entries, as functions: planning took longer than claiming a few. Entries that another node is just claiming or finishing
-- are passed over, not waited for. Those that are locked stay where they are, so they are changed by their place. The first of a lane are
-- found by walking along its index, never by sorting all of it.
CREATE FUNCTION claim_entries(p_environment integer, p_lane text, p_rank bigint, p_now bigint, p_limit integer, p_until bigint,
  p_node text)
RETURNS TABLE (entry_no bigint, environment_id integer, lane_no integer, home_lane_no integer, rank bigint, due_at bigint, kind text, run_no bigint,
  function_no integer, step_id text, attempt integer, claims integer, trials integer, subject text, event_no bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH due AS MATERIALIZED (
    SELECT ctid AS place, rank, due_at FROM queue
    WHERE environment_id = p_environment AND lane_no = (SELECT l.lane_no FROM lanes AS l WHERE md5(l.key) = md5(p_lane) AND l.key = p_lane)
      AND lane_no <> 1 AND rank <= p_rank AND due_at <= p_now AND leased_by IS DISTINCT FROM p_node
    ORDER BY rank, entry_no LIMIT p_limit FOR UPDATE SKIP LOCKED
  ), held AS (
    UPDATE queue AS q SET rank = p_until, due_at = p_until, leased_by = p_node, claims = q.claims + 1
    FROM due WHERE q.ctid = due.place
    RETURNING q.entry_no, q.environment_id, q.lane_no, q.home_lane_no, due.rank AS rank, due.due_at AS due_at, q.kind, q.run_no,
      q.function_no, q.step_id, q.attempt, q.claims, q.trials, q.subject, q.event_no
  ), begun AS MATERIALIZED (
    SELECT count(*) FROM (
      SELECT begin_runs(environment_id, array_agg(run_no)) FROM held WHERE kind = 'call' AND lane_no = home_lane_no GROUP BY environment_id
    ) AS each_environment
  )
  SELECT held.* FROM held, begun ORDER BY rank, entry_no;
END $$;

CREATE FUNCTION claim_timers(p_now bigint, p_limit integer, p_until bigint, p_node text)
RETURNS TABLE (entry_no bigint, environment_id integer, lane_no integer, home_lane_no integer, rank bigint, due_at bigint, kind text, run_no bigint,
  function_no integer, step_id text, attempt integer, claims integer, trials integer, subject text, event_no bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH due AS MATERIALIZED (
    SELECT ctid AS place, rank, due_at FROM queue
    WHERE lane_no = 1 AND rank <= p_now AND due_at <= p_now AND leased_by IS DISTINCT FROM p_node
    ORDER BY rank, entry_no LIMIT p_limit FOR UPDATE SKIP LOCKED
  ), held AS (
    UPDATE queue AS q SET rank = p_until, due_at = p_until, leased_by = p_node, claims = q.claims + 1
    FROM due WHERE q.ctid = due.place
    RETURNING q.entry_no, q.environment_id, q.lane_no, q.home_lane_no, due.rank AS rank, due.due_at AS due_at, q.kind, q.run_no,
      q.function_no, q.step_id, q.attempt, q.claims, q.trials, q.subject, q.event_no
  ), begun AS MATERIALIZED (
    SELECT count(*) FROM (
      SELECT begin_runs(environment_id, array_agg(run_no)) FROM held WHERE kind = 'call' AND lane_no = home_lane_no GROUP BY environment_id
    ) AS each_environment
  )
  SELECT held.* FROM held, begun ORDER BY rank, entry_no;
END $$;

-- All that a call, and what follows from it, needs to know of runs that go on, and of the event that started each.
CREATE FUNCTION whole_runs(p_environment integer, p_runs bigint[])
RETURNS TABLE (run_no bigint, revision integer, environment_id integer, run_id text, function_no integer, event_no bigint, event_nos text,
  status text, lane text, created_at bigint, started_at bigint, ended_at bigint, request_version integer, is_parallel smallint,
  state_bytes bigint, cron text, original_run_id text, invoker_run_no bigint, invoker_step_id text,
  has_waits boolean, entries json, steps json, step_values json,
  event_id text, name text, ts bigint, received_at bigint, dedup_id text, source_kind text, source_id text, duplicates integer,
  extras text, data text)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
BEGIN
  RETURN QUERY
  WITH going AS MATERIALIZED (SELECT * FROM runs_at(p_environment, p_runs) AS r WHERE r.ended_at IS NULL)
  SELECT r.*,
    coalesce((SELECT true FROM waits WHERE waits.environment_id = p_environment AND waits.run_no = r.run_no LIMIT 1), false),
    (SELECT json_agg(q) FROM (
      SELECT queue.entry_no, queue.kind, queue.step_id, queue.attempt, queue.claims, queue.leased_by, queue.again FROM queue
      WHERE queue.environment_id = p_environment AND queue.run_no = r.run_no) AS q),
    CASE WHEN begun.yes THEN steps_of(p_environment, r.run_no) END,
    CASE WHEN begun.yes THEN step_values_of(p_environment, r.run_no) END,
    e.event_id, e.name, e.ts, e.received_at, e.dedup_id, e.source_kind, e.source_id, e.duplicates, e.extras, e.data
  FROM going AS r
  -- Most have no steps when they are called, and a look costs less than asking for them.
  LEFT JOIN LATERAL (
    SELECT true AS yes FROM steps WHERE steps.environment_id = p_environment AND steps.run_no = r.run_no LIMIT 1) AS begun ON true
  LEFT JOIN events_at(p_environment, (SELECT array_agg(g.event_no) FROM going AS g)) AS e ON e.sequence = r.event_no;
END $$;

-- As before, but for what is said above.
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
SET plan_cache_mode = force_generic_plan
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
      CROSS JOIN LATERAL (
        SELECT FROM events WHERE events.environment_id = e.environment_id AND events.event_id = e.id
          AND events.event_id BETWEEN low_id AND high_id LIMIT 1) AS there
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
    -- One by one, so that each is looked for in its own partition by the whole key. In order, as everybody takes them.
    FOR one IN
      SELECT p_environment[r.no] AS environment_id, r.first, sum(1 + p_repeats[r.no]) AS count
      FROM unnest(repeated, firsts) AS r(no, first)
      WHERE p_unit[r.no] <> ALL (stale) AND NOT (p_may_exist[r.no] = 2 AND r.first = p_id[r.no])
      GROUP BY 1, 2 ORDER BY 1, 2
    LOOP
      UPDATE events SET duplicates = duplicates + one.count
      WHERE events.environment_id = one.environment_id AND events.event_id = one.first;
    END LOOP;
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
    IF strpos(p_new_runs::text, '"event_nos":"') > 0 THEN
      INSERT INTO batched_events (environment_id, event_no, run_no)
      SELECT r.environment_id, b.event_no::bigint, r.run_no
      FROM json_to_recordset(p_new_runs) AS r(u integer, environment_id integer, run_no bigint, event_no bigint, event_nos text),
        json_array_elements_text(r.event_nos::json) AS b(event_no)
      WHERE r.event_nos IS NOT NULL AND b.event_no::bigint <> r.event_no AND r.u <> ALL (stale);
    END IF;
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
    FOR home IN
      SELECT w.environment_id, array_agg(w.run_no) AS run_nos
      FROM json_to_recordset(p_runs) AS w(u integer, environment_id integer, run_no bigint) WHERE w.u <> ALL (stale) GROUP BY 1
    LOOP
      PERFORM change_runs(home.environment_id, home.run_nos, p_runs);
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
