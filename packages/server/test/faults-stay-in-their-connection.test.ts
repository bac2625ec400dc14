/**
 * A fault belongs to the connection that caused it: whatever frames a subscriber sends, the process goes on and other subscribers get every
 * message; and a notification in the database that is none of ours harms no node. Seeded.
 */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { poll } from "./support/app.ts";
import { attackInRounds, attackPlan } from "./support/attacks/attack-plan.ts";
import { encodeFrame, frameOf, KNOWN_FRAMES } from "./support/attacks/web-socket-frames.ts";
import { cuttingProxy } from "./support/cutting-proxy.ts";
import { onEnd } from "./support/on-end.ts";
import { inDatabase, migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { type InletProcess, startInlet } from "./support/process.ts";
import { API_KEY, call, EVENT_KEY, SIGNING_KEY, startTestService, temporaryFolder } from "./support/service.ts";

const FRAMES_PER_CONNECTION = 20;
/** More than a subscriber may send in two intervals. */
const FLOOD = 1_001;

function startService(t: TestContext): Promise<InletProcess> {
  const keys = ["--event-key", EVENT_KEY, "--api-key", API_KEY, "--signing-key", SIGNING_KEY];
  return startInlet(t, ["start", "--port", "0", "--data-dir", temporaryFolder(t), ...keys]);
}

function realtime(url: string, path: string, body: string) {
  return call(`${url}/v1/realtime/${path}`, { method: "POST", headers: { authorization: `Bearer ${SIGNING_KEY}` }, body });
}

async function tokenOf(url: string): Promise<string> {
  return (await realtime(url, "token", '[{"channel":"user:1","name":"status"}]')).body.jwt;
}

/** A bare connection after the handshake. */
async function openSocket(t: TestContext, url: string): Promise<Socket> {
  const { socket, head } = await shakeHands(t, url, await tokenOf(url));
  assert.match(head, /^HTTP\/1\.1 101 /);
  return socket;
}

/** A bare connection, and the beginning of the response. */
async function shakeHands(t: TestContext, url: string, token: string, allowHalfOpen = false): Promise<{ socket: Socket; head: string }> {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen }).on("error", () => undefined);
  onEnd(t, () => socket.destroy());
  const lines = [`GET /v1/realtime/connect?token=${token} HTTP/1.1`, `Host: ${hostname}`, "Upgrade: websocket"];
  const more = ["Connection: Upgrade", "Sec-WebSocket-Version: 13", `Sec-WebSocket-Key: ${randomBytes(16).toString("base64")}`];
  socket.write(`${[...lines, ...more].join("\r\n")}\r\n\r\n`);
  const [head] = await once(socket, "data");
  return { socket: socket.resume(), head: String(head) };
}

/** Sends frames and then a ping, and returns once the service has answered it or closed the connection: all before it was read. */
async function sendFrames(socket: Socket, frames: readonly Buffer[]): Promise<void> {
  const isOver = new Promise((resolve) =>
    socket.once("close", resolve).on("data", (data) => data.includes("are you there") && resolve(null)),
  );
  for (const frame of frames) socket.write(frame);
  // A frame that was cut short takes what follows as its rest: the end of the connection is then the response.
  socket.end(encodeFrame(Buffer.from("are you there"), { opcode: 9 }));
  await isOver;
  socket.destroy();
}

test("whatever a subscriber sends, the process goes on and others get every message", async (t) => {
  const inlet = await startService(t);
  const received: number[] = [];
  const subscriber = new WebSocket(`${inlet.url.replace("http", "ws")}/v1/realtime/connect?token=${await tokenOf(inlet.url)}`);
  subscriber.addEventListener("message", ({ data }) => received.push(JSON.parse(data).data));
  await once(subscriber, "open");
  onEnd(t, () => subscriber.close());
  let published = 0;
  async function publishAndReceive(): Promise<void> {
    assert.equal((await realtime(inlet.url, "publish?channel=user:1&topic=status", String(published))).status, 200);
    published++;
    await poll(async () => (received.length === published ? true : null), "the message");
  }

  for (const text of KNOWN_FRAMES) {
    await sendFrames(await openSocket(t, inlet.url), [encodeFrame(Buffer.from(text))]);
    await publishAndReceive();
  }
  const refused = await shakeHands(t, inlet.url, "none", true);
  assert.match(refused.head, /^HTTP\/1\.1 401 /);
  await poll(async () => {
    refused.socket.write("x");
    return refused.socket.destroyed || null;
  }, "the end of a refused connection whose client does not close it");
  for (const frame of [encodeFrame(Buffer.alloc(125), { opcode: 9 }), encodeFrame(Buffer.from(`{"kind":"sub","data":"none"}`))]) {
    const socket = await openSocket(t, inlet.url);
    const closed = once(socket, "close");
    socket.write(Buffer.concat(Array<Buffer>(FLOOD).fill(frame)));
    await closed;
    await publishAndReceive();
  }
  await attackInRounds(attackPlan(60), async (random) => {
    const frames = Array.from({ length: FRAMES_PER_CONNECTION }, () => frameOf(random));
    await sendFrames(await openSocket(t, inlet.url), frames);
    await publishAndReceive();
  });
  assert.deepEqual(
    received,
    Array.from({ length: published }, (_, n) => n),
  );
  assert.doesNotMatch(inlet.stderr(), /handling it failed|not handled/, "every frame was judged before it was used");
});

test("a notification that is none of ours harms no node", { skip: whyNoPostgres() ?? false }, async (t) => {
  const databaseUrl = await migratedDatabase(t);
  const service = await startTestService(t, { hasDefaultConnections: true, databaseUrl });
  const controller = new AbortController();
  const headers = { authorization: `Bearer ${API_KEY}` };
  const open = (path: string) => fetch(`${service.url}/v1/${path}/stream`, { headers, signal: controller.signal });
  // Held to the end: responses that nothing holds are closed when their memory is collected.
  const streams = [await open("events"), await open("runs")];
  t.after(() => {
    controller.abort();
    streams.splice(0);
  });
  const wrong = [
    "",
    "x",
    "x {",
    "x null",
    "x {}",
    'x {"lane":1}',
    'x {"limits":1}',
    "x nothing",
    "x 1,two,3",
    "x a 1/1 bm8=",
    "x a 1/1 e30=",
  ];
  await inDatabase(databaseUrl, async (client) => {
    for (const channel of ["inlet", "inlet_events", "inlet_runs", "inlet_realtime"])
      for (const payload of wrong) await client.query("SELECT pg_notify($1, $2)", [channel, payload]);
  });
  // A key made on another node is known here once its notification has been heard: after all of the above.
  const other = await startTestService(t, { hasDefaultConnections: true, databaseUrl });
  const made = await other.rest("POST", "/keys", { body: { kind: "api", name: "another", role: "read" } });
  const authorization = `Bearer ${made.body.data.key}`;
  await poll(async () => ((await service.rest("GET", "/events", { headers: { authorization } })).status === 200 ? true : null), "the key");
});

test("a stream that is resumed while the database is away ends, and nothing else does", { skip: whyNoPostgres() ?? false }, async (t) => {
  const proxy = await cuttingProxy(t, await migratedDatabase(t));
  const keys = ["--event-key", EVENT_KEY, "--api-key", API_KEY, "--signing-key", SIGNING_KEY];
  const inlet = await startInlet(t, ["start", "--port", "0", "--database-url", proxy.url, ...keys]);
  const headers = { authorization: `Bearer ${API_KEY}`, "last-event-id": "0" };
  const made = await call(`${inlet.url}/v1/webhooks`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ name: "w", transform: "() => ({ name: 'n', data: {} })" }),
  });
  assert.equal(made.status, 201, made.text);
  proxy.close();
  for (const path of ["/events/stream", `/webhooks/${made.body.data.id}/requests/stream`]) {
    const stream = await fetch(`${inlet.url}/v1${path}`, { headers });
    await stream.text().catch(() => undefined);
    assert.equal((await call(`${inlet.url}/health`)).status, 200, path);
  }
});
