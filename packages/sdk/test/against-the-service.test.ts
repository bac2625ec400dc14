/** The SDK and the service together, in both modes: real calls, real signatures, real retries and timers. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type TestContext, test as testOnce } from "node:test";
import { createDefer, Inlet, NonRetriableError, RetryAfterError, StepError } from "@inlet/sdk";
import { serve as serveExpress } from "@inlet/sdk/express";
import { serve } from "@inlet/sdk/node";
import express from "express";
import * as v from "valibot";
import { runsOf } from "../../server/test/support/app.ts";
import { test } from "../../server/test/support/both-stores.ts";
import { until } from "../../server/test/support/runs.ts";
import { EVENT_KEY, startTestService } from "../../server/test/support/service.ts";
import { listen } from "./listen.ts";
import { type Ended, KEY, type Mode, PREVIOUS, setStage } from "./service-stage.ts";
import { quiet } from "./test-app.ts";

const DEADLINE_MS = 300_000;

/** Dev mode differs in signatures only: one engine will do. */
function testIn(mode: Mode, name: string, body: (t: TestContext) => Promise<void>): void {
  if (mode === "start") test(`${mode}: ${name}`, body);
  else void testOnce(`${mode}: ${name}`, body);
}

for (const mode of ["dev", "start"] as const) {
  testIn(mode, "one event runs every subscriber; steps run once; what a step sends runs the next function", async (t) => {
    const { inlet, open, ended, service } = await setStage(t, mode);
    const bodies: string[] = [];
    const ship = inlet.createFunction({ id: "ship" }, { event: "shop/order.created" }, async ({ event, step }) => {
      const label = await step.run("label", () => `label ${event.data.orderId} ${bodies.push("label")}`);
      const [box, weight] = await Promise.all([
        step.run("box", () => bodies.push("box") > 0),
        step.run("weight", () => bodies.push("weight") > 0),
      ]);
      await step.sleep("rest", 30);
      await step.sendEvent("announce", { name: "shop/order.shipped", data: { label } });
      return { label, box, weight };
    });
    const invoice = inlet.createFunction({ id: "invoice" }, { event: "shop/*" }, ({ event }) => event.name);
    const notify = inlet.createFunction({ id: "notify" }, { event: "shop/order.shipped" }, ({ event }) => event.data.label);
    await open(ship, invoice, notify);
    const { ids } = await inlet.send({ name: "shop/order.created", data: { orderId: 7 } });
    const shipped = await ended(ship);
    assert.deepEqual(shipped.output, { label: "label 7 1", box: true, weight: true });
    assert.deepEqual([...bodies].sort(), ["box", "label", "weight"]);
    assert.equal((await ended(invoice, ids[0])).output, "shop/order.created");
    assert.equal((await ended(notify)).output, "label 7 1");
    const { body } = await service.rest("GET", "/events?name=shop/order.shipped");
    assert.equal(body.data[0].source.kind, "function");
  });

  testIn(mode, "waits, invocations and races", async (t) => {
    const { inlet, open, ended } = await setStage(t, mode);
    const tax = inlet.createFunction({ id: "tax" }, { event: "shop/never" }, ({ event }) => ({ tax: event.data.net * 0.2 }));
    const order = inlet.createFunction({ id: "order" }, { event: "shop/ordered" }, async ({ event, step }) => {
      const invoked = await step.invoke("tax", { function: tax, data: { net: event.data.net } });
      await step.sendEvent("ask", { name: "shop/asked", data: { orderId: event.data.orderId } });
      const paid = await step.waitForEvent("paid", { event: "shop/paid", timeout: "1h", match: "data.orderId", if: "async.data.by != ''" });
      const late = await step.waitForEvent("late", { event: "shop/late", timeout: 30 });
      const first = await Promise.race([
        step.waitForEvent("no answer", { event: "shop/answer", timeout: "1d" }).then(() => "answer"),
        step.run("quick", () => "quick"),
        step.sleep("day", "1d").then(() => "day"),
      ]);
      return [invoked.tax, paid?.data.by, late, await step.run("after", () => first)];
    });
    const pay = inlet.createFunction({ id: "pay" }, { event: "shop/asked" }, async ({ event, step }) => {
      await step.sendEvent("other", { name: "shop/paid", data: { orderId: "another", by: "Eve" } });
      await step.sendEvent("this", { name: "shop/paid", data: { orderId: event.data.orderId, by: "Ada" } });
    });
    await open(tax, order, pay);
    await inlet.send({ name: "shop/ordered", data: { orderId: "7", net: 10 } });
    const run = await ended(order);
    assert.deepEqual([run.status, run.output], ["completed", [2, "Ada", null, "quick"]]);
  });

  testIn(mode, "a race between steps goes on with the first that ends", async (t) => {
    const { inlet, open, ended } = await setStage(t, mode);
    let release = () => {};
    const slow = new Promise<void>((resolve) => {
      release = resolve;
    });
    const race = inlet.createFunction({ id: "race" }, { event: "shop/race" }, async ({ step }) => {
      const first = await Promise.race([step.run("slow", () => slow.then(() => "slow")), step.run("fast", () => "fast")]);
      // Only this lets the slow one end: were the race not decided before, the run would hang.
      await step.run("release", () => release());
      return first;
    });
    await open(race);
    await inlet.send({ name: "shop/race", data: {} });
    assert.equal((await ended(race)).output, "fast");
  });

  testIn(mode, "retries, refusals to retry, and what becomes of failures", async (t) => {
    const { inlet, open, ended } = await setStage(t, mode);
    const attempts: number[] = [];
    const flaky = inlet.createFunction({ id: "flaky", retries: 3 }, { event: "shop/go" }, ({ step, attempt }) =>
      step.run("flaky", () => {
        if (attempts.push(attempt) < 3) throw new Error("not yet");
        return "at last";
      }),
    );
    const caught = inlet.createFunction({ id: "caught", retries: 1 }, { event: "shop/go" }, async ({ step }) => {
      const declined = () => {
        throw new TypeError("declined");
      };
      const error = await step.run("charge", declined).catch((thrown: unknown) => thrown);
      return step.run("undo", () => error instanceof StepError && `${error.name}: ${error.message}`);
    });
    let entries = 0;
    const final = inlet.createFunction(
      { id: "final", onFailure: ({ error, event }) => `${error.message} ${event.data.event.data.n}` },
      { event: "shop/go" },
      () => {
        entries++;
        throw new NonRetriableError("forged");
      },
    );
    const starts: number[] = [];
    const later = inlet.createFunction({ id: "later" }, { event: "shop/go" }, () => {
      if (starts.push(performance.now()) === 1) throw new RetryAfterError("busy", "1s");
    });
    await open(flaky, caught, final, later);
    await inlet.send({ name: "shop/go", data: { n: 5 } });
    assert.equal((await ended(flaky)).output, "at last");
    assert.deepEqual(attempts, [0, 1, 2]);
    assert.equal((await ended(caught)).output, "TypeError: declined");
    const failed = await ended(final);
    assert.deepEqual([failed.status, failed.error?.name, failed.error?.message, entries], ["failed", "NonRetriableError", "forged", 1]);
    assert.equal((await ended({ ...final, id: "final-failure" })).output, "forged 5");
    assert.equal((await ended(later)).status, "completed");
    assert((starts[1] as number) - (starts[0] as number) >= 990, "came back too early");
  });

  testIn(mode, "payloads arrive as they were sent, large ones too", async (t) => {
    const { inlet, open, ended } = await setStage(t, mode);
    const echo = inlet.createFunction({ id: "echo" }, { event: "shop/echo" }, async ({ event, step }) => {
      const kept = await step.run("keep", () => event.data);
      return [kept.text === event.data.text, event.data.text.length, event.data.odd];
    });
    await open(echo);
    const odd = { Zoë: 1e21, nested: { b: [1.5, -0, "\u2028"], a: null }, "": true };
    await inlet.send({ name: "shop/echo", data: { text: "é🧺".repeat(70_000), odd } });
    assert.deepEqual((await ended(echo)).output, [true, 210_000, JSON.parse(JSON.stringify(odd))]);
  });
}

testOnce("start: an app that holds another key is not called into", async (t) => {
  const service = await startTestService(t, { mode: "start", flags: ["--signing-key", KEY] });
  const stranger = new Inlet({ id: "stranger", isDev: false, baseUrl: service.url, signingKey: PREVIOUS, logger: quiet });
  const url = `${await listen(t, serve({ client: stranger, functions: [] }))}/api/inlet`;
  const { status, text } = await service.rest("POST", "/apps", { body: { url } });
  assert(status >= 400, text);
});

test("start: an app whose framework parses bodies is called with numbers that it cannot hold, too: it gets them rounded", async (t) => {
  const service = await startTestService(t, { mode: "start", flags: ["--signing-key", KEY, "--retry-interval", "20ms"] });
  const inlet = new Inlet({ id: "shop", isDev: false, baseUrl: service.url, eventKey: EVENT_KEY, signingKey: KEY, logger: quiet });
  const fn = inlet.createFunction({ id: "parsed", retries: 0 }, { event: "shop/order" }, ({ event, step }) =>
    step.run("keep", () => event.data.id),
  );
  const app = express().set("env", "test").use(express.json());
  const url = `${await listen(t, app.use("/api/inlet", serveExpress({ client: inlet, functions: [fn] })))}/api/inlet`;
  assert.equal((await service.rest("POST", "/apps", { body: { url } })).status, 201);
  const { body } = await service.send('{"name":"shop/order","data":{"id":9007199254740993}}');
  const [run] = await runsOf(service, body.ids[0]);
  assert.deepEqual([run.status, run.output], ["completed", 9007199254740992], JSON.stringify(run.error));
});

testOnce("start: an event that is larger than an app takes in one request is fetched by the app", async (t) => {
  const { inlet, open, ended, service } = await setStage(t, "start");
  const measure = inlet.createFunction({ id: "measure", retries: 0 }, { event: "shop/scanned" }, ({ event }) => [
    event.data.pages.length,
    event.id,
  ]);
  await open(measure);
  const limit = { body: { bodyLimitBytes: 32 * 1024 * 1024 } };
  assert.equal((await service.rest("PUT", "/environments/production", limit)).status, 200);
  const length = 17 * 1024 * 1024;
  await inlet.send({ name: "shop/scanned", data: { pages: "x".repeat(length) }, id: "long" });
  const { status, output, error } = await ended(measure);
  assert.deepEqual([status, output], ["completed", [length, "long"]], JSON.stringify(error));
});

test("deferred functions start when the run has ended, however it ends; sessions go on to all that a run starts", async (t) => {
  const { inlet, open, ended, service } = await setStage(t, "start");
  const later = createDefer(inlet, { id: "later" }, ({ event, parents, sessions }) => ({ data: event.data, parents, sessions }));
  const seen = inlet.createFunction({ id: "seen" }, { event: "shop/seen" }, ({ event, sessions }) => [event.meta?.sessions, sessions]);
  const chat = inlet.createFunction({ id: "chat", retries: 1 }, { event: "shop/chat" }, async ({ event, step, defer, attempt }) => {
    defer("kept", { function: later, data: { n: 1, fails: event.data.fails } });
    const dropped = defer("dropped", { function: later, data: { n: 2 } });
    await Promise.all([step.run("a", () => 1), step.run("b", () => 2)]);
    await step.sendEvent("tell", { name: "shop/seen", data: {}, meta: { sessions: { user: null } } });
    dropped.abort();
    if (event.data.waits) await step.sleep("long", "1h");
    if (event.data.fails) throw new Error(`failure ${attempt}`);
    return step.invoke("ask", { function: seen, data: {} });
  });
  await open(later, seen, chat);
  const meta = { sessions: { chat: "7", user: "Ada" } };
  const deferredBy = async (run: Ended) => {
    for (const deadline = Date.now() + DEADLINE_MS; Date.now() < deadline; ) {
      const { body } = await service.rest("GET", `/events?name=inngest/deferred.schedule&q=${run.id}`);
      if (body.data.length > 0) return Promise.all(body.data.map(({ id }: { id: string }) => ended(later, id)));
    }
    throw new Error("nothing was deferred");
  };
  for (const fails of [false, true]) {
    const { ids } = await inlet.send({ name: "shop/chat", data: { fails }, meta });
    const run = await ended(chat, ids[0]);
    const end = fails ? ["failed", "failure 1"] : ["completed", undefined];
    assert.deepEqual([run.status, run.error?.message], end, JSON.stringify(run));
    if (!fails) assert.deepEqual(run.output, [meta.sessions, meta.sessions], "what it invoked");
    const parents = [{ fnSlug: "shop-chat", runId: run.id }];
    assert.deepEqual(
      (await deferredBy(run)).map(({ output }) => output),
      [{ data: { n: 1, fails }, parents, sessions: meta.sessions }],
    );
  }
  const asleep = async () => {
    const { ids } = await inlet.send({ name: "shop/chat", data: { waits: true }, meta });
    const sleeping = async () => {
      const { body } = await service.rest("GET", `/events/${ids[0]}/runs`);
      return body.data.find(({ status }: { status: string }) => status === "sleeping");
    };
    return { event: ids[0] as string, run: (await until("it sleeps", sleeping)).id as string };
  };
  const byHand = await asleep();
  assert.equal((await service.rest("POST", `/runs/${byHand.run}/cancel`)).status, 200);
  const cancelled = await ended(chat, byHand.event);
  assert.deepEqual([cancelled.status, (await deferredBy(cancelled)).length], ["cancelled", 1]);
  const erased = await asleep();
  const job = { kind: "events.erase", filter: { event: erased.event } };
  const { id } = (await service.rest("POST", "/jobs", { body: job })).body.data;
  const isOver = async () => (await service.rest("GET", `/jobs/${id}`)).body.data.endedAt !== null || undefined;
  await until("the event is erased", isOver);
  assert.equal((await ended(chat, erased.event)).status, "cancelled");
  const started = (await service.rest("GET", "/runs?function=shop-later")).body.data;
  assert.equal(started.length, 3, "what is erased starts nothing");
  const { body } = await service.rest("GET", "/events?name=shop/seen");
  const told = await ended(seen, body.data[0].id);
  assert.deepEqual(told.output, [{ chat: "7" }, { chat: "7" }]);
});

test("mistakes in a function fail with a sentence: a step that is not awaited, data that breaks a schema, a misspelt trigger", async (t) => {
  const { open, ended, service } = await setStage(t, "dev");
  const events = { "shop/paid": v.strictObject({ at: v.pipe(v.string(), v.isoDate()) }), "shop/go": v.object({}) };
  const inlet = new Inlet({ id: "shop", isDev: true, baseUrl: service.url, logger: quiet, events, validate: true });
  const lost = inlet.createFunction({ id: "lost", retries: 1 }, { event: "shop/go" }, async ({ step, attempt }) => {
    step.run("charge", () => attempt);
    return attempt;
  });
  const paid = inlet.createFunction({ id: "paid" }, { event: "shop/paid" }, ({ event }) => event.data.at);
  const caller = inlet.createFunction({ id: "caller" }, { event: "shop/go" }, async ({ step }) => {
    const fine = await step.invoke("fine", { function: paid, data: { at: "2030-01-01" } });
    const broken = await step.invoke("by name", { function: "shop-paid", data: { at: "someday" } }).catch((error: Error) => error.message);
    return [fine, broken];
  });
  await open(lost, paid, caller);
  await inlet.send({ name: "shop/go", data: {} });
  const { status, error } = await ended(lost);
  assert.deepEqual([status, error?.message], ["failed", 'Step "charge" was begun and never awaited. Write "await" before it']);
  const [fine, broken] = (await ended(caller)).output as string[];
  assert.equal(fine, "2030-01-01");
  assert.match(broken ?? "", /The data of the invocation of "paid" breaks its schema: data\.at/);
  const step = { id: "step", name: "step", runtime: { type: "http", url: "http://127.0.0.1:1/" } };
  const functions = [{ id: "x-y", name: "y", triggers: [{ event: "a", iff: "true" }], steps: { step } }];
  const body = JSON.stringify({ url: "http://127.0.0.1:1/", appName: "x", framework: "test", sdk: "js:1", v: "0.1", functions });
  const register = (header: string) => fetch(`${service.url}/fn/register`, { method: "POST", body, headers: { [header]: "js:1" } });
  const refused = await register("x-service-sdk");
  assert.equal(refused.status, 400);
  assert.match(((await refused.json()) as { error: string }).error, /triggers\[0\]\.iff is not a field/);
  assert.equal((await register("x-inngest-sdk")).status, 200);
});

/** Together more than a call holds. */
const LARGE = "x".repeat(1_500_000);

testOnce("a race has the same winner when the state is too large for a call, whatever its steps are called", async (t) => {
  const { inlet, open, ended } = await setStage(t, "start");
  const hash = (id: string) => createHash("sha1").update(id).digest("hex");
  const [first, second] = ["one", "two"].sort((a, b) => (hash(a) < hash(b) ? -1 : 1)) as [string, string];
  const race = (id: string, [slow, quick]: [string, string]) =>
    inlet.createFunction({ id }, { event: "shop/race" }, async ({ step }) => {
      const later = step.waitForEvent(slow, { event: `shop/later.${id}`, timeout: "1h" });
      const winner = await Promise.race([later.then(() => "slow"), step.run(quick, () => "quick")]);
      await step.sendEvent("end the other", { name: `shop/later.${id}`, data: {} });
      await later;
      for (let n = 0; n < 3; n++) await step.run(`large ${n}`, () => LARGE);
      return winner;
    });
  const races = [race("in-order", [first, second]), race("in-other-order", [second, first])];
  await open(...races);
  await inlet.send({ name: "shop/race", data: {} });
  for (const fn of races) {
    const { status, output, error } = await ended(fn);
    assert.deepEqual([status, output], ["completed", "quick"], `${fn.id}: ${JSON.stringify(error)}`);
  }
});

test("a run id is free for senders: its failure is reported all the same, and so is what the report leads to", async (t) => {
  const { inlet, open, ended } = await setStage(t, "start");
  const told = inlet.createFunction({ id: "told" }, { event: "shop/failed" }, ({ event }) => event.data.of);
  const onFailure: Parameters<typeof inlet.createFunction>[0]["onFailure"] = async ({ event, step }) => {
    await step.sendEvent("tell", { name: "shop/failed", id: event.data.run_id, data: { of: "the failure" } });
  };
  const own = inlet.createFunction({ id: "own", retries: 0 }, { event: "shop/own" }, async ({ step, runId }) => {
    await step.sendEvent("report", { name: "shop/reported", id: runId, data: {} });
    throw new Error("no");
  });
  const plain = inlet.createFunction({ id: "plain", retries: 0, onFailure }, { event: "shop/plain" }, () => {
    throw new Error("no");
  });
  const seen = inlet.createFunction(
    { id: "seen" },
    { event: "inlet/function.failed", if: "event.data.function_id == 'shop-own'" },
    () => "seen",
  );
  await open(told, own, plain, seen);
  await inlet.send([
    { name: "shop/own", data: {} },
    { name: "shop/plain", data: {} },
  ]);
  assert.equal((await ended(seen)).output, "seen");
  assert.equal((await ended(told)).output, "the failure");
});

testOnce("SERVICE_ENV of a platform is ignored with a warning; one that names an environment of the key counts", async (t) => {
  const service = await startTestService(t, { mode: "start", flags: ["--signing-key", KEY] });
  const key = { body: { kind: "event", name: "branches" }, headers: { "x-service-env": "branch" } };
  const { body } = await service.rest("POST", "/keys", key);
  await service.rest("POST", "/environments", { body: { name: "feature/cart", kind: "branch" } });
  const warnings: string[] = [];
  const logger = { ...quiet, warn: (text: string) => void warnings.push(text) };
  const client = (environment: string, eventKey: string) =>
    new Inlet({ id: "shop", baseUrl: service.url, eventKey, signingKey: KEY, logger, variables: { SERVICE_ENV: environment } });
  const foreign = client("prod", EVENT_KEY);
  // Also those that were on their way when the first was refused.
  await Promise.all([foreign.send([{ name: "shop/a", data: {} }]), foreign.send([{ name: "shop/a", data: {} }])]);
  await foreign.send([{ name: "shop/a", data: {} }]);
  assert.deepEqual(warnings, ['inlet: SERVICE_ENV is "prod", which is no environment of this key; it is ignored. Use INLET_ENV or env']);
  const branch = client("feature/cart", body.data.key);
  await branch.send({ name: "shop/b", data: {} });
  const events = async (env: string) => {
    const { body } = await service.rest("GET", "/events", { headers: { "x-service-env": env } });
    return body.data.map(({ name }: { name: string }) => name);
  };
  assert.deepEqual([await events("production"), await events("feature/cart")], [["shop/a", "shop/a", "shop/a"], ["shop/b"]]);
  const app = client("prod", EVENT_KEY);
  const fn = app.createFunction({ id: "f" }, { event: "shop/a" }, () => {});
  const url = `${await listen(t, serve({ client: app, functions: [fn] }))}/api/inlet`;
  assert.equal((await service.rest("POST", "/apps", { body: { url } })).status, 201);
  assert.equal(warnings.length, 2);
  const names = (await service.rest("GET", "/environments")).body.data.map(({ name }: { name: string }) => name);
  assert(!names.includes("prod"), `${names}`);
});
