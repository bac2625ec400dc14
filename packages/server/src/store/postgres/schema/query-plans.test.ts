/** With many partitions, nothing reads a table that grows as a whole, and what is looked for by its key is looked for in one of them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { type EventId, firstIdAt, type RunId, type WebhookId, type WebhookRequestId } from "@inlet/protocol";
import { awayFromMidnight } from "../../../../test/support/away-from-midnight.ts";
import { freshDatabase, inDatabase, openPatientStore, whyNoPostgres } from "../../../../test/support/postgres.ts";
import { explainEverything, type PlanNode, plansWhile } from "../../../../test/support/postgres-plans.ts";
import {
  advance,
  beginOne,
  claimAll,
  doneStep,
  makeScene,
  SAMPLE_RULES,
  type Scene,
  sampleCall,
  sampleEnd,
} from "../../conformance/run-samples.ts";
import { sampleBatch, sampleEvent } from "../../conformance/samples.ts";
import { RUN_STATUSES } from "../../contract/index.ts";

const skip = whyNoPostgres() ?? false;
const DAY_MS = 86_400_000;
const DAYS = 30;
/** Days on which so much happened that reading all of it would be felt: among them those that everyday work looks at. */
const BIG_DAYS = [0, 1, 15, DAYS];
const BIG_ROWS = 10_000;
const GROWING = ["events", "runs", "steps", "calls", "failed_attempts", "batched_events", "webhook_requests"];

function partitionOf(table: string, day: number): string {
  return day === 0 ? `${table}_before` : `${table}_${new Date(Date.now() + day * DAY_MS).toISOString().slice(0, 10).replaceAll("-", "")}`;
}

function partitionsOf(nodes: readonly PlanNode[], table: string): Set<string> {
  return new Set(nodes.flatMap(({ "Relation Name": name }) => (name?.startsWith(`${table}_`) ? [name] : [])));
}

async function fill(url: string): Promise<void> {
  const today = Math.floor(Date.now() / DAY_MS);
  const id = `substr(first_id_at((${today} + d) * ${DAY_MS}::bigint + n), 1, 10) || lpad(n::text, 16, '0')`;
  const many = `FROM generate_series(0, ${DAYS}) AS d, generate_series(1, CASE WHEN d IN (${BIG_DAYS.join()}) THEN ${BIG_ROWS} ELSE 100 END) AS n`;
  await inDatabase(url, async (client) => {
    await client.query(
      `INSERT INTO events (sequence, environment_id, event_id, name_id, ts, received_at, source_no, data)
       SELECT nextval('event_sequence'), 1, ${id}, 1, 1, (${today} + d) * ${DAY_MS}::bigint + n, 1, '{}' ${many}`,
    );
    await client.query(
      `INSERT INTO runs (run_no, environment_id, run_id, function_no, event_no, status, lane, created_at, ended_at)
       SELECT (${today} + d) * 100000000000::bigint + 50000000000 + n, 1, ${id}, 1 + n % 2, n, CASE WHEN n % 10 = 0 THEN 'failed' ELSE 'completed' END,
         'app:1', 1, 1 ${many}`,
    );
    await client.query(
      `INSERT INTO steps (environment_id, run_no, step_id, kind, name, status, position, started_at, attempts)
       SELECT environment_id, run_no, 's', 'run', 's', 'completed', 0, 1, 1 FROM runs`,
    );
    await client.query(
      `INSERT INTO failed_attempts (environment_id, run_no, ended_at, attempt, started_at, error)
       SELECT environment_id, run_no, 1, 0, 1, '{}' FROM runs`,
    );
    await client.query(
      `INSERT INTO webhook_requests (environment_id, webhook_id, request_id, received_at, ip, method, headers, query, status, outcome,
         delivered_to, transform_version, duration_ms, logs)
       SELECT 1, 'w', 'req_' || ${id}, 1, '', '', '', '', 200, 'accepted', 1, 1, 1, '' ${many}`,
    );
    await client.query("ANALYZE");
  });
}

/** Everything that is done with events and runs all the time, often enough that plans are kept. */
async function everyday(scene: Scene): Promise<void> {
  const { store, environment } = scene;
  const environmentId = environment.id;
  const dayIds = [1, 15, DAYS].map((days) => firstIdAt(Date.now() + days * DAY_MS));
  for (let n = 0; n < 8; n++) {
    await store.eventAppend(sampleBatch(environment, [sampleEvent(), sampleEvent({ dedupId: "again" })], { idsFromSender: true }));
    const begun = await beginOne(scene);
    await store.runContext(begun);
    await advance(scene, begun, { steps: [doneStep("a")] });
    await advance(scene, begun, { end: sampleEnd() }, { entry: null });
    const answered = await beginOne(scene);
    await advance(scene, answered, { call: sampleCall(), steps: [doneStep("a")], entries: [{ kind: "call", stepId: null }] });
    await advance(scene, answered, { call: sampleCall(), end: sampleEnd() });
    await claimAll(scene, 5_000);
    await store.eventAt({ environmentId, sequence: 100 + n });
    for (const id of dayIds) {
      await store.eventGet({ environmentId, id: id as EventId });
      await store.runGet({ environmentId, id: id as RunId });
      await store.webhookRequestGet({ environmentId, webhookId: "w" as WebhookId, id: `req_${id}` as WebhookRequestId });
    }
  }
  await store.eventList({ environmentId, limit: 20 });
  await store.eventList({ environmentId, limit: 20, name: "shop/order.created" });
  await store.eventFollow({ environmentId, after: 10, limit: 20 });
  for (const status of RUN_STATUSES) await store.runList({ environmentId, limit: 20, status });
  await store.runList({ environmentId, limit: 20, functionNos: [scene.functions[0]] });
}

test(`with ${DAYS} days of partitions, everyday work touches few of them and reads none as a whole`, { skip }, async (t) => {
  await awayFromMidnight();
  const url = await freshDatabase(t);
  const first = await openPatientStore({ url, rules: SAMPLE_RULES });
  const keptMs = { events: 59 * DAY_MS, runs: 59 * DAY_MS, requests: 59 * DAY_MS };
  // As time goes by, a partition for each day; nothing becomes old enough to go.
  for (let day = 0; day < DAYS; day += 3) await first.retentionMaintain({ now: Date.now() + day * DAY_MS, keptMs });
  await makeScene(first);
  await first.stop();
  await fill(url);
  await explainEverything(url);
  const seen = await plansWhile(async () => {
    const store = await openPatientStore({ url, rules: SAMPLE_RULES });
    const environment = (await store.environmentList())[0];
    const [one, other] = (await store.functionList()).map(({ no }) => no);
    assert.ok(environment && one && other);
    await everyday({ store, environment, functions: [one, other] });
    await store.stop();
  });
  assert.ok(seen.length > 200, `only ${seen.length} plans were seen`);
  const big = new Set(GROWING.flatMap((table) => BIG_DAYS.map((day) => partitionOf(table, day))));
  assert.equal(await countTables(url, [...big]), big.size, "each of these days has its partition");
  const isWalk = (node: PlanNode) => node["Node Type"] === "Seq Scan" && big.has(node["Relation Name"] ?? "");
  const walked = seen.filter(({ nodes }) => nodes.some(isWalk));
  assert.deepEqual([...new Set(walked.map(({ text }) => text))], []);
  const byKey: Record<string, RegExp> = {
    events: /FROM events WHERE environment_id = \$1 AND event_id = |UPDATE events/,
    runs: /FOR UPDATE|UPDATE runs/,
    steps: /FROM steps WHERE environment_id = \$1 AND run_no = ANY/,
    webhook_requests: /request_id = \$3/,
  };
  for (const [table, pattern] of Object.entries(byKey)) {
    const found = seen.filter(
      ({ text, nodes }) => pattern.test(text) && nodes.some((node) => node["Relation Name"]?.startsWith(`${table}_`)),
    );
    assert.ok(found.length > 0, `nothing was looked for in ${table}`);
    for (const { text, nodes } of found) {
      assert.equal(partitionsOf(nodes, table).size, 1, `${table}: ${text}`);
      const looks = nodes.filter((node) => node["Relation Name"]?.startsWith(`${table}_`) && node["Index Cond"]);
      for (const { "Index Cond": condition = "" } of looks) assert.match(condition, /(event_id|run_no|request_id) = /, text);
    }
  }
  const led = await ledByEnvironment(url);
  // Of what holds nothing PostgreSQL takes any index.
  const isEmpty = (index: string) => /_rest(_|$)/.test(index);
  const isAstray = ({ "Index Name": index = "", "Index Cond": condition = "" }: PlanNode) =>
    led.has(index) && !isEmpty(index) && !condition.includes("environment_id");
  // The look every few seconds goes from lane to lane, in every environment.
  const others = seen.filter(({ text }) => !/WITH RECURSIVE walk[\s\S]*FROM queue/.test(text));
  const astray = others.flatMap(({ text, nodes }) => nodes.filter(isAstray).map((node) => `${node["Index Name"]}: ${text}`));
  assert.deepEqual([...new Set(astray)], [], "without the environment every shard would be asked, and the whole index is read");
});

async function countTables(url: string, names: readonly string[]): Promise<number> {
  const { rowCount } = await inDatabase(url, (client) => client.query("SELECT FROM pg_class WHERE relname = ANY ($1)", [names]));
  return rowCount ?? 0;
}

/** The indexes whose first column is the environment. */
async function ledByEnvironment(url: string): Promise<Set<string>> {
  const { rows } = await inDatabase(url, (client) =>
    client.query<{ name: string }>(
      `SELECT indexrelid::regclass::text AS name FROM pg_index
       JOIN pg_attribute AS a ON a.attrelid = indrelid AND a.attnum = indkey[0] WHERE a.attname = 'environment_id'`,
    ),
  );
  return new Set(rows.map(({ name }) => name));
}
