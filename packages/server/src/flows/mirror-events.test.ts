/**
 * Copies of events to branches, on several databases. Branches are in the directory; events that are to be copied to them are in any
 * database, which may be away meanwhile. Copies must not depend on a webhook that still mirrors.
 */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { pino } from "pino";
import { type DatabasePlug, databasePlug } from "../../test/support/database-plug.ts";
import { ok, ready } from "../../test/support/database-trouble.ts";
import { inDatabase, migratedDatabase, whyNoPostgres } from "../../test/support/postgres.ts";
import { until } from "../../test/support/runs.ts";
import { startTestService, type TestService, temporaryFolder } from "../../test/support/service.ts";
import { makeWebhook, post } from "../../test/support/webhooks.ts";

const skip = whyNoPostgres() ?? false;
const NAMED = "(evt) => ({ name: 'shop/order', data: evt, id: evt.id })";

interface Scene {
  service: TestService;
  plugs: Record<"directory" | "second", DatabasePlug>;
  said: string[];
  /** Another node, which knows nothing of what this one did. */
  startNode(): Promise<TestService>;
}

/** `home` is on the second database, `other` on a third, which is always there. */
async function startScene(t: TestContext): Promise<Scene> {
  const said: string[] = [];
  const log = pino({ level: "info" }, { write: (line: string) => void said.push(line) });
  const [directory, second] = [await databasePlug(t, await migratedDatabase(t)), await databasePlug(t, await migratedDatabase(t))];
  const dataDir = temporaryFolder(t);
  const startNode = () => startTestService(t, { databaseUrl: directory.url, dataDir, log });
  const service = await startNode();
  for (const [name, url] of Object.entries({ second: second.url, third: await migratedDatabase(t) }))
    await ok(service.rest("POST", "/databases", { body: { name, url } }), 201);
  for (const body of [
    { name: "home", database: "second" },
    { name: "other", database: "third" },
    { name: "branch/a", kind: "branch" },
    { name: "branch/b", kind: "branch" },
  ])
    await ok(service.rest("POST", "/environments", { body }), 201);
  return { service, plugs: { directory, second }, said, startNode };
}

async function pull({ plugs }: Scene, service: TestService, name: "directory" | "second"): Promise<void> {
  await plugs[name].pull();
  await until(`${name} is away`, async () => isAway(await databasesOf(service), name));
}

type Shown = { name: string; reachable: boolean }[];

async function databasesOf(service: TestService): Promise<Shown> {
  return (await ready(service)).body.databases ?? [];
}

function isAway(databases: Shown, wanted: string): true | undefined {
  return databases.some(({ name, reachable }) => name === wanted && !reachable) || undefined;
}

async function mirroring(service: TestService, environment: string) {
  const webhook = await makeWebhook(service, NAMED, { environment, mirror: { to: ["branch/*"] } });
  return { id: webhook.id, send: (id: string) => ok(post(webhook.url, { id }), 200) };
}

/** What the senders call the events in an environment, once there are so many. */
function sentTo(service: TestService, environment: string, count: number): Promise<string[]> {
  return until(`${count} events in ${environment}`, async () => {
    const { body } = await service.rest("GET", "/events?limit=100", { headers: { "x-service-env": environment } });
    return body.data?.length >= count ? body.data.map(({ data }: { data: { id: string } }) => data.id).sort() : undefined;
  });
}

test("copies recorded in a database that was away are made when it is back, although no webhook mirrors any more", { skip }, async (t) => {
  const scene = await startScene(t);
  const { id, send } = await mirroring(scene.service, "home");
  await pull(scene, scene.service, "directory");
  await send("a");
  await pull(scene, scene.service, "second");
  await scene.plugs.directory.restore();
  await scene.service.stop();
  const node = await scene.startNode();
  assert.ok(isAway(await databasesOf(node), "second"));
  await ok(node.rest("PUT", `/webhooks/${id}`, { body: { mirror: null } }), 200);
  await scene.plugs.second.restore();
  for (const branch of ["branch/a", "branch/b"]) assert.deepEqual(await sentTo(node, branch, 1), ["a"]);
});

test("copies recorded in a database that is away hold up none of the others", { skip }, async (t) => {
  const scene = await startScene(t);
  const { service } = scene;
  const senders = await Promise.all(["home", "other", "production"].map((environment) => mirroring(service, environment)));
  await pull(scene, service, "directory");
  await senders[0]?.send("home");
  await pull(scene, service, "second");
  await scene.plugs.directory.restore();
  await until("the directory is back", async () => !isAway(await databasesOf(service), "directory") || undefined);
  await senders[1]?.send("other");
  await senders[2]?.send("production");
  assert.deepEqual(await sentTo(service, "branch/a", 2), ["other", "production"]);
  await scene.plugs.second.restore();
  assert.deepEqual(await sentTo(service, "branch/a", 3), ["home", "other", "production"]);
});

test("a branch whose copies fail holds up those of no other branch, and gets them once they can be stored", { skip }, async (t) => {
  const { service, plugs } = await startScene(t);
  const inDirectory = (sql: string) => inDatabase(plugs.directory.url, (client) => client.query(sql));
  await inDirectory(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.environment_id = (SELECT environment_id FROM environments WHERE name = 'branch/a') THEN RAISE EXCEPTION 'not this one'; END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION refuse()`);
  const { send } = await mirroring(service, "production");
  for (const name of ["a", "b", "c"]) await send(name);
  assert.deepEqual(await sentTo(service, "branch/b", 3), ["a", "b", "c"]);
  assert.deepEqual(await sentTo(service, "branch/a", 0), []);
  await inDirectory("DROP FUNCTION refuse CASCADE");
  for (const branch of ["branch/a", "branch/b"]) assert.deepEqual(await sentTo(service, branch, 3), ["a", "b", "c"]);
});

test("copies that a branch refuses are in the log, and hold up none of the others", { skip }, async (t) => {
  const { service, said } = await startScene(t);
  await ok(service.rest("PUT", "/environments/branch%2Fa", { body: { quotas: { eventsPerDay: 1 } } }), 200);
  const { id, send } = await mirroring(service, "home");
  for (const name of ["a", "b", "c"]) await send(name);
  assert.deepEqual(await sentTo(service, "branch/b", 3), ["a", "b", "c"]);
  await until("the log says so", async () => {
    const lines = said.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "a branch refused copies of events");
    const counts = lines.map(({ code, environment, webhook, count }) => {
      assert.deepEqual([code, environment, webhook], ["quota_exceeded", "branch/a", id]);
      return count as number;
    });
    return counts.reduce((sum, count) => sum + count, 0) === 2 || undefined;
  });
  assert.equal((await sentTo(service, "branch/a", 1)).length, 1);
});
