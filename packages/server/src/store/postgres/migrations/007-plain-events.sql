-- Most events start nothing, and nobody waits for them. They need none of what write_units does for the others, and a group of
-- them is written by this. For 32 events it costs what a bare INSERT of the same rows costs, 1.4 times as much as one that is
-- prepared under a name, which a proxy that pools transactions rules out; write_units costs nearly twice as much as this.
--
-- NULL: all of them are stored. {repeated, firsts}: all but those with these numbers, which repeat the events with these ids.
-- {awaited}: nothing is stored, because somebody waits for the names with these numbers.
-- An id that is there already is a unique_violation, whoever chose it: write_units then finds out what that means.
CREATE FUNCTION write_plain_events(
  -- Shared, in their order: a step that begins to wait for one of the names takes its lock alone, so neither misses the other.
  p_locks bigint[],
  -- The names, each once for an environment.
  p_name_environments integer[], p_names text[],
  -- Events, one element each. The last three are NULL where no event has a dedup id.
  p_environment integer[], p_id text[], p_name integer[], p_ts bigint[], p_received bigint[], p_source integer[], p_extras text[],
  p_data text[], p_dedup text[], p_dedup_key text[], p_since bigint[]
) RETURNS json LANGUAGE plpgsql
-- An index is right however small a table was when the plan was made, and the plan is right for any number of events.
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
DECLARE
  awaited integer[];
  repeated integer[] := '{}';
  firsts text[] := '{}';
  contested integer[];
  one record;
  known record;
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
    -- Of events with one dedup id, in this group or on whatever node, the first to write its key wins; others wait for its commit.
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
  END IF;
  IF contested IS NOT NULL THEN
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
  END IF;

  -- As in write_units: numbers above this one are being given out.
  PERFORM pg_advisory_xact_lock_shared(7264, (s.last_value & 2147483647)::integer) FROM event_sequence AS s;
  INSERT INTO events (sequence, environment_id, event_id, name_id, ts, received_at, dedup_id, source_no, extras, data)
  SELECT nextval('event_sequence'), e.environment_id, e.id, e.name_id, e.ts, e.received_at, e.dedup_id, e.source_no, e.extras, e.data
  FROM unnest(p_environment, p_id, p_name, p_ts, p_received, p_dedup, p_source, p_extras, p_data)
    WITH ORDINALITY AS e(environment_id, id, name_id, ts, received_at, dedup_id, source_no, extras, data, no)
  WHERE e.no <> ALL (repeated);
  IF cardinality(repeated) = 0 THEN
    RETURN NULL;
  END IF;
  -- One by one, so that each is looked for in its own partition by the whole key. In order, as everybody takes them.
  FOR one IN
    SELECT p_environment[r.no] AS environment_id, r.first, count(*) AS count FROM unnest(repeated, firsts) AS r(no, first)
    GROUP BY 1, 2 ORDER BY 1, 2
  LOOP
    UPDATE events SET duplicates = duplicates + one.count
    WHERE events.environment_id = one.environment_id AND events.event_id = one.first;
  END LOOP;
  RETURN json_build_object('repeated', repeated, 'firsts', firsts);
END $$;
