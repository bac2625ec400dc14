/**
 * Environments on two databases: the directory, and one that is added while the service runs. Whichever of them is away, or stays silent,
 * requests of its environments are refused, and those of the others are accepted, sleep, wake and run. Afterwards everything goes on.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { type AnyFunction, hasEnded, poll, startApp } from "./support/app.ts";
import { type DatabasePlug, databasePlug } from "./support/database-plug.ts";
import { type Node, startNode } from "./support/nodes.ts";
import { freshDatabase, inDatabase, migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { type Answer, call, EVENT_KEY, type ServiceClient } from "./support/service.ts";

const skip = whyNoPostgres() ?? false;
const FAR = { "x-service-env": "far" };

interface Scene {
  node: Node;
  directory: DatabasePlug;
  second: DatabasePlug;
  /** The key of the environment on the second database. */
  farKey: string;
}

test("a database that is away harms only its environments", { skip }, async (t) => {
  const [directoryUrl, secondUrl] = [await migratedDatabase(t), await freshDatabase(t)];
  const [directory, second] = [await databasePlug(t, directoryUrl), await databasePlug(t, secondUrl)];
  const flags = ["--database-url", directory.url];
  const node = await startNode(t, flags);
  await ok(node.rest("POST", "/databases", { body: { name: "second", url: second.url } }), 201);
  await ok(node.rest("POST", "/environments", { body: { name: "far", database: "second" } }), 201);
  const { key: farKey } = (await ok(node.rest("POST", "/keys", { body: { kind: "event", name: "far" }, headers: FAR }), 201)).body.data;
  const scene: Scene = { node, directory, second, farKey };
  const calls: string[] = [];
  for (const environment of ["production", "far"]) {
    await startApp(t, node, (client) => functionsOf(client, environment, calls), { id: `app-${environment}`, environment });
  }

  await t.test("an environment is on its database, with everything that runs there", async () => {
    await Promise.all([runs(node, scene.farKey, FAR), runs(node, EVENT_KEY, {})]);
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
    await poll(async () => (calls.includes("cron far") ? true : null), "the schedule", 120_000);
    const counted = async (url: string) => {
      const text = "SELECT (SELECT count(*)::int FROM events JOIN environments USING (environment_id) WHERE name = 'far') AS far";
      return (await inDatabase(url, (client) => client.query(text))).rows[0].far;
    };
    assert.equal(await counted(directoryUrl), 0);
    assert.ok((await counted(secondUrl)) > 0);
    assert.equal((await ok(node.rest("GET", `/events/${sent.body.ids[0]}`, { headers: FAR }), 200)).body.data.name, "shop/fail");
  });

  for (const how of ["pull", "silence"] as const) {
    await t.test(`the second database is away: ${how}`, async () => {
      const asleep = await sleeping(scene);
      await second[how]();
      await refused(() => node.send({ name: "shop/order", data: {} }, { key: farKey }));
      await refused(() => node.rest("GET", "/events", { headers: FAR }));
      await runs(node, EVENT_KEY, {});
      const { databases } = (await ok(ready(node), 200)).body;
      assert.deepEqual(databases, [
        { name: "directory", reachable: true },
        { name: "second", reachable: false },
      ]);
      assert.deepEqual((await ok(node.rest("GET", "/usage"), 200)).body.page.unreachable, ["second"]);
      await second.restore();
      await ended(node, asleep, FAR);
      await runs(node, farKey, FAR);
    });
  }

  await t.test("the directory is away", async () => {
    await directory.pull();
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
    const asleep = await sleeping(scene);
    second.silence();
    await node.end("SIGKILL");
    const next = await startNode(t, flags);
    await runs(next, EVENT_KEY, {});
    await refused(() => next.send({ name: "shop/order", data: {} }, { key: farKey }));
    await second.restore();
    await ended(next, asleep, FAR);
    await accepts(next, farKey);
    await runs(next, farKey, FAR);
  });
});

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

async function ok(answer: Promise<Answer>, status: number): Promise<Answer> {
  const given = await answer;
  assert.equal(given.status, status, given.text);
  return given;
}

/** What is in flight when the database goes away may still succeed. */
async function refused(ask: () => Promise<Answer>): Promise<void> {
  const last = await poll(async () => {
    const answer = await ask();
    return answer.status === 200 ? null : answer;
  }, "a refusal");
  assert.deepEqual([last.status, last.body?.code], [503, "store_unavailable"], last.text);
}

async function accepts(service: ServiceClient, key: string): Promise<string> {
  return poll(async () => (await service.send({ name: "shop/order", data: {} }, { key })).body?.ids?.[0] ?? null, "an accepted event");
}

/** An event whose run has begun to sleep. */
async function sleeping({ node, farKey }: Scene): Promise<string> {
  const id = await accepts(node, farKey);
  await poll(async () => {
    const [run] = (await node.rest("GET", `/events/${id}/runs`, { headers: FAR })).body.data ?? [];
    return run?.status === "sleeping" || run?.status === "waiting" ? true : null;
  }, "the sleep");
  return id;
}

async function runs(service: ServiceClient, key: string, headers: Record<string, string>): Promise<void> {
  await ended(service, await accepts(service, key), headers);
}

async function ended(service: ServiceClient, eventId: string, headers: Record<string, string>): Promise<void> {
  const run = await poll(
    async () => {
      const [found] = (await service.rest("GET", `/events/${eventId}/runs`, { headers })).body?.data ?? [];
      return found && hasEnded(found) ? found : null;
    },
    `the run of ${eventId}`,
    120_000,
  );
  assert.equal(run.status, "completed");
}

function ready({ url }: ServiceClient): Promise<Answer> {
  return call(`${url}/ready`);
}
