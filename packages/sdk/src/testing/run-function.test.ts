import assert from "node:assert/strict";
import test from "node:test";
import { Inlet } from "../client/inlet.ts";
import { NonRetriableError } from "../errors.ts";
import { createDefer } from "../functions/deferred-function.ts";
import { failureFunction, inOrder, runFunction } from "../testing.ts";

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

test("time that is skipped has passed for everything that is open", async () => {
  const polls = inlet.createFunction({ id: "polls" }, { event: "x" }, async ({ step }) => {
    const poll = async () => {
      for (let n = 1; ; n++) {
        if (await step.run("check", () => false)) return "ready";
        await step.sleep(`wait-${n}`, "10m");
      }
    };
    return Promise.race([poll(), step.sleep("deadline", "65m").then(() => "timed out")]);
  });
  const { result, steps } = await runFunction(polls);
  assert.equal(result, "timed out");
  assert.equal(steps.filter(({ id }) => id.startsWith("wait-")).length, 6);

  const hours = inlet.createFunction({ id: "hours" }, { event: "x" }, async ({ event, step }) => {
    const inMinutes = (minutes: number) => new Date((event.ts ?? 0) + minutes * 60_000);
    const twice = async () => {
      await step.sleep("first hour", "1h");
      await step.sleep("second hour", "1h");
      return "two hours";
    };
    return [
      await Promise.race([twice(), step.sleep("90 minutes", "90m").then(() => "90 minutes")]),
      // 90 minutes have passed.
      await Promise.race([
        step.sleep("20 minutes", "20m").then(() => "in 20 minutes"),
        step.sleepUntil("100 minutes", inMinutes(100)).then(() => "at 100 minutes"),
      ]),
      await Promise.race([step.sleepUntil("past", inMinutes(5)).then(() => "past"), step.sleep("a moment", "1s").then(() => "a moment")]),
      await Promise.race([
        step.sleep("15 minutes", "15m").then(() => "in 15 minutes"),
        step.sleepUntil("112 minutes", inMinutes(112)).then(() => "at 112 minutes"),
      ]),
    ];
  });
  const ran = await runFunction(hours, { event: { ts: Date.now() } });
  assert.deepEqual(ran.result, ["90 minutes", "at 100 minutes", "past", "at 112 minutes"]);
});

test("an approval that comes to nothing ends when its time is over, not before", async () => {
  const fn = inlet.createFunction({ id: "asks" }, { event: "x" }, ({ step }) =>
    Promise.race([
      step.waitForApproval("boss", { prompt: "Go?", timeout: "1d" }).then((approval) => approval?.decision ?? "too late"),
      step.sleep("hour", "1h").then(() => "hour"),
    ]),
  );
  assert.equal((await runFunction(fn, { steps: { boss: null } })).result, "hour");
  const approved = { decision: "approved", by: "Ada", comment: null, data: null };
  assert.equal((await runFunction(fn, { steps: { boss: approved } })).result, "approved");
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
    const asked = await step.waitForApproval<{ sum: number }>("boss", { prompt: "Go?", data: { n: 1 }, timeout: "1d" });
    const late = await step.waitForApproval("late", { prompt: "Still?", timeout: "1d" });
    const response = await step.fetch("https://api.example/rates", { headers: { authorization: "Bearer x" } });
    const model = { url: "https://ai.example/v1", authKey: "secret", format: "openai-chat" };
    const { text } = await step.ai.infer<{ text: string }>("ask", { model, body: { prompt: "hello" } });
    const words = await step.ai.wrap("count", (said: string) => said.split(" ").length, text);
    await step.sendSignal("tell", { signal: "done", data: { words } });
    const tax = await step.invoke("tax", { function: "billing-tax", data: {}, user: { id: 7 }, v: "2" });
    return {
      by: approval?.data.by,
      missing,
      asked: asked && [asked.decision, asked.by, asked.comment, asked.data.sum],
      late,
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
      boss: ({ prompt, data }: { prompt: string; data: { n: number } }) => ({
        decision: "approved",
        by: prompt,
        comment: null,
        data: { sum: data.n + 1 },
      }),
      late: null,
      "step.fetch: api.example": ({ method }: { method: string }) => ({ status: 201, body: { rate: method } }),
      ask: ({ body }: { body: { prompt: string } }) => ({ text: `${body.prompt} world` }),
      tax: 3,
    },
  });
  assert.equal(error, undefined);
  assert.deepEqual(result, {
    by: "Ada",
    missing: null,
    asked: ["approved", "Go?", null, 2],
    late: null,
    status: 201,
    rate: "GET",
    words: 2,
    tax: 3,
  });
  assert.deepEqual(signals, [{ signal: "done", data: { words: 2 } }]);
  assert.deepEqual(
    steps.map(({ kind, mocked }) => `${kind} ${mocked}`),
    [
      "waitForSignal true",
      "waitForSignal true",
      "waitForApproval true",
      "waitForApproval true",
      "fetch true",
      "ai.infer true",
      "ai.wrap false",
      "sendSignal false",
      "invoke true",
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

test("collects deferred functions that were not aborted, and hands sessions on to what is sent", async () => {
  const later = createDefer(inlet, { id: "later" }, ({ event, parents }) => [event.data.n, parents[0].runId]);
  const fn = inlet.createFunction({ id: "defers" }, { event: "shop/chat" }, async ({ step, defer, sessions }) => {
    defer("kept", { function: later, data: { n: 1 } });
    const dropped = defer("dropped", { function: later, data: { n: 2 } });
    await step.run("one", () => inlet.send({ name: "shop/plain", data: {} }));
    dropped.abort();
    await step.sendEvent("tell", { name: "shop/told", data: {}, meta: { sessions: { user: null } } });
    return sessions;
  });
  const meta = { sessions: { chat: "7", user: "Ada" } };
  const { result, error, sent, deferred } = await runFunction(fn, { event: { meta } });
  assert.deepEqual([error, result], [undefined, meta.sessions]);
  assert.deepEqual(deferred, [{ id: "kept", function: "shop-later", data: { n: 1 } }]);
  assert.deepEqual(
    sent.map(({ meta }) => meta),
    [{ propagated_sessions: meta.sessions }, { sessions: { user: null }, propagated_sessions: meta.sessions }],
  );
  const failing = inlet.createFunction({ id: "fails" }, { event: "x" }, ({ defer }) => {
    defer("clean up", { function: later, data: { n: 3 } });
    throw new NonRetriableError("no use");
  });
  assert.deepEqual((await runFunction(failing)).deferred, [{ id: "clean up", function: "shop-later", data: { n: 3 } }]);
  const _inngest = { parent_fn_slug: "shop-defers", parent_run_id: "01RUN" };
  assert.deepEqual((await runFunction(later, { event: { data: { n: 1, _inngest } } })).result, [1, "01RUN"]);
});

test("what cannot be deferred is refused at the call", async () => {
  const schema = {
    "~standard": {
      version: 1 as const,
      vendor: "test",
      validate: (value: unknown) => ((value as { n?: unknown }).n === 1 ? { value: { n: 1 } } : { issues: [{ message: "n is not 1" }] }),
    },
  };
  const later = createDefer(inlet, { id: "later", schema }, () => undefined);
  const faults = inlet.createFunction({ id: "faults" }, { event: "x" }, async ({ step, defer }) => {
    const fault = (work: () => unknown) => {
      try {
        work();
        return null;
      } catch (error) {
        return (error as Error).message;
      }
    };
    const plain = inlet.createFunction({ id: "plain" }, { event: "x" }, () => undefined);
    return [
      fault(() => defer("a", { function: later, data: { n: 1 } })),
      fault(() => defer("b", { function: later, data: { n: 2 } })),
      fault(() => defer("c", { function: plain as never, data: {} as never })),
      await step.run("nested", () => fault(() => defer("d", { function: later, data: { n: 1 } }))),
    ];
  });
  const [fine, schemaFault, plainFault, nested] = (await runFunction(faults)).result as (string | null)[];
  assert.equal(fine, null);
  assert.match(schemaFault ?? "", /breaks its schema: n is not 1/);
  assert.match(plainFault ?? "", /createDefer/);
  assert.match(nested ?? "", /inside step "nested"/);
});

test("steps of a loop can have mocks one by one; those after the last run", async () => {
  const fn = inlet.createFunction({ id: "loop" }, { event: "x" }, async ({ step }) => {
    const done: unknown[] = [];
    for (let n = 0; n < 3; n++) done.push(await step.run("each", () => `ran ${n}`).catch((error: Error) => error.message));
    const waited = await Promise.all(["a", "b"].map((event) => step.waitForEvent("wait", { event, timeout: "1h" })));
    return [done, waited.map((event) => event?.name ?? null)];
  });
  const fail = () => {
    throw new Error("failed");
  };
  const options = { steps: { each: inOrder("first", fail), wait: inOrder(null, { name: "b", data: {} }) } };
  for (let time = 0; time < 2; time++) {
    assert.deepEqual((await runFunction(fn, options)).result, [
      ["first", "failed", "ran 2"],
      [null, "b"],
    ]);
  }
  const one = { steps: { each: "x", wait: inOrder(null) } };
  await assert.rejects(runFunction(fn, one), /Step "wait" \(waitForEvent\) needs a mock/);
});
