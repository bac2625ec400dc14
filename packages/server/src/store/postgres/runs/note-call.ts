/** Keeps a call whose answer came too late for anything to follow from it. */

import type { LateCall } from "../../contract/index.ts";
import type { Database } from "../database.ts";
import { attemptRow, callRow } from "./run-draft.ts";

/** One statement: what is written again, because the answer to the first time was lost, finds itself there. */
const NOTE = `
  WITH noted AS (
    INSERT INTO calls (environment_id, run_no, step_id, attempt, started_at, ended_at, http_status, is_error, path, steps_given, answer,
                       answer_length)
    SELECT c.environment_id, c.run_no, c.step_id, c.attempt, c.started_at, c.ended_at, c.http_status, c.is_error, c.path, c.steps_given,
           c.answer, c.answer_length
    FROM json_to_record($1) AS c(environment_id integer, run_no bigint, step_id text, attempt integer, started_at bigint, ended_at bigint,
      http_status integer, is_error smallint, path text, steps_given integer, answer text, answer_length integer)
    WHERE NOT EXISTS (SELECT FROM calls WHERE calls.environment_id = c.environment_id AND calls.run_no = c.run_no
                      AND calls.started_at = c.started_at AND calls.step_id IS NOT DISTINCT FROM c.step_id AND calls.attempt = c.attempt)
    RETURNING calls.environment_id, calls.run_no
  )
  INSERT INTO failed_attempts (environment_id, run_no, step_id, attempt, started_at, ended_at, http_status, error)
  SELECT a.environment_id, a.run_no, a.step_id, a.attempt, a.started_at, a.ended_at, a.http_status, a.error
  FROM json_to_record($2) AS a(environment_id integer, run_no bigint, step_id text, attempt integer, started_at bigint, ended_at bigint,
    http_status integer, error text)
  JOIN noted ON noted.environment_id = a.environment_id AND noted.run_no = a.run_no`;

export async function noteCall(database: Database, { environmentId, runNo, call, failure }: LateCall): Promise<void> {
  const key = { environmentId, runNo };
  const attempt = failure && JSON.stringify(attemptRow(key, failure));
  await database.query(NOTE, [JSON.stringify(callRow(key, call)), attempt ?? "{}"]);
}
