/** Erasure: nothing of a payload is left in the store's files or in later backups, and ids, names, times and counts stay. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { makeBackup } from "../src/store/sqlite/backup/make-backup.ts";
import { test as bothStores } from "./support/both-stores.ts";
import { DEDUP_ID, KEPT, NEEDLE, personalData } from "./support/erasure-scene.ts";
import { inDatabase, migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { startInlet } from "./support/process.ts";
import { pagesOf, sourceOf, startProvider } from "./support/provider.ts";
import { endedRun, runsOfEvent, runsOfFunction, until } from "./support/runs.ts";
import { API_KEY, call, EVENT_KEY, startTestService, type TestService, temporaryFolder } from "./support/service.ts";
import { makeWebhook, post, requestsOf } from "./support/webhooks.ts";

interface Place {
  options: { dataDir: string } | { databaseUrl: string };
  flags: string[];
  /** Makes the engine keep copies of its own, such as statistics. */
  spread(): Promise<unknown>;
  /** Nothing of the person is stored, and something of somebody else is. */
  search(): Promise<void>;
  /** Another process may go on with jobs of one that was killed. */
  afterKill(): Promise<unknown>;
}

async function sqlite(t: TestContext): Promise<Place> {
  const dataDir = temporaryFolder(t);
  const place = { options: { dataDir }, flags: ["--data-dir", dataDir] };
  return { ...place, spread: async () => undefined, search: () => searchFiles(t, dataDir), afterKill: async () => undefined };
}

async function postgres(t: TestContext): Promise<Place> {
  const databaseUrl = await migratedDatabase(t);
  const query = (text: string) => inDatabase(databaseUrl, (client) => client.query(text));
  return {
    options: { databaseUrl },
    flags: ["--database-url", databaseUrl],
    search: () => searchTables([databaseUrl]),
    spread: () => query("ANALYZE"),
    afterKill: () => query("UPDATE jobs SET leased_until = 0"),
  };
}

/** The environment is on a database that was added; keys, webhooks and idempotency keys are in the directory. */
async function addedDatabase(t: TestContext): Promise<Place> {
  const [databaseUrl, added] = [await migratedDatabase(t), await migratedDatabase(t)];
  const service = await startTestService(t, { databaseUrl });
  const { status, text } = await service.rest("POST", "/databases", { body: { name: "added", url: added } });
  assert.equal(status, 201, text);
  await service.stop();
  const query = (url: string, statement: string) => inDatabase(url, (client) => client.query(statement));
  const both = (statement: string) => Promise.all([databaseUrl, added].map((url) => query(url, statement)));
  await query(databaseUrl, "UPDATE environments SET database_no = (SELECT max(database_no) FROM databases) WHERE name = 'production'");
  return {
    options: { databaseUrl },
    flags: ["--database-url", databaseUrl],
    search: () => searchTables([databaseUrl, added]),
    spread: () => both("ANALYZE"),
    afterKill: () => both("UPDATE jobs SET leased_until = 0"),
  };
}

/** The database, its write-ahead log and a backup. */
async function searchFiles(t: TestContext, folder: string): Promise<void> {
  const file = join(folder, "inlet.db");
  const backup = join(temporaryFolder(t), "later.backup");
  await makeBackup({ folder, to: backup });
  for (const path of [file, `${file}-wal`, backup]) {
    const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
    const at = bytes.indexOf(NEEDLE);
    assert.equal(at, -1, `${path} still holds it: ${bytes.subarray(Math.max(0, at - 100), at + 100).toString("latin1")}`);
  }
  assert.notEqual(readFileSync(file).indexOf(KEPT), -1, "the search finds what is there");
}

/** Every row of every table, and the statistics. */
async function searchTables(databaseUrls: readonly string[]): Promise<void> {
  const found = await Promise.all(databaseUrls.map(rowsOfBoth));
  assert.deepEqual(
    found.flatMap(({ erased }) => erased),
    [],
  );
  assert.ok(
    found.some(({ kept }) => kept.length > 0),
    "the search finds what is there",
  );
}

async function rowsOfBoth(databaseUrl: string): Promise<{ erased: string[]; kept: string[] }> {
  return inDatabase(databaseUrl, async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      "SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace",
    );
    const having = async (text: string) => {
      const from = [...tables.map(({ name }) => name), "pg_stats"];
      const each = from.map((name) => `SELECT '${name}: ' || t::text AS row FROM ${name} AS t WHERE strpos(t::text, '${text}') > 0`);
      return (await client.query<{ row: string }>(each.join(" UNION ALL "))).rows.map(({ row }) => row);
    };
    return { erased: await having(NEEDLE), kept: await having(KEPT) };
  });
}

async function erased(service: TestService, filter: object) {
  const made = await service.rest("POST", "/jobs", { body: { kind: "events.erase", filter } });
  assert.equal(made.status, 202, made.text);
  return until("the job to end", async () => {
    const { body } = await service.rest("GET", `/jobs/${made.body.data.id}`);
    return ["completed", "failed"].includes(body.data.status) ? body.data : undefined;
  });
}

for (const [store, make] of Object.entries({ sqlite, postgres, "an added database": addedDatabase })) {
  const skip = (store !== "sqlite" && whyNoPostgres()) || false;

  test(`${store}: what events carried is gone wherever it stood; ids, names, times and counts stay`, { skip }, async (t) => {
    const { options, spread, search } = await make(t);
    const { service, ids, large, other, webhooks, keyed, started } = await personalData(t, options);
    const listed = async () => (await service.rest("GET", "/events?limit=100")).body.data;
    const before = await listed();
    await spread();
    const job = await erased(service, { q: NEEDLE });
    assert.deepEqual([job.status, job.failed], ["completed", 0], JSON.stringify(job));
    assert.match(job.filter.sha256, /^[0-9a-f]{64}$/);
    await search();

    // The cancelled runs have left internal events.
    const bare = (events: { id: string; name: string; ts: number; receivedAt: string; duplicates: number }[]) =>
      events.map(({ id, name, ts, receivedAt, duplicates }) => [id, name, ts, receivedAt, duplicates]);
    const after = (await listed()).filter(({ name }: { name: string }) => name !== "inngest/function.cancelled");
    assert.deepEqual(bare(after), bare(before));
    assert.equal((await runsOfEvent(service, ids.waits))[0]?.status, "cancelled");
    assert.deepEqual((await service.rest("GET", `/events/${large}`)).body.data.data, {});
    assert.equal((await service.rest("GET", `/events/${other}`)).body.data.data.who, KEPT);
    assert.equal((await endedRun(service, other)).output.who, KEPT);
    for (const webhook of webhooks) assert.equal((await requestsOf(service, webhook)).length, 1);
    assert.equal((await service.rest("GET", `/events/${started}`)).body.data.dedupId, DEDUP_ID);
    assert.deepEqual((await endedRun(service, started, "shop-receives")).output, null);
    assert.deepEqual((await service.rest("GET", "/approvals?status=open")).body.data, []);
    await batchGoesOn(service);
    await limitsHold(service, keyed);
  });

  test(`${store}: an erasure that was killed in the middle goes on after the restart, and leaves nothing behind`, { skip }, async (t) => {
    const { flags, search, afterKill } = await make(t);
    const keys = ["--event-key", EVENT_KEY, "--api-key", API_KEY];
    const all = ["start", "--port", "0", "--host", "127.0.0.1", "--log-level", "error", ...flags, ...keys];
    const headers = { authorization: `Bearer ${API_KEY}`, "content-type": "application/json" };
    const first = await startInlet(t, all);
    const events = Array.from({ length: 80 }, () => ({ name: "app/steps", data: { who: NEEDLE } }));
    const sent = JSON.stringify([...events, { name: "app/steps", data: { who: KEPT } }]);
    assert.equal((await call(`${first.url}/e/${EVENT_KEY}`, { method: "POST", body: sent })).status, 200);
    const body = JSON.stringify({ kind: "events.erase", filter: { q: NEEDLE }, rate: 10 });
    const made = await call(`${first.url}/v1/jobs`, { method: "POST", headers, body });
    assert.equal(made.status, 202, made.text);
    const read = async (url: string) => (await call(`${url}/v1/jobs/${made.body.data.id}`, { headers })).body.data;
    const begun = await until("some events are erased", async () => {
      const job = await read(first.url);
      return job.done > 0 ? job : undefined;
    });
    await first.end("SIGKILL");
    assert.ok(begun.done < events.length, "it was killed in the middle");
    await afterKill();
    const second = await startInlet(t, all);
    const job = await until("the job to end", async () => {
      const now = await read(second.url);
      return now.endedAt === null ? undefined : now;
    });
    assert.deepEqual([job.status, job.total, job.done, job.failed], ["completed", events.length, events.length, 0]);
    await search();
  });
}

bothStores("an erased event does not come back with what its provider lists", async (t) => {
  const service = await startTestService(t);
  const provider = await startProvider(
    t,
    pagesOf(
      [
        { who: NEEDLE, n: 1 },
        { who: NEEDLE, n: 2, own: "an-id" },
      ],
      10,
    ),
  );
  const reconcile = { source: sourceOf(provider), every: "30d" };
  const webhook = await makeWebhook(service, "(evt) => ({ name: 'shop/sale', data: evt })", { reconcile });
  await post(webhook.url, { who: NEEDLE, n: 1 });
  const counts = async () => {
    const { body } = await service.rest("POST", `/webhooks/${webhook.id}/reconcile`, { body: { since: 0 } });
    await until("the pass", async () => (await service.rest("GET", `/jobs/${body.data.id}`)).body.data.endedAt ?? undefined);
    const [{ seen, recovered }] = (await service.rest("GET", `/webhooks/${webhook.id}/reconciliations`)).body.data;
    return { seen, recovered };
  };
  assert.deepEqual(await counts(), { seen: 1, recovered: 1 });
  assert.equal((await erased(service, { q: NEEDLE })).status, "completed");
  assert.deepEqual(await counts(), { seen: 2, recovered: 0 });
});

/** A batch goes on without the events that were erased. */
async function batchGoesOn(service: TestService): Promise<void> {
  await service.send([1, 2].map(() => ({ name: "app/gathers", data: { who: KEPT } })));
  const { id } = await until("the batch to run", async () => {
    const [run] = await runsOfFunction(service, "shop-gathers");
    return run?.status === "completed" ? run : undefined;
  });
  assert.deepEqual((await service.rest("GET", `/runs/${id}`)).body.data.output, [KEPT, KEPT, KEPT]);
}

/** The hash of a key counts on: what was started for it a moment ago, or is on hold, is not started again. */
async function limitsHold(service: TestService, keyed: string): Promise<void> {
  const { body } = await service.rest("GET", "/holds");
  assert.deepEqual([body.data.length, body.data[0].key], [1, null]);
  const { ids } = (await service.send({ name: "app/keys", data: { who: NEEDLE } })).body;
  const later = (await service.send({ name: "app/keys", data: { who: KEPT } })).body.ids;
  for (const name of ["shop-rare", "shop-once"]) await endedRun(service, later[0], name);
  await endedRun(service, ids[0], "shop-single");
  const runs = await runsOfEvent(service, ids[0]);
  const started = runs.map((run) => run.function.id);
  assert.ok(!started.includes("shop-rare") && !started.includes("shop-once"), started.join());
  const statusOf = (name: string) => runs.find((run) => run.function.id === name)?.status;
  assert.deepEqual([statusOf("shop-limited"), statusOf("shop-ordered")], ["queued", "queued"]);
  const ordered = (await runsOfEvent(service, keyed)).find((run) => run.function.id === "shop-ordered");
  assert.equal((await service.rest("POST", `/runs/${ordered?.id}/release`)).body.data.key, null);
  await endedRun(service, ids[0], "shop-ordered");
}

test("an erasure needs a filter, and only roles that may repair make one", async (t) => {
  const service = await startTestService(t);
  const refused = async (body: object) => (await service.rest("POST", "/jobs", { body: { kind: "events.erase", ...body } })).status;
  assert.deepEqual([await refused({}), await refused({ filter: {} }), await refused({ filter: {}, all: true })], [400, 400, 400]);
  assert.deepEqual([await refused({ filter: { event: "" } }), await refused({ filter: { event: "no-id" } })], [400, 400]);

  // One event by its id, and only if it passes the other filters too.
  const [id] = (await service.send([1, 2].map((n) => ({ name: "shop/twin", data: { n } })))).body.ids;
  const total = async (filter: object) =>
    (await service.rest("POST", "/jobs", { body: { kind: "events.erase", filter, dryRun: true } })).body.data.total;
  const counts = [
    { event: id },
    { event: id.toLowerCase() },
    { event: id, name: "shop/other" },
    { event: id, to: "1" },
    { event: id, from: "1" },
  ];
  assert.deepEqual(await Promise.all(counts.map((filter) => total({ ...filter }))), [1, 1, 0, 0, 1]);
  assert.equal(await total({ event: "01J00000000000000000000000" }), 0);
});
