/**
 * Erasure in SQLite. The writer overwrites what is deleted or replaced (`secure_delete`), and `erasureSettle` truncates the write-ahead log,
 * which still contains the old pages. What SQLite does not overwrite: when it moves a row to another page to make room, its bytes stay in
 * the old page, unused, until that page needs them. Backups contain no unused bytes.
 */

import type { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import type { EventId } from "@inlet/protocol";
import { type ErasureOutcome, type ErasureStore, type EventEraseParams, StoreUnavailable } from "../contract/index.ts";
import { FORGET } from "../idempotency-keys/sqlite.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";
import {
  APPROVAL_EVENT_NAMES,
  APPROVAL_ID_FROM,
  APPROVAL_ID_UNITS,
  ERASED_DATA,
  ERASED_ERROR,
  ERASED_FAILURE,
  ERASED_RESULT,
  type ErasedRun,
  erasureOutcome,
  erasureScopeNow,
  type LinkedRequest,
  mayErase,
  REPEATING_EVENT_NAMES,
  refusedCopies,
} from "./policy.ts";

/** Events for which the erasure of one counts in a group of writes: it changes many rows. */
const WEIGHT_OF_ONE = 4;
const SETTLE_TRIES = 100;
const SETTLE_PAUSE_MS = 100;
const AMONG = "IN (SELECT value FROM json_each(?1))";
const listOf = (names: readonly string[]) => names.map((name) => `'${name}'`).join(", ");
const NAMES = listOf(REPEATING_EVENT_NAMES);

/** Steps that received these events, or invoked other functions with them. An id is unique in its environment only. */
const STEPS_OF = `
  events AS e CROSS JOIN steps AS s ON s.event_id = e.event_id
  CROSS JOIN runs AS r ON r.run_no = s.run_no AND r.environment_id = e.environment_id WHERE e.sequence ${AMONG}`;

const RUNS = `
  WITH found AS (
    SELECT run_no FROM runs WHERE event_no ${AMONG}
    UNION SELECT run_no FROM batched_events WHERE event_no ${AMONG}
    UNION SELECT run_no FROM queue WHERE event_no ${AMONG} AND kind = 'resume'
    UNION SELECT s.run_no FROM ${STEPS_OF} AND s.kind = 'wait')
  SELECT run_no, run_id, ended_at, EXISTS (SELECT 1 FROM queue AS q WHERE q.run_no = runs.run_no) OR EXISTS (
      SELECT 1 FROM queue AS q WHERE q.run_no = runs.invoker_run_no AND q.step_id = runs.invoker_step_id AND q.kind = 'resume')
    AS is_calling
  FROM found CROSS JOIN runs USING (run_no)`;

const EVENTS_AFTER = `
  SELECT e.sequence FROM runs AS r CROSS JOIN event_names AS n ON n.name IN (${NAMES})
  CROSS JOIN events AS e ON e.environment_id = r.environment_id AND e.name_id = n.name_id AND e.received_at = r.ended_at
  WHERE r.run_no ${AMONG} AND instr(e.data, r.run_id) > 0
  UNION
  SELECT e.sequence FROM steps AS s CROSS JOIN runs AS r USING (run_no)
  CROSS JOIN events AS e ON e.environment_id = r.environment_id AND e.event_id = s.event_id
  WHERE s.run_no ${AMONG} AND s.kind = 'invoke'
  UNION
  SELECT e.sequence FROM approvals AS a
  CROSS JOIN events AS e ON e.environment_id = a.environment_id AND e.event_id IN (a.request_event_id, a.decision_event_id)
  WHERE a.run_no ${AMONG}`;

/** Except for an invocation that an unfinished run waits for: that start is decided first. */
const CANCEL_STARTS = `
  DELETE FROM queue WHERE kind = 'start' AND event_no ${AMONG} AND event_no NOT IN (
    SELECT e.sequence FROM ${STEPS_OF} AND s.kind = 'invoke' AND s.ended_at IS NULL AND r.ended_at IS NULL)`;
const UNDECIDED_STARTS = `SELECT count(*) AS count FROM queue WHERE kind = 'start' AND event_no ${AMONG}`;
/** Marks of debounces and batches that may name one of the events: the caller knows their form. */
const MARKS_WITH_EVENTS = `
  SELECT function_no, kind, key, value FROM marks
  WHERE kind IN ('debounce', 'batch') AND EXISTS (SELECT 1 FROM json_each(?1) AS s WHERE instr(marks.value, s.value) > 0)`;

/** Runs that invoked other functions with these events. */
const INVOKERS = `SELECT s.run_no, s.event_id FROM ${STEPS_OF} AND s.kind = 'invoke'`;

/** A duplicate is recorded with the id of the first event, possibly by another webhook. */
const REQUESTS_OF = `
  events AS e CROSS JOIN webhook_requests AS r ON r.event_id = e.event_id AND r.delivered_to = e.environment_id WHERE e.sequence ${AMONG}`;
const LINKED_REQUESTS = `
  SELECT DISTINCT r.environment_id, r.webhook_id, r.query, r.body, r.body_base64 FROM ${REQUESTS_OF} AND r.body IS NOT NULL`;
/** The hash of a body that made an event stays: an item that a provider lists is known by it, and does not come back. */
const ERASE_REQUESTS = `
  UPDATE webhook_requests SET ip = '', headers = '[]', query = '?', content_type = NULL, body = NULL, body_base64 = NULL, error = NULL, logs = '[]'`;
const ERASE_REFUSED = `
  ${ERASE_REQUESTS}, body_key = NULL WHERE environment_id = ?1 AND webhook_id = ?2 AND event_id IS NULL AND body IS NOT NULL
    AND octet_length(coalesce(body_base64, body)) IN (octet_length(?3), octet_length(?4))
    AND coalesce(body_base64 = ?4, body = ?3) AND (?5 IS NULL OR query = ?5)`;
/** Approvals that no run waits for, whose events these are. */
const APPROVALS_OF = `
  run_no IS NULL AND (environment_id, approval_id) IN (
    SELECT e.environment_id, substr(e.data, ${APPROVAL_ID_FROM}, ${APPROVAL_ID_UNITS}) FROM events AS e CROSS JOIN event_names AS n USING (name_id)
    WHERE e.sequence ${AMONG} AND n.name IN (${listOf(APPROVAL_EVENT_NAMES)}))`;
const ERASE_APPROVALS = `
  UPDATE approvals SET prompt = '', data = 'null', comment = NULL, decision_data = NULL, wait_name = approval_id, signal = iif(signal IS NULL, NULL, '')`;
/** ?2: runs. */
const ERASED_APPROVALS = `
  SELECT approval_id FROM approvals WHERE ${APPROVALS_OF}
  UNION SELECT approval_id FROM approvals WHERE run_no IN (SELECT value FROM json_each(?2))`;
const ERASE_EVENTS = [
  `${ERASE_APPROVALS}, status = iif(status = 'open', 'cancelled', status), is_pending = 0 WHERE ${APPROVALS_OF}`,
  `${ERASE_REQUESTS} WHERE sequence IN (SELECT r.sequence FROM ${REQUESTS_OF})`,
  `UPDATE events SET data = '${ERASED_DATA}', extras = NULL, schema_errors = NULL WHERE sequence ${AMONG}`,
];
/** ?2: the events of the invocations. */
const ERASE_RESULTS = `
  UPDATE steps SET value = iif(status = 'failed', '${ERASED_FAILURE}', '${ERASED_RESULT}')
  WHERE run_no ${AMONG} AND event_id IN (SELECT value FROM json_each(?2)) AND kind = 'invoke' AND value IS NOT NULL`;
/** Also of runs that invoked others: responses and log lines of their apps contain the events. */
const ERASE_RESPONSES = `UPDATE calls SET answer = NULL, logs = NULL WHERE run_no ${AMONG}`;
const ERASE_RUNS = [
  `DELETE FROM realtime_messages WHERE (environment_id, run_id) IN (SELECT environment_id, run_id FROM runs WHERE run_no ${AMONG})`,
  `UPDATE steps SET detail = iif(kind = 'invoke', detail, NULL), value = iif(value IS NULL, NULL, 'null') WHERE run_no ${AMONG}`,
  `UPDATE failed_attempts SET error = '${ERASED_ERROR}' WHERE run_no ${AMONG}`,
  `UPDATE runs SET output = iif(output IS NULL, NULL, 'null'), error = iif(error IS NULL, NULL, '${ERASED_ERROR}'), order_key = NULL
   WHERE run_no ${AMONG}`,
  `${ERASE_APPROVALS} WHERE run_no ${AMONG}`,
];

interface InvokerRow {
  run_no: number;
  event_id: string;
}

interface MarkRow {
  function_no: number;
  kind: string;
  key: string;
  value: string;
}

export function erasureStore(db: DatabaseSync, writer: GroupCommit): ErasureStore {
  const runsOf = db.prepare(RUNS);
  const eventIdsOf = db.prepare(`SELECT event_id FROM events WHERE sequence ${AMONG}`);
  const erasedApprovals = db.prepare(ERASED_APPROVALS);
  const eventsAfter = db.prepare(EVENTS_AFTER);
  const dropStarts = db.prepare(CANCEL_STARTS);
  const undecidedStarts = db.prepare(UNDECIDED_STARTS);
  const marksWithEvents = db.prepare(MARKS_WITH_EVENTS);
  const dropMark = db.prepare("DELETE FROM marks WHERE function_no = ? AND kind = ? AND key = ?");
  const writeMark = db.prepare("UPDATE marks SET value = ? WHERE function_no = ? AND kind = ? AND key = ?");
  const invokersOf = db.prepare(INVOKERS);
  const linkedRequests = db.prepare(LINKED_REQUESTS);
  const eraseRefused = db.prepare(ERASE_REFUSED);
  const eraseEvents = ERASE_EVENTS.map((text) => db.prepare(text));
  const eraseResults = db.prepare(ERASE_RESULTS);
  const eraseResponses = db.prepare(ERASE_RESPONSES);
  const eraseRuns = ERASE_RUNS.map((text) => db.prepare(text));
  const forget = db.prepare(FORGET);
  const reads = {
    runsOf: (sequences: readonly number[]) => runsOf.all(JSON.stringify(sequences)) as unknown as ErasedRun[],
    eventsAfter: (runNos: readonly number[]) =>
      (eventsAfter.all(JSON.stringify(runNos)) as { sequence: number }[]).map((row) => row.sequence),
  };

  /** Returns how many starts have yet to be decided. */
  function cancelStarts(sequences: readonly number[], gatheringWithout: EventEraseParams["gatheringWithout"]): number {
    const given = JSON.stringify(sequences);
    dropStarts.run(given);
    for (const { function_no, kind, key, value } of marksWithEvents.all(given) as unknown as MarkRow[]) {
      const rest = gatheringWithout(value, new Set(sequences));
      if (rest === null) dropMark.run(function_no, kind, key);
      else writeMark.run(rest, function_no, kind, key);
    }
    return (undecidedStarts.get(given) as { count: number }).count;
  }

  function erase({ sequences: given, gatheringWithout }: EventEraseParams): ErasureOutcome {
    const undecided = cancelStarts(erasureScopeNow(reads, given).sequences, gatheringWithout);
    const { sequences, runs } = erasureScopeNow(reads, given);
    const outcome = erasureOutcome({ sequences, runs }, undecided);
    if (!mayErase(outcome)) return outcome;
    const invoking = invokersOf.all(JSON.stringify(sequences)) as unknown as InvokerRow[];
    const invokers = invoking.map(({ run_no }) => run_no);
    const runNos = runs.map(({ run_no }) => run_no);
    const approvals = erasedApprovals.all(JSON.stringify(sequences), JSON.stringify(runNos)).map(({ approval_id }) => approval_id);
    const eventIds = eventIdsOf.all(JSON.stringify(sequences)).map(({ event_id }) => event_id as EventId);
    const linked = linkedRequests.all(JSON.stringify(sequences)) as unknown as LinkedRequest[];
    for (const { environmentId, webhookId, text, base64, query } of refusedCopies(linked))
      eraseRefused.run(environmentId, webhookId, text, base64, query);
    for (const statement of eraseEvents) statement.run(JSON.stringify(sequences));
    eraseResults.run(JSON.stringify(invokers), JSON.stringify(invoking.map(({ event_id }) => event_id)));
    eraseResponses.run(JSON.stringify([...invokers, ...runNos]));
    for (const statement of eraseRuns) statement.run(JSON.stringify(runNos));
    forget.run(JSON.stringify([...approvals, ...eventIds]));
    return { ...outcome, eventIds };
  }

  return {
    eventErase: (params) => writer.submit(() => erase(params), params.sequences.length * WEIGHT_OF_ONE),
    async erasureSettle() {
      for (let tries = 0; tries < SETTLE_TRIES; tries++) {
        const { busy } = db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() as { busy: number };
        if (busy === 0) return;
        await pause(SETTLE_PAUSE_MS);
      }
      throw new StoreUnavailable("the write-ahead log could not be emptied: a read is still in progress");
    },
  };
}
