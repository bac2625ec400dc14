/**
 * Erasure in PostgreSQL. At the commit, the rows no longer contain the content; vacuuming removes their dead versions, and the bytes are
 * overwritten when pages are reused. Backups of the server and its archived WAL are the operator's responsibility.
 */

import type { RunNo } from "@inlet/protocol";
import type { PoolClient } from "pg";
import type { ErasureOutcome, ErasureStore, EventEraseParams } from "../../contract/index.ts";
import {
  ERASED_DATA,
  ERASED_ERROR,
  type ErasedRun,
  type ErasureScope,
  erasureScope,
  INVOCATION_EVENT_NAME,
  REPEATING_EVENT_NAMES,
} from "../../policy/erasure.ts";
import type { Database } from "../database.ts";

const RUNS = `
  SELECT run_no, ended_at, EXISTS (SELECT FROM queue AS q WHERE q.environment_id = $1 AND q.run_no = runs.run_no) AS is_calling FROM runs
  WHERE environment_id = $1 AND (event_no = ANY($2) OR run_no IN (SELECT run_no FROM batched_events WHERE environment_id = $1 AND event_no = ANY($2)))`;

const EVENTS_AFTER = `
  SELECT e.sequence FROM runs AS r JOIN event_names AS n ON n.name = ANY($3)
  JOIN events AS e ON e.environment_id = $1 AND e.name_id = n.name_id AND e.received_at = r.ended_at
  WHERE r.environment_id = $1 AND r.run_no = ANY($2) AND strpos(e.data, r.run_id) > 0
  UNION
  SELECT c.event_no FROM steps AS s JOIN runs AS c ON c.environment_id = $1 AND c.run_id = s.detail
  WHERE s.environment_id = $1 AND s.run_no = ANY($2) AND s.kind = 'invoke'`;

const CANCEL_STARTS = `
  DELETE FROM queue WHERE environment_id = $1 AND kind = 'start' AND event_no = ANY($2) AND event_no NOT IN (
    SELECT sequence FROM events JOIN event_names USING (name_id)
    WHERE environment_id = $1 AND sequence = ANY($2) AND name = '${INVOCATION_EVENT_NAME}')`;
const DECIDING = "SELECT count(*)::integer AS deciding FROM queue WHERE environment_id = $1 AND kind = 'start' AND event_no = ANY($2)";
/** Marks that may name one of the events: the caller knows their form. */
const GATHERINGS = `
  SELECT function_no, kind, key, value FROM marks
  WHERE environment_id = $1 AND kind IN ('debounce', 'batch') AND EXISTS (SELECT FROM unnest($2::bigint[]) AS s WHERE strpos(marks.value, s::text) > 0)
  FOR UPDATE`;
const OF_MARK = "environment_id = $1 AND function_no = $2 AND kind = $3 AND key = $4";

/** A duplicate is recorded with the id of the first event, possibly by another webhook: in that case every record is examined. */
const REQUESTS = `
  UPDATE webhook_requests AS r SET ip = '', headers = '[]', query = '?', body = NULL, body_base64 = NULL, error = NULL, logs = '[]'
  FROM events AS e JOIN event_sources AS s USING (source_no)
  WHERE e.environment_id = $1 AND e.sequence = ANY($2) AND r.event_id = e.event_id
    AND ((s.source_kind = 'webhook' AND r.webhook_id = s.source_id AND r.received_at = e.received_at) OR e.duplicates > 0)`;

const ERASE_EVENTS = [
  REQUESTS,
  `DELETE FROM idempotency_keys AS k USING events AS e WHERE e.environment_id = $1 AND e.sequence = ANY($2) AND strpos(k.body, e.event_id) > 0`,
  `UPDATE events SET data = '${ERASED_DATA}', extras = NULL, schema_errors = NULL WHERE environment_id = $1 AND sequence = ANY($2)`,
];
const OF_RUNS = "environment_id = $1 AND run_no = ANY($2)";
const ERASE_RUNS = [
  `UPDATE steps SET detail = CASE WHEN kind = 'invoke' THEN detail END, value = CASE WHEN value IS NOT NULL THEN 'null' END WHERE ${OF_RUNS}`,
  `UPDATE failed_attempts SET error = '${ERASED_ERROR}' WHERE ${OF_RUNS}`,
  `UPDATE calls SET answer = NULL WHERE ${OF_RUNS}`,
  `UPDATE runs SET output = CASE WHEN output IS NOT NULL THEN 'null' END, error = CASE WHEN error IS NOT NULL THEN '${ERASED_ERROR}' END WHERE ${OF_RUNS}`,
];
const VACUUM = "VACUUM events, runs, steps, failed_attempts, calls, webhook_requests, idempotency_keys";

interface MarkRow {
  function_no: number;
  kind: string;
  key: string;
  value: string;
}

export function erasureStore(database: Database): ErasureStore {
  function scopeOf(client: PoolClient, { environmentId, sequences }: EventEraseParams): Promise<ErasureScope> {
    const reads = {
      runsOf: async (of: readonly number[]) => (await client.query<ErasedRun>(RUNS, [environmentId, of])).rows,
      eventsAfter: async (of: readonly number[]) => {
        const { rows } = await client.query<{ sequence: number }>(EVENTS_AFTER, [environmentId, of, REPEATING_EVENT_NAMES]);
        return rows.map(({ sequence }) => sequence);
      },
    };
    return erasureScope(reads, sequences);
  }

  async function cancelStarts(client: PoolClient, params: EventEraseParams): Promise<number> {
    const { environmentId, gatheringWithout } = params;
    const { sequences } = await scopeOf(client, params);
    const given = [environmentId, sequences];
    await client.query(CANCEL_STARTS, given);
    for (const { function_no, kind, key, value } of (await client.query<MarkRow>(GATHERINGS, given)).rows) {
      const mark = [environmentId, function_no, kind, key];
      const left = gatheringWithout(value, new Set(sequences));
      if (left === null) await client.query(`DELETE FROM marks WHERE ${OF_MARK}`, mark);
      else await client.query(`UPDATE marks SET value = $5 WHERE ${OF_MARK}`, [...mark, left]);
    }
    const { rows } = await client.query<{ deciding: number }>(DECIDING, given);
    return rows[0]?.deciding ?? 0;
  }

  /** A start that was being decided is a run, or cancelled, once its entry could be locked: runs are looked up after that. */
  async function erase(client: PoolClient, params: EventEraseParams): Promise<ErasureOutcome> {
    const { environmentId } = params;
    const left = await cancelStarts(client, params);
    const { sequences, runs } = await scopeOf(client, params);
    const numbers = (wanted: (run: ErasedRun) => boolean) => runs.filter(wanted).map(({ run_no }) => run_no as RunNo);
    const unfinished = numbers(({ ended_at }) => ended_at === null);
    const calling = numbers(({ ended_at, is_calling }) => ended_at !== null && Boolean(is_calling));
    const outcome = { unfinished, calling, deciding: left };
    if (unfinished.length + calling.length + left > 0) return outcome;
    for (const statement of ERASE_EVENTS) await client.query(statement, [environmentId, sequences]);
    for (const statement of ERASE_RUNS) await client.query(statement, [environmentId, runs.map(({ run_no }) => run_no)]);
    return outcome;
  }

  return {
    eventErase: (params) => database.transaction((client) => erase(client, params)),
    async erasureSettle() {
      await database.query(VACUUM);
    },
  };
}
