/** Bounded queue: past the limit of bytes held, the response is 503 with Retry-After, at once; memory stays flat. */

import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { test } from "./support/both-stores.ts";
import { onEnd } from "./support/on-end.ts";
import { call, EVENT_KEY, startTestService, type TestService } from "./support/service.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const EVENT_BYTES = 400_000;
const SENDERS = 30;
const SENT_BY_EACH = 8;
const MEASURED_EVERY = 15;

/** In use, without what is only left to be collected: how much of that there is depends on when the collector runs. */
function buffersHeld(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

/** A request whose body stops short of its end, so that what was sent is held. */
async function stall(t: TestContext, service: TestService, bytes: number): Promise<Socket> {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  onEnd(t, () => socket.destroy());
  const head = `POST /e/${EVENT_KEY} HTTP/1.1\r\nhost: t\r\ncontent-type: application/json\r\ncontent-length: ${bytes + 1}\r\n\r\n`;
  await new Promise<void>((resolve) => socket.write(head + " ".repeat(bytes), () => resolve()));
  // What was sent before is read before: once these are answered, the body is held.
  for (let i = 0; i < 3; i++) await call(`${service.url}/health`);
  return socket;
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 300_000;
  while (!(await condition())) assert.ok(Date.now() < deadline, "this did not come about in time");
}

test("past the limit requests are refused with 503, and accepted again once there is room", async (t) => {
  const service = await startTestService(t, { flags: ["--queue-limit", "200kb"] });
  const event = { name: "a/b", data: { text: "x".repeat(20_000) } };
  assert.equal((await service.send(event)).status, 200);
  const stalled = [await stall(t, service, 100_000), await stall(t, service, 95_000)];
  const refused = await service.send(event);
  assert.deepEqual([refused.status, refused.body.code], [503, "overloaded"]);
  assert.equal(refused.headers.get("retry-after"), "1");
  for (const socket of stalled) socket.destroy();
  await until(async () => (await service.send(event)).status === 200);
});

test("memory stays flat while far more is sent than the queue holds", async (t) => {
  const service = await startTestService(t, { flags: ["--queue-limit", "4mb"] });
  const body = JSON.stringify({ name: "a/b", data: { text: "x".repeat(EVENT_BYTES) } });
  const statuses: number[] = [];
  const before = buffersHeld();
  let peak = 0;
  await Promise.all(
    Array.from({ length: SENDERS }, async () => {
      for (let n = 0; n < SENT_BY_EACH; n++) {
        statuses.push((await service.send(body)).status);
        if (statuses.length % MEASURED_EVERY === 0) peak = Math.max(peak, buffersHeld() - before);
      }
    }),
  );
  assert.deepEqual(
    statuses.filter((status) => status !== 200 && status !== 503),
    [],
  );
  assert.equal(statuses.length, SENDERS * SENT_BY_EACH, "every request was answered");
  // What is under way: at its sender, and here in the pieces in which it came and as a whole. All that was sent is twice as much.
  assert.ok(peak < 3 * SENDERS * EVENT_BYTES + 10_000_000, `${peak} bytes of buffers`);
});
