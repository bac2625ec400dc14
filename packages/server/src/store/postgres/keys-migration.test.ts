/**
 * The migration that makes the environment lead every key, on a database in use: rows of two environments in every table, in old and
 * new partitions. Nothing is lost, and work that was under way goes on.
 */

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { AppId, EnvironmentId, FunctionNo, RunId, RunNo, WebhookId } from "@inlet/protocol";
import type { Client } from "pg";
import { freshDatabase, inDatabase, whyNoPostgres } from "../../../test/support/postgres.ts";
import { temporaryFolder } from "../../../test/support/service.ts";
import { doneStep, SAMPLE_RULES, sampleEnd, sampleLease, stepId } from "../conformance/run-samples.ts";
import { sampleEvent } from "../conformance/samples.ts";
import { type ClaimedEntry, type Removal, type Store, StoreRefused, TIMER_LANE } from "../contract/index.ts";
import { Database } from "./database.ts";
import { MIGRATIONS, migrate } from "./migrate.ts";
import { openPostgresStore } from "./postgres-store.ts";

const skip = whyNoPostgres() ?? false;
const hooks = { onFault: () => undefined, onRecovery: () => undefined };
const DAY_MS = 86_400_000;
const DAY = Math.floor(Date.now() / DAY_MS);
/** In the partition that was there first, in one of its own, and in the one for what fits nowhere. */
const RUN_NOS = [7, (DAY + 1) * 100_000_000_000 + 7, (DAY + 400) * 100_000_000_000 + 7] as RunNo[];
const ENVIRONMENTS = [1, 2] as EnvironmentId[];
const NODE = "node-1";

type Row = Record<string, string | number | boolean | null>;

/** The migrations up to the last one before, as the release before had them. */
function migrationsBefore(t: TestContext): URL {
  const folder = join(temporaryFolder(t), "migrations");
  mkdirSync(folder);
  for (const name of readdirSync(MIGRATIONS).sort()) {
    if (name.startsWith("008-")) break;
    cpSync(new URL(name, MIGRATIONS), join(folder, name));
  }
  return pathToFileURL(`${folder}/`);
}

async function insert(client: Client, table: string, ...rows: Row[]): Promise<void> {
  for (const row of rows) {
    const places = Object.keys(row).map((_, n) => `$${n + 1}`);
    await client.query(`INSERT INTO ${table} (${Object.keys(row).join(", ")}) VALUES (${places.join(", ")})`, Object.values(row));
  }
}

/** Everything that belongs to one environment: runs in three partitions that wait for `go`, one call that is due, one that is held. */
async function fillEnvironment(client: Client, environment_id: number): Promise<void> {
  const of = { environment_id };
  const webhook_id = `wh_${environment_id}`;
  const at = { created_at: 1 };
  await insert(client, "environments", { name: `environment ${environment_id}`, kind: "custom", ...at });
  await insert(client, "keys", {
    key_id: `k${environment_id}`,
    kind: "event",
    name: "k",
    ...of,
    hash: `h${environment_id}`,
    prefix: "p",
    ...at,
  });
  const app = { name: "shop", url: "http://127.0.0.1", sdk: "s", headers: "service", checksum: "c", ...at, synced_at: 1 };
  await insert(client, "apps", { app_id: `app_${environment_id}`, ...of, ...app });
  await insert(client, "functions", {
    ...{ ...of, app_no: environment_id, function_id: "ship", name: "ship", config: "{}", ...at, updated_at: 1 },
  });
  await insert(client, "webhooks", { webhook_id, ...of, name: "w", version: 2, enabled: 1, ...at, updated_at: 1 });
  await insert(client, "webhook_tokens", { token: `t${environment_id}`, webhook_id, ...at });
  for (const version of [1, 2]) await insert(client, "webhook_versions", { webhook_id, version, transform: `v${version}`, ...at });
  const request = { ip: "", method: "POST", headers: "{}", query: "", status: 200, outcome: "accepted", delivered_to: 1 };
  const answered = { transform_version: 1, duration_ms: 1, logs: "[]" };
  await insert(client, "webhook_requests", {
    ...of,
    webhook_id,
    request_id: `req_01R${environment_id}`,
    received_at: 1,
    ...request,
    ...answered,
  });
  await insert(client, "dedup_keys", { ...of, dedup_key: "d", event_id: `0${environment_id}EVENT0`, first_seen_at: 1_000 });
  await insert(client, "event_types", { ...of, name_id: 1, first_seen_at: 1, last_seen_at: 1, count: 1 });
  await insert(client, "event_type_hours", { ...of, name_id: 1, hour: 1, count: 1 });
  for (const table of ["traffic_minutes", "traffic_hours"]) {
    const runs = { runs_started: 0, runs_completed: 0, runs_failed: 0 };
    await insert(client, table, { ...of, at: 0, accepted: 1, duplicates: 0, refused: 0, ...runs });
  }
  await insert(client, "lanes", { key: `app:${environment_id}` }, { key: `gate:${environment_id}` }, { key: `unused:${environment_id}` });
  await insert(client, "marks", { function_no: environment_id, kind: "rate", key: "k", value: "17", expires_at: 9_000_000_000_000 });
  for (const [n, day_no] of RUN_NOS.entries()) await fillRun(client, environment_id, n, day_no + environment_id);
  const cron = { lane_no: 1, home_lane_no: 1, rank: 5_000, due_at: 5_000, kind: "cron", subject: "* * * * *" };
  await insert(client, "queue", { ...of, entry_no: environment_id * 100 + 90, ...cron, function_no: environment_id });
}

async function fillRun(client: Client, environment_id: number, n: number, run_no: number): Promise<void> {
  const sequence = environment_id * 10 + n;
  const [laneNo, gateNo] = [2 + (environment_id - 1) * 3, 3 + (environment_id - 1) * 3];
  const of = { environment_id };
  const made = { name_id: 1, ts: 1, received_at: 1_000, source_no: 1, data: `{"n":${n}}` };
  await insert(client, "events", { sequence, ...of, event_id: `0${environment_id}EVENT${n}`, ...made });
  const run = {
    function_no: environment_id,
    event_no: sequence,
    event_nos: n === 0 ? `[${sequence},${sequence + 1}]` : null,
    status: "running",
  };
  // The last one stands at the gate, where a run holds the only place.
  await insert(client, "runs", {
    run_no,
    ...of,
    run_id: `0${environment_id}RUN${n}`,
    ...run,
    lane_no: n === 2 ? gateNo : laneNo,
    created_at: n,
  });
  if (n === 0) await insert(client, "batched_events", { event_no: sequence + 1, run_no });
  if (n === 0) await insert(client, "run_places", { place: `place ${environment_id}`, run_no });
  const step = { kind: "wait", name: "s", status: "waiting", position: 0, started_at: 1, attempts: 1 };
  await insert(client, "steps", { run_no, step_id: "go", ...step });
  await insert(client, "failed_attempts", { run_no, ended_at: 2, attempt: 0, started_at: 1, error: '{"name":"E","message":"m"}' });
  const call = { attempt: 0, started_at: 1, ended_at: 2, is_error: 0, path: "/", steps_given: 0, answer_length: 0 };
  await insert(client, "calls", { run_no, ...call });
  await insert(client, "waits", {
    ...of,
    event_name: `go/${n}`,
    match_path: "*",
    match_key: "",
    kind: "event",
    run_no,
    step_id: "go",
    expires_at: 9_000_000,
  });
  const lane = n === 2 ? gateNo : laneNo;
  const entry = { entry_no: environment_id * 100 + n, ...of, kind: "call", run_no, function_no: environment_id, home_lane_no: lane };
  const held = { lane_no: lane, rank: 40_000, due_at: 40_000, leased_by: NODE, claims: 1 };
  await insert(client, "queue", { ...entry, ...(n === 1 ? held : { lane_no: lane, rank: n, due_at: n }) });
  await insert(client, "queue", {
    ...entry,
    entry_no: environment_id * 100 + 50 + n,
    kind: "timeout",
    step_id: "go",
    lane_no: 1,
    rank: 8_000_000,
    due_at: 8_000_000,
  });
}

async function fillOthers(client: Client): Promise<void> {
  await insert(client, "event_names", { name: "go/begin" });
  await insert(client, "event_sources", { source_kind: "key", source_id: "k" });
  await insert(client, "limit_holders", { limit_id: "l", node: NODE, until: 1 });
  await insert(client, "sessions", { session_id: "s", hash: "h", created_at: 1, last_seen_at: 1, expires_at: 1, ip: "" });
  const done = { at: 1, actor_kind: "a", actor_id: "a", actor_name: "a", action: "a" };
  await insert(client, "audit_log", { ...done, target_kind: "a", target_id: "a", target_name: "a", details: "{}" });
  await insert(client, "idempotency_keys", { owner: "o", key: "k", fingerprint: "f", started_at: 1 });
  await insert(client, "nodes", { node: "gone", version: "0", schema_known: 6, started_at: 1, last_seen_at: 1 });
  await insert(client, "store_copy", { only_row: 1, copy_id: "c", began_at: 1, finished_at: 2 });
  await insert(client, "store_copy_tables", { table_name: "t", reached: "[]", rows: 0, is_done: true });
}

/** By table, how many rows; their partitions together. */
async function countAll(client: Client): Promise<Record<string, number>> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace ORDER BY 1`,
  );
  const counts: Record<string, number> = {};
  for (const { name } of rows) counts[name] = Number((await client.query(`SELECT count(*) AS n FROM ${name}`)).rows[0].n);
  return counts;
}

async function databaseBefore(t: TestContext): Promise<{ url: string; counts: Record<string, number> }> {
  const url = await freshDatabase(t);
  const folder = migrationsBefore(t);
  const database = new Database({ url, connectionsMax: 1, listenUrl: null, ...hooks });
  await migrate(database, folder);
  await database.stop();
  const counts = await inDatabase(url, async (client) => {
    const [from, to] = [DAY + 1, DAY + 2];
    for (const table of ["runs", "batched_events", "steps", "failed_attempts", "calls"]) {
      const name = `${table}_${new Date(from * DAY_MS).toISOString().slice(0, 10).replaceAll("-", "")}`;
      await client.query(`CREATE TABLE ${name} PARTITION OF ${table} FOR VALUES FROM (${from}00000000000) TO (${to}00000000000)`);
    }
    await client.query("INSERT INTO time_partitions VALUES ('runs', $1, $2)", [from, to]);
    await fillOthers(client);
    for (const environmentId of ENVIRONMENTS) await fillEnvironment(client, environmentId);
    await client.query("SELECT setval('event_sequence', 100), setval('number_blocks', 100)");
    return countAll(client);
  });
  return { url, counts };
}

test("a database in use is migrated with everything in it, and work goes on where it was", { skip }, async (t) => {
  const { url, counts } = await databaseBefore(t);
  assert.deepEqual(
    Object.entries(counts).filter(([, rows]) => rows === 0),
    [],
    "there were rows in every table",
  );
  const store = await openPostgresStore({ url, rules: SAMPLE_RULES, ...hooks });
  t.after(() => store.stop());
  // The node that was opened is one more.
  assert.deepEqual(await inDatabase(url, countAll), { ...counts, nodes: (counts.nodes ?? 0) + 1 });
  for (const environmentId of ENVIRONMENTS) await everythingWorks(store, environmentId);
});

async function everythingWorks(store: Store, environmentId: EnvironmentId): Promise<void> {
  const functionNo = environmentId as number as FunctionNo;
  for (const [n, day] of RUN_NOS.entries()) {
    const run = await store.runGet({ environmentId, id: `0${environmentId}RUN${n}` as RunId });
    assert.deepEqual([run?.no, run?.event?.name], [day + environmentId, "go/begin"]);
    assert.deepEqual([run?.steps.length, run?.attempts.length, run?.calls.length], [1, 1, 1]);
    const context = await store.runContext({ environmentId, runNo: (day + environmentId) as RunNo });
    assert.equal(context?.events.length, n === 0 ? 2 : 1);
  }
  const elsewhere = ENVIRONMENTS.find((one) => one !== environmentId) as EnvironmentId;
  const [first, held] = RUN_NOS.map((day) => (day + environmentId) as RunNo) as [RunNo, RunNo];
  assert.equal(await store.runContext({ environmentId: elsewhere, runNo: first }), null, "a run is in its environment");
  const ofEvent = await store.runList({ environmentId, limit: 10, eventId: `0${environmentId}EVENT1` as never });
  assert.deepEqual(ofEvent.runs.map(({ no }) => no).sort(), [first, held].sort(), "one of them by its batch");

  // What waits is claimed, what is held is not; a run that waits for a place does not get one that is taken.
  const claim = (lane: string, now = 10_000) => store.queueClaimMany({ lane, limit: 10, now, lease: sampleLease() });
  const { claimed } = await claim(`app:${environmentId}`);
  assert.deepEqual(
    claimed.map(({ runNo }) => runNo),
    [first],
  );
  const gates = [{ lane: `gate:${environmentId}`, home: `app:${environmentId}` }];
  const grant = (cap: number) => store.placeGrantMany({ place: `place ${environmentId}`, cap, gates, now: 10_000 });
  assert.deepEqual(await grant(1), { holders: [first], waiting: [gates[0]?.lane], more: false });
  assert.equal((await grant(2)).holders.length, 2);
  assert.ok((await store.queueLanes()).includes(TIMER_LANE));
  assert.equal(await store.markGet({ environmentId, functionNo, kind: "rate", key: "k" }), "17");

  // An event wakes the step that waits for it; the call that was held when the old node ended is finished.
  const batch = { environmentId, receivedAt: 2_000, source: { kind: "key", id: "k" } as const, duplicateSince: 0, idsFromSender: false };
  await store.eventAppend({ ...batch, events: [sampleEvent({ name: "go/0", data: '{"go":true}' })] });
  const woken = await store.runGet({ environmentId, id: `0${environmentId}RUN0` as RunId });
  assert.equal(woken?.steps[0]?.status, "completed");
  const duplicate = await store.eventAppend({ ...batch, events: [sampleEvent({ dedupId: "d" })] });
  assert.deepEqual([duplicate.duplicates, duplicate.ids], [1, [`0${environmentId}EVENT0`]]);
  const end = { steps: [doneStep("more")], settled: [stepId("go")], end: sampleEnd() };
  const entryNo = (environmentId * 100 + 1) as ClaimedEntry["no"];
  const ended = await store.runAdvance({ environmentId, runNo: held, entryNo, now: 20_000, lease: sampleLease(), decide: () => end });
  assert.equal(ended.applied, true);
  assert.equal((await store.runGet({ environmentId, id: `0${environmentId}RUN1` as RunId }))?.status, "completed");

  // What people configure.
  const id = `wh_${environmentId}` as WebhookId;
  assert.equal((await store.webhookUpdate({ environmentId, id, changes: { version: 1 }, updatedAt: 5 }))?.transform, "v1");
  assert.equal(
    (await store.webhookRotate({ environmentId, id, token: `new ${environmentId}`, rotatedAt: 6 }))?.token,
    `new ${environmentId}`,
  );
  const removed = await store.appRemove({ environmentId, id: `app_${environmentId}` as AppId, removedAt: 7 });
  assert.equal(removed?.name, "shop");

  // The first run ends, and goes when it is old.
  const lease = sampleLease();
  await store.runAdvance({ environmentId, runNo: first, entryNo: null, now: 20_000, lease, decide: () => ({ end: sampleEnd() }) });
  let removedRuns = 0;
  for (let after: string | null = null, more = true; more; more = after !== null) {
    const walked: Removal = await store.runExpireMany({ until: 3_000, after, limit: 1 });
    removedRuns += walked.removed;
    after = walked.next;
  }
  assert.equal(removedRuns, 1);
  assert.equal(await store.runGet({ environmentId, id: `0${environmentId}RUN0` as RunId }), null);
}

test("while a node of an older program is alive the migration is not made, and afterwards it is shut out", { skip }, async (t) => {
  const { url, counts } = await databaseBefore(t);
  const alive = "UPDATE nodes SET last_seen_at = (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
  await inDatabase(url, (client) => client.query(alive));
  await assert.rejects(
    openPostgresStore({ url, ...hooks }),
    (error) => error instanceof StoreRefused && /008-.*still work/.test(error.message),
  );
  assert.deepEqual(await inDatabase(url, countAll), counts);
  await inDatabase(url, (client) => client.query("DELETE FROM nodes"));
  await (await openPostgresStore({ url, ...hooks })).stop();
  const old = new Database({ url, connectionsMax: 1, listenUrl: null, ...hooks });
  await assert.rejects(migrate(old, migrationsBefore(t)), /newer version of Inlet/);
  await old.stop();
});
