/**
 * Erasure in SQLite. The writer overwrites freed space (`secure_delete`), so the database file keeps no copy; `erasureSettle` truncates the
 * write-ahead log, which still contains the old pages.
 */

import type { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import type { RunNo } from "@inlet/protocol";
import { type ErasureOutcome, type ErasureStore, type EventEraseParams, StoreUnavailable } from "../../contract/index.ts";
import {
  ERASED_DATA,
  ERASED_ERROR,
  type ErasedRun,
  erasureScopeNow,
  INVOCATION_EVENT_NAME,
  REPEATING_EVENT_NAMES,
} from "../../policy/erasure.ts";
import type { GroupCommit } from "../group-commit.ts";

const SETTLE_TRIES = 100;
const SETTLE_PAUSE_MS = 100;
const AMONG = "IN (SELECT value FROM json_each(?1))";
const NAMES = REPEATING_EVENT_NAMES.map((name) => `'${name}'`).join(", ");

const RUNS = `
  SELECT run_no, ended_at, EXISTS (SELECT 1 FROM queue WHERE queue.run_no = runs.run_no) AS is_calling FROM runs
  WHERE event_no ${AMONG} OR run_no IN (SELECT run_no FROM batched_events WHERE event_no ${AMONG})`;

const EVENTS_AFTER = `
  SELECT e.sequence FROM runs AS r CROSS JOIN event_names AS n ON n.name IN (${NAMES})
  CROSS JOIN events AS e ON e.environment_id = r.environment_id AND e.name_id = n.name_id AND e.received_at = r.ended_at
  WHERE r.run_no ${AMONG} AND instr(e.data, r.run_id) > 0
  UNION
  SELECT c.event_no FROM steps AS s CROSS JOIN runs AS r USING (run_no) CROSS JOIN runs AS c ON c.environment_id = r.environment_id AND c.run_id = s.detail
  WHERE s.run_no ${AMONG} AND s.kind = 'invoke'`;

const CANCEL_STARTS = `
  DELETE FROM queue WHERE kind = 'start' AND event_no ${AMONG} AND event_no NOT IN (
    SELECT sequence FROM events JOIN event_names USING (name_id) WHERE sequence ${AMONG} AND name = '${INVOCATION_EVENT_NAME}')`;
const DECIDING = `SELECT count(*) AS deciding FROM queue WHERE kind = 'start' AND event_no ${AMONG}`;
/** Marks that may name one of the events: the caller knows their form. */
const GATHERINGS = `
  SELECT function_no, kind, key, value FROM marks
  WHERE kind IN ('debounce', 'batch') AND EXISTS (SELECT 1 FROM json_each(?1) AS s WHERE instr(marks.value, s.value) > 0)`;

/** A duplicate is recorded with the id of the first event, possibly by another webhook: in that case every record is examined. */
const REQUESTS = `
  UPDATE webhook_requests SET ip = '', headers = '[]', query = '?', body = NULL, body_base64 = NULL, error = NULL, logs = '[]'
  WHERE sequence IN (
    SELECT r.sequence FROM events AS e CROSS JOIN event_sources AS s USING (source_no) CROSS JOIN environments AS h
    CROSS JOIN webhook_requests AS r
      ON r.environment_id = h.environment_id AND r.webhook_id = s.source_id AND r.received_at = e.received_at AND r.event_id = e.event_id
    WHERE e.sequence ${AMONG} AND s.source_kind = 'webhook')
  OR (EXISTS (SELECT 1 FROM events WHERE sequence ${AMONG} AND duplicates > 0)
    AND event_id IN (SELECT event_id FROM events WHERE sequence ${AMONG} AND duplicates > 0))`;

const ERASE_EVENTS = [
  REQUESTS,
  `DELETE FROM idempotency_keys WHERE EXISTS (SELECT 1 FROM events WHERE sequence ${AMONG} AND instr(idempotency_keys.body, event_id) > 0)`,
  `UPDATE events SET data = '${ERASED_DATA}', extras = NULL, schema_errors = NULL WHERE sequence ${AMONG}`,
];
const ERASE_RUNS = [
  `UPDATE steps SET detail = iif(kind = 'invoke', detail, NULL), value = iif(value IS NULL, NULL, 'null') WHERE run_no ${AMONG}`,
  `UPDATE failed_attempts SET error = '${ERASED_ERROR}' WHERE run_no ${AMONG}`,
  `UPDATE calls SET answer = NULL WHERE run_no ${AMONG}`,
  `UPDATE runs SET output = iif(output IS NULL, NULL, 'null'), error = iif(error IS NULL, NULL, '${ERASED_ERROR}') WHERE run_no ${AMONG}`,
];

interface MarkRow {
  function_no: number;
  kind: string;
  key: string;
  value: string;
}

export function erasureStore(db: DatabaseSync, writer: GroupCommit): ErasureStore {
  const runsOf = db.prepare(RUNS);
  const eventsAfter = db.prepare(EVENTS_AFTER);
  const dropStarts = db.prepare(CANCEL_STARTS);
  const deciding = db.prepare(DECIDING);
  const gatherings = db.prepare(GATHERINGS);
  const dropMark = db.prepare("DELETE FROM marks WHERE function_no = ? AND kind = ? AND key = ?");
  const writeMark = db.prepare("UPDATE marks SET value = ? WHERE function_no = ? AND kind = ? AND key = ?");
  const eraseEvents = ERASE_EVENTS.map((text) => db.prepare(text));
  const eraseRuns = ERASE_RUNS.map((text) => db.prepare(text));
  const reads = {
    runsOf: (sequences: readonly number[]) => runsOf.all(JSON.stringify(sequences)) as unknown as ErasedRun[],
    eventsAfter: (runNos: readonly number[]) =>
      (eventsAfter.all(JSON.stringify(runNos)) as { sequence: number }[]).map((row) => row.sequence),
  };

  function cancelStarts(sequences: readonly number[], gatheringWithout: EventEraseParams["gatheringWithout"]): number {
    const given = JSON.stringify(sequences);
    dropStarts.run(given);
    for (const { function_no, kind, key, value } of gatherings.all(given) as unknown as MarkRow[]) {
      const left = gatheringWithout(value, new Set(sequences));
      if (left === null) dropMark.run(function_no, kind, key);
      else writeMark.run(left, function_no, kind, key);
    }
    return (deciding.get(given) as { deciding: number }).deciding;
  }

  function erase({ sequences: given, gatheringWithout }: EventEraseParams): ErasureOutcome {
    const left = cancelStarts(erasureScopeNow(reads, given).sequences, gatheringWithout);
    const { sequences, runs } = erasureScopeNow(reads, given);
    const numbers = (wanted: (run: ErasedRun) => boolean) => runs.filter(wanted).map(({ run_no }) => run_no as RunNo);
    const unfinished = numbers(({ ended_at }) => ended_at === null);
    const calling = numbers(({ ended_at, is_calling }) => ended_at !== null && Boolean(is_calling));
    const outcome = { unfinished, calling, deciding: left };
    if (unfinished.length + calling.length + left > 0) return outcome;
    for (const statement of eraseEvents) statement.run(JSON.stringify(sequences));
    for (const statement of eraseRuns) statement.run(JSON.stringify(runs.map(({ run_no }) => run_no)));
    return outcome;
  }

  return {
    eventErase: (params) => writer.submit(() => erase(params), params.sequences.length * 4),
    async erasureSettle() {
      for (let tries = 0; tries < SETTLE_TRIES; tries++) {
        const { busy } = db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() as { busy: number };
        if (busy === 0) return;
        await pause(SETTLE_PAUSE_MS);
      }
      throw new StoreUnavailable("the write-ahead log could not be emptied: somebody reads the store");
    },
  };
}
