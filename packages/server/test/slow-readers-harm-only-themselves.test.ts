/**
 * A client that opens a live stream and reads nothing of it: on every route with server-sent events it is disconnected once it loses its
 * access or lags too far behind, nothing is written to a stream that has ended, and the service goes on. Heartbeats come every few
 * milliseconds here, so that one falls into each moment of an ending stream.
 */

import assert from "node:assert/strict";
import { subscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { poll, startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { onEnd } from "./support/on-end.ts";
import { SIGNING_KEY, startTestService, type TestService } from "./support/service.ts";
import { makeWebhook, post } from "./support/webhooks.ts";

const HEARTBEAT_MS = 2;
/** More than the operating system buffers for a connection, in parts that are accepted. */
const PARTS = 40;
const PART = "x".repeat(400_000);

const CUT_WITHIN_MS = 60_000;

/** The service's ends of all connections, by the port of the client's. */
const serviceEnds = new Map<number, Socket>();
subscribe("net.server.socket", (message) => {
  const { socket } = message as { socket: Socket };
  serviceEnds.set(socket.remotePort ?? 0, socket);
});

function start(t: TestContext): Promise<TestService> {
  return startTestService(t, { heartbeatMs: HEARTBEAT_MS, flags: ["--stall-timeout", "600s"] });
}

/** A stream whose head has arrived, and of which nothing more is read. */
async function openUnread(t: TestContext, { url }: TestService, path: string, authorization: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on("error", () => undefined);
  onEnd(t, () => socket.destroy());
  socket.write(`GET /v1${path} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${authorization}\r\nlast-event-id: 0\r\n\r\n`);
  const [head] = await once(socket, "data");
  assert.match(String(head), /^HTTP\/1\.1 200 /);
  return socket.pause();
}

/** Resolves when the service has closed its end. The client's end stays open: it reads nothing. */
async function untilCut(slow: Socket): Promise<void> {
  const end = serviceEnds.get(slow.localPort ?? 0);
  assert.ok(end && !slow.closed);
  if (!end.closed) await once(end, "close", { signal: AbortSignal.timeout(CUT_WITHIN_MS) });
}

async function makeKey(service: TestService): Promise<{ id: string; key: string }> {
  return (await service.rest("POST", "/keys", { body: { kind: "api", name: "reader", role: "viewer" } })).body.data;
}

/** Opens a stream with a key of its own, fills it, and revokes the key. */
async function checkRevoked(t: TestContext, service: TestService, path: string, fill: () => Promise<void>): Promise<void> {
  const key = await makeKey(service);
  const slow = await openUnread(t, service, path, key.key);
  await fill();
  assert.equal(serviceEnds.get(slow.localPort ?? 0)?.closed, false);
  assert.equal((await service.rest("DELETE", `/keys/${key.id}`)).status, 200);
  await untilCut(slow);
  assert.equal((await service.rest("GET", "/events")).status, 200);
  await service.stop();
}

test("events", async (t) => {
  const service = await start(t);
  await checkRevoked(t, service, "/events/stream", async () => {
    for (let n = 0; n < PARTS; n++) assert.equal((await service.send({ name: "large/event", data: { PART } })).status, 200);
  });
});

test("requests of a webhook", async (t) => {
  const service = await start(t);
  const webhook = await makeWebhook(service, 'function transform() { return { name: "hook/received", data: {} }; }');
  await checkRevoked(t, service, `/webhooks/${webhook.id}/requests/stream`, async () => {
    for (let n = 0; n < PARTS; n++) assert.equal((await post(webhook.url, { PART })).status, 200);
  });
});

test("runs", async (t) => {
  const service = await start(t);
  let ended = 0;
  await startApp(t, service, (inlet) => [
    inlet.createFunction({ id: "work", name: PART }, { event: "app/work" }, async () => {
      ended++;
    }),
  ]);
  await checkRevoked(t, service, "/runs/stream", async () => {
    for (let n = 0; n < PARTS; n++) assert.equal((await service.send({ name: "app/work", data: {} })).status, 200);
    await poll(async () => (ended === PARTS ? true : null), "every run");
  });
});

test("realtime messages", async (t) => {
  const service = await start(t);
  const ask = (path: string, body: unknown) =>
    service.rest("POST", `/realtime/${path}`, { body, headers: { authorization: `Bearer ${SIGNING_KEY}` } });
  const { body } = await ask("token", [{ channel: "user:1", name: "status" }]);
  const slow = await openUnread(t, service, "/realtime/sse", body.jwt);
  for (let n = 0; n < PARTS; n++) assert.equal((await ask("publish?channel=user:1&topic=status", { PART })).status, 200);
  await untilCut(slow);
  await service.stop();
});
