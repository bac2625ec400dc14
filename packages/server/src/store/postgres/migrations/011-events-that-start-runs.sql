-- Events that start runs, and of which nothing else follows, take the short way too: what write_plain_events does for events from which
-- nothing follows, and the runs with their first entries.

-- Of events with one dedup id, in this group or on whatever node, the first to write its key wins; others wait for its commit. Says which
-- are not the first, and which events were.
CREATE FUNCTION keep_dedup_keys(p_environment integer[], p_dedup_key text[], p_id text[], p_received bigint[], p_since bigint[],
  OUT repeated integer[], OUT firsts text[]) LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
DECLARE
  contested integer[];
  one record;
  known record;
BEGIN
  repeated := '{}';
  firsts := '{}';
  WITH fresh AS (
    SELECT e.no, e.environment_id, e.key, e.id, e.received_at
    FROM unnest(p_environment, p_dedup_key, p_id, p_received) WITH ORDINALITY AS e(environment_id, key, id, received_at, no)
    WHERE e.key IS NOT NULL
  ), kept AS (
    INSERT INTO dedup_keys (environment_id, dedup_key, event_id, first_seen_at)
    SELECT fresh.environment_id, fresh.key, fresh.id, fresh.received_at FROM fresh ORDER BY fresh.environment_id, fresh.key, fresh.no
    ON CONFLICT DO NOTHING RETURNING dedup_keys.event_id
  )
  SELECT array_agg(fresh.no::integer) INTO contested FROM fresh WHERE fresh.id NOT IN (SELECT kept.event_id FROM kept);
  IF contested IS NULL THEN
    RETURN;
  END IF;
  FOR one IN
    SELECT e.no::integer AS no, e.environment_id, e.key, e.id, e.received_at, e.since
    FROM unnest(p_environment, p_dedup_key, p_id, p_received, p_since) WITH ORDINALITY AS e(environment_id, key, id, received_at, since, no)
    WHERE e.no = ANY (contested) ORDER BY e.environment_id, e.key, e.no
  LOOP
    SELECT d.event_id, d.first_seen_at INTO known FROM dedup_keys AS d
    WHERE d.environment_id = one.environment_id AND d.dedup_key = one.key FOR UPDATE;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'a dedup key expired meanwhile' USING ERRCODE = 'serialization_failure';
    ELSIF known.first_seen_at > one.since THEN
      repeated := repeated || one.no;
      firsts := firsts || known.event_id;
    ELSE
      UPDATE dedup_keys AS d SET event_id = one.id, first_seen_at = one.received_at
      WHERE d.environment_id = one.environment_id AND d.dedup_key = one.key;
    END IF;
  END LOOP;
END $$;

-- The events that were first count those that repeat them. One by one, so that each is looked for in its own partition by the whole key. In
-- order, as everybody takes them.
CREATE FUNCTION count_repeats(p_environment integer[], p_repeated integer[], p_firsts text[]) RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
DECLARE
  one record;
BEGIN
  FOR one IN
    SELECT p_environment[r.no] AS environment_id, r.first, count(*) AS count FROM unnest(p_repeated, p_firsts) AS r(no, first)
    GROUP BY 1, 2 ORDER BY 1, 2
  LOOP
    UPDATE events SET duplicates = duplicates + one.count
    WHERE events.environment_id = one.environment_id AND events.event_id = one.first;
  END LOOP;
END $$;

-- `awaited`: nothing is stored, because somebody waits for the names with these numbers. `repeated`: numbers of events that are not stored,
-- nor anything of theirs, because they repeat the events with the ids `firsts`. `sequences`: of all events.
-- An id that is there already is a unique_violation, whoever chose it: write_units then finds out what that means.
CREATE FUNCTION write_starting_events(
  -- As in write_plain_events.
  p_locks bigint[], p_name_environments integer[], p_names text[],
  p_environment integer[], p_id text[], p_name integer[], p_ts bigint[], p_received bigint[], p_source integer[], p_extras text[],
  p_data text[], p_dedup text[], p_dedup_key text[], p_since bigint[],
  p_lanes integer[],  -- lanes that entries are written to: none of them may be forgotten meanwhile
  -- Runs, one element each: the number of the event that starts it, the run, and its first entry, with the node that takes it up, if any.
  p_of integer[], p_run bigint[], p_run_id text[], p_function integer[], p_lane integer[], p_entry bigint[], p_rank bigint[], p_due bigint[],
  p_taken_by text[],
  OUT awaited integer[], OUT repeated integer[], OUT firsts text[], OUT sequences bigint[]
) LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
DECLARE
  written integer;
BEGIN
  repeated := '{}';
  PERFORM pg_advisory_xact_lock_shared(l.k) FROM unnest(p_locks) AS l(k);
  PERFORM 1 FROM lanes WHERE lane_no = ANY (p_lanes) ORDER BY lane_no FOR KEY SHARE;
  GET DIAGNOSTICS written = ROW_COUNT;
  IF written < cardinality(p_lanes) THEN
    RAISE EXCEPTION 'a lane was forgotten meanwhile' USING ERRCODE = 'serialization_failure', HINT = 'lanes';
  END IF;
  -- The limit keeps this from becoming a join that begins with all waits.
  SELECT array_agg(n.no) INTO awaited
  FROM unnest(p_name_environments, p_names) WITH ORDINALITY AS n(environment_id, name, no),
    LATERAL (SELECT FROM waits WHERE waits.environment_id = n.environment_id AND waits.event_name = n.name LIMIT 1) AS wait;
  IF awaited IS NOT NULL THEN
    RETURN;
  END IF;
  IF p_dedup_key IS NOT NULL THEN
    SELECT k.repeated, k.firsts INTO repeated, firsts FROM keep_dedup_keys(p_environment, p_dedup_key, p_id, p_received, p_since) AS k;
  END IF;

  -- As in write_units: numbers above this one are being given out.
  PERFORM pg_advisory_xact_lock_shared(7264, (s.last_value & 2147483647)::integer) FROM event_sequence AS s;
  SELECT array_agg(nextval('event_sequence')) INTO sequences FROM generate_series(1, cardinality(p_id));
  INSERT INTO events (sequence, environment_id, event_id, name_id, ts, received_at, dedup_id, source_no, extras, data)
  SELECT sequences[n], p_environment[n], p_id[n], p_name[n], p_ts[n], p_received[n], p_dedup[n], p_source[n], p_extras[n], p_data[n]
  FROM generate_series(1, cardinality(p_id)) AS n WHERE n <> ALL (repeated);
  INSERT INTO runs (run_no, environment_id, run_id, function_no, event_no, status, lane_no, created_at)
  SELECT p_run[n], p_environment[p_of[n]], p_run_id[n], p_function[n], sequences[p_of[n]],
         CASE WHEN p_taken_by[n] IS NULL THEN 'queued' ELSE 'running' END, p_lane[n], p_received[p_of[n]]
  FROM generate_series(1, cardinality(p_run)) AS n WHERE p_of[n] <> ALL (repeated);
  INSERT INTO queue (entry_no, environment_id, lane_no, home_lane_no, rank, due_at, kind, run_no, function_no, step_id, attempt, claims,
                     leased_by)
  SELECT p_entry[n], p_environment[p_of[n]], p_lane[n], p_lane[n], p_rank[n], p_due[n], 'call', p_run[n], p_function[n], '', 0,
         CASE WHEN p_taken_by[n] IS NULL THEN 0 ELSE 1 END, p_taken_by[n]
  FROM generate_series(1, cardinality(p_run)) AS n WHERE p_of[n] <> ALL (repeated);
  IF cardinality(repeated) = 0 THEN
    RETURN;
  END IF;
  PERFORM count_repeats(p_environment, repeated, firsts);
END $$;

-- As before, but that elements are taken by their numbers, and keys are kept by the function above: a tenth less for 32 events.
CREATE OR REPLACE FUNCTION write_plain_events(
  p_locks bigint[], p_name_environments integer[], p_names text[],
  p_environment integer[], p_id text[], p_name integer[], p_ts bigint[], p_received bigint[], p_source integer[], p_extras text[],
  p_data text[], p_dedup text[], p_dedup_key text[], p_since bigint[]
) RETURNS json LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
DECLARE
  awaited integer[];
  repeated integer[] := '{}';
  firsts text[];
BEGIN
  PERFORM pg_advisory_xact_lock_shared(l.k) FROM unnest(p_locks) AS l(k);
  -- The limit keeps this from becoming a join that begins with all waits.
  SELECT array_agg(n.no) INTO awaited
  FROM unnest(p_name_environments, p_names) WITH ORDINALITY AS n(environment_id, name, no),
    LATERAL (SELECT FROM waits WHERE waits.environment_id = n.environment_id AND waits.event_name = n.name LIMIT 1) AS wait;
  IF awaited IS NOT NULL THEN
    RETURN json_build_object('awaited', awaited);
  END IF;
  IF p_dedup_key IS NOT NULL THEN
    SELECT k.repeated, k.firsts INTO repeated, firsts FROM keep_dedup_keys(p_environment, p_dedup_key, p_id, p_received, p_since) AS k;
  END IF;

  -- As in write_units: numbers above this one are being given out.
  PERFORM pg_advisory_xact_lock_shared(7264, (s.last_value & 2147483647)::integer) FROM event_sequence AS s;
  INSERT INTO events (sequence, environment_id, event_id, name_id, ts, received_at, dedup_id, source_no, extras, data)
  SELECT nextval('event_sequence'), p_environment[n], p_id[n], p_name[n], p_ts[n], p_received[n], p_dedup[n], p_source[n], p_extras[n], p_data[n]
  FROM generate_series(1, cardinality(p_id)) AS n WHERE n <> ALL (repeated);
  IF cardinality(repeated) = 0 THEN
    RETURN NULL;
  END IF;
  PERFORM count_repeats(p_environment, repeated, firsts);
  RETURN json_build_object('repeated', repeated, 'firsts', firsts);
END $$;
