/**
 * Environments on two databases: the directory, and one that is added while the service runs. Whichever of them is away, or stays silent,
 * requests of its environments are refused, and those of the others are accepted, sleep, wake and run. Afterwards everything goes on.
 */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import type { Client } from "pg";
import { type AnyFunction, poll, startApp } from "./support/app.ts";
import { databasePlug } from "./support/database-plug.ts";
import { accepts, ended, ok, ready, refused, runs, sleeping } from "./support/database-trouble.ts";
import { startNode } from "./support/nodes.ts";
import { inDatabase, migratedDatabase, ownPostgres, whyNoPostgres } from "./support/postgres.ts";
import { EVENT_KEY } from "./support/service.ts";

const skip = whyNoPostgres() ?? false;
const FAR = { "x-service-env": "far" };
/** A few large events fill a file. Tables of the schema and segments of PostgreSQL's log, which are written whole, are smaller. */
const WAL_SEGMENT_MB = 1;
const FILE_BYTES_MAX = 4 * 1024 * 1024;
const LARGE_BYTES = 300_000;
/** Half of the limit is for one database: three large events at a time do not fit. */
const MEMORY = ["--queue-limit", "2mb"];
/** What waits for a lock is refused after this time. Healthy work takes less on any machine. */
const LIMITS = ["--database-timeout", "15s"];
const LOCK_NOT_AVAILABLE = "55P03";

test("a database that is away harms only its environments", { skip }, async (t) => {
  const server = await ownPostgres(t, { walSegmentMb: WAL_SEGMENT_MB });
  const [directoryUrl, secondUrl] = [await migratedDatabase(t), server.url];
  const [directory, second] = [await databasePlug(t, directoryUrl), await databasePlug(t, secondUrl)];
  const flags = ["--database-url", directory.url, ...LIMITS, ...MEMORY];
  const node = await startNode(t, flags);
  await ok(node.rest("POST", "/databases", { body: { name: "second", url: second.url } }), 201);
  await ok(node.rest("POST", "/environments", { body: { name: "far", database: "second" } }), 201);
  const { key: farKey } = (await ok(node.rest("POST", "/keys", { body: { kind: "event", name: "far" }, headers: FAR }), 201)).body.data;
  await ok(node.rest("POST", "/environments", { body: { name: "near" } }), 201);
  const near = { body: { name: "shop/order", data: {}, id: "sought" }, headers: { "x-service-env": "near" } };
  await ok(node.rest("POST", "/events", near), 201);
  const reader = { kind: "api", name: "both", role: "viewer", environments: ["near", "far"] };
  const { key: bothKey } = (await ok(node.rest("POST", "/keys", { body: reader }), 201)).body.data;
  const find = () => ok(node.rest("GET", "/find?id=sought", { headers: { authorization: `Bearer ${bothKey}` } }), 200);
  const sleepingFar = () => sleeping(node, farKey, FAR);
  const calls: string[] = [];
  for (const environment of ["production", "far"]) {
    await startApp(t, node, (client) => functionsOf(client, environment, calls), { id: `app-${environment}`, environment });
  }

  await t.test("an environment is on its database, with everything that runs there", async () => {
    await Promise.all([runs(node, farKey, FAR), runs(node, EVENT_KEY, {})]);
    const rule = { name: "many", kind: "failure_count", threshold: 1 };
    await ok(node.rest("POST", "/alert-rules", { body: rule, headers: FAR }), 201);
    const sent = await ok(node.send({ name: "shop/fail", data: {} }, { key: farKey }), 200);
    const job = (
      await ok(node.rest("POST", "/jobs", { body: { kind: "events.replay", filter: { name: "shop/order" } }, headers: FAR }), 202)
    ).body;
    await poll(
      async () => ((await node.rest("GET", `/jobs/${job.data.id}`, { headers: FAR })).body.data?.status === "completed" ? true : null),
      "the job",
    );
    await poll(async () => (calls.includes("alert far") ? true : null), "the alert");
    const counted = async (url: string) => {
      const text = "SELECT (SELECT count(*)::int FROM events JOIN environments USING (environment_id) WHERE name = 'far') AS far";
      return (await inDatabase(url, (client) => client.query(text))).rows[0].far;
    };
    assert.equal(await counted(directoryUrl), 0);
    assert.ok((await counted(secondUrl)) > 0);
    assert.equal((await ok(node.rest("GET", `/events/${sent.body.ids[0]}`, { headers: FAR }), 200)).body.data.name, "shop/fail");
    assert.deepEqual((await find()).body.page, { next: null, unreachable: [] });
  });

  const troubles = {
    "its connections end": [() => second.pull(), () => second.restore()],
    "its network is silent": [() => second.silence(), () => second.restore()],
    "it refuses connections": [() => allowConnections(secondUrl, false), () => allowConnections(secondUrl, true)],
    "all its processes stand still": [() => server.pause(), () => server.resume()],
  } as const;
  for (const [trouble, [begin, end]] of Object.entries(troubles)) {
    await t.test(`the second database is away: ${trouble}`, async () => {
      const asleep = await sleepingFar();
      await begin();
      await refused(() => node.send({ name: "shop/order", data: {} }, { key: farKey }));
      await refused(() => node.rest("GET", "/events", { headers: FAR }));
      await refused(() => node.rest("PUT", "/environments/far", { body: { bodyLimitBytes: 1_000_000 } }));
      await refused(() => node.rest("POST", "/environments/far/archive"));
      await refused(() => node.rest("POST", "/environments/far/move", { body: { database: "directory" } }));
      await runs(node, EVENT_KEY, {});
      const { databases } = (await ok(ready(node), 200)).body;
      assert.deepEqual(databases, [
        { name: "directory", reachable: true },
        { name: "second", reachable: false },
      ]);
      assert.deepEqual((await ok(node.rest("GET", "/usage"), 200)).body.page.unreachable, ["second"]);
      const found = (await find()).body;
      assert.deepEqual([found.data.length, found.page], [1, { next: null, unreachable: ["second"] }]);
      await end();
      await ended(node, asleep, FAR);
      await runs(node, farKey, FAR);
      const { bodyLimitBytes, archivedAt } = (await ok(node.rest("GET", "/environments/far"), 200)).body.data;
      assert.deepEqual({ bodyLimitBytes, archivedAt }, { bodyLimitBytes: null, archivedAt: null }, "a refused change is not made");
      const jobs = (await ok(node.rest("GET", "/jobs", { headers: FAR }), 200)).body.data;
      assert.ok(!jobs.some(({ kind }: { kind: string }) => kind === "environments.move"), "a move that was refused is none");
    });
  }

  const large = (key: string) => node.send({ name: "shop/large", data: { text: randomBytes(LARGE_BYTES).toString("base64") } }, { key });

  await t.test("the disk of the second database is full", async () => {
    await server.stop();
    await server.start({ fileBytesMax: FILE_BYTES_MAX });
    const stored: string[] = [await accepts(node, farKey)];
    await refused(async () => {
      const answer = await large(farKey);
      if (answer.status === 200) stored.push(answer.body.ids[0]);
      return answer;
    });
    await Promise.all([refused(() => large(farKey)), ok(large(EVENT_KEY), 200), runs(node, EVENT_KEY, {})]);
    const { databases } = (await ok(ready(node), 200)).body;
    assert.ok(
      databases.every(({ reachable }: { reachable: boolean }) => reachable),
      "it answers",
    );
    await server.stop();
    await server.start();
    await poll(async () => ((await large(farKey)).status === 200 ? true : null), "room for a large event", 120_000);
    for (const id of stored) await ok(node.rest("GET", `/events/${id}`, { headers: FAR }), 200);
    await runs(node, farKey, FAR);
  });

  await t.test("a lock is held in the second database", async () => {
    const asleep = await sleepingFar();
    const release = await lock(secondUrl);
    const waiting = Array.from({ length: 5 }, () => large(farKey));
    await Promise.all([ok(large(EVENT_KEY), 200), runs(node, EVENT_KEY, {}), runs(node, EVENT_KEY, {})]);
    const codes = (await Promise.all(waiting)).map(({ status, body }) => `${status} ${body?.code}`);
    assert.ok(codes.includes("503 store_unavailable"), "they wait no longer than the limit");
    assert.ok(codes.includes("503 overloaded"), "and take no more memory than their share");
    await ok(large(EVENT_KEY), 200);
    await release();
    await ended(node, asleep, FAR);
    await runs(node, farKey, FAR);
  });

  await t.test("a lock is held in the directory", async () => {
    const release = await lock(directoryUrl);
    await runs(node, farKey, FAR);
    await release();
    await runs(node, EVENT_KEY, {});
  });

  for (const how of ["pull", "silence"] as const)
    await t.test(`the directory is away: ${how}`, async () => {
      await directory[how]();
      await refused(() => node.send({ name: "shop/order", data: {} }));
      const accepted = await ok(node.send({ name: "shop/order", data: {} }, { key: farKey }), 200);
      await ended(node, accepted.body.ids[0], FAR);
      const { databases } = (await ok(ready(node), 200)).body;
      assert.deepEqual(databases, [
        { name: "directory", reachable: false },
        { name: "second", reachable: true },
      ]);
      await directory.restore();
      await accepts(node, EVENT_KEY);
      await runs(node, EVENT_KEY, {});
    });

  await t.test("a node that is killed, and one that starts while a database is silent", async () => {
    const asleep = await sleepingFar();
    second.silence();
    await node.end("SIGKILL");
    const next = await startNode(t, flags);
    await runs(next, EVENT_KEY, {});
    await refused(() => next.send({ name: "shop/order", data: {} }, { key: farKey }));
    await second.restore();
    await ended(next, asleep, FAR);
    await runs(next, farKey, FAR);
  });

  await poll(async () => (calls.includes("cron far") ? true : null), "the schedule", 120_000);
});

/** Held on what every event and every claim writes. Returns what ends it. */
/** As when it is renamed, or the password is changed: whoever is connected is cut off, and nobody else gets in. */
async function allowConnections(url: string, isAllowed: boolean): Promise<void> {
  const place = new URL(url);
  const name = place.pathname.slice(1);
  place.pathname = "/template1";
  await inDatabase(place.href, async (client) => {
    await client.query(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS ${isAllowed}`);
    if (!isAllowed) await client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", [name]);
  });
}

async function lock(url: string): Promise<() => Promise<void>> {
  const held = Promise.withResolvers<void>();
  const [isHeld, ended] = await new Promise<[true, Promise<unknown>]>((resolve, reject) => {
    const holding = inDatabase(url, async (client) => {
      await poll(async () => ((await lockAtOnce(client)) ? true : null), "the lock");
      resolve([true, holding]);
      await held.promise;
    });
    holding.catch(reject);
  });
  assert.ok(isHeld);
  return async () => {
    held.resolve();
    await ended;
  };
}

/** Without waiting for one of the tables while it has the other: what the node does at that moment could wait for that one. */
async function lockAtOnce(client: Client): Promise<boolean> {
  await client.query("BEGIN");
  try {
    await client.query("LOCK TABLE events, queue IN ACCESS EXCLUSIVE MODE NOWAIT");
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
    await client.query("ROLLBACK");
    return false;
  }
}

function functionsOf(client: Parameters<Parameters<typeof startApp>[2]>[0], environment: string, calls: string[]): AnyFunction[] {
  return [
    client.createFunction({ id: "order" }, { event: "shop/order" }, async ({ step }) => {
      const one = await step.run("one", () => 1);
      await step.sleep("rest", "1s");
      const paid = await step.waitForEvent("paid", { event: "shop/paid", timeout: "2s" });
      return step.run("two", () => one + (paid ? 10 : 1));
    }),
    client.createFunction({ id: "fail", retries: 0 }, { event: "shop/fail" }, async () => {
      throw new Error("no");
    }),
    client.createFunction({ id: "alert" }, { event: "inlet/alert.raised" }, async () => void calls.push(`alert ${environment}`)),
    client.createFunction({ id: "cron" }, { cron: "* * * * *" }, async () => void calls.push(`cron ${environment}`)),
  ];
}
