-- What follows from most answers of apps is the same few rows: the run as it is now, the call, steps that are done, and the entry, which
-- goes or is due again. They need none of what write_units does for others, and a group of them is written by this. Nothing is looked at
-- before it is written: what was decided on something else than what is there does not count among the rows that were changed, and then
-- all of it fails, and is left to write_units.
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

  UPDATE runs SET revision = runs.revision + 1, status = coalesce(w.status, runs.status), started_at = w.started_at,
    request_version = w.request_version, is_parallel = w.is_parallel, state_bytes = w.state_bytes, ended_at = w.ended_at,
    output = w.output, error = w.error
  FROM unnest(p_run, p_revision, p_status, p_started, p_version, p_parallel, p_state, p_ended, p_output, p_error)
    AS w(run_no, revision, status, started_at, request_version, is_parallel, state_bytes, ended_at, output, error)
  WHERE runs.environment_id = p_environment AND runs.run_no = ANY (p_run) AND runs.run_no BETWEEN p_low AND p_high
    AND w.run_no = runs.run_no AND w.revision = runs.revision;
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
    UPDATE queue SET lane_no = w.lane_no, rank = w.rank, due_at = w.due_at, attempt = w.attempt,
      claims = CASE WHEN w.leased_by IS NULL THEN 0 ELSE 1 END, trials = 0, leased_by = w.leased_by, again = 0
    FROM unnest(p_again, p_again_lane, p_again_rank, p_again_due, p_again_attempt, p_again_by)
      AS w(entry_no, lane_no, rank, due_at, attempt, leased_by)
    WHERE queue.environment_id = p_environment AND queue.entry_no = ANY (p_again) AND w.entry_no = queue.entry_no AND queue.leased_by = p_node;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written < cardinality(p_again) THEN
      RAISE EXCEPTION 'an entry was taken meanwhile' USING ERRCODE = 'serialization_failure';
    END IF;
  END IF;

  INSERT INTO calls (environment_id, run_no, step_id, attempt, started_at, ended_at, http_status, is_error, path, steps_given, answer,
                     answer_length)
  SELECT p_environment, c.run_no, c.step_id, c.attempt, c.started_at, c.ended_at, c.http_status, c.is_error, c.path, c.steps_given,
         c.answer, c.answer_length
  FROM unnest(p_run, p_call_step, p_call_attempt, p_call_started, p_call_ended, p_call_status, p_call_error, p_call_path, p_call_given,
              p_call_answer, p_call_length)
    AS c(run_no, step_id, attempt, started_at, ended_at, http_status, is_error, path, steps_given, answer, answer_length);
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
