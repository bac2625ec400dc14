/**
 * Whoever asks any node, by `/ready` or with `inlet doctor`, sees all of them: those that work, and those that died. A node
 * that is stopped leaves; one that is killed is called gone.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { poll } from "./support/app.ts";
import { type Node, startNode } from "./support/nodes.ts";
import { inDatabase, migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { runInlet } from "./support/process.ts";
import { API_KEY, call } from "./support/service.ts";

const skip = whyNoPostgres() ?? false;
/** A node is called gone when three of its beats, of five seconds each, are missing. */
const SILENT_MS = 20_000;

interface ShownNode {
  name: string;
  version: string;
  since: string;
  lastSeen: string;
  state: string;
}

test("nodes are listed while they work, shown as gone when they died, and leave when they are stopped", { skip }, async (t) => {
  const databaseUrl = await migratedDatabase(t);
  const start = () => startNode(t, ["--database-url", databaseUrl]);
  const [stays, dies, leaves] = await Promise.all([start(), start(), start()]);
  const nodesSeenBy = async ({ url }: Node) => (await call(`${url}/ready`)).body.nodes as ShownNode[];
  await poll(async () => ((await nodesSeenBy(stays)).length === 3 ? true : null), "three nodes");
  const { body } = await call(`${stays.url}/ready`);
  assert.deepEqual([body.status, body.message, body.store.engine, body.lagMs], [200, "OK", "postgres", 0]);
  assert.equal(body.store.schema, body.store.schemaKnown);
  assert.ok(body.nodes.some(({ name }: ShownNode) => name === body.node));
  for (const { version, since, lastSeen, state } of body.nodes as ShownNode[]) {
    assert.match(version, /^\d+\.\d+\.\d+$/);
    assert.ok(Date.parse(since) <= Date.parse(lastSeen));
    assert.equal(state, "alive");
  }

  const dead = (await call(`${dies.url}/ready`)).body.node as string;
  const left = (await call(`${leaves.url}/ready`)).body.node as string;
  const stateOfDead = async () => (await nodesSeenBy(stays)).find(({ name }) => name === dead)?.state;
  await dies.end("SIGKILL");
  assert.equal(await stateOfDead(), "alive", "so far it has missed no beat");
  assert.equal(await leaves.end("SIGTERM"), 0);
  await poll(async () => ((await nodesSeenBy(stays)).every(({ name }) => name !== left) ? true : null), "the stopped node's leaving");
  const silent = "UPDATE nodes SET last_seen_at = last_seen_at - $2 WHERE node = $1";
  await inDatabase(databaseUrl, (client) => client.query(silent, [dead, SILENT_MS]));
  await poll(async () => ((await stateOfDead()) === "gone" ? true : null), "the dead node to be called gone");

  const doctor = await runInlet(t, ["doctor", "--json", "--port", "0", "--url", stays.url, "--api-key", API_KEY]);
  const { checks } = JSON.parse(doctor.stdout) as { checks: { check: string; status: string; message: string }[] };
  assert.equal(checks.find(({ check }) => check === `node ${dead}`)?.status, "warning", doctor.stdout);
  assert.ok(
    checks.some(({ check, message }) => check === "store" && /^PostgreSQL, schema \d+/.test(message)),
    doctor.stdout,
  );
  const alive = checks.filter(({ check, status }) => check.startsWith("node ") && status === "ok");
  assert.deepEqual(
    alive.map(({ check }) => check),
    [`node ${body.node}`],
  );
});
