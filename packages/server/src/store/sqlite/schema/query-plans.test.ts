/** No statement walks through a table that grows: every one the store prepares is explained, lists with every filter too. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { test } from "node:test";
import { createEventIdGenerator, type EnvironmentId, type EventId, type FunctionNo, type RunId, type WebhookId } from "@inlet/protocol";
import { lastActivity, listActivity } from "../../activity/sqlite.ts";
import { listApprovals } from "../../approvals/sqlite/list-approvals.ts";
import { APPROVAL_STATUSES, type EventListParams, RUN_STATUSES, type RunListParams } from "../../contract/index.ts";
import { getEventType, listEventTypes } from "../../event-types/sqlite.ts";
import { followEvents, getEvent, sequenceBefore } from "../../events/sqlite/follow-events.ts";
import { listEvents } from "../../events/sqlite/list-events.ts";
import { STORED_ROWS } from "../../retention/policy.ts";
import { storedBytes } from "../../retention/sqlite.ts";
import { getRun, listRuns } from "../../runs/sqlite/read-runs.ts";
import { listTraffic } from "../../traffic/sqlite.ts";
import { listRequests } from "../../webhook-requests/sqlite/read-webhook-requests.ts";
import { DATABASE_FILE, openWriter } from "../database.ts";
import { openSqliteStore } from "../sqlite-store.ts";
import { TextDatabase } from "../text-database.ts";

const GROWING = [
  "events",
  "runs",
  "steps",
  "queue",
  "waits",
  "marks",
  "dedup_keys",
  "failed_attempts",
  "calls",
  "webhook_requests",
  "approvals",
  "idempotency_keys",
  "idempotency_key_times",
];
/** The first rows of a table, by a limit of their own. */
const FIRST_ROWS = [
  /^SELECT 1 FROM waits LIMIT 1$/,
  /FROM webhook_requests ORDER BY sequence LIMIT \?\)/,
  /^SELECT min\(at\) AS at FROM \(/,
  // An index of the few waits that still look back.
  /FROM waits INDEXED BY waits_looking_back WHERE look_at IS NOT NULL LIMIT \?$/,
];
/** Erasure is rare: it may examine every event that a debounce or a batch still collects. */
const ERASURE = /^SELECT function_no, kind, key, value FROM marks\s+WHERE kind IN \('debounce', 'batch'\)/;
/** When the process starts: every call that is due, through an index without the timers. */
const RECOVERY = /^UPDATE queue INDEXED BY queue_by_lane SET .* WHERE leased_by = \?1/s;

/** Every text that is prepared while `act` runs, on any connection of this thread. */
async function preparedWhile(act: () => unknown): Promise<Set<string>> {
  return new Set((await readWhile(act)).map(({ sql }) => sql));
}

interface Read {
  sql: string;
  /** How many rows each execution gave. */
  rows: number[];
}

/** The same, with what was read by each. */
async function readWhile(act: () => unknown): Promise<Read[]> {
  const reads: Read[] = [];
  const { prepare } = TextDatabase.prototype;
  TextDatabase.prototype.prepare = function (this: DatabaseSync, sql: string): StatementSync {
    const statement = prepare.call(this, sql);
    const read: Read = { sql: sql.trim(), rows: [] };
    reads.push(read);
    const all = statement.all.bind(statement) as (...values: SQLInputValue[]) => ReturnType<StatementSync["all"]>;
    statement.all = (...values: unknown[]) => {
      const found = all(...(values as SQLInputValue[]));
      read.rows.push(found.length);
      return found;
    };
    return statement;
  };
  try {
    await act();
    return reads;
  } finally {
    TextDatabase.prototype.prepare = prepare;
  }
}

function planOf(db: DatabaseSync, sql: string): string[] {
  return db
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all()
    .map(({ detail }) => String(detail));
}

function walks(plan: readonly string[]): string[] {
  return plan.filter((detail) => GROWING.some((table) => new RegExp(`^SCAN ${table}\\b`).test(detail)));
}

test("nothing the store prepares walks through a table that grows", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "inlet-plans-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const texts = await preparedWhile(() => openSqliteStore({ folder, onFault: () => undefined, onRecovery: () => undefined }).stop());
  const db = openWriter(join(folder, DATABASE_FILE));
  t.after(() => db.close());
  const explained = [...texts].filter(
    (sql) => /^(WITH|SELECT|INSERT|UPDATE|DELETE)/.test(sql) && ![...FIRST_ROWS, ERASURE, RECOVERY].some((allowed) => allowed.test(sql)),
  );
  assert.ok(explained.length > 60, `only ${explained.length} statements were seen`);
  assert.deepEqual(
    explained.filter((sql) => walks(planOf(db, sql)).length > 0),
    [],
  );
});

test("lists of runs are ranges of an index, in its order", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "inlet-plans-"));
  t.after(() => rmSync(folder, { recursive: true }));
  await openSqliteStore({ folder, onFault: () => undefined, onRecovery: () => undefined }).stop();
  const db = openWriter(join(folder, DATABASE_FILE));
  t.after(() => db.close());
  const environmentId = 1 as EnvironmentId;
  const lists: Omit<RunListParams, "environmentId" | "limit">[] = [undefined, ...RUN_STATUSES].flatMap((status) =>
    [undefined, [1 as FunctionNo]].flatMap((functionNos) =>
      [{}, { after: "01" as RunId, from: 1, to: 2 }].map((range) => ({
        ...range,
        ...(status && { status }),
        ...(functionNos && { functionNos }),
      })),
    ),
  );
  const texts = await preparedWhile(() => {
    for (const list of lists) listRuns(db, { environmentId, limit: 20, ...list });
  });
  assert.ok(texts.size >= 8, `only ${texts.size} lists were seen`);
  for (const sql of texts) {
    const plan = planOf(db, sql);
    assert.deepEqual(walks(plan), [], sql);
    assert.ok(!plan.some((detail) => detail.includes("TEMP B-TREE")), `sorted: ${sql}`);
    if (!/^SELECT run_id FROM runs/.test(sql)) continue;
    assert.match(plan[0] ?? "", /^SEARCH runs USING COVERING INDEX runs_\w+ \(environment_id=\?/, sql);
    if (sql.includes(" status = ?")) assert.match(plan[0] ?? "", /status=\?/, sql);
    if (sql.includes("function_no = ?")) assert.match(plan[0] ?? "", /function_no=\?/, sql);
    if (sql.includes("run_id < ?")) assert.match(plan[0] ?? "", /run_id>\? AND run_id<\?/, sql);
  }
  const single = await preparedWhile(() => {
    listRuns(db, { environmentId, limit: 20, eventId: "01" as EventId });
    getRun(db, { environmentId, id: "01" as RunId });
  });
  for (const sql of single) assert.deepEqual(walks(planOf(db, sql)), [], sql);
});

test("lists of approvals are ranges of an index, in its order, and read on the read thread", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "inlet-plans-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const store = openSqliteStore({ folder, onFault: () => undefined, onRecovery: () => undefined });
  const list = { environmentId: 1 as EnvironmentId, now: 1, limit: 20 };
  const here = await preparedWhile(() => store.approvalList(list)).finally(() => store.stop());
  assert.deepEqual([...here], []);
  const db = openWriter(join(folder, DATABASE_FILE));
  t.after(() => db.close());
  const texts = await preparedWhile(() => {
    for (const after of [{}, { after: "01" }]) {
      listApprovals(db, { ...list, ...after });
      for (const status of APPROVAL_STATUSES) listApprovals(db, { ...list, ...after, status });
    }
  });
  assert.ok(texts.size >= 8, `only ${texts.size} lists were seen`);
  for (const sql of texts) {
    const plan = planOf(db, sql);
    const reads = plan.filter((detail) => /^(SEARCH|SCAN)/.test(detail));
    const index = sql.includes("status = ")
      ? /^SEARCH approvals USING INDEX approvals_by_status \(environment_id=\? AND status=\?/
      : /^SEARCH approvals/;
    for (const read of reads) assert.match(read, index, sql);
    assert.ok(!plan.some((detail) => detail.includes("TEMP B-TREE")), `sorted: ${sql}`);
  }
});

/** Many more than any page or slice reads. */
const EVENTS = 20_000;
const LIMIT = 50;
/** As many as the search of a text reads at a time: see events/rows/event-pages.ts. */
const SLICE_ROWS = 500;

/** A store with many events: every thousandth has a dedup id, one in two the same name, the others nine. */
async function filledFolder(folder: string): Promise<void> {
  const store = openSqliteStore({ folder, onFault: () => undefined, onRecovery: () => undefined });
  const ids = createEventIdGenerator();
  const environment = await store.environmentInsert({ name: "production", kind: "default", createdAt: 1, bodyBytesMax: null });
  assert.ok(environment);
  const { id: environmentId } = environment;
  for (let done = 0; done < EVENTS; done += 5_000) {
    const events = Array.from({ length: 5_000 }, (_, i) => {
      const name = i % 2 === 0 ? "shop/order.created" : `shop/event.${i % 9}`;
      const dedupId = i % 1_000 === 0 ? `order-${done + i}` : null;
      return { id: ids.next(done), name, ts: done, dedupId, data: '{"sku":"mug"}', extras: null };
    });
    const source = { kind: "key", id: "key_1" } as const;
    await store.eventAppend({ environmentId, receivedAt: done, source, duplicateSince: 0, idsFromSender: false, events });
  }
  await store.stop();
}

test("the first page of every list the dashboard asks for reads a few rows of an index, in a store of many events", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "inlet-plans-"));
  t.after(() => rmSync(folder, { recursive: true }));
  await filledFolder(folder);
  const db = openWriter(join(folder, DATABASE_FILE));
  t.after(() => db.close());
  const environmentId = 1 as EnvironmentId;
  const span = { from: EVENTS / 2, to: EVENTS / 2 + EVENTS / 4 };
  const many = { name: "shop/*" };
  const names = 10;
  // What an index answers reads no more than the page takes, from each range it is merged from.
  const answered: [Omit<EventListParams, "environmentId" | "limit">, number][] = [
    [{}, LIMIT + 1],
    [span, LIMIT + 1],
    [{ after: { receivedAt: EVENTS / 2, sequence: EVENTS / 2 } }, LIMIT + 1],
    [{ name: "shop/order.created" }, LIMIT + 1],
    [{ name: "shop/event.1", ...span }, LIMIT + 1],
    [{ name: "shop/none" }, 0],
    [{ dedupId: `order-${EVENTS / 2}` }, 1],
    [{ dedupId: "nobody" }, 0],
    [{ ...many, ...span }, names * (LIMIT + 1)],
  ];
  for (const [filters, rowsMax] of answered) {
    const reads = await readWhile(() => listEvents(db, { environmentId, limit: LIMIT, ...filters }));
    const shown = JSON.stringify(filters);
    const ofEvents = reads.filter(({ sql }) => /FROM events/.test(sql));
    assert.ok(ofEvents.length > 0 || filters.name === "shop/none", shown);
    assert.ok(sum(ofEvents) <= rowsMax, `${shown} read ${sum(ofEvents)} rows`);
    for (const { sql } of reads) assertBounded(db, sql);
  }
  // What none answers is looked through in slices of such ranges, and the search may be left after any of them.
  for (const filters of [{ source: "wh_none" }, { text: "nowhere" }, { text: "nowhere", ...many }, { text: "mug", dedupId: "order-0" }]) {
    const reads = await readWhile(() => listEvents(db, { environmentId, limit: LIMIT, ...filters }));
    for (const { sql, rows } of reads) {
      assertBounded(db, sql);
      assert.ok(
        rows.every((count) => count <= SLICE_ROWS),
        sql,
      );
    }
  }
  const others = await readWhile(async () => {
    getEvent(db, { environmentId, id: "01JCQ7V8Z0ABCDEFGHJKMNPQRS" as EventId });
    followEvents(db, { environmentId, after: EVENTS - 10, limit: 100 });
    sequenceBefore(db, { environmentId, receivedFrom: EVENTS / 2 });
    listEventTypes(db, { environmentId, limit: 100, since: 0 });
    getEventType(db, { environmentId, name: "shop/order.created", since: 0 });
    for (const intervalMs of [60_000, 3_600_000]) listTraffic(db, { environmentId, from: 0, to: EVENTS, intervalMs });
    for (const subject of ["shop/order.created", "shop/*"]) {
      lastActivity(db, { environmentId, kind: "event", subject, since: 0 });
      listActivity(db, { environmentId, kind: "event", subject, since: 0, limit: LIMIT });
    }
    const requests = { environmentId, webhookId: "wh_1" as WebhookId, limit: LIMIT };
    for (const filters of [{}, { outcome: "ip_denied" }, { from: 1, to: 2 }]) await listRequests(db, { ...requests, ...filters });
  });
  for (const { sql, rows } of others) {
    assertBounded(db, sql);
    assert.ok(
      rows.every((count) => count <= 101),
      sql,
    );
  }
});

function sum(reads: readonly Read[]): number {
  return reads.flatMap(({ rows }) => rows).reduce((total, count) => total + count, 0);
}

/** Ranges of indexes, read in their order: nothing is sorted, except sums of minutes and hours, of which there are few. */
function assertBounded(db: DatabaseSync, sql: string): void {
  const plan = planOf(db, sql);
  assert.deepEqual(walks(plan), [], sql);
  assert.ok(!plan.some((detail) => detail.includes("TEMP B-TREE")) || /FROM traffic_/.test(sql), `sorted: ${sql}`);
}

const NUMBERS = "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 5000)";
/** Requests of three webhooks, of which many came at the same time, and runs; of another environment too. */
const OTHER_ROWS = `
  INSERT INTO webhook_requests (environment_id, webhook_id, request_id, received_at, ip, method, headers, query, body, status, outcome,
    delivered_to, transform_version, duration_ms, logs)
  ${NUMBERS} SELECT 1 + n % 2, 'wh_' || n % 3, n, n / 100, '', 'POST', '[]', '', printf('%.*c', n % 50, 'x'), 200, 'accepted', 1, 1, 0.5, '[]' FROM numbers;
  INSERT INTO runs (environment_id, run_id, function_no, event_no, status, lane, created_at, state_bytes, output)
  ${NUMBERS} SELECT 1 + n % 2, printf('%026d', n), 1, n, 'completed', 'app:1', n, n % 7, 'null' FROM numbers`;

test("what an environment stores is summed through indexes, a slice of rows at a time, and others have their turn between slices", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "inlet-plans-"));
  t.after(() => rmSync(folder, { recursive: true }));
  await filledFolder(folder);
  const db = openWriter(join(folder, DATABASE_FILE));
  t.after(() => db.close());
  db.exec(OTHER_ROWS);
  let turns = 0;
  const turn = () => {
    turns++;
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  t.after(() => clearImmediate(next));
  const environmentId = 1 as EnvironmentId;
  const expected = Object.entries(STORED_ROWS).map(([kind, { table, size }]) => {
    const { bytes } = db.prepare(`SELECT sum(${size}) AS bytes FROM ${table} WHERE environment_id = 1`).get() as { bytes: number };
    return [kind, bytes];
  });
  let stored = {};
  const reads = await readWhile(async () => {
    stored = await storedBytes(db, { environmentId });
  });
  assert.deepEqual(stored, Object.fromEntries(expected));
  assert.equal(reads.length, 9, "three statements for each kind");
  for (const { sql } of reads) assertBounded(db, sql);
  assert.ok(turns >= (EVENTS + 2 * 2_500) / 2_000 - 2, `${turns} turns`);
});
