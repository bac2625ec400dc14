/**
 * Realtime: what a function publishes, with the published SDK (v4), reaches who subscribed with its own `subscribe`, over WebSocket and
 * server-sent events, on the embedded store, on PostgreSQL and from one node to another; nobody gets what is another environment's, or
 * subscribes without a token; a subscriber that does not read is cut, and others are not held up by it; whoever subscribed by a signing
 * key is cut when it is revoked.
 */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { type TestContext, test as testOnce } from "node:test";
import { type RealtimeMessage, subscribe as subscribeWith } from "@inlet/sdk";
import { poll, runsOf, startApp } from "./support/app.ts";
import { serveApp, syncApp } from "./support/apps/app-server.ts";
import { loadUntyped, SILENT_LOGGER } from "./support/apps/published-sdk.ts";
import { test } from "./support/both-stores.ts";
import { onEnd } from "./support/on-end.ts";
import { type Cases, onOneService } from "./support/one-service.ts";
import { migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { type Answer, call, EVENT_KEY, SIGNING_KEY, startTestService, type TestService } from "./support/service.ts";

const { Inngest } = await loadUntyped("inngest");
const { serve } = await loadUntyped("inngest/node");
const { subscribe } = await loadUntyped("inngest/realtime");

const skip = whyNoPostgres() ?? false;
const TOPICS = [{ channel: "user:1", name: "status", kind: "run" }];

interface Message {
  kind: string;
  channel: string;
  topic: string;
  data: unknown;
  runId?: string;
}

function clientOf(service: TestService, options: object = {}) {
  return new Inngest({
    id: "app",
    baseUrl: service.url,
    eventKey: EVENT_KEY,
    signingKey: SIGNING_KEY,
    isDev: false,
    logger: SILENT_LOGGER,
    ...options,
  });
}

/** What the SDK's own subscription was given so far. */
async function follow(t: TestContext, service: TestService, channel = "user:1", topics = ["status", "done"]): Promise<Message[]> {
  const messages: Message[] = [];
  const subscription = await subscribe({
    app: clientOf(service),
    channel,
    topics,
    onMessage: (message: Message) => void messages.push(message),
  });
  onEnd(t, async () => subscription.close());
  return messages;
}

function realtime(service: TestService, path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  return call(`${service.url}/v1/realtime/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${SIGNING_KEY}`, "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

const publish = (service: TestService, data: unknown, headers: Record<string, string> = {}) =>
  realtime(service, "publish?channel=user:1&topic=status", data, headers);

async function tokenOf(service: TestService, topics: object[] = TOPICS, signingKey = SIGNING_KEY): Promise<string> {
  return (await realtime(service, "token", topics, { authorization: `Bearer ${signingKey}` })).body.jwt;
}

async function serveFunction(t: TestContext, service: TestService): Promise<void> {
  const client = clientOf(service);
  // biome-ignore lint/suspicious/noExplicitAny: the published SDK is loaded without its types
  const work = client.createFunction({ id: "work", triggers: [{ event: "app/work" }] }, async ({ step }: any) => {
    await client.realtime.publish({ channel: "user:1", topic: "status" }, { at: "begin" });
    await step.realtime.publish("announce", { channel: "user:1", topic: "status" }, { at: "step" });
    await step.sleep("a moment", "1s");
    await step.realtime.publish("end", { channel: "user:1", topic: "done" }, "ended");
    return "ok";
  });
  const app = await serveApp(t, serve({ client, functions: [work] }));
  await syncApp(service, app.url);
}

async function checkFunction(t: TestContext, publisher: TestService, subscriber: TestService): Promise<void> {
  const messages = await follow(t, subscriber);
  const elsewhere = await follow(t, subscriber, "user:2");
  const { ids } = await clientOf(publisher).send({ name: "app/work", data: {} });
  const [run] = await runsOf(publisher, ids[0]);
  assert.equal(run.output, "ok");
  await poll(async () => (messages.some(({ topic }) => topic === "done") ? true : null), "the last message");
  const durable = messages.filter(({ data }) => JSON.stringify(data) === '{"at":"step"}');
  assert.equal(durable.length, 1, "what a step publishes is published once");
  assert.deepEqual([messages[0]?.data, messages.at(-1)?.data, messages.at(-1)?.runId], [{ at: "begin" }, "ended", run.id]);
  assert.ok(messages.every(({ channel, kind }) => channel === "user:1" && kind === "data"));
  assert.deepEqual(elsewhere, []);
}

/** Each waits for the last message that it publishes. */
const CASES: Cases = {
  async "what a function publishes reaches the SDK's subscription"(service, t) {
    await serveFunction(t, service);
    await checkFunction(t, service, service);
  },
  async "version 3 of the SDK publishes what its realtime middleware asks it to"(service, t) {
    const messages = await follow(t, service);
    const { Inngest: Inngest3 } = await loadUntyped("inngest-v3");
    const client = new Inngest3({ id: "app", baseUrl: service.url, eventKey: EVENT_KEY, signingKey: SIGNING_KEY, isDev: false });
    client.inngestApi.setSigningKey(SIGNING_KEY);
    const { ok } = await client.inngestApi.publish(
      { channel: "user:1", topics: ["status"], runId: "01ARZ3NDEKTSV4RRFFQ69G5FAV" },
      { at: "v3" },
    );
    assert.equal(ok, true);
    await poll(async () => (messages.length > 0 ? true : null), "the message");
    assert.deepEqual([messages[0]?.data, messages[0]?.runId], [{ at: "v3" }, "01ARZ3NDEKTSV4RRFFQ69G5FAV"]);
  },
  async "a stream is published as it comes, and ends"(service, t) {
    // The subscription of the published SDK fails at the beginning of a stream (4.24.0), so this one is the test's own.
    const messages: Message[] = [];
    const socket = await openWebSocket(t, service);
    socket.addEventListener("message", ({ data }) => messages.push(JSON.parse(data)));
    const answer = await realtime(service, "publish?channel=user:1&topic=status", "one two", { "content-type": "text/stream" });
    assert.equal(answer.status, 200, answer.text);
    await poll(async () => (messages.at(-1)?.kind === "datastream-end" ? true : null), "the end");
    assert.deepEqual(
      messages.map(({ kind }) => kind),
      ["datastream-start", "chunk", "datastream-end"],
    );
    assert.equal(messages[1]?.data, "one two");
  },
  async "an environment's messages stay in it, and tokens are for one environment"(service, t) {
    await service.rest("POST", "/environments", { body: { name: "staging" } });
    const messages = await follow(t, service);
    await publish(service, "theirs", { "x-inngest-env": "staging" });
    await publish(service, "ours");
    await poll(async () => (messages.length > 0 ? true : null), "the message");
    assert.deepEqual(
      messages.map(({ data }) => data),
      ["ours"],
    );
  },
  async "a subscriber that does not read is cut with a message, and others get everything"(service, t) {
    const messages = await follow(t, service, "user:1", ["status"]);
    const { socket } = await openSocket(service, await tokenOf(service));
    socket.pause();
    const isCut = new Promise<string>((resolve) => {
      let last = "";
      socket.on("data", (data) => (last = data.toString("latin1")));
      socket.on("close", () => resolve(last));
      socket.on("error", () => undefined);
    });
    const large = "x".repeat(200_000);
    let published = 0;
    // What the operating system buffers for a socket is not the service's.
    while (published < 60) {
      assert.equal((await publish(service, { n: published, large })).status, 200);
      published++;
    }
    await poll(async () => (messages.length === published ? true : null), "every message");
    socket.resume();
    assert.match(await isCut, /reads too slowly|x{100}/);
    await publish(service, "after");
    await poll(async () => (messages.at(-1)?.data === "after" ? true : null), "the last message");
  },
  async "subscriptions end when the signing key of their token is revoked, and others go on"(service, t) {
    await checkRevocation(t, service, service);
  },
  async "a request that asks for another upgrade is answered as if it did not"(service, t) {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    onEnd(t, async () => void socket.destroy());
    socket.write(`GET /health HTTP/1.1\r\nHost: ${hostname}\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n`);
    const head = await new Promise<string>((resolve) => socket.once("data", (data) => resolve(data.toString())));
    assert.match(head, /^HTTP\/1\.1 200 /);
  },
  async "our SDK publishes from a step and from plain code, and subscribes"(service, t) {
    const { client } = await startApp(t, service, (inlet) => [
      inlet.createFunction({ id: "import" }, { event: "shop/import" }, async ({ step }) => {
        await step.realtime.publish("begin", { channel: "user:7", topic: "progress" }, { percent: 0 });
        await step.sleep("a moment", "1s");
        await inlet.realtime.publish({ channel: "user:7", topic: "progress" }, { percent: 100 });
      }),
    ]);
    const messages: RealtimeMessage[] = [];
    const subscription = await client.realtime.subscribe({ channel: "user:7", topics: ["progress"] }, (message) => messages.push(message));
    const { ids } = await client.send({ name: "shop/import", data: {} });
    const [run] = await runsOf(service, ids[0] as string);
    assert.equal(run.status, "completed", JSON.stringify(run));
    await poll(async () => (messages.length === 2 ? true : null), "both messages");
    assert.deepEqual(
      messages.map(({ data, runId }) => [data, runId]),
      [
        [{ percent: 0 }, run.id],
        [{ percent: 100 }, run.id],
      ],
    );
    subscription.close();
    assert.equal(await subscription.closed, "The subscription was closed");
    await assert.rejects(
      subscribeWith({ key: "no", baseUrl: service.url }, () => undefined),
      /refused/,
    );
  },
};

/** Revokes at one service the newer of two keys by which subscribers follow at the other. */
async function checkRevocation(t: TestContext, revoker: TestService, subscriber: TestService): Promise<void> {
  const made = await revoker.rest("POST", "/keys", { body: { kind: "signing", name: "k", environment: "production" } });
  const { id, key } = made.body.data;
  const isKnown = async () => (await realtime(subscriber, "token", TOPICS, { authorization: `Bearer ${key}` })).status === 201;
  await poll(async () => ((await isKnown()) ? true : null), "the key");

  const [token, otherToken] = [await tokenOf(subscriber, TOPICS, key), await tokenOf(subscriber)];
  const messages: Message[] = [];
  const other = await openWebSocket(t, subscriber, otherToken);
  other.addEventListener("message", ({ data }) => messages.push(JSON.parse(data)));
  const ends: string[] = [];
  const socket = await openWebSocket(t, subscriber, token);
  socket.addEventListener("close", ({ reason }) => ends.push(reason));
  const stream = await fetch(`${subscriber.url}/v1/realtime/sse?token=${token}`);
  void stream.text().then((text) => ends.push(text));

  assert.equal((await revoker.rest("DELETE", `/keys/${id}`)).status, 200);
  await poll(async () => (ends.length === 2 ? true : null), "the end of both connections");
  for (const end of ends) assert.match(end, /The signing key of this subscription was revoked\./);
  assert.equal(await upgradeStatus(subscriber, token), 401);
  await publish(revoker, "to the other");
  await poll(async () => (messages.length > 0 ? true : null), "the message to who has another key");
}

test("subscriptions of one service", onOneService(CASES));

testOnce(
  "postgres: what a function publishes on one node reaches a subscription on another, and so does the revocation of its key",
  { skip },
  async (t) => {
    const databaseUrl = await migratedDatabase(t);
    const [here, there] = [await startTestService(t, { databaseUrl }), await startTestService(t, { databaseUrl })];
    await serveFunction(t, here);
    await poll(async () => ((await there.rest("GET", "/functions")).body.data.length > 0 ? true : null), "the function");
    await checkFunction(t, here, there);
    await checkRevocation(t, here, there);
    // Longer than a notification can be, and text that is no JSON.
    const messages = await follow(t, there, "user:1", ["status"]);
    const large = { text: "ü".repeat(50_000) };
    await poll(async () => {
      await publish(here, large);
      return messages.length > 0 ? true : null;
    }, "the large message");
    assert.deepEqual(messages[0]?.data, large);
  },
);

test("in dev no key is needed, and a page of another site may follow with a token", async (t) => {
  const service = await startTestService(t, { mode: "dev" });
  const client = clientOf(service, { isDev: true, signingKey: undefined });
  const token = await client.realtime.token({ channel: "user:1", topics: ["status"] });
  const origin = { origin: "http://localhost:3000" };
  const response = await fetch(`${service.url}/v1/realtime/sse?token=${token.key}`, { headers: origin });
  assert.equal(response.headers.get("access-control-allow-origin"), "*");
  const reader = response.body?.getReader();
  await client.realtime.publish({ channel: "user:1", topic: "status" }, 1);
  assert.match(await readUntil(reader, /"data":1\}/), /data: \{"kind":"data","channel":"user:1","topic":"status"/);
  await reader?.cancel();
});

async function readUntil(reader: ReadableStreamDefaultReader<Uint8Array> | undefined, wanted: RegExp): Promise<string> {
  let text = "";
  while (!wanted.test(text)) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) break;
    text += Buffer.from(value ?? []).toString();
  }
  return text;
}

test("a wrong token, an old one or none is refused, on both ways to subscribe; so is a wrong key", async (t) => {
  let now = Date.now();
  const service = await startTestService(t, { now: () => now });
  const token = await tokenOf(service);
  const tampered = token.replace(/\.([^.]+)\./, (_, claims: string) => {
    const read = JSON.parse(Buffer.from(claims, "base64url").toString());
    return `.${Buffer.from(JSON.stringify({ ...read, topics: [{ channel: "user:2", name: "status" }] })).toString("base64url")}.`;
  });
  for (const wrong of ["", "x.y.z", tampered]) {
    assert.equal((await call(`${service.url}/v1/realtime/sse?token=${wrong}`)).body.code, "realtime_token_invalid");
    assert.equal(await upgradeStatus(service, wrong), 401);
    assert.deepEqual(await refusedUpgrade(service, wrong), ["realtime_token_invalid", "/docs/errors/realtime_token_invalid"]);
  }
  assert.equal(await upgradeStatus(service, token), 101);
  now += 61_000;
  assert.equal(await upgradeStatus(service, token), 401, "it has expired");
  assert.equal((await realtime(service, "token", TOPICS, { authorization: "Bearer signkey-prod-ff" })).status, 401);
  assert.equal((await realtime(service, "publish?channel=a&topic=b", 1, { authorization: "" })).status, 401);
  assert.equal((await realtime(service, "token", { channel: "a" })).status, 400);
  assert.equal((await realtime(service, "publish?channel=a", 1)).status, 400);
  assert.equal((await realtime(service, "publish?channel=a&topic=b", "x".repeat(600_000))).status, 413);
});

test("wrong tokens use up no attempts of their address, and a token has twenty connections", async (t) => {
  // Held: no token expires because the machine is busy.
  const now = Date.now();
  // No heartbeat shows that a client has left: its end of the connection does.
  const service = await startTestService(t, { now: () => now, heartbeatMs: 3_600_000 });
  for (let n = 0; n < 30; n++) {
    assert.equal((await call(`${service.url}/v1/realtime/sse?token=${n}`)).body.code, "realtime_token_invalid");
    assert.equal(await upgradeStatus(service, String(n)), 401);
  }
  const made = await service.rest("POST", "/keys", { body: { kind: "api", name: "new", role: "viewer" } });
  const authorization = `Bearer ${made.body.data.key}`;
  assert.equal((await service.rest("GET", "/events", { headers: { authorization } })).status, 200);

  const token = await tokenOf(service);
  const controller = new AbortController();
  t.after(() => controller.abort());
  const leaving = new AbortController();
  // Responses that nothing holds are closed when their memory is collected.
  const held: Response[] = [];
  t.after(() => void held.splice(0));
  const open = async (key: string, signal = controller.signal) => {
    const response = await fetch(`${service.url}/v1/realtime/sse?token=${key}`, { signal });
    held.push(response);
    return response;
  };
  assert.equal((await open(token, leaving.signal)).status, 200);
  for (let n = 1; n < 10; n++) assert.equal((await open(token)).status, 200);
  const [first, ...others] = await Promise.all(Array.from({ length: 10 }, () => openWebSocket(t, service, token)));
  assert.equal(others.length, 9);
  assert.equal((await open(token)).status, 503);
  const socket = await openWebSocket(t, service, token);
  const { code, reason } = await new Promise<CloseEvent>((resolve) => socket.addEventListener("close", resolve));
  assert.deepEqual([code, reason], [1013, "This token has 20 open connections, the maximum: close one, or use another token."]);
  assert.equal((await open(await tokenOf(service))).status, 200, "another token for the same topics, of the same second");
  const makesRoom = () => poll(async () => ((await open(token)).status === 200 ? true : null), "a connection that has closed makes room");
  first?.close();
  await makesRoom();
  leaving.abort();
  await makesRoom();
});

/** The status of a WebSocket's handshake. */
async function upgradeStatus(service: TestService, token: string): Promise<number> {
  const { socket, head } = await openSocket(service, token);
  socket.destroy();
  return Number(head.split(" ")[1]);
}

/** Code and page of the error that a refused handshake gets. */
async function refusedUpgrade(service: TestService, token: string): Promise<string[]> {
  const { socket, head } = await openSocket(service, token);
  socket.destroy();
  const { code, docs } = JSON.parse(head.slice(head.indexOf("\r\n\r\n")));
  return [code, docs];
}

async function openSocket(service: TestService, token: string) {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  const key = randomBytes(16).toString("base64");
  const lines = [`GET /v1/realtime/connect?token=${token} HTTP/1.1`, `Host: ${hostname}`, "Upgrade: websocket", "Connection: Upgrade"];
  socket.write([...lines, "Sec-WebSocket-Version: 13", `Sec-WebSocket-Key: ${key}`, "", ""].join("\r\n"));
  const head = await new Promise<string>((resolve) => socket.once("data", (data) => resolve(data.toString())));
  return { socket, head };
}

async function openWebSocket(t: TestContext, service: TestService, token?: string): Promise<WebSocket> {
  const socket = new WebSocket(`${service.url.replace("http", "ws")}/v1/realtime/connect?token=${token ?? (await tokenOf(service))}`);
  await new Promise((resolve) => socket.addEventListener("open", resolve));
  onEnd(t, async () => socket.close());
  return socket;
}

test("a stop ends subscriptions with a message", async (t) => {
  const service = await startTestService(t);
  const socket = await openWebSocket(t, service);
  const closed = new Promise<CloseEvent>((resolve) => socket.addEventListener("close", resolve));
  await service.stop();
  const { code, reason } = await closed;
  assert.deepEqual([code, reason], [1013, "The service is stopping. Connect again."]);
});
