/**
 * Whatever bytes come in, the service sees the requests that a bare `node:http` server sees, and no other: nothing can be smuggled past it
 * inside another request, and nothing makes it hang or fail. Differential, with a seed.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { type TestContext, test } from "node:test";
import { attackInRounds, attackPlan } from "./support/attacks/attack-plan.ts";
import { httpBytes } from "./support/attacks/http-bytes.ts";
import { onEnd } from "./support/on-end.ts";
import { EVENT_KEY, startTestService, type TestService } from "./support/service.ts";

const PATH = `/e/${EVENT_KEY}`;
const ANSWERED_WITHIN_MS = 60_000;

/** Sends the bytes, ends its side, and returns everything that comes back. */
function exchange(t: TestContext, url: string, bytes: Buffer): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  onEnd(t, () => socket.destroy());
  socket.setEncoding("latin1");
  let received = "";
  const late = setTimeout(
    () => socket.destroy(new Error(`no end after ${ANSWERED_WITHIN_MS} ms; received: ${received}`)),
    ANSWERED_WITHIN_MS,
  );
  return new Promise((resolve, reject) => {
    socket.on("data", (text) => (received += text));
    socket.on("error", (error: NodeJS.ErrnoException) =>
      error.code === "ECONNRESET" || error.code === "EPIPE" ? resolve(received) : reject(error),
    );
    socket.on("end", () => socket.end());
    socket.on("close", () => {
      clearTimeout(late);
      resolve(received);
    });
    socket.end(bytes);
  });
}

/** Which bodies a server saw that were sent to the path of events, whole. */
async function startReference(t: TestContext): Promise<{ url: string; seen: Set<string> }> {
  const seen = new Set<string>();
  const server = createServer(async (request, response) => {
    try {
      const body = Buffer.concat((await request.toArray()) as Buffer[]).toString();
      if (request.method === "POST" && request.url?.split("?", 1)[0] === PATH) seen.add(body);
      response.end("ok");
    } catch {
      // The client broke off.
    }
  });
  Object.assign(server, { httpAllowHalfOpen: true });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

async function storedNumbers(service: TestService): Promise<number[]> {
  const numbers: number[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { body } = await service.rest("GET", `/events?limit=100${cursor && `&cursor=${cursor}`}`);
    numbers.push(...body.data.map(({ data }: { data: { number: number } }) => data.number));
    cursor = body.page.next;
  }
  return numbers;
}

// This is decided before a store is asked: one engine stands for both.
test("what is stored was seen by node:http too, and every connection comes to an end", async (t) => {
  const service = await startTestService(t);
  const reference = await startReference(t);
  let number = 0;
  const plan = attackPlan(400);
  const rounds = await attackInRounds(plan, async (random) => {
    const bytes = httpBytes(random, PATH, () => number++);
    const answer = await exchange(t, service.url, bytes);
    assert.ok(!/^HTTP\/1\.1 5/m.test(answer), `the service failed: ${answer}\n${bytes}`);
    await exchange(t, reference.url, bytes);
  });
  const stored = await storedNumbers(service);
  assert.ok(stored.length > rounds / 10, `only ${stored.length} of ${rounds} were accepted: this tests nothing (seed ${plan.seed})`);
  const seen = new Set([...reference.seen].map(numberIn));
  const smuggled = stored.filter((one) => !seen.has(one));
  assert.deepEqual(smuggled, [], `seed ${plan.seed}`);
  assert.equal(new Set(stored).size, stored.length, `each once (seed ${plan.seed})`);
});

/** Undefined for what is no event. */
function numberIn(body: string): number | undefined {
  try {
    return JSON.parse(body).data.number;
  } catch {
    return undefined;
  }
}
