/**
 * A proxy that pools transactions may stand between nodes and PostgreSQL: nothing needs a session of its own, except for the one
 * connection that listens, which goes around it, or is done without.
 */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { poll, runsOf, startApp } from "./support/app.ts";
import { startPgBouncer, whyNoPgBouncer } from "./support/pgbouncer.ts";
import { freshDatabase, migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { startTransactionPooler } from "./support/transaction-pooler.ts";

const skip = whyNoPostgres() ?? false;
const CONNECTIONS = 3;
const POLLED_WITHIN_MS = 60_000;
/** Sooner than the next poll: what is known by then was announced. */
const NOTIFIED_WITHIN_MS = 45_000;
const POLL_RARELY = ["--poll-interval", "60s"];

test("through a proxy that pools transactions nothing is lost, stored twice or run twice, over a restart too", { skip }, async (t) => {
  const direct = await freshDatabase(t);
  const proxy = await startTransactionPooler(t, direct, CONNECTIONS);
  await sendAndRunThrough(t, proxy.url, direct);
  assert.equal(proxy.namedStatements, 0);
  assert.ok(proxy.clientsMax > CONNECTIONS, `only ${proxy.clientsMax} clients shared ${CONNECTIONS} connections`);
  assert.ok(proxy.transactions > 300, `only ${proxy.transactions} transactions went through the proxy`);
});

test("and through PgBouncer itself", { skip: skip || (whyNoPgBouncer() ?? false) }, async (t) => {
  const direct = await freshDatabase(t);
  const proxy = await startPgBouncer(t, direct, CONNECTIONS);
  await sendAndRunThrough(t, proxy.url, direct);
  const { transactions, connections } = await proxy.counts();
  assert.ok(transactions > 300, `only ${transactions} transactions went through PgBouncer`);
  assert.ok(connections <= CONNECTIONS, `PgBouncer opened ${connections} connections`);
});

async function sendAndRunThrough(t: TestContext, proxyUrl: string, direct: string): Promise<void> {
  const start = starting(t, proxyUrl, direct, POLL_RARELY);
  const nodes = (await Promise.all([start(), start()])) as [TestService, TestService];
  const ran: number[] = [];
  await startApp(t, nodes[0], (inlet) => [
    inlet.createFunction({ id: "count" }, { event: "shop/counted" }, async ({ event, step }) => {
      await step.run("note", () => void ran.push(Number(event.data.n)));
      await step.sleep("a moment", 20);
      return event.data.n;
    }),
  ]);
  const isKnown = async () => (await nodes[1].rest("GET", "/functions")).body.data.length > 0;
  await poll(async () => ((await isKnown()) ? true : null), "the function on the other node", NOTIFIED_WITHIN_MS);
  const events = Array.from({ length: 60 }, (_, n) => ({ name: "shop/counted", id: `order-${n}`, data: { n } }));
  const answers = await Promise.all(events.flatMap((event, n) => [nodes[n % 2]?.send(event), nodes[(n + 1) % 2]?.send(event)]));
  for (const answer of answers) assert.equal(answer?.status, 200, answer?.text);
  const ids = [...new Set(answers.map((answer) => answer?.body.ids[0] as string))];
  assert.equal(ids.length, events.length, "each was sent to both nodes, and stored once");

  await nodes[1].stop();
  const again = await start();
  for (const id of ids) {
    const runs = await runsOf(again, id);
    assert.deepEqual([runs.length, runs[0]?.status], [1, "completed"]);
  }
  assert.deepEqual(
    ran.sort((a, b) => a - b),
    events.map(({ data }) => data.n),
  );
  assert.equal((await again.send(events[0])).body.ids[0], answers[0]?.body.ids[0], "still known");
}

function starting(t: TestContext, proxyUrl: string, listenUrl: string, more: readonly string[] = []): () => Promise<TestService> {
  const flags = ["--database-listen-url", listenUrl, "--database-connections", "6", ...more];
  return () => startTestService(t, { hasDefaultConnections: true, databaseUrl: proxyUrl, flags });
}

test("without anybody listening, nodes find each other's changes and work by looking", { skip }, async (t) => {
  const proxy = await startTransactionPooler(t, await migratedDatabase(t), CONNECTIONS);
  const start = starting(t, proxy.url, "off");
  const [here, there] = [await start(), await start()];
  const made = (await here.rest("POST", "/keys", { body: { kind: "event", name: "new" } })).body.data;
  const send = () => there.send({ name: "shop/x", data: {} }, { key: made.key });
  const answer = await poll(async () => ((await send()).status === 200 ? send() : null), "the new key", POLLED_WITHIN_MS);
  const list = async () => (await here.rest("GET", "/events")).body.data.map(({ id }: { id: string }) => id);
  assert.ok((await list()).includes(answer.body.ids[0]));
});
