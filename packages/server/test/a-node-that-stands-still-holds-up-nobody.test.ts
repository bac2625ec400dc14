/**
 * A node that stands still inside a transaction, or whose network is gone, keeps its locks only for a limited time, which PostgreSQL
 * enforces. Meanwhile and afterwards the other nodes accept events, of the same name too, also when a step starts to wait for that name,
 * and end other runs. Each point is named, and the test fails if no connection was held there.
 */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { hasEnded, poll, startApp } from "./support/app.ts";
import {
  CUTS_OF_ACCEPTING,
  type Cut,
  type CuttingProxy,
  cutsAt,
  cutsAtCommitAfter,
  cuttingProxy,
  EVENT_WRITTEN,
} from "./support/cutting-proxy.ts";
import { startNode } from "./support/nodes.ts";
import { inDatabase, migratedDatabase, OWN_LOCKS, whyNoPostgres } from "./support/postgres.ts";
import { type ServiceClient, startTestService } from "./support/service.ts";

const skip = whyNoPostgres() ?? false;
/** Far more than the limits add up to, and less than the time after which a connection that nobody ends would be given up. */
const DEADLINE_MS = 50_000;
const SEND_AGAIN_MS = 5_000;
const LIMITS = ["--database-timeout", "2s"];
/** A process starts while others take the processor: what it does meanwhile takes longer. */
const LIMITS_OF_PROCESS = ["--database-timeout", "15s"];
const NO_STATEMENT = /^\b$/;
const RUN_ENDED = /UPDATE runs SET status = r\.status[\s\S]*completed/;

type Nodes = { proxy: CuttingProxy; held: ServiceClient; other: ServiceClient };

/** The functions are registered with the node that is not held. */
async function startFunctions(t: TestContext, node: ServiceClient & { url: string }): Promise<void> {
  await startApp(t, node as Parameters<typeof startApp>[1], (inlet) => [
    inlet.createFunction({ id: "steps" }, { event: "still/steps.*" }, async ({ event, step }) => {
      await step.run("once", () => null);
      return event.data.label;
    }),
    inlet.createFunction({ id: "waits" }, { event: "still/wait" }, async ({ event, step }) => {
      const found = await step.waitForEvent("reply", { event: event.data.name as string, timeout: "1h" });
      return found === null ? "none" : "found";
    }),
    inlet.createFunction({ id: "unrelated" }, { event: "still/unrelated" }, () => "done"),
  ]);
}

/** Sends as an SDK does: what is refused with 503 is sent again. */
function send(node: ServiceClient, event: object): Promise<string> {
  return poll(
    async () => {
      const { status, body, text } = await node.send(event);
      if (status === 200) return body.ids[0] as string;
      assert.equal(status, 503, text);
      return null;
    },
    "an accepted event",
    DEADLINE_MS,
  );
}

async function runEnds(node: ServiceClient, eventId: string): Promise<void> {
  const look = async () => {
    const { body } = await node.rest("GET", `/events/${eventId}/runs`);
    return body?.data?.length > 0 && body.data.every(hasEnded) ? true : null;
  };
  await poll(look, `the run of ${eventId}`, DEADLINE_MS);
}

/** One node stands still at the point; the other does everything. */
async function standsStill({ held, other, proxy }: Nodes, point: Cut, name: string): Promise<void> {
  const isHeld = proxy.hold(point);
  const sent = await sendUntil(isHeld, held, { name, data: { label: name } });
  const waiting = await send(other, { name: "still/wait", data: { name } });
  const others = await Promise.all([
    send(other, { name, data: { label: "same name" } }),
    send(other, { name: "still/unrelated", data: {} }),
    send(other, { name: "still/unrelated", data: {} }),
  ]);
  for (const id of others) await runEnds(other, id);
  await waits(other, waiting);
  await runEnds(other, (await replied(other, name, waiting)) as string);
  await Promise.all(sent);
}

/**
 * Sent again while no connection is held: on a busy machine, the node may have no connection after the last point, or the other node may
 * have the run. Returns the responses to come.
 */
async function sendUntil(isHeld: Promise<void>, node: ServiceClient, event: object): Promise<Promise<unknown>[]> {
  const sent: Promise<unknown>[] = [];
  let isOver = false;
  const over = isHeld.then(() => {
    isOver = true;
  });
  while (!isOver) {
    sent.push(node.send(event).catch(() => null));
    await Promise.race([over, sleep(SEND_AGAIN_MS)]);
  }
  return sent;
}

/** The step waits, or has found the event that was sent at the same time. */
async function waits(node: ServiceClient, eventId: string): Promise<void> {
  await poll(async () => ((await node.rest("GET", `/events/${eventId}/runs`)).body?.data?.length ? true : null), "the wait", DEADLINE_MS);
}

async function replied(node: ServiceClient, name: string, waiting: string): Promise<string> {
  await poll(
    async () => {
      await send(node, { name, data: { label: "reply" } });
      const { body } = await node.rest("GET", `/events/${waiting}/runs`);
      return body?.data?.every(hasEnded) ? true : null;
    },
    "the end of the wait",
    DEADLINE_MS,
  );
  return waiting;
}

test("a connection that is held between two statements", { skip }, async (t) => {
  const databaseUrl = await migratedDatabase(t);
  const proxy = await cuttingProxy(t, databaseUrl);
  const other = await startTestService(t, { hasDefaultConnections: true, databaseUrl });
  const held = await startTestService(t, { hasDefaultConnections: true, databaseUrl: proxy.url, flags: LIMITS });
  await startFunctions(t, other);
  await poll(async () => ((await held.rest("GET", "/functions")).body?.data?.length === 3 ? true : null), "the functions", DEADLINE_MS);
  const points = [
    ...CUTS_OF_ACCEPTING,
    ...cutsAt("the lock of the run", /FROM runs[\s\S]*FOR UPDATE/),
    ...cutsAt("the write of the step's result", /INSERT INTO steps/),
    ...cutsAtCommitAfter("the write of the step's result", /INSERT INTO steps/),
    ...cutsAt("the write of the run's end", RUN_ENDED),
    ...cutsAtCommitAfter("the write of the run's end", RUN_ENDED),
  ];
  for (const [n, [point, cut]] of points.entries()) {
    await t.test(point, () => standsStill({ held, other, proxy }, cut, `still/steps.${n}`));
  }
});

test("a process that is stopped inside the transaction of an event", { skip }, async (t) => {
  const databaseUrl = await migratedDatabase(t);
  const proxy = await cuttingProxy(t, databaseUrl);
  const other = await startTestService(t, { hasDefaultConnections: true, databaseUrl });
  const frozen = await startNode(t, ["--database-url", proxy.url, ...LIMITS_OF_PROCESS]);
  await startFunctions(t, other);
  const point = proxy.hold({ statement: EVENT_WRITTEN, when: "after" }).then(() => void frozen.child.kill("SIGSTOP"));
  await sendUntil(point, frozen, { name: "still/steps.frozen", data: { label: "frozen" } });
  const waiting = await send(other, { name: "still/wait", data: { name: "still/steps.frozen" } });
  await runEnds(other, await send(other, { name: "still/unrelated", data: {} }));
  await runEnds(other, await send(other, { name: "still/steps.frozen", data: {} }));
  await replied(other, "still/steps.frozen", waiting);
});

test("connections without a response: events are refused, and accepted over new connections", { skip }, async (t) => {
  const proxy = await cuttingProxy(t, await migratedDatabase(t));
  const node = await startTestService(t, { hasDefaultConnections: true, databaseUrl: proxy.url, flags: LIMITS });
  await send(node, { name: "still/before", data: {} });
  proxy.holdAll();
  // Nor does a connection get one that is opened because all others are in use.
  proxy.holdEach(/./);
  const { status, body } = await node.send({ name: "still/during", data: {} });
  assert.deepEqual([status, body.code], [503, "store_unavailable"]);
  proxy.holdEach(NO_STATEMENT);
  await send(node, { name: "still/after", data: {} });
});

test("a lock that another program holds: events are refused in time, and accepted when it is free", { skip }, async (t) => {
  const databaseUrl = await migratedDatabase(t);
  const node = await startTestService(t, { hasDefaultConnections: true, databaseUrl, flags: LIMITS });
  await send(node, { name: "still/before", data: {} });
  await inDatabase(databaseUrl, async (client) => {
    await client.query("BEGIN; LOCK TABLE events");
    const { status, body } = await node.send({ name: "still/during", data: {} });
    assert.deepEqual([status, body.code], [503, "store_unavailable"]);
    const waiting = async () => {
      // Its other work comes again and again, and waits as well.
      const { rows } = await client.query(
        `SELECT 1 FROM ${OWN_LOCKS} JOIN pg_stat_activity USING (pid) WHERE NOT granted AND query LIKE '%append_events%'`,
      );
      return rows.length === 0 ? true : null;
    };
    await poll(waiting, "no write of the event that waits for the lock after its node gave up", DEADLINE_MS);
  });
  await send(node, { name: "still/after", data: {} });
});
