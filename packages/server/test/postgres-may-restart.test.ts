/**
 * PostgreSQL may crash and come back at any time. Meanwhile the nodes answer 503 with Retry-After; afterwards they go on by
 * themselves. Nothing that was acknowledged is lost, nothing is stored twice, and every event starts its function once.
 */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { poll, startApp } from "./support/app.ts";
import { ownPostgres, whyNoPostgres } from "./support/postgres.ts";
import { call, startTestService, type TestService } from "./support/service.ts";

const skip = process.env.TEST_DATABASE_URL ? "the server of TEST_DATABASE_URL is not stopped" : (whyNoPostgres() ?? false);
const SENDERS = 8;

interface Sent {
  acknowledged: Map<string, string>;
  refused: number;
}

for (const count of [1, 2]) {
  test(`crashes of PostgreSQL under the load of ${count} nodes: 503 meanwhile, everything goes on afterwards`, { skip }, (t) =>
    crash(t, count),
  );
}

async function crash(t: TestContext, count: number): Promise<void> {
  const server = await ownPostgres(t);
  const nodes = await Promise.all(
    Array.from({ length: count }, () => startTestService(t, { hasDefaultConnections: true, databaseUrl: server.url })),
  );
  const [first, second = first] = nodes as [TestService, ...TestService[]];
  const started: string[] = [];
  await startApp(t, first, (inlet) => [
    inlet.createFunction({ id: "note" }, { event: "shop/note" }, ({ event, step }) =>
      step.run("note", () => void started.push(String(event.data.label))),
    ),
  ]);
  await poll(async () => ((await second.rest("GET", "/functions")).body.data.length > 0 ? true : null), "the function");

  const stop = new AbortController();
  const sent: Sent = { acknowledged: new Map(), refused: 0 };
  const senders = Array.from({ length: SENDERS }, (_, n) => sendOn(nodes[n % count] as TestService, `${n}`, sent, stop.signal));
  const outage = async (how: "fast" | "immediate") => {
    await poll(async () => (sent.acknowledged.size > 50 ? true : null), "some load");
    await server.stop(how);
    const refusedBefore = sent.refused;
    await poll(async () => (sent.refused > refusedBefore ? true : null), "refusals");
    assert.equal((await call(`${first.url}/ready`)).status, 503);
    await server.start();
    const before = sent.acknowledged.size;
    await poll(async () => (sent.acknowledged.size > before + 20 ? true : null), "new events");
  };
  await outage("immediate");
  await outage("fast");
  stop.abort();
  await Promise.all(senders);
  await poll(async () => ((await call(`${first.url}/ready`)).status === 200 ? true : null), "readiness");

  const stored = await everyLabel(second);
  for (const [label, id] of sent.acknowledged) assert.equal(stored.get(label)?.join(), id, `the acknowledged event ${label}`);
  // Leases of work whose hand-over was lost in the crash last half a minute.
  await poll(async () => ([...sent.acknowledged.keys()].every((label) => started.includes(label)) ? true : null), "every run");
}

/** Sends one event after the other, each again until it is accepted. */
async function sendOn(node: TestService, sender: string, sent: Sent, signal: AbortSignal): Promise<void> {
  for (let n = 0; !signal.aborted; n++) {
    const label = `${sender}-${n}`;
    for (let done = false; !done && !signal.aborted; ) {
      const answer = await node.send({ name: "shop/note", id: label, data: { label } });
      done = answer.status === 200;
      if (done) sent.acknowledged.set(label, answer.body.ids[0]);
      else {
        assert.equal(answer.status, 503, answer.text);
        assert.equal(answer.body.code, "store_unavailable");
        assert.ok(answer.headers.get("retry-after"));
        sent.refused++;
        await sleep(50);
      }
    }
  }
}

async function everyLabel(node: TestService): Promise<Map<string, string[]>> {
  const labels = new Map<string, string[]>();
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { body } = await node.rest("GET", `/events?name=shop/note&limit=100${cursor && `&cursor=${cursor}`}`);
    for (const { id, data } of body.data) labels.set(data.label, [...(labels.get(data.label) ?? []), id]);
    cursor = body.page.next;
  }
  return labels;
}
