/** `send` against a real HTTP server: what goes out, what is tried again under which ids, and what a SendError tells. */

import assert from "node:assert/strict";
import test from "node:test";
import { inspect } from "node:util";
import { parseEventIdSeed } from "@inlet/protocol";
import { Inlet, SendError } from "@inlet/sdk";
import { freePort } from "../../server/test/support/free-port.ts";
import { startRecordingService } from "./recording-service.ts";
import { run, testApp } from "./test-app.ts";

const order = { name: "shop/order.created", data: { orderId: 7 } };

async function refusal(promise: Promise<unknown>): Promise<SendError> {
  const error = await promise.then(
    () => assert.fail("was accepted"),
    (thrown: unknown) => thrown,
  );
  assert(error instanceof SendError);
  return error;
}

test("one event or many, with key, environment and seed; ids come back in order", async (t) => {
  const service = await startRecordingService(t);
  const inlet = new Inlet({ id: "shop", eventKey: "k/1", baseUrl: `${service.url}/`, env: "feature/cart" });
  assert.equal((await inlet.send({ ...order, id: "order-7", ts: 5 })).ids.length, 1);
  const { ids } = await inlet.send([order, { name: "shop/paid", data: {} }]);
  assert.deepEqual(ids, [...service.events.keys()].slice(1));
  const [first] = service.requests;
  assert.equal(first?.path, "/e/k%2F1");
  assert.equal(first?.headers["x-service-env"], "feature/cart");
  assert.equal(first?.headers["content-type"], "application/json");
  assert.match(String(first?.headers["x-service-sdk"]), /^js:v\d/);
  assert(parseEventIdSeed(String(first?.headers["x-inngest-event-id-seed"])));
  assert.deepEqual(JSON.parse(first?.body ?? ""), [{ ...order, id: "order-7", ts: 5 }]);
});

test("an empty array sends nothing", async (t) => {
  const { inlet, service } = await testApp(t);
  assert.deepEqual(await inlet.send([]), { ids: [] });
  assert.equal(service.requests.length, 0);
});

test("lost connections, 429 and 5xx are tried again under the same seed", async (t) => {
  const { inlet, service } = await testApp(t);
  const busy = { error: "busy", code: "overloaded", status: 503 };
  service.script.push({ status: 0, drop: true }, { status: 503, body: busy }, { status: 429, body: busy }, { status: 502, body: "<html>" });
  const { ids } = await inlet.send(order);
  assert.equal(service.requests.length, 5);
  assert.equal(new Set(service.requests.map(({ headers }) => headers["x-inngest-event-id-seed"])).size, 1);
  assert.deepEqual(ids, [...service.events.keys()]);
});

test("Retry-After is honoured", async (t) => {
  const { inlet, service } = await testApp(t);
  service.script.push({ status: 503, body: {}, headers: { "retry-after": "1" } });
  const start = performance.now();
  await inlet.send(order);
  assert(performance.now() - start >= 990, "came back too early");
});

test("after five attempts the last refusal is thrown", async (t) => {
  const { inlet, service } = await testApp(t);
  const body = { error: "The store is unreachable", code: "store_unavailable", status: 503 };
  service.script.push(...Array.from({ length: 9 }, () => ({ status: 503, body, headers: { "retry-after": "0" } })));
  const error = await refusal(inlet.send(order));
  assert.deepEqual(
    [error.code, error.status, error.message, service.requests.length],
    ["store_unavailable", 503, "The store is unreachable", 5],
  );
});

test("a refusal is thrown at once with code, status and details", async (t) => {
  const { inlet, service } = await testApp(t);
  const details = [{ index: 0, field: "name", message: "is required" }];
  const docs = "/docs/errors/event_invalid";
  service.script.push({ status: 400, body: { error: "An event is invalid", code: "event_invalid", status: 400, docs, details } });
  const error = await refusal(inlet.send(order));
  assert.deepEqual([error.name, error.code, error.status, error.docs, error.details], ["SendError", "event_invalid", 400, docs, details]);
  assert.equal(service.requests.length, 1);
});

test("an address that is no Inlet service is named as such", async (t) => {
  const { inlet, service } = await testApp(t);
  service.script.push({ status: 200, body: "<html>welcome</html>" }, { status: 404, body: "<html>not found</html>" });
  assert.match((await refusal(inlet.send(order))).message, /Check that this is the address of an Inlet service/);
  const second = await refusal(inlet.send(order));
  assert.deepEqual([second.code, second.status], ["response_invalid", 404]);
});

test("an error does not contain the event key, whatever answers at the address", async () => {
  const eventKey = "a/key of many characters";
  const pages = [
    { status: 404, body: `<pre>Cannot POST /e/${encodeURIComponent(eventKey)}</pre>` },
    { status: 200, body: `you sent ${eventKey}` },
    { status: 404, body: JSON.stringify({ error: `no route for /e/${eventKey}` }) },
    { status: 404, body: JSON.stringify({ error: `no route for /e/${eventKey}`, code: "NOT_FOUND" }) },
    { status: 404, body: JSON.stringify({ error: `no route for /e/${eventKey}`, code: "missing" }) },
  ];
  for (const { status, body } of pages) {
    const fetch = async () => new Response(body, { status });
    const error = await refusal(new Inlet({ id: "shop", isDev: false, baseUrl: "http://127.0.0.1:1", eventKey, fetch }).send(order));
    for (const text of [eventKey, encodeURIComponent(eventKey)]) assert.ok(!inspect(error).includes(text), inspect(error));
  }
  const fetch = async (url: string) => {
    throw new TypeError(`cannot fetch ${url}`);
  };
  const failed = await refusal(new Inlet({ id: "shop", isDev: false, baseUrl: "http://127.0.0.1:1", eventKey, fetch }).send(order));
  assert.equal(failed.code, "connection_failed");
  assert.ok(!inspect(failed).includes(encodeURIComponent(eventKey)), inspect(failed));
});

test("nobody listening is a SendError without status that names the address", async () => {
  const baseUrl = `http://127.0.0.1:${await freePort()}`;
  const error = await refusal(new Inlet({ id: "shop", isDev: true, baseUrl }).send(order));
  assert.deepEqual([error.code, error.status], ["connection_failed", null]);
  assert.match(error.message, new RegExp(`${baseUrl}: .*ECONNREFUSED`));
});

test("an address to which no attempt can succeed is tried once", async (t) => {
  const plain = await startRecordingService(t);
  const cases: [string, RegExp][] = [
    ["http://127.0.0.1:6000", /HTTP clients refuse to connect to this port/],
    [plain.url.replace("http:", "https:"), /does not speak HTTPS/],
  ];
  for (const [baseUrl, reason] of cases) {
    let attempts = 0;
    const counted = (url: string, init: RequestInit) => {
      attempts++;
      return fetch(url, init);
    };
    const error = await refusal(new Inlet({ id: "shop", isDev: true, baseUrl, fetch: counted }).send(order));
    assert.deepEqual([error.code, attempts], ["connection_failed", 1]);
    assert.match(error.message, reason);
  }
  assert.throws(() => new Inlet({ id: "shop", isDev: true, baseUrl: "ftp://127.0.0.1" }).settings, /Not the address of a service/);
  const secret = "http://user:secret@127.0.0.1";
  assert.throws(
    () => new Inlet({ id: "shop", isDev: true, baseUrl: secret }).settings,
    (error: Error) => /must not contain a user name/.test(error.message) && !error.message.includes("secret"),
  );
});

test("outside dev a missing key or address is an error that names the variable; in dev neither is needed", async () => {
  const production = { id: "shop", variables: {}, isDev: false };
  assert.match((await refusal(new Inlet({ ...production, baseUrl: "http://127.0.0.1:1" }).send(order))).message, /SERVICE_EVENT_KEY/);
  assert.match((await refusal(new Inlet(production).send(order))).message, /SERVICE_EVENT_KEY/);
  const noAddress = await refusal(new Inlet({ ...production, eventKey: "k" }).send(order));
  assert.deepEqual([noAddress.code, /INLET_BASE_URL/.test(noAddress.message)], ["base_url_missing", true]);
  const urls: string[] = [];
  const fetch = async (url: string) => {
    urls.push(url);
    return new Response('{"ids":["1"],"status":200}');
  };
  await new Inlet({ id: "shop", variables: { INLET_DEV: "1" }, fetch }).send(order);
  await new Inlet({ id: "shop", variables: { INLET_DEV: "http://localhost:9000" }, fetch }).send(order);
  assert.deepEqual(urls, ["http://localhost:8288/e/dev", "http://localhost:9000/e/dev"]);
});

test("variables set a client up; options win", async () => {
  const variables = {
    SERVICE_EVENT_KEY: "key",
    INLET_BASE_URL: "https://inlet.example/",
    INLET_ENV: "staging",
    INLET_SIGNING_KEY: "0a",
    INLET_SIGNING_KEY_FALLBACK: "0b",
    INLET_DEV: "0",
  };
  const { settings } = new Inlet({ id: "shop", variables });
  assert.deepEqual(
    [settings.eventKey, settings.baseUrl, settings.environment.name, settings.signingKeys, settings.isDev],
    ["key", "https://inlet.example", "staging", ["0a", "0b"], false],
  );
  const own = new Inlet({ id: "shop", variables, eventKey: "mine", env: "feature/x", isDev: true }).settings;
  assert.deepEqual([own.eventKey, own.environment.name, own.isDev], ["mine", "feature/x", true]);
  const both = { ...variables, INLET_EVENT_KEY: "first", SERVICE_BASE_URL: "https://other.example", SERVICE_ENV: "prod" };
  const first = new Inlet({ id: "shop", variables: both }).settings;
  assert.deepEqual([first.eventKey, first.baseUrl, first.environment.name], ["first", "https://inlet.example", "staging"]);
  const renamed = Object.fromEntries(Object.entries(variables).map(([name, value]) => [name.replace("INLET_", "SERVICE_"), value]));
  const old = new Inlet({ id: "shop", variables: renamed }).settings;
  assert.deepEqual([old.baseUrl, old.environment.name, old.signingKeys], ["https://inlet.example", "staging", ["0a", "0b"]]);
  assert.throws(() => new Inlet({ id: "shop", baseUrl: "inlet.example" }), /Not the address of a service: "inlet.example"/);
  assert.throws(() => new Inlet({ id: "my shop" }), /The id of an app/);
});

test("a client that is logged or written as JSON shows no key", () => {
  const inlet = new Inlet({
    id: "shop",
    eventKey: "secret-1",
    signingKey: "secret-2",
    signingKeyFallback: "secret-3",
    baseUrl: "http://x",
  });
  const fn = inlet.createFunction({ id: "f" }, { event: "x" }, () => {});
  for (const shown of [inspect(inlet), inspect(fn, { depth: 9 }), JSON.stringify(inlet), JSON.stringify(fn)])
    assert.doesNotMatch(shown, /secret/);
});

test("step.sendEvent sends the same ids however often its step is tried", async (t) => {
  const { inlet, service } = await testApp(t);
  let answers = 0;
  const fn = inlet.createFunction({ id: "announce" }, { event: "test/event" }, async ({ step }) => {
    const first = await step.sendEvent("announce", [order, { name: "shop/paid", data: {} }]);
    const second = await step.sendEvent("announce", order);
    return [first.ids, second.ids];
  });
  // The service has stored the events, but its response is lost: the whole step is tried again.
  const lossy = inlet.settings.fetch;
  inlet.settings.fetch = async (url, init) => {
    const answer = await lossy(url, init);
    return answers++ === 0
      ? { ...answer, status: 400, headers: answer.headers, text: async () => '{"error":"lost","code":"lost"}' }
      : answer;
  };
  const { output, runId, calls } = await run(t, fn, { maxAttempts: 3 });
  assert.equal(calls.length, 4);
  assert.equal(service.requests.length, 3);
  assert.equal(service.events.size, 3);
  assert.deepEqual((output as string[][]).flat(), [...service.events.keys()]);
  assert.deepEqual(
    [...service.events.values()].map(({ sender }) => sender),
    [runId, runId, runId],
  );
});

test("step.sendEvent is not tried again when the events themselves are refused", async (t) => {
  const { inlet, service } = await testApp(t);
  service.script.push({ status: 413, body: { error: "too large", code: "body_too_large", status: 413 } });
  const fn = inlet.createFunction({ id: "large" }, { event: "test/event" }, ({ step }) => step.sendEvent("announce", order));
  const { status, output } = await run(t, fn, { maxAttempts: 5 });
  assert.deepEqual(
    [status, (output as Error).name, (output as Error).message, service.requests.length],
    ["failed", "SendError", "too large", 1],
  );
});

test("a plain send inside a step names the run too", async (t) => {
  const { inlet, service } = await testApp(t);
  const fn = inlet.createFunction({ id: "plain" }, { event: "test/event" }, ({ step }) => step.run("send", () => inlet.send(order)));
  const { runId } = await run(t, fn);
  assert.equal(service.requests[0]?.headers["x-service-run"], runId);
  await inlet.send(order);
  assert.equal(service.requests[1]?.headers["x-service-run"], undefined);
});

test("a quota that is used up for over a minute is not waited for", async (t) => {
  const service = await startRecordingService(t);
  const body = { error: "The quota is used up.", code: "quota_exceeded", status: 429 };
  service.script.push({ status: 429, body, headers: { "retry-after": "61" } });
  const error = await refusal(new Inlet({ id: "shop", isDev: true, baseUrl: service.url }).send(order));
  assert.deepEqual([error.code, error.status, service.requests.length], ["quota_exceeded", 429, 1]);
  service.script.push({ status: 429, body, headers: { "retry-after": "0" } });
  await new Inlet({ id: "shop", isDev: true, baseUrl: service.url }).send(order);
  assert.equal(service.requests.length, 3);
});
