/**
 * Erasure in PostgreSQL. At the commit, the rows no longer contain the content; vacuuming removes their dead versions, and the bytes are
 * overwritten when pages are reused. Statistics, which repeat values of columns, are collected again. Backups of the server and its
 * archived WAL are the operator's responsibility.
 */

import type { EventId, FunctionNo } from "@inlet/protocol";
import type { PoolClient } from "pg";
import type { ErasureOutcome, ErasureStore, EventEraseParams, MarkKey } from "../contract/index.ts";
import { FORGET } from "../idempotency-keys/postgres.ts";
import type { Database } from "../postgres/database.ts";
import { LockSet, markLock, nameLock } from "../postgres/locks.ts";
import {
  APPROVAL_EVENT_NAMES,
  APPROVAL_ID_FROM,
  APPROVAL_ID_UNITS,
  ERASED_DATA,
  ERASED_ERROR,
  ERASED_FAILURE,
  ERASED_RESULT,
  type ErasedRun,
  type ErasureScope,
  erasureOutcome,
  erasureScope,
  type LinkedRequest,
  mayErase,
  REPEATING_EVENT_NAMES,
  refusedCopies,
} from "./policy.ts";

/** Steps that received these events, or invoked other functions with them. */
const STEPS_OF = `
  events AS e JOIN steps AS s ON s.environment_id = $1 AND s.event_id = e.event_id
  JOIN runs AS r ON r.environment_id = $1 AND r.run_no = s.run_no WHERE e.environment_id = $1 AND e.sequence = ANY($2)`;

const EVENT_IDS = "SELECT event_id FROM events WHERE environment_id = $1 AND sequence = ANY($2)";
/** With those that the runs ($3) name, which may be in the archive only: of their invocations and approvals. */
const ERASED_IDS = `
  ${EVENT_IDS}
  UNION SELECT event_id FROM steps WHERE environment_id = $1 AND run_no = ANY($3) AND kind = 'invoke' AND event_id IS NOT NULL
  UNION SELECT unnest(array_remove(ARRAY[request_event_id, decision_event_id], NULL)) FROM approvals
  WHERE environment_id = $1 AND run_no = ANY($3)`;
/** The ids of these events, with those ($3) that are in the archive only. */
const IDS = `ARRAY(${EVENT_IDS}) || $3::text[]`;

const RUNS = `
  WITH found AS (
    SELECT run_no FROM runs WHERE environment_id = $1 AND event_no = ANY($2)
    UNION SELECT run_no FROM batched_events WHERE environment_id = $1 AND event_no = ANY($2)
    UNION SELECT run_no FROM queue WHERE environment_id = $1 AND event_no = ANY($2) AND kind = 'resume'
    UNION SELECT run_no FROM steps WHERE environment_id = $1 AND event_id = ANY(${IDS}) AND kind = 'wait')
  SELECT run_no, run_id, ended_at, EXISTS (SELECT FROM queue AS q WHERE q.environment_id = $1 AND q.run_no = runs.run_no) OR EXISTS (
      SELECT FROM queue AS q WHERE q.environment_id = $1 AND q.run_no = runs.invoker_run_no AND q.step_id = runs.invoker_step_id AND q.kind = 'resume')
    AS is_calling
  FROM found JOIN runs USING (run_no) WHERE environment_id = $1`;

const EVENTS_AFTER = `
  SELECT e.sequence FROM runs AS r JOIN event_names AS n ON n.name = ANY($3)
  JOIN events AS e ON e.environment_id = $1 AND e.name_id = n.name_id AND e.received_at = r.ended_at
  WHERE r.environment_id = $1 AND r.run_no = ANY($2) AND strpos(e.data, r.run_id) > 0
  UNION
  SELECT e.sequence FROM steps AS s JOIN events AS e ON e.environment_id = $1 AND e.event_id = s.event_id
  WHERE s.environment_id = $1 AND s.run_no = ANY($2) AND s.kind = 'invoke'
  UNION
  SELECT e.sequence FROM approvals AS a JOIN events AS e ON e.environment_id = $1 AND e.event_id IN (a.request_event_id, a.decision_event_id)
  WHERE a.environment_id = $1 AND a.run_no = ANY($2)`;

const NAMES = `
  SELECT DISTINCT name FROM events JOIN event_names USING (name_id) WHERE environment_id = $1 AND sequence = ANY($2)`;

/** Except for an invocation that an unfinished run waits for: that start is decided first. */
const CANCEL_STARTS = `
  DELETE FROM queue WHERE environment_id = $1 AND kind = 'start' AND event_no = ANY($2) AND event_no NOT IN (
    SELECT e.sequence FROM ${STEPS_OF} AND s.kind = 'invoke' AND s.ended_at IS NULL AND r.ended_at IS NULL)`;
const DECIDING = "SELECT count(*)::integer AS deciding FROM queue WHERE environment_id = $1 AND kind = 'start' AND event_no = ANY($2)";
/** Marks that may name one of the events: the caller knows their form. */
const GATHERINGS = `
  SELECT function_no, kind, key, value FROM marks
  WHERE environment_id = $1 AND kind IN ('debounce', 'batch') AND EXISTS (SELECT FROM unnest($2::bigint[]) AS s WHERE strpos(marks.value, s::text) > 0)`;
const OF_MARK = "environment_id = $1 AND function_no = $2 AND kind = $3 AND key = $4";

/** Runs that invoked other functions with these events. Read first: what is written is named by number (runs/run-state.ts). */
const INVOKERS = `SELECT run_no, event_id FROM steps WHERE environment_id = $1 AND event_id = ANY(${IDS}) AND kind = 'invoke'`;

/** A duplicate is recorded with the id of the first event, possibly by another webhook. */
const REQUESTS_OF = `event_id = ANY(${IDS}) AND delivered_to = $1`;
const LINKED_REQUESTS = `
  SELECT DISTINCT environment_id, webhook_id, query, body, body_base64 FROM webhook_requests WHERE ${REQUESTS_OF} AND body IS NOT NULL`;
/** The hash of a body that made an event stays: an item that a provider lists is known by it, and does not come back. */
const ERASE_REQUESTS = `
  UPDATE webhook_requests SET ip = '', headers = '[]', query = '?', content_type = NULL, body = NULL, body_base64 = NULL, error = NULL, logs = '[]'`;
const ERASE_REFUSED = `
  ${ERASE_REQUESTS}, body_key = NULL WHERE environment_id = $1 AND webhook_id = $2 AND event_id IS NULL AND body IS NOT NULL
    AND octet_length(coalesce(body_base64, body)) IN (octet_length($3::text), octet_length($4::text))
    AND coalesce(body_base64 = $4, body = $3) AND ($5::text IS NULL OR query = $5)`;
/** Approvals that no run waits for, whose events these are. */
const APPROVALS_OF = `
  a.environment_id = $1 AND a.run_no IS NULL AND a.approval_id IN (
    SELECT substr(e.data, ${APPROVAL_ID_FROM}, ${APPROVAL_ID_UNITS}) FROM events AS e JOIN event_names AS n USING (name_id)
    WHERE e.environment_id = $1 AND e.sequence = ANY($2) AND n.name IN (${APPROVAL_EVENT_NAMES.map((name) => `'${name}'`).join(", ")}))`;
const ERASE_APPROVALS = `
  UPDATE approvals AS a SET prompt = '', data = 'null', comment = NULL, decision_data = NULL, wait_name = approval_id,
    signal = CASE WHEN signal IS NOT NULL THEN '' END`;
const ERASED_APPROVALS = `
  SELECT approval_id FROM approvals AS a WHERE ${APPROVALS_OF}
  UNION SELECT approval_id FROM approvals WHERE environment_id = $1 AND run_no = ANY($3)`;
const ERASE_EVENTS = [
  `${ERASE_APPROVALS}, status = CASE status WHEN 'open' THEN 'cancelled' ELSE status END, is_pending = 0 WHERE ${APPROVALS_OF}`,
  `UPDATE events SET data = '${ERASED_DATA}', extras = NULL, schema_errors = NULL WHERE environment_id = $1 AND sequence = ANY($2)`,
];
const OF_RUNS = "environment_id = $1 AND run_no = ANY($2)";
/** $3: the events of the invocations. */
const ERASE_RESULTS = `
  UPDATE steps SET value = CASE status WHEN 'failed' THEN '${ERASED_FAILURE}' ELSE '${ERASED_RESULT}' END
  WHERE ${OF_RUNS} AND event_id = ANY($3) AND kind = 'invoke' AND value IS NOT NULL`;
/** Also of runs that invoked others: responses and log lines of their apps contain the events. */
const ERASE_ANSWERS = `UPDATE calls SET answer = NULL, logs = NULL WHERE ${OF_RUNS}`;
const ERASE_RUNS = [
  `DELETE FROM realtime_messages WHERE environment_id = $1 AND run_id IN (SELECT run_id FROM runs WHERE ${OF_RUNS})`,
  `UPDATE steps SET detail = CASE WHEN kind = 'invoke' THEN detail END, value = CASE WHEN value IS NOT NULL THEN 'null' END WHERE ${OF_RUNS}`,
  `UPDATE failed_attempts SET error = '${ERASED_ERROR}' WHERE ${OF_RUNS}`,
  `UPDATE runs SET output = CASE WHEN output IS NOT NULL THEN 'null' END, error = CASE WHEN error IS NOT NULL THEN '${ERASED_ERROR}' END, order_key = NULL
   WHERE ${OF_RUNS}`,
  `${ERASE_APPROVALS} WHERE ${OF_RUNS}`,
];
const FORGET_MS_MAX = 300_000;
const TABLES = [
  "events",
  "runs",
  "steps",
  "failed_attempts",
  "calls",
  "waits",
  "approvals",
  "queue",
  "webhook_requests",
  "idempotency_keys",
  "realtime_messages",
];
/** The tables themselves or their partitions: each is vacuumed in a statement of its own, which bounds how long one takes. */
const PARTS = `
  SELECT oid::regclass::text AS name FROM pg_class
  WHERE relkind = 'r' AND (oid = ANY($1::regclass[]) OR oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = ANY($1::regclass[])))`;

interface InvokerRow {
  run_no: number;
  event_id: string;
}

interface MarkRow {
  function_no: FunctionNo;
  kind: MarkKey["kind"];
  key: string;
  value: string;
}

export function erasureStore(database: Database): ErasureStore {
  function scopeOf(client: PoolClient, { environmentId, sequences, archivedIds = [] }: EventEraseParams): Promise<ErasureScope> {
    const reads = {
      runsOf: async (of: readonly number[]) => (await client.query<ErasedRun>(RUNS, [environmentId, of, archivedIds])).rows,
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
    await lockGatherings(client, params, sequences);
    await client.query(CANCEL_STARTS, given);
    // A start that was decided in the meantime may have made another mark; none can come after this.
    await lockGatherings(client, params, sequences);
    for (const { function_no, kind, key, value } of (await client.query<MarkRow>(GATHERINGS, given)).rows) {
      const mark = [environmentId, function_no, kind, key];
      const left = gatheringWithout(value, new Set(sequences));
      if (left === null) await client.query(`DELETE FROM marks WHERE ${OF_MARK}`, mark);
      else await client.query(`UPDATE marks SET value = $5 WHERE ${OF_MARK}`, [...mark, left]);
    }
    const { rows } = await client.query<{ deciding: number }>(DECIDING, given);
    return rows[0]?.deciding ?? 0;
  }

  /** A start of another event reads a mark and writes it again under this lock: it finds the mark as it is without these events. */
  async function lockGatherings(client: PoolClient, { environmentId }: EventEraseParams, sequences: readonly number[]): Promise<void> {
    const { rows } = await client.query<MarkRow>(GATHERINGS, [environmentId, sequences]);
    const locks = new LockSet();
    for (const { function_no, kind, key } of rows) locks.add(markLock(environmentId, function_no, { kind, key }), "alone");
    await locks.take(client);
  }

  /** A step that starts to wait either finds these events before they are erased, and its run is found here, or finds them erased. */
  async function lockNames(client: PoolClient, { environmentId, sequences }: EventEraseParams): Promise<void> {
    const { rows } = await client.query<{ name: string }>(NAMES, [environmentId, sequences]);
    const locks = new LockSet();
    for (const { name } of rows) locks.add(nameLock(environmentId, name), "shared");
    await locks.take(client);
  }

  /** A start that was being decided is a run, or cancelled, once its entry could be locked: runs are looked up after that. */
  async function erase(client: PoolClient, params: EventEraseParams): Promise<ErasureOutcome> {
    const { environmentId, archivedIds = [] } = params;
    const left = await cancelStarts(client, params);
    await lockNames(client, params);
    const { sequences, runs } = await scopeOf(client, params);
    const outcome = erasureOutcome({ sequences, runs }, left);
    if (!mayErase(outcome)) return outcome;
    const invoking = (await client.query<InvokerRow>(INVOKERS, [environmentId, sequences, archivedIds])).rows;
    const invokers = invoking.map(({ run_no }) => run_no);
    const runNos = runs.map(({ run_no }) => run_no);
    const given = [environmentId, sequences, runNos];
    const approvals = (await client.query<{ approval_id: string }>(ERASED_APPROVALS, given)).rows.map(({ approval_id }) => approval_id);
    const eventIds = (await client.query<{ event_id: EventId }>(ERASED_IDS, given)).rows.map(({ event_id }) => event_id);
    await eraseRequests(client, [environmentId, sequences, archivedIds]);
    for (const statement of ERASE_EVENTS) await client.query(statement, [environmentId, sequences]);
    await client.query(ERASE_RESULTS, [environmentId, invokers, invoking.map(({ event_id }) => event_id)]);
    await client.query(ERASE_ANSWERS, [environmentId, [...invokers, ...runNos]]);
    for (const statement of ERASE_RUNS) await client.query(statement, [environmentId, runNos]);
    await client.query(FORGET, [[...approvals, ...eventIds]]);
    if (params.forgetResponses) {
      // Longer than another database may take: this one would take the wait for a node that stands still.
      await client.query(`SET LOCAL idle_in_transaction_session_timeout = ${FORGET_MS_MAX}`);
      await params.forgetResponses([...approvals, ...eventIds]);
    }
    return { ...outcome, eventIds };
  }

  async function eraseRequests(client: PoolClient, given: readonly unknown[]): Promise<void> {
    const linked = (await client.query<LinkedRequest>(LINKED_REQUESTS, [...given])).rows;
    for (const { environmentId, webhookId, text, base64, query } of refusedCopies(linked))
      await client.query(ERASE_REFUSED, [environmentId, webhookId, text, base64, query]);
    await client.query(`${ERASE_REQUESTS} WHERE ${REQUESTS_OF}`, [...given]);
  }

  return {
    eventErase: (params) => database.transaction((client) => erase(client, params), "maintenance"),
    async erasureSettle() {
      for (const { name } of await database.read<{ name: string }>(PARTS, [TABLES])) await database.vacuum(name);
      for (const name of TABLES) await database.query(`ANALYZE ${name}`, [], "maintenance");
    },
  };
}
