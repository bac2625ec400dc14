-- Stores the events of a group, in their order. Returns their sequence numbers, as many numbers of runs as asked for, the time, and those
-- of the names for which something waits. The caller holds the locks of the names, so no wait for them begins before its commit.
-- A function, because PostgreSQL plans its statements once per connection, and the caller needs one round trip.
CREATE OR REPLACE FUNCTION append_events(p_environment_id integer, p_fence integer, p_events json, p_names text[], p_runs integer)
RETURNS TABLE (sequences bigint[], runs bigint[], now bigint, awaited text[]) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  PERFORM hold_sequence(p_fence, 'event_sequence');
  -- The numbers are taken in the order of the rows.
  WITH stored AS (
    INSERT INTO events (
      sequence, environment_id, event_id, name_id, ts, received_at, dedup_id, source_no, matched, trace, source_run_id,
      extras, schema_errors, data)
    SELECT
      nextval('event_sequence'), p_environment_id, e.event_id, e.name_id, e.ts, e.received_at, e.dedup_id, e.source_no, e.matched, e.trace,
      e.source_run_id, e.extras, e.schema_errors, e.data
    FROM json_to_recordset(p_events) AS e(
      event_id text, name_id integer, ts bigint, received_at bigint, dedup_id text, source_no integer, matched smallint, trace text,
      source_run_id text, extras text, schema_errors text, data text)
    RETURNING sequence)
  SELECT array_agg(sequence ORDER BY sequence) INTO sequences FROM stored;
  runs := ARRAY(SELECT nextval('run_numbers') FROM generate_series(1, p_runs));
  now := (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
  -- The ORDER BY forces a lookup in the index, whatever the statistics were when the plan was made.
  awaited := ARRAY(
    SELECT name FROM unnest(p_names) AS name CROSS JOIN LATERAL (
      SELECT FROM waits WHERE environment_id = p_environment_id AND event_name = name
      ORDER BY environment_id, event_name, match_path, match_key LIMIT 1) AS wait);
  RETURN NEXT;
END $$;
