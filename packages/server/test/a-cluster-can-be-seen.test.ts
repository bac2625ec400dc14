/**
 * Whoever asks any node, by `/ready` or with `inlet doctor`, sees all of them: those that work, and those that died. A node
 * that is stopped leaves; one that is killed is called gone.
 */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { poll } from "./support/app.ts";
import { freshDatabase, whyNoPostgres } from "./support/postgres.ts";
import { type InletProcess, runInlet, startInlet } from "./support/process.ts";
import { API_KEY, call, EVENT_KEY, SIGNING_KEY } from "./support/service.ts";

const skip = whyNoPostgres() ?? false;
/** A node is called gone when three of its beats, of five seconds each, are missing. */
const GONE_MS = 30_000;

interface Node {
  name: string;
  version: string;
  since: string;
  lastSeen: string;
  state: string;
}

test("nodes are listed while they work, shown as gone when they died, and leave when they are stopped", { skip }, async (t) => {
  const databaseUrl = await freshDatabase(t);
  const [stays, dies, leaves] = (await Promise.all([1, 2, 3].map(() => startNode(t, databaseUrl)))) as [
    InletProcess,
    InletProcess,
    InletProcess,
  ];
  const nodesSeenBy = async ({ url }: InletProcess) => (await call(`${url}/ready`)).body.nodes as Node[];
  await poll(async () => ((await nodesSeenBy(stays)).length === 3 ? true : null), "three nodes");
  const { body } = await call(`${stays.url}/ready`);
  assert.deepEqual([body.status, body.message, body.store.engine, body.lagMs], [200, "OK", "postgres", 0]);
  assert.equal(body.store.schema, body.store.schemaKnown);
  assert.ok(body.nodes.some(({ name }: Node) => name === body.node));
  for (const { version, since, lastSeen, state } of body.nodes as Node[]) {
    assert.match(version, /^\d+\.\d+\.\d+$/);
    assert.ok(Date.parse(since) <= Date.parse(lastSeen));
    assert.equal(state, "alive");
  }

  const dead = (await call(`${dies.url}/ready`)).body.node as string;
  const left = (await call(`${leaves.url}/ready`)).body.node as string;
  await dies.end("SIGKILL");
  assert.equal(await leaves.end("SIGTERM"), 0);
  await poll(async () => ((await nodesSeenBy(stays)).every(({ name }) => name !== left) ? true : null), "the stopped node's leaving");
  await poll(
    async () => ((await nodesSeenBy(stays)).find(({ name }) => name === dead)?.state === "gone" ? true : null),
    "the dead node to be called gone",
    GONE_MS,
  );

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

function startNode(t: TestContext, databaseUrl: string): Promise<InletProcess> {
  const keys = ["--event-key", EVENT_KEY, "--api-key", API_KEY, "--signing-key", SIGNING_KEY];
  return startInlet(t, ["start", "--port", "0", "--host", "127.0.0.1", "--log-level", "warn", ...keys], {
    SERVICE_DATABASE_URL: databaseUrl,
  });
}
