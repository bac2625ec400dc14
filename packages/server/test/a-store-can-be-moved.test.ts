/**
 * `inlet migrate-store` takes everything from a data folder to PostgreSQL: what the service on the folder said, the nodes on the
 * database say too, and what was under way goes on. It may be killed at any point and started again.
 */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { type AlertRule, type NewJob, type Reconciliation, StoreRefused } from "../src/store/contract/index.ts";
import { COPIED_TABLES } from "../src/store/copy/copied-tables.ts";
import { copyStore } from "../src/store/copy/copy-store.ts";
import { openPostgresStore } from "../src/store/postgres/postgres-store.ts";
import { MOVED_FILE } from "../src/store/sqlite/folder/moved-folder.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite-store.ts";
import { poll, type RunView, runsOf, startApp } from "./support/app.ts";
import { freshDatabase, inDatabase, whyNoPostgres } from "./support/postgres.ts";
import { runInlet, spawnInlet, startInlet } from "./support/process.ts";
import { startTestService, type TestService, temporaryFolder } from "./support/service.ts";
import { makeWebhook, post } from "./support/webhooks.ts";

const skip = whyNoPostgres() ?? false;
const hooks = { onFault: () => undefined, onRecovery: () => undefined };
const NO_PROGRESS = { onProgress: () => undefined };
/** Every string JavaScript has may be an id: one half of a pair, a backslash, a NUL; and one longer than an index of PostgreSQL takes. */
const STRANGE_IDS = ["plain", "back\\slash", "nul\u0000", "half\ud800", "long-".repeat(100)];
const LAST_POINT = "every table is there";
const EXACT = '{"z":1,"a":12345678901234567890.10,"text":"caf\\u00e9 \\u0000 é","nested":{"b":[1e400,{}],"b":2}}';

test("everything is there afterwards, and what was under way goes on", { skip }, async (t) => {
  const dataDir = temporaryFolder(t);
  const databaseUrl = await freshDatabase(t);
  const before = await startTestService(t, { dataDir });
  await before.rest("PUT", "/event-types/shop%2Fsleep", { body: { retention: "30d" } });
  const steps: string[] = [];
  const app = await startApp(t, before, (inlet) => [
    inlet.createFunction({ id: "sleeps" }, { event: "shop/sleep" }, async ({ step }) => {
      const first = await step.run("before", () => steps.push("before sleep") && "kept");
      await step.sleep("nap", "1h");
      await step.run("after", () => void steps.push("after sleep"));
      return first;
    }),
    inlet.createFunction({ id: "waits", concurrency: { fn: [{ limit: 1 }] } }, { event: "shop/wait" }, async ({ event, step }) => {
      const paid = await step.waitForEvent("paid", { event: "shop/paid", if: "async.data.order == event.data.order", timeout: "1h" });
      return { order: event.data.order, paid: paid?.data.by ?? null };
    }),
    inlet.createFunction({ id: "fails", retries: 0, ordering: { key: "1", onFailure: "hold" } }, { event: "shop/fail" }, () => {
      throw new Error("on purpose");
    }),
    inlet.createFunction({ id: "debounced", debounce: { period: "1h" } }, { event: "shop/often" }, ({ event }) => event.data.n),
    inlet.createFunction({ id: "yearly" }, { cron: "0 0 1 1 *" }, () => undefined),
  ]);
  const sent = await fill(before);
  await before.rest("PUT", "/event-types/shop%2Fsleep", { body: { schema: { type: "object" } } });
  await before.rest("GET", "/event-types/shop%2Fsleep");
  await poll(async () => ((await runOf(before, sent.sleep))?.status === "sleeping" ? true : null), "the sleep");
  await poll(async () => ((await runOf(before, sent.wait))?.status === "waiting" ? true : null), "the wait");
  await runsOf(before, sent.fail);
  const decision = { function: "shop-fails", pattern: "Error: on purpose", state: "ignored" };
  assert.equal((await before.rest("PUT", "/failures", { body: decision })).status, 200);
  await poll(async () => ((await before.rest("GET", "/event-types")).body.data.length > 8 ? true : null), "the counts of event types");
  const told = await everythingTold(before, sent.webhook);
  await before.stop();
  await addRest(dataDir);

  const moved = await runInlet(t, ["migrate-store", "--json", "--from", dataDir, "--to", databaseUrl]);
  assert.equal(moved.code, 0, moved.stderr);
  const report = JSON.parse(moved.stdout);
  assert.equal(report.complete, true);
  assert.equal(report.tables.length, COPIED_TABLES.length);
  for (const { name } of COPIED_TABLES.filter((table) => !["batched_events"].includes(table.name))) {
    assert.ok(
      report.tables.find((table: { name: string }) => table.name === name).rows > 0,
      `nothing to copy in ${name}: the test is blind there`,
    );
  }

  await checkRest(databaseUrl);
  const first = await startTestService(t, { databaseUrl });
  const toldNow = await everythingTold(first, sent.webhook);
  for (const [path, text] of Object.entries(told)) assert.equal(toldNow[path], text, path);
  await first.stop();
  await letTimersEnd(databaseUrl);
  const after = await startTestService(t, { databaseUrl });
  for (const [n, id] of STRANGE_IDS.entries()) {
    const again = await after.send({ name: "shop/odd", id, data: {} });
    assert.deepEqual(again.body.ids, [sent.strange[n]], `the id ${JSON.stringify(id)} is still a duplicate`);
  }
  assert.equal((await after.rest("GET", `/events/${sent.exact}`)).text.includes(EXACT), true, "the payload is as it was sent");
  const [slept] = await runsOf(after, sent.sleep);
  assert.deepEqual([slept.status, slept.output], ["completed", "kept"]);
  assert.deepEqual(steps, ["before sleep", "after sleep"], "no step ran twice");
  assert.equal((await after.send({ name: "shop/paid", data: { order: 7, by: "card" } })).status, 200);
  const [waited] = await runsOf(after, sent.wait);
  assert.deepEqual([waited.status, waited.output], ["completed", { order: 7, paid: "card" }]);
  const debounced = await poll(async () => {
    const { body } = await after.rest("GET", "/runs?function=shop-debounced");
    return body.data[0]?.status === "completed" ? (await after.rest("GET", `/runs/${body.data[0].id}`)).body.data : null;
  }, "the debounced run");
  assert.equal(debounced.output, 3);
  await everySequenceIsAhead(databaseUrl);
  // New rows take new numbers.
  const fresh = await makeWebhook(after);
  const posted = await post(fresh.url, { a: 1 });
  assert.equal(posted.status, 200, posted.text);
  assert.equal((await after.rest("POST", "/keys", { body: { kind: "event", name: "fresh" } })).status, 201);
  assert.equal((await after.rest("POST", "/environments", { body: { name: "fresh", kind: "custom" } })).status, 201);
  assert.equal(
    (await post(sent.oldToken.replace(/^http:\/\/[^/]+/, after.url), {})).status,
    404,
    "a token that was rotated away stays known",
  );
  await app.stop();
});

test("a folder in use, a database that is not empty, and a store that has moved are refused", { skip }, async (t) => {
  const dataDir = temporaryFolder(t);
  const databaseUrl = await freshDatabase(t);
  const inUse = await startInlet(t, ["start", "--port", "0", "--host", "127.0.0.1", "--data-dir", dataDir]);
  const move = (to: string, from = dataDir) => runInlet(t, ["migrate-store", "--from", from, "--to", to]);
  const held = await move(databaseUrl);
  assert.equal(held.code, 1);
  assert.match(held.stderr, /in use by another Inlet process/);
  await inUse.end("SIGTERM");

  const used = await freshDatabase(t);
  const other = await startTestService(t, { databaseUrl: used });
  assert.match((await move(used)).stderr, /the node \S+ works on this database/);
  await other.stop();
  const full = await move(used);
  assert.equal(full.code, 1);
  assert.match(full.stderr, /not empty: there are rows in environments/);
  assert.equal(existsSync(join(dataDir, MOVED_FILE)), false, "the folder was not touched");
  assert.match((await move(databaseUrl, temporaryFolder(t))).stderr, /there is no store in the folder/);
  assert.equal((await move("postgres://postgres@127.0.0.1:1/none")).code, 3);
  assert.equal((await move("mysql://127.0.0.1/none")).code, 2);

  assert.equal((await move(databaseUrl)).code, 0);
  assert.equal((await move(databaseUrl)).code, 0, "once more finds everything there");
  const again = await runInlet(t, ["start", "--port", "0", "--data-dir", dataDir]);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /was moved to postgres:\/\/127\.0\.0\.1[^ ]*: start with --database-url/);
  const doctor = await runInlet(t, ["doctor", "--port", "0", "--data-dir", dataDir]);
  assert.match(doctor.stdout, /^warning {2}data folder: its data was moved to postgres:/m);
  assert.match((await move(await freshDatabase(t))).stderr, /was moved to postgres:\/\/\S+ already/);
  const stranger = temporaryFolder(t);
  await openSqliteStore({ folder: stranger, ...hooks }).stop();
  assert.match((await move(databaseUrl, stranger)).stderr, /holds the copy of another store/);
});

test("killed at each point and started again it ends complete, with nothing twice; until then no node works on it", { skip }, async (t) => {
  const dataDir = temporaryFolder(t);
  const databaseUrl = await freshDatabase(t);
  const service = await startTestService(t, { dataDir });
  for (let batch = 0; batch < 30; batch++) {
    const events = Array.from({ length: 1_000 }, (_, n) => ({ name: `shop/${n % 7}`, id: `${batch}-${n}`, data: { batch, n } }));
    assert.equal((await service.send(events)).status, 200);
  }
  await service.stop();

  const rowsOf = (table: string) => async () =>
    inDatabase(databaseUrl, async (client) => {
      const { rows } = await client
        .query("SELECT rows, is_done FROM store_copy_tables WHERE table_name = $1", [table])
        .catch(() => ({ rows: [] }));
      return (rows[0] ?? { rows: 0, is_done: false }) as { rows: string; is_done: boolean };
    });
  const points: [name: string, isReached: () => Promise<boolean>][] = [
    ["the folder is closed", async () => existsSync(join(dataDir, MOVED_FILE))],
    ["events have begun", async () => Number((await rowsOf("events")()).rows) > 0],
    ["events are half there", async () => Number((await rowsOf("events")()).rows) >= 15_000],
    ["dedup keys have begun", async () => Number((await rowsOf("dedup_keys")()).rows) > 0],
    [LAST_POINT, async () => (await rowsOf("traffic_hours")()).is_done],
  ];
  for (const [point, isReached] of points) {
    const copying = spawnInlet(t, ["migrate-store", "--from", dataDir, "--to", databaseUrl]);
    while (!(await isReached()) && copying.child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 2));
    await copying.end("SIGKILL");
    const isComplete = await isFinished(databaseUrl);
    t.diagnostic(`${point}: ${isComplete ? "complete" : "incomplete"}`);
    assert.ok(!isComplete || point === LAST_POINT, `it was complete before it could be killed when ${point}`);
    if (!isComplete) await refusesNodes(databaseUrl);
  }
  const { isResumed } = await copyStore({ folder: dataDir, url: databaseUrl, ...NO_PROGRESS });
  assert.equal(isResumed, true);

  const db = new DatabaseSync(join(dataDir, "inlet.db"), { readOnly: true });
  t.after(() => db.close());
  for (const { name, columns } of COPIED_TABLES.filter(({ convert }) => !convert)) {
    const source = db
      .prepare(`SELECT ${Object.values(columns).join(", ")} FROM ${name}`)
      .all()
      .map((row) => JSON.stringify(Object.values(row)));
    const { rows } = await inDatabase(databaseUrl, (client) => client.query(`SELECT ${Object.keys(columns).join(", ")} FROM ${name}`));
    const target = rows.map((row) => JSON.stringify(Object.keys(columns).map((column) => numeric(row[column]))));
    assert.deepEqual(target.sort(), source.map((row) => JSON.stringify(JSON.parse(row).map(numeric))).sort(), name);
  }
  const moved = await startTestService(t, { databaseUrl });
  assert.equal((await moved.send({ name: "shop/1", id: "29-999", data: {} })).status, 200);
  assert.equal((await moved.rest("GET", "/events?limit=1")).body.data[0].dedupId, "29-999", "it was a duplicate, and not stored");
});

/** bigint comes as text from a bare client; both sides are compared as text. */
function numeric(value: unknown): unknown {
  return typeof value === "number" ? String(value) : value;
}

async function isFinished(url: string): Promise<boolean> {
  const { rows } = await inDatabase(url, (client) => client.query("SELECT finished_at FROM store_copy").catch(() => ({ rows: [] })));
  return rows[0]?.finished_at != null;
}

async function refusesNodes(url: string): Promise<void> {
  const hasBegun = await inDatabase(url, async (client) => (await client.query("SELECT 1 FROM store_copy")).rowCount === 1);
  if (!hasBegun) return;
  await assert.rejects(
    openPostgresStore({ url, ...hooks }),
    (error) => error instanceof StoreRefused && /not complete/.test(error.message),
  );
}

/** As if the hour of the sleep and of the debounce were over. */
async function letTimersEnd(databaseUrl: string): Promise<void> {
  await inDatabase(databaseUrl, async (client) => {
    await client.query("UPDATE queue SET rank = rank - 3600000, due_at = due_at - 3600000 WHERE lane = 'timers' AND kind <> 'timeout'");
    await client.query("UPDATE marks SET value = jsonb_set(value::jsonb, '{dueAt}', '1')::text WHERE kind = 'debounce'");
  });
}

/** Every column that a sequence numbers, found by its default or identity, has room above what was copied. */
async function everySequenceIsAhead(url: string): Promise<void> {
  await inDatabase(url, async (client) => {
    const { rows } = await client.query<{ table: string; column: string; next: string }>(
      `SELECT table_name AS table, column_name AS column,
         coalesce(pg_get_serial_sequence(table_name, column_name), split_part(column_default, '''', 2)) AS next
       FROM information_schema.columns
       WHERE table_schema = 'public' AND table_name = ANY ($1) AND (is_identity = 'YES' OR column_default LIKE 'nextval%')`,
      [COPIED_TABLES.map(({ name }) => name)],
    );
    assert.ok(rows.length >= 10, JSON.stringify(rows));
    for (const { table, column, next } of rows) {
      const { rows: found } = await client.query(`SELECT nextval($1) > coalesce(max(${column}), 0) AS ahead FROM ${table}`, [next]);
      assert.equal(found[0].ahead, true, `${table}.${column}`);
    }
  });
}

interface Sent {
  sleep: string;
  wait: string;
  fail: string;
  exact: string;
  strange: string[];
  webhook: string;
  oldToken: string;
}

/** Something of every kind, through the service itself. */
async function fill(service: TestService): Promise<Sent> {
  const send = async (event: unknown, environment?: string) => {
    const { status, text, body } = await service.send(
      event,
      environment === undefined ? {} : { headers: { "x-service-env": environment } },
    );
    assert.equal(status, 200, text);
    return body.ids[0] as string;
  };
  const exact = await send(`{"name":"shop/exact","data":${EXACT},"v":"2","user":{"id":"ü"}}`);
  const strange: string[] = [];
  for (const id of STRANGE_IDS) strange.push(await send({ name: "shop/odd", id, data: { id } }));
  const sleep = await send({ name: "shop/sleep", data: {} });
  const wait = await send({ name: "shop/wait", data: { order: 7 } });
  const fail = await send({ name: "shop/fail", data: {} });
  for (const n of [1, 2, 3]) await send({ name: "shop/often", data: { n } });
  await service.rest("POST", "/environments", { body: { name: "staging", kind: "custom" } });
  await service.rest("POST", "/environments", { body: { name: "feature/cart", kind: "branch" } });
  await service.rest("POST", "/environments/feature%2Fcart/archive");
  const key = (await service.rest("POST", "/keys", { body: { kind: "event", name: "gone" }, headers: { "idempotency-key": "once" } })).body
    .data;
  await service.rest("DELETE", `/keys/${key.id}`);
  const webhook = await makeWebhook(service);
  await post(webhook.url, { first: 1 });
  await service.rest("PUT", `/webhooks/${webhook.id}`, {
    body: { transform: 'function transform(evt) { return { name: "hook/\\\\two", data: evt } }' },
  });
  await post(webhook.url, { second: 2 });
  await post(webhook.url, "not json");
  await service.rest("POST", `/webhooks/${webhook.id}/rotate`);
  await service.rest("POST", "/approvals", { body: { signal: "back\\slash", prompt: "May we?", data: { a: "\\" }, timeout: "1d" } });
  await service.rest("PUT", "/saved-filters", { body: { list: "runs", name: "failed\\today", search: { status: "failed" } } });
  return { sleep, wait, fail, exact, strange, webhook: webhook.id, oldToken: webhook.url };
}

async function runOf(service: TestService, eventId: string): Promise<RunView | undefined> {
  return (await service.rest("GET", `/events/${eventId}/runs`)).body.data[0];
}

/** Every list REST has, and every run in full, as text. */
async function everythingTold(service: TestService, webhook: string): Promise<Record<string, string>> {
  const paths = [
    "/events?limit=100",
    "/runs?limit=100",
    "/environments",
    "/keys",
    "/webhooks",
    "/apps",
    "/functions",
    "/audit-log",
    "/event-types",
    "/approvals",
    "/saved-filters",
  ];
  paths.push(`/webhooks/${webhook}/versions`, `/webhooks/${webhook}/requests`);
  for (const { id } of (await service.rest("GET", "/runs?limit=100")).body.data) paths.push(`/runs/${id}`);
  for (const { id } of (await service.rest("GET", "/events?limit=100")).body.data) paths.push(`/events/${id}`);
  const told: Record<string, string> = {};
  for (const path of paths) {
    const { status, text } = await service.rest("GET", path);
    assert.equal(status, 200, `${path}: ${text}`);
    told[path] = text.replace(/http:\/\/127\.0\.0\.1:\d+/g, "http://here");
  }
  return told;
}

const SESSION = {
  id: "ses_1",
  hash: "0f".repeat(32),
  keyId: null,
  createdAt: 1,
  lastSeenAt: 2,
  expiresAt: 4_000_000_000_000,
  ip: "127.0.0.1",
  userAgent: "back\\slash",
} as never;
const CANCELLATION = {
  id: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
  environmentId: 1,
  functionId: "shop-ship",
  expression: 'event.data.a == "\\\\"',
  startedAfter: null,
  startedBefore: 3,
  createdAt: 4,
  endedAt: 5,
} as never;
const CALL = {
  owner: "own\\er",
  key: "k".repeat(2_000),
  fingerprint: "f",
  startedAt: 4_000_000_000_000,
  abandonedUntil: 0,
  forgottenUntil: 0,
};

/** About a run that never was. */
const JOB = {
  id: "01HZZZZZZZZZZZZZZZZZZZZZZZ",
  environmentId: 1,
  kind: "runs.cancel",
  filter: '{"function":"b\\\\s"}',
  functionId: "back\\slash",
  rate: 1,
  createdAt: 5,
  items: [999_999_999],
  listCursor: "c\\1",
  series: "s\\1",
  lease: null,
} as never as NewJob;
const PASS = {
  environmentId: 1,
  webhookId: "whk_1",
  jobId: "01HZZZZZZZZZZZZZZZZZZZZZZY",
  at: 4_000_000_000_000,
  startedAt: 3,
  since: 1,
  until: 2,
  isScheduled: true,
  listed: 4,
  seen: 3,
  recovered: 1,
  failed: 0,
  error: "back\\slash",
} as never as Reconciliation;
const MESSAGE = { channel: "orders\\1", topic: "paid", text: '{"data":"\\\\"}', runId: null };

const MIRROR = { environmentId: 1, eventId: "01ARYZ6S41TSV4RRFFQ69G5FAV", webhookId: "whk_1", targets: [2] };

const ALERT_RULE: AlertRule = {
  id: "alr_1",
  environmentId: 1 as AlertRule["environmentId"],
  name: "back\\slash",
  kind: "silence",
  functionId: null,
  webhookId: "whk_1",
  eventName: "shop/*",
  threshold: null,
  windowMs: null,
  quietHours: null,
  isEnabled: false,
  createdAt: 1,
  updatedAt: 2,
  raisedAt: null,
  lastRaisedAt: null,
  value: null,
  changes: 0,
};

/** What no call of REST leaves behind at will. */
async function addRest(folder: string): Promise<void> {
  const store = openSqliteStore({ folder, ...hooks });
  await store.sessionInsert(SESSION);
  await store.cancellationInsert(CANCELLATION);
  await store.idempotencyClaim(CALL);
  await store.idempotencyAnswer({ owner: CALL.owner, key: CALL.key, status: 201, body: '{"a":"\\\\"}' });
  await store.jobInsert(JOB);
  await store.reconciliationAdd(PASS);
  await store.realtimePublish({ environmentId: PASS.environmentId, messages: [MESSAGE], now: 1 });
  await store.alertRuleInsert(ALERT_RULE);
  await store.stop();
  const db = new DatabaseSync(join(folder, "inlet.db"));
  db.prepare("INSERT INTO pending_mirrors (environment_id, event_id, webhook_id, targets) VALUES (?, ?, ?, ?)").run(
    MIRROR.environmentId,
    MIRROR.eventId,
    MIRROR.webhookId,
    JSON.stringify(MIRROR.targets),
  );
  db.prepare("INSERT INTO resumptions (environment_id, event_name, event_no, after_wait_no) VALUES (1, 'shop/rest', 999999999, 7)").run();
  db.close();
}

async function checkRest(url: string): Promise<void> {
  const store = await openPostgresStore({ url, ...hooks });
  assert.deepEqual(await store.alertRuleList(), [ALERT_RULE]);
  assert.deepEqual(await store.mirrorList({ limit: 5 }), [MIRROR]);
  assert.deepEqual((await store.reconciliationList({ ...PASS, limit: 5 })).passes, [PASS]);
  const cursors = [{ channel: MESSAGE.channel, after: 0 }];
  const stream = { environmentId: PASS.environmentId, cursors, until: 1, publishedAfter: 0, limit: 5 };
  assert.deepEqual(
    (await store.realtimeRead(stream)).messages.map(({ number, text }) => [number, text]),
    [[1, MESSAGE.text]],
  );
  assert.deepEqual(await store.resumptionList({ limit: 5 }), [{ environmentId: 1, eventName: "shop/rest" }]);
  const job = await store.jobGet(JOB);
  const { items, lease: _lease, ...facts } = JOB;
  assert.deepEqual({ ...job, ...facts, total: 1 }, job);
  assert.deepEqual(await store.jobItems({ ...JOB, before: 1, limit: 5 }), items);
  assert.deepEqual(await store.sessionFind({ hash: "0f".repeat(32) }), SESSION);
  assert.deepEqual(await store.cancellationList({ environmentId: 1 as never }), [CANCELLATION]);
  assert.deepEqual((await store.idempotencyClaim(CALL))?.answer, { status: 201, body: '{"a":"\\\\"}' });
  await store.stop();
}
