/** Every function subscribed to an accepted event runs, step by step, to its end, and people can see it and steer it. */

import assert from "node:assert/strict";
import { type Inlet, NonRetriableError } from "@inlet/sdk";
import { poll, runsOf, startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { type Cases, onOneService } from "./support/one-service.ts";
import { SIGNING_KEY, type TestService } from "./support/service.ts";

const QUICK = ["--retry-interval", "10ms"];

async function sendOne(service: TestService, event: object, headers: Record<string, string> = {}): Promise<string> {
  const { status, body, text } = await service.send(event, { headers });
  assert.equal(status, 200, text);
  return body.ids[0];
}

/** The functions that a test registers take the place of those of the test before. */
const CASES: Cases = {
  async "one event starts every function subscribed to it, once: by name, by wildcard, by condition"(service, t) {
    const started: string[] = [];
    await startApp(t, service, (inlet) => {
      const note = (id: string) => () => void started.push(id);
      return [
        inlet.createFunction({ id: "exact" }, { event: "shop/order.created" }, note("exact")),
        inlet.createFunction({ id: "pattern" }, { event: "shop/*" }, note("pattern")),
        inlet.createFunction({ id: "twice" }, [{ event: "shop/order.created" }, { event: "shop/order.*" }], note("twice")),
        inlet.createFunction({ id: "large" }, { event: "shop/order.created", if: "event.data.total > 100" }, note("large")),
        inlet.createFunction({ id: "small" }, { event: "shop/order.created", if: "event.data.total <= 100" }, note("small")),
        inlet.createFunction({ id: "other" }, { event: "shop/order.shipped" }, note("other")),
      ];
    });
    const id = await sendOne(service, { name: "shop/order.created", data: { total: 250 } });
    const runs = await runsOf(service, id, { count: 4 });
    assert.deepEqual(started.sort(), ["exact", "large", "pattern", "twice"]);
    assert.deepEqual(runs.map((run) => run.function.id).sort(), ["shop-exact", "shop-large", "shop-pattern", "shop-twice"]);
    assert.ok(runs.every(({ status }) => status === "completed"));
  },
  async "a duplicate starts nothing"(service, t) {
    let started = 0;
    await startApp(t, service, (inlet) => [inlet.createFunction({ id: "count" }, { event: "shop/paid" }, () => void started++)]);
    const event = { name: "shop/paid", id: "payment-1", data: {} };
    const first = await sendOne(service, event);
    assert.equal(await sendOne(service, event), first);
    const after = await sendOne(service, { ...event, id: "payment-2" });
    await runsOf(service, first);
    await runsOf(service, after);
    assert.equal(started, 2);
  },
  async "steps run once, in order, and their results are kept; a failed one is tried again alone"(service, t) {
    const ran: string[] = [];
    await startApp(t, service, (inlet) => [
      inlet.createFunction({ id: "ship" }, { event: "shop/order.created" }, async ({ event, step }) => {
        const label = await step.run("label", () => {
          ran.push("label");
          return { for: event.data.order };
        });
        const pick = await step.run("pick", () => {
          ran.push("pick");
          if (ran.filter((name) => name === "pick").length < 3) throw new Error("the robot stumbled");
          return 7;
        });
        await step.sleep("rest", "20ms");
        return { label, pick };
      }),
    ]);
    const id = await sendOne(service, { name: "shop/order.created", data: { order: "A-1" } });
    const [run] = await runsOf(service, id);
    assert.equal(run.status, "completed", JSON.stringify(run));
    assert.deepEqual(run.output, { label: { for: "A-1" }, pick: 7 });
    assert.deepEqual(ran, ["label", "pick", "pick", "pick"]);
    assert.deepEqual(
      run.steps.map(({ name, kind, status, attempts }: Record<string, unknown>) => [name, kind, status, attempts]),
      [
        ["label", "run", "completed", 1],
        ["pick", "run", "completed", 3],
        ["rest", "sleep", "completed", 1],
      ],
    );
    assert.deepEqual(
      run.attempts.map(({ attempt, error }: { attempt: number; error: { message: string } }) => [attempt, error.message]),
      [
        [0, "the robot stumbled"],
        [1, "the robot stumbled"],
      ],
    );
  },
  async "a step's send is an event of its function, sent once although the step is repeated"(service, t) {
    let tries = 0;
    await startApp(t, service, (inlet) => [
      inlet.createFunction({ id: "announce" }, { event: "shop/order.created" }, async ({ step }) => {
        const { ids } = await step.sendEvent("tell", { name: "shop/order.announced", data: { big: 1 } });
        if (tries++ === 0) throw new Error("after the send");
        return ids;
      }),
    ]);
    const [run] = await runsOf(service, await sendOne(service, { name: "shop/order.created", data: {} }));
    assert.equal(run.status, "completed", JSON.stringify(run));
    const { body } = await service.rest("GET", "/events?name=shop/order.announced");
    assert.deepEqual(
      body.data.map((event: { id: string }) => event.id),
      run.output,
    );
    assert.deepEqual(body.data[0].source, { kind: "function", id: "shop-announce", name: "announce", run: run.id });
  },
  async "a function waits for an event, invokes another function, and runs steps in parallel"(service, t) {
    await startApp(t, service, (inlet) => {
      const double = inlet.createFunction({ id: "double" }, { event: "math/double" }, ({ event }) => Number(event.data.n) * 2);
      const flow = inlet.createFunction({ id: "flow" }, { event: "shop/order.created" }, async ({ event, step }) => {
        const [a, b] = await Promise.all([step.run("a", () => 1), step.run("b", () => 2)]);
        const doubled = await step.invoke("double it", { function: double, data: { n: a + b } });
        const paid = await step.waitForEvent("paid", { event: "shop/paid", timeout: "1h", if: "async.data.order == event.data.order" });
        const never = await step.waitForEvent("never", { event: "shop/never", timeout: "10ms" });
        return { a, b, doubled, paid: paid?.data, never, order: event.data.order };
      });
      return [double, flow];
    });
    const id = await sendOne(service, { name: "shop/order.created", data: { order: 5 } });
    // Not while it waits for the function it invoked.
    const waitsForEvent = async () => {
      const [begun] = await runsOf(service, id, { until: ({ status }) => status === "waiting" });
      return begun.steps.some(({ kind, status }: { kind: string; status: string }) => kind === "wait" && status === "waiting") || null;
    };
    await poll(waitsForEvent, "the wait for the payment");
    await sendOne(service, { name: "shop/paid", data: { order: 4 } });
    await sendOne(service, { name: "shop/paid", data: { order: 5, by: "card" } });
    const [run] = await runsOf(service, id);
    assert.deepEqual(run.output, { a: 1, b: 2, doubled: 6, paid: { order: 5, by: "card" }, never: null, order: 5 }, JSON.stringify(run));
    const invoked = run.steps.find(({ kind }: { kind: string }) => kind === "invoke");
    const child = (await service.rest("GET", `/runs/${invoked.childRunId}`)).body.data;
    assert.equal(child.function.id, "shop-double");
    assert.equal(child.event.name, "inngest/function.invoked");
  },
  async "a function that fails for good says so, and its onFailure is called"(service, t) {
    const failures: unknown[] = [];
    let attempts = 0;
    await startApp(t, service, (inlet) => [
      inlet.createFunction(
        { id: "fragile", retries: 2, onFailure: ({ error }) => void failures.push(error.message) },
        { event: "shop/fragile" },
        () => {
          attempts++;
          throw new Error("broken");
        },
      ),
      inlet.createFunction({ id: "final" }, { event: "shop/final" }, () => {
        throw new NonRetriableError("no use");
      }),
    ]);
    const id = await sendOne(service, { name: "shop/fragile", data: {} });
    const [run] = await runsOf(service, id);
    assert.equal(run.status, "failed");
    assert.equal(run.error.message, "broken");
    assert.equal(attempts, 3);
    await poll(async () => (failures.length > 0 ? failures : null), "onFailure");
    assert.deepEqual(failures, ["broken"]);
    const { body } = await service.rest("GET", "/events?name=inlet/function.failed");
    assert.equal(body.data[0].source.kind, "internal");
    assert.equal(body.data[0].data.run_id, run.id);
    const { error, result } = body.data[0].data;
    assert.deepEqual([error.name, error.message, error.error, typeof error.stack], ["Error", "broken", "broken", "string"]);
    assert.equal(result.message, "broken");

    const [final] = await runsOf(service, await sendOne(service, { name: "shop/final", data: {} }));
    assert.deepEqual([final.status, final.attempts.length, final.error.message], ["failed", 1, "no use"]);
  },
  async "a step has all its retries, however often the function failed before it"(service, t) {
    const failed = { function: 0, step: 0 };
    await startApp(t, service, (inlet) => [
      inlet.createFunction({ id: "late", retries: 1 }, { event: "shop/late" }, ({ step }) => {
        if (failed.function++ === 0) throw new Error("not yet");
        return step.run("pick", () => {
          if (failed.step++ === 0) throw new Error("the robot stumbled");
          return 7;
        });
      }),
    ]);
    const [run] = await runsOf(service, await sendOne(service, { name: "shop/late", data: {} }));
    assert.deepEqual([run.status, run.output, failed.step], ["completed", 7, 2], JSON.stringify(run));
    assert.deepEqual([run.steps[0].name, run.steps[0].attempts], ["pick", 2]);
  },
  async "what was sent reaches the function exactly: large numbers, unknown fields, the id of the sender"(service, t) {
    const bodies: string[] = [];
    await startApp(t, service, (inlet) => [
      inlet.createFunction({ id: "see" }, { event: "shop/exact" }, ({ event }) => {
        bodies.push(JSON.stringify(event));
        return event.data;
      }),
    ]);
    const text = '{"name":"shop/exact","id":"mine","ts":5,"v":"2","trace":{"a":[1]},"data":{"z":1,"a":"ü\\u0000","__proto__":{"x":1}}}';
    await runsOf(service, await sendOne(service, text as unknown as object));
    const event = JSON.parse(bodies[0] ?? "");
    assert.equal(event.id, "mine");
    assert.deepEqual([event.ts, event.v, event.trace], [5, "2", { a: [1] }]);
    assert.deepEqual(Object.keys(event.data).sort(), ["__proto__", "a", "z"]);
  },
  async "a run is cancelled and run again by hand"(service, t) {
    await startApp(t, service, (inlet) => [
      inlet.createFunction({ id: "patient" }, { event: "shop/patient" }, async ({ step }) => {
        await step.sleep("long", "1d");
      }),
      inlet.createFunction({ id: "quick" }, { event: "shop/quick" }, ({ event }) => event.data.n),
    ]);
    const sleeping = await sendOne(service, { name: "shop/patient", data: {} });
    const [asleep] = await runsOf(service, sleeping, { until: ({ status }) => status === "sleeping" });
    const cancelled = await service.rest("POST", `/runs/${asleep.id}/cancel`);
    assert.deepEqual([cancelled.status, cancelled.body.data.status], [200, "cancelled"]);
    const again = await service.rest("POST", `/runs/${asleep.id}/cancel`);
    assert.deepEqual([again.status, again.body.code], [409, "run_ended"]);

    const [first] = await runsOf(service, await sendOne(service, { name: "shop/quick", data: { n: 3 } }));
    const rerun = await service.rest("POST", `/runs/${first.id}/rerun`);
    assert.equal(rerun.status, 201);
    assert.equal(rerun.body.data.originalRunId, first.id);
    const repeated = await poll(async () => {
      const { body } = await service.rest("GET", `/runs/${rerun.body.data.id}`);
      return body.data.status === "completed" ? body.data : null;
    }, "the rerun");
    assert.equal(repeated.output, 3);
  },
  async "an app that syncs with the name of a branch makes that environment, and its functions run there only"(service, t) {
    const ran: string[] = [];
    const make = (name: string) => (inlet: Inlet) => [
      inlet.createFunction({ id: "one" }, { event: "shop/one" }, () => void ran.push(name)),
    ];
    await startApp(t, service, make("production"));
    await startApp(t, service, make("branch"), { environment: "feature/cart" });
    const { body } = await service.rest("GET", "/environments");
    assert.equal(body.data.find(({ name }: { name: string }) => name === "feature/cart").kind, "branch");
    const there = await service.rest("GET", "/apps", { headers: { "x-service-env": "feature/cart" } });
    assert.deepEqual(
      there.body.data.map((app: Record<string, unknown>) => [app.name, app.environment, app.functions]),
      [["shop", "feature/cart", 1]],
    );
    await runsOf(service, await sendOne(service, { name: "shop/one", data: {} }));
    assert.deepEqual(ran, ["production"]);
  },
  async "an unchanged sync changes nothing; functions missing from a sync stop being triggered"(service, t) {
    const app = await startApp(t, service, (inlet) => [inlet.createFunction({ id: "one" }, { event: "shop/one" }, () => 1)]);
    const idsOf = async () => (await service.rest("GET", "/functions")).body.data.map(({ id }: { id: string }) => id);
    const [before] = (await service.rest("GET", "/functions")).body.data;
    await app.replace([app.client.createFunction({ id: "one" }, { event: "shop/one" }, () => 1)]);
    assert.deepEqual((await service.rest("GET", "/functions")).body.data, [before]);
    await app.replace([app.client.createFunction({ id: "three" }, { event: "shop/three" }, () => 3)]);
    assert.deepEqual(await idsOf(), ["shop-three"]);
    const id = await sendOne(service, { name: "shop/one", data: {} });
    assert.deepEqual((await service.rest("GET", `/events/${id}/runs`)).body.data, []);
    const [known] = (await service.rest("GET", "/apps")).body.data;
    assert.equal((await service.rest("DELETE", `/apps/${known.id}`)).status, 200);
    assert.deepEqual(await idsOf(), []);
  },
  async "an app that cannot be reached, or registers nonsense, is refused with a reason"(service) {
    const gone = await service.rest("POST", "/apps", { body: { url: "http://127.0.0.1:9/api" } });
    assert.deepEqual([gone.status, gone.body.code], [502, "app_unreachable"]);
    const bare = await fetch(`${service.url}/fn/register`, { method: "POST", body: "{}" });
    assert.equal(bare.status, 401);
  },
  async "an SDK that writes its fields in another case, and says null for what it leaves out, registers all the same"(service) {
    const step = {
      id: "step",
      name: "step",
      retries: null,
      runtime: { type: "http", url: "http://127.0.0.1:9/api?fnId=py-a&stepId=step" },
    };
    const absent = {
      batchEvents: null,
      cancel: null,
      concurrency: null,
      debounce: null,
      idempotency: null,
      priority: null,
      rateLimit: null,
    };
    const registered = { id: "py-a", name: "a", ...absent, throttle: null, timeouts: null, singleton: null, steps: { step } };
    const response = await fetch(`${service.url}/fn/register`, {
      method: "POST",
      headers: { authorization: `Bearer ${SIGNING_KEY}`, "x-inngest-sdk": "inngest-py:v0.5.19" },
      body: JSON.stringify({
        appname: "py",
        framework: "flask",
        sdk: "inngest-py:v0.5.19",
        url: "http://127.0.0.1:9/api",
        v: "0.1",
        functions: [{ ...registered, triggers: [{ event: "py/hello", expression: null }] }],
      }),
    });
    assert.equal(response.status, 200, await response.text());
    const { body } = await service.rest("GET", "/functions");
    assert.deepEqual(
      body.data.filter(({ app }: { app: string }) => app === "py").map(({ id }: { id: string }) => id),
      ["py-a"],
    );
  },
};

test("functions of one service", onOneService(CASES, { flags: QUICK }));
