/**
 * Realtime messages are kept: a subscriber that comes back names the last message that it got, and gets what it missed, once and in
 * order, over server-sent events and WebSocket, on whichever node, also after the service was killed. If some of it is no longer kept, it
 * is told so.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { type TestContext, test as testOnce } from "node:test";
import { test } from "./support/both-stores.ts";
import { startNode } from "./support/nodes.ts";
import { onEnd } from "./support/on-end.ts";
import { migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { until } from "./support/runs.ts";
import { type Answer, call, type ServiceClient, SIGNING_KEY, startTestService, temporaryFolder } from "./support/service.ts";

const skip = whyNoPostgres() ?? false;
const DAY_MS = 86_400_000;

interface Message {
  /** Null: it has none. */
  number: number | null;
  kind: string;
  data: unknown;
}

function realtime({ url }: ServiceClient, path: string, body: unknown): Promise<Answer> {
  const headers = { authorization: `Bearer ${SIGNING_KEY}`, "content-type": "application/json" };
  return call(`${url}/v1/realtime/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
}

async function publish(service: ServiceClient, data: unknown, topic = "status", channel = "user:1"): Promise<void> {
  const { status, text } = await realtime(service, `publish?channel=${channel}&topic=${topic}`, data);
  assert.equal(status, 200, text);
}

async function tokenOf(service: ServiceClient): Promise<string> {
  return (await realtime(service, "token", [{ channel: "user:1", name: "status" }])).body.jwt;
}

/** A connection, and what it has been sent so far. */
interface Following {
  messages: Message[];
  end(): void;
}

async function followStream(t: TestContext, service: ServiceClient, after: number | string | null): Promise<Following> {
  const headers: Record<string, string> = after === null ? {} : { "last-event-id": String(after) };
  const request = get(`${service.url}/v1/realtime/sse?token=${await tokenOf(service)}`, { headers, agent: false });
  const end = () => void request.destroy();
  request.on("error", () => undefined);
  onEnd(t, end);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  assert.equal(response.statusCode, 200);
  const messages: Message[] = [];
  void readStream(response, messages);
  return { messages, end };
}

/** A connection of which only the first piece is read before it goes on. */
async function stalledStream(t: TestContext, service: ServiceClient, after: number): Promise<{ messages: Message[]; goOn(): void }> {
  const headers = { "last-event-id": String(after) };
  const request = get(`${service.url}/v1/realtime/sse?token=${await tokenOf(service)}`, { headers, agent: false });
  request.on("error", () => undefined);
  onEnd(t, () => void request.destroy());
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const messages: Message[] = [];
  const proceed = Promise.withResolvers<void>();
  void readStream(response, messages, proceed.promise);
  return { messages, goOn: proceed.resolve };
}

async function readStream(response: IncomingMessage, messages: Message[], proceed: Promise<void> | null = null): Promise<void> {
  let text = "";
  try {
    for await (const chunk of response) {
      text += chunk;
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const [, number = null] = /^id: (\d+)$/m.exec(block) ?? [];
        const [, data] = /^data: (.*)$/m.exec(block) ?? [];
        if (data !== undefined) messages.push({ ...JSON.parse(data), number: number === null ? null : Number(number) });
      }
      if (messages.length > 0) await proceed;
    }
  } catch {
    // It was ended here, or the service was killed.
  }
}

async function followSocket(t: TestContext, service: ServiceClient, after: number | string | null): Promise<Following> {
  const parameters = new URLSearchParams({ token: await tokenOf(service), ...(after !== null && { after: String(after) }) });
  const socket = new WebSocket(`${service.url.replace("http", "ws")}/v1/realtime/connect?${parameters}`);
  const messages: Message[] = [];
  socket.addEventListener("message", ({ data }) => {
    const { id = null, ...message } = JSON.parse(data);
    messages.push({ ...message, number: id });
  });
  await new Promise((resolve) => socket.addEventListener("open", resolve));
  onEnd(t, () => socket.close());
  return { messages, end: () => socket.close() };
}

const WAYS = [followStream, followSocket];

async function expectNumbers({ messages }: Following, expected: readonly (number | null)[]): Promise<void> {
  await until(`${expected.length} messages`, () => (messages.length >= expected.length ? true : undefined));
  assert.deepEqual(
    messages.map(({ number }) => number),
    expected,
  );
}

test("who comes back gets what it missed, then what is new; who names no number of a message gets what is new", async (t) => {
  let now = Date.now();
  const service = await startTestService(t, { now: () => now });
  for (const data of ["a", "b"]) await publish(service, data);
  await publish(service, "of another topic", "done");
  await publish(service, "of another channel", "status", "user:2");
  await publish(service, "e");
  for (const [at, follow] of WAYS.entries()) {
    const back = await follow(t, service, 1);
    const fresh = await Promise.all([null, "x", 999, 0].map((after) => follow(t, service, after)));
    const missed = [2, 5, 6].slice(0, 2 + at);
    await expectNumbers(back, missed);
    await publish(service, "new");
    await expectNumbers(back, [...missed, 6 + at]);
    for (const one of fresh) await expectNumbers(one, [6 + at]);
    for (const one of [back, ...fresh]) one.end();
  }
  now += DAY_MS + 1;
  await publish(service, "h");
  for (const [at, follow] of WAYS.entries()) {
    const late = await follow(t, service, 2);
    await expectNumbers(late, [null, 8, 9].slice(0, 2 + at));
    assert.deepEqual([late.messages[0]?.kind, late.messages[1]?.data], ["gap", "h"]);
    const kept = await follow(t, service, 8 + at);
    await publish(service, "after it");
    await until("the new message", () => kept.messages[0]);
    assert.deepEqual(kept.messages[0]?.kind, "data", "nothing is missing");
    kept.end();
  }
});

// That either store keeps so many of a channel is in store/realtime/conformance.ts.
testOnce("a channel keeps its newest 10,000 messages: who was away for longer is told", async (t) => {
  const service = await startTestService(t);
  await publish(service, "first");
  const topics = Array.from({ length: 10 }, () => "status").join("&topic=");
  for (let n = 0; n < 1_000; n += 10)
    await Promise.all(Array.from({ length: 10 }, () => realtime(service, `publish?channel=user:1&topic=${topics}`, "x".repeat(n % 7))));
  const whole = await followStream(t, service, 1);
  await until("all messages", () => (whole.messages.length >= 10_000 ? true : undefined));
  assert.deepEqual(
    whole.messages.map(({ number }) => number),
    Array.from({ length: 10_000 }, (_, n) => n + 2),
    "none is missing",
  );
  await publish(service, "one more");
  const late = await followSocket(t, service, 1);
  await until("what is kept", () => (late.messages.length >= 10_001 ? true : undefined));
  assert.deepEqual([late.messages[0]?.kind, late.messages[1]?.number, late.messages.length], ["gap", 3, 10_001]);
});

test("who reads what it missed more slowly than others publish gets each message once, or is told that some are no longer kept", async (t) => {
  const service = await startTestService(t, { flags: ["--stall-timeout", "10m"] });
  const topics = Array.from({ length: 10 }, () => "status").join("&topic=");
  const publishMany = async (count: number, text: string) => {
    for (let n = 0; n < count; n += 100)
      await Promise.all(Array.from({ length: 10 }, () => realtime(service, `publish?channel=user:1&topic=${topics}`, text)));
  };
  await publish(service, "first");
  // More than is written to a connection that nobody reads.
  await publishMany(1_000, "x".repeat(16_000));
  const slow = await stalledStream(t, service, 1);
  await until("some of it", () => (slow.messages.length > 0 ? true : undefined));
  await publishMany(10_500, "y");
  slow.goOn();
  await publish(service, "last");
  await until("the last", () => (slow.messages.at(-1)?.data === "last" ? true : undefined));
  let number = 1;
  let gaps = 0;
  for (const message of slow.messages) {
    if (message.kind === "gap") gaps++;
    else if (gaps === 0) assert.equal(message.number, number + 1, "nothing is missing without a word");
    assert.ok(message.number === null || message.number > number, "in order, each once");
    number = message.number ?? number;
  }
  assert.equal(gaps, 1);
});

/** Connects again and again, to any of the nodes, while messages are published, and sees each once and in order. */
async function followWithBreaks(t: TestContext, nodes: readonly ServiceClient[], total: number): Promise<void> {
  const [first] = nodes as [ServiceClient];
  await publish(first, 0);
  const publishing = (async () => {
    for (let n = 1; n < total; n += 10)
      await Promise.all(Array.from({ length: 10 }, (_, at) => publish(nodes[(n + at) % nodes.length] as ServiceClient, n + at)));
  })();
  const seen: number[] = [1];
  const last = 1 + Math.ceil((total - 1) / 10) * 10;
  for (let turn = 0; seen.at(-1) !== last; turn++) {
    const following = await (WAYS[turn % 2] as typeof followStream)(t, nodes[turn % nodes.length] as ServiceClient, seen.at(-1) as number);
    const wanted = Math.min(1 + (turn % 5) * 9, last - (seen.at(-1) as number));
    await until("some more", () => (following.messages.length >= wanted ? true : undefined));
    following.end();
    seen.push(...following.messages.map(({ number }) => number as number));
  }
  await publishing;
  assert.deepEqual(
    seen,
    Array.from({ length: last }, (_, n) => n + 1),
  );
}

testOnce("a subscriber that loses its connection again and again sees every message once", async (t) => {
  await followWithBreaks(t, [await startTestService(t)], 300);
});

testOnce("postgres: so does one that connects to another node each time, while both publish", { skip }, async (t) => {
  const databaseUrl = await migratedDatabase(t);
  await followWithBreaks(t, [await startTestService(t, { databaseUrl }), await startTestService(t, { databaseUrl })], 300);
});

for (const engine of ["sqlite", "postgres"] as const) {
  testOnce(
    `${engine}: what was published before the service was killed is there after it`,
    { skip: engine === "postgres" && skip },
    async (t) => {
      const place = engine === "sqlite" ? ["--data-dir", temporaryFolder(t)] : ["--database-url", await migratedDatabase(t)];
      const killed = await startNode(t, place);
      for (let n = 1; n <= 5; n++) await publish(killed, n);
      const before = await followStream(t, killed, 1);
      await expectNumbers(before, [2, 3, 4, 5]);
      await publish(killed, 6);
      await killed.end("SIGKILL");
      const node = await startNode(t, place);
      const after = await followStream(t, node, 3);
      await publish(node, 7);
      await expectNumbers(after, [4, 5, 6, 7]);
      assert.deepEqual(
        after.messages.map(({ data }) => data),
        [4, 5, 6, 7],
      );
    },
  );
}
