import assert from "node:assert/strict";
import test from "node:test";
import { Inlet } from "../client/inlet.ts";
import { NonRetriableError } from "../errors.ts";
import { failureFunction, runFunction } from "../testing.ts";

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const inlet = new Inlet({
  id: "shop",
  isDev: true,
  logger: quiet,
  fetch: () => assert.fail("a test run must not reach the network"),
});

test("runs a function to its end, with mocked and with real steps", async () => {
  const fn = inlet.createFunction({ id: "ship" }, { event: "shop/order.created" }, async ({ event, step }) => {
    const label = await step.run("label", (): { url: string } => assert.fail("is mocked"));
    const weight = await step.run("weigh", (grams: number) => grams / 1_000, event.data.grams as number);
    await step.sleep("rest", "3d");
    const paid = await step.waitForEvent("paid", { event: "shop/paid", timeout: "1d" });
    const tax = await step.invoke("tax", { function: "billing-tax", data: { weight } });
    const { ids } = await step.sendEvent("announce", { name: "shop/shipped", data: { weight } });
    return { url: label.url, weight, paid: paid?.data.by, tax, ids };
  });
  const { result, error, steps, sent } = await runFunction(fn, {
    event: { data: { grams: 500 } },
    steps: {
      label: { url: "https://label" },
      paid: { name: "shop/paid", data: { by: "Ada" } },
      tax: ({ weight }: { weight: number }) => weight * 2,
    },
  });
  assert.equal(error, undefined);
  assert.deepEqual(result, { url: "https://label", weight: 0.5, paid: "Ada", tax: 1, ids: ["test-event-1"] });
  assert.deepEqual(
    steps.map(({ id, kind, mocked }) => `${id} ${kind} ${mocked}`),
    ["label run true", "weigh run false", "rest sleep false", "paid waitForEvent true", "tax invoke true", "announce sendEvent false"],
  );
  assert.deepEqual(sent, [{ name: "shop/shipped", data: { weight: 0.5 } }]);
});

test("a mock that throws fails its step, and the function can catch it", async () => {
  const fn = inlet.createFunction({ id: "caught" }, { event: "x" }, async ({ step }) => {
    const reason = await step.run("charge", () => "fine").catch((error: Error) => error.message);
    return [reason, await step.run("undo", () => "undone")];
  });
  const mocks = {
    charge: () => {
      throw new Error("declined");
    },
  };
  const { result, steps } = await runFunction(fn, { steps: mocks });
  assert.deepEqual(result, ["declined", "undone"]);
  assert.equal(steps[0]?.error?.message, "declined");
});

test("retries when told to; says what was thrown when that does not help", async () => {
  let tries = 0;
  const flaky = inlet.createFunction({ id: "flaky" }, { event: "x" }, ({ step, attempt }) =>
    step.run("try", () => {
      if (++tries < 3) throw new Error("not yet");
      return attempt;
    }),
  );
  assert.equal((await runFunction(flaky, { retries: 2 })).result, 2);
  tries = 0;
  assert.equal((await runFunction(flaky, { retries: 1 })).error?.message, "not yet");
  const final = inlet.createFunction({ id: "final" }, { event: "x" }, () => {
    throw new NonRetriableError("no");
  });
  assert((await runFunction(final, { retries: 5 })).error instanceof NonRetriableError);
});

test("parallel steps and races: work goes before time, short sleeps before long ones", async () => {
  const fn = inlet.createFunction({ id: "race" }, { event: "x" }, async ({ step }) => {
    const both = await Promise.all([step.run("a", () => 1), step.run("b", () => 2)]);
    const first = await Promise.race([
      step.sleep("day", "1d").then(() => "day"),
      step.waitForEvent("event", { event: "y", timeout: "2h" }).then((event) => event?.name ?? "timeout"),
      step.sleep("hour", "1h").then(() => "hour"),
    ]);
    return [both, first];
  });
  assert.deepEqual((await runFunction(fn, { steps: { event: { name: "y", data: {} } } })).result, [[1, 2], "y"]);
  assert.deepEqual((await runFunction(fn, { steps: { event: null } })).result, [[1, 2], "hour"]);
});

test("a plain send is caught too, and a step that needs a mock says so", async () => {
  const fn = inlet.createFunction({ id: "plain" }, { event: "x" }, async ({ step }) => {
    await step.run("send", () => inlet.send({ name: "y", data: {} }));
    return step.waitForEvent("answer", { event: "z", timeout: "1d" });
  });
  await assert.rejects(runFunction(fn), /Step "answer" \(waitForEvent\) needs a mock/);
  const { sent, result } = await runFunction(fn, { steps: { answer: null } });
  assert.deepEqual([sent, result], [[{ name: "y", data: {} }], null]);
});

test("batches, and the failure handler, can be run as well", async () => {
  const fn = inlet.createFunction({ id: "sum", onFailure: ({ error }) => `sorry: ${error.message}` }, { event: "x" }, ({ events }) =>
    events.reduce((sum, { data }) => sum + (data.n as number), 0),
  );
  assert.equal((await runFunction(fn, { events: [{ data: { n: 1 } }, { data: { n: 2 } }] })).result, 3);
  const failure = failureFunction(fn) ?? assert.fail("has a failure handler");
  const data = { function_id: "shop-sum", run_id: "1", error: { name: "Error", message: "overflow" }, event: {} };
  assert.equal((await runFunction(failure, { event: { data } })).result, "sorry: overflow");
});

test("signals, requests and inference need mocks; what is sent is collected", async () => {
  const fn = inlet.createFunction({ id: "approve" }, { event: "x" }, async ({ step }) => {
    const approval = await step.waitForSignal<{ by: string }>("approval", { signal: "approve 1", timeout: "1d" });
    const missing = await step.waitForSignal("never", { signal: "never", timeout: "1h" });
    const response = await step.fetch("https://api.example/rates", { headers: { authorization: "Bearer x" } });
    const model = { url: "https://ai.example/v1", authKey: "secret", format: "openai-chat" };
    const { text } = await step.ai.infer<{ text: string }>("ask", { model, body: { prompt: "hello" } });
    const words = await step.ai.wrap("count", (said: string) => said.split(" ").length, text);
    await step.sendSignal("tell", { signal: "done", data: { words } });
    const tax = await step.invoke("tax", { function: "billing-tax", data: {}, user: { id: 7 }, v: "2" });
    return {
      by: approval?.data.by,
      missing,
      status: response.status,
      rate: ((await response.json()) as { rate: string }).rate,
      words,
      tax,
    };
  });
  const { result, error, steps, signals } = await runFunction(fn, {
    steps: {
      approval: (signal: string) => ({ signal, data: { by: "Ada" } }),
      never: null,
      "step.fetch: api.example": ({ method }: { method: string }) => ({ status: 201, body: { rate: method } }),
      ask: ({ body }: { body: { prompt: string } }) => ({ text: `${body.prompt} world` }),
      tax: 3,
    },
  });
  assert.equal(error, undefined);
  assert.deepEqual(result, { by: "Ada", missing: null, status: 201, rate: "GET", words: 2, tax: 3 });
  assert.deepEqual(signals, [{ signal: "done", data: { words: 2 } }]);
  assert.deepEqual(
    steps.map(({ kind, mocked }) => `${kind} ${mocked}`),
    [
      ...["waitForSignal true", "waitForSignal true", "fetch true", "ai.infer true"],
      ...["ai.wrap false", "sendSignal false", "invoke true"],
    ],
  );
  const unmocked = await runFunction(fn).catch((thrown: Error) => thrown.message);
  assert.match(String(unmocked), /"approval" \(waitForSignal\) needs a mock/);
});

test("realtime messages are collected, from steps and from plain code", async () => {
  const topic = { channel: "user:7", topic: "progress" };
  const fn = inlet.createFunction({ id: "import" }, { event: "shop/import" }, async ({ step }) => {
    await step.realtime.publish("begin", topic, { percent: 0 });
    await step.run("rows", () => inlet.realtime.publish(topic, { percent: 50 }));
  });
  const { error, published } = await runFunction(fn);
  assert.equal(error, undefined);
  assert.deepEqual(published, [
    { ...topic, data: { percent: 0 } },
    { ...topic, data: { percent: 50 } },
  ]);
});
