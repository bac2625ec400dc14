-- What follows from most answers of apps is the same few rows: the run as it is now, the call, steps that are done, and the entry, which
-- goes or is due again. They need none of what write_units does for others, and a group of them is written by this. Nothing is looked at
-- before it is written: what was decided on something else than what is there does not count among the rows that were changed, and then
-- all of it fails, and is left to write_units.
--
-- Elements of arrays are taken by their numbers: unnest would make a table of each array first.
CREATE FUNCTION write_answers(
  p_environment integer,
  p_node text,       -- by which all entries are held
  p_lanes integer[],  -- lanes that entries go to: none of them may be forgotten meanwhile
  -- Runs, one element each, with the revision they were decided on; and between which their numbers are: other partitions are not opened.
  p_low bigint, p_high bigint, p_run bigint[], p_revision integer[], p_status text[], p_started bigint[], p_version integer[],
  p_parallel integer[], p_state bigint[], p_ended bigint[], p_output text[], p_error text[],
  -- The calls that were answered, of these runs.
  p_call_step text[], p_call_attempt integer[], p_call_started bigint[], p_call_ended bigint[], p_call_status integer[],
  p_call_error integer[], p_call_path text[], p_call_given integer[], p_call_answer text[], p_call_length integer[],
  -- Entries that are done, and those that are due again.
  p_done bigint[],
  p_again bigint[], p_again_lane integer[], p_again_rank bigint[], p_again_due bigint[], p_again_attempt integer[], p_again_by text[],
  p_steps json
) RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
-- One look into the index for each row that is changed, and one pass over the arrays.
SET enable_nestloop = off
SET enable_mergejoin = off
AS $$
DECLARE
  written integer;
BEGIN
  IF p_lanes IS NOT NULL THEN
    PERFORM 1 FROM lanes WHERE lane_no = ANY (p_lanes) ORDER BY lane_no FOR KEY SHARE;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written < cardinality(p_lanes) THEN
      RAISE EXCEPTION 'a lane was forgotten meanwhile' USING ERRCODE = 'serialization_failure', HINT = 'lanes';
    END IF;
  END IF;

  UPDATE runs SET revision = runs.revision + 1, status = coalesce(p_status[n], runs.status), started_at = p_started[n],
    request_version = p_version[n], is_parallel = p_parallel[n], state_bytes = p_state[n], ended_at = p_ended[n], output = p_output[n],
    error = p_error[n]
  FROM generate_series(1, cardinality(p_run)) AS n
  WHERE runs.environment_id = p_environment AND runs.run_no = ANY (p_run) AND runs.run_no BETWEEN p_low AND p_high
    AND runs.run_no = p_run[n] AND runs.revision = p_revision[n];
  GET DIAGNOSTICS written = ROW_COUNT;
  IF written < cardinality(p_run) THEN
    RAISE EXCEPTION 'a run was changed meanwhile' USING ERRCODE = 'serialization_failure';
  END IF;

  IF p_done IS NOT NULL THEN
    DELETE FROM queue WHERE queue.environment_id = p_environment AND queue.entry_no = ANY (p_done) AND queue.leased_by = p_node;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written < cardinality(p_done) THEN
      RAISE EXCEPTION 'an entry was taken meanwhile' USING ERRCODE = 'serialization_failure';
    END IF;
  END IF;
  IF p_again IS NOT NULL THEN
    UPDATE queue SET lane_no = p_again_lane[n], rank = p_again_rank[n], due_at = p_again_due[n], attempt = p_again_attempt[n],
      claims = CASE WHEN p_again_by[n] IS NULL THEN 0 ELSE 1 END, trials = 0, leased_by = p_again_by[n], again = 0
    FROM generate_series(1, cardinality(p_again)) AS n
    WHERE queue.environment_id = p_environment AND queue.entry_no = ANY (p_again) AND queue.entry_no = p_again[n] AND queue.leased_by = p_node;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written < cardinality(p_again) THEN
      RAISE EXCEPTION 'an entry was taken meanwhile' USING ERRCODE = 'serialization_failure';
    END IF;
  END IF;

  INSERT INTO calls (environment_id, run_no, step_id, attempt, started_at, ended_at, http_status, is_error, path, steps_given, answer,
                     answer_length)
  SELECT p_environment, p_run[n], p_call_step[n], p_call_attempt[n], p_call_started[n], p_call_ended[n], p_call_status[n], p_call_error[n],
         p_call_path[n], p_call_given[n], p_call_answer[n], p_call_length[n]
  FROM generate_series(1, cardinality(p_run)) AS n;
  IF p_steps IS NOT NULL THEN
    INSERT INTO steps (environment_id, run_no, step_id, kind, name, status, position, done_position, started_at, ended_at, attempts, until,
                       detail, value)
    SELECT s.environment_id, s.run_no, s.step_id, s.kind, s.name, s.status, s.position, s.done_position, s.started_at, s.ended_at,
           s.attempts, s.until, s.detail, s.value
    FROM json_to_recordset(p_steps) AS s(environment_id integer, run_no bigint, step_id text, kind text, name text, status text,
      position integer, done_position integer, started_at bigint, ended_at bigint, attempts integer, until bigint, detail text, value text)
    ON CONFLICT (environment_id, run_no, step_id) DO UPDATE SET kind = excluded.kind, status = excluded.status, done_position = excluded.done_position,
      ended_at = excluded.ended_at, attempts = excluded.attempts, until = excluded.until, detail = excluded.detail, value = excluded.value
    WHERE steps.done_position IS NULL;
  END IF;
END $$;
