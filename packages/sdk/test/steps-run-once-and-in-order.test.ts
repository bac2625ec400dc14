/** Steps over real HTTP: each body runs once, results come back, code after them goes on. */

import assert from "node:assert/strict";
import test from "node:test";
import { Inlet } from "@inlet/sdk";
import { quiet, run, testApp } from "./test-app.ts";

test("a function without steps takes one call, and what it returns is the output", async (t) => {
  const { inlet } = await testApp(t);
  const fn = inlet.createFunction({ id: "greet" }, { event: "test/event" }, ({ event }) => `hello ${event.data.name}`);
  const { output, calls } = await run(t, fn, { event: { name: "test/event", data: { name: "Ada" } } });
  assert.equal(output, "hello Ada");
  assert.deepEqual(
    calls.map(({ status }) => status),
    [200],
  );
  assert.equal(calls[0]?.headers.get("x-service-req-version"), "1");
});

test("a function that returns nothing has the output null", async (t) => {
  const { inlet } = await testApp(t);
  assert.equal(
    (
      await run(
        t,
        inlet.createFunction({ id: "quiet" }, { event: "test/event" }, () => {}),
      )
    ).output,
    null,
  );
});

test("each step body runs once, although the function is called again after every step", async (t) => {
  const { inlet } = await testApp(t);
  const bodies: string[] = [];
  let entries = 0;
  const fn = inlet.createFunction({ id: "three" }, { event: "test/event" }, async ({ step }) => {
    entries++;
    const a = await step.run("a", () => bodies.push("a"));
    const b = await step.run("b", async () => a + bodies.push("b"));
    return step.run("c", (x: number) => x * 10 + bodies.push("c"), b);
  });
  const { output, calls } = await run(t, fn);
  assert.equal(output, 33);
  assert.deepEqual(bodies, ["a", "b", "c"]);
  assert.equal(entries, 4);
  assert.deepEqual(
    calls.map(({ status }) => status),
    [206, 206, 206, 200],
  );
});

test("a step is named by the SHA-1 of its id; the same id again gets a number", async (t) => {
  const { inlet } = await testApp(t);
  const fn = inlet.createFunction({ id: "loop" }, { event: "test/event" }, async ({ step }) => {
    const seen: number[] = [];
    for (let i = 0; i < 3; i++) seen.push(await step.run("charge", () => i));
    return seen;
  });
  const { output, steps, calls } = await run(t, fn);
  assert.deepEqual(output, [0, 1, 2]);
  // printf charge | sha1sum, then charge:1, charge:2
  const hashes = [
    "5ea9c348e59fe73a4b15cb287e33e4546dcef782",
    "081a9a1fa0fcb556ab7e9882a87f80930de49c21",
    "cad326b8beff9c3281f4e8738dd907e464aedc69",
  ];
  assert.deepEqual(Object.keys(steps), hashes);
  assert.deepEqual(
    calls.slice(0, 3).map(({ body }) => (body as { userland: unknown }[])[0]?.userland),
    [
      { id: "charge", index: 0 },
      { id: "charge", index: 1 },
      { id: "charge", index: 2 },
    ],
  );
});

test("a number that was given to a repeated id is given to no other step, whichever of them comes first", async (t) => {
  const { inlet } = await testApp(t);
  const orders = [
    ["a", "a", "a:1"],
    ["a:1", "a", "a"],
    ["a", "a:1", "a"],
    ["a", "a", "a", "a:1", "a:2", "a:1:1"],
  ];
  for (const [n, order] of orders.entries()) {
    const ran: number[] = [];
    const fn = inlet.createFunction({ id: `order-${n}` }, { event: "test/event" }, async ({ step }) => {
      const seen: string[] = [];
      for (const [index, id] of order.entries()) {
        seen.push(
          await step.run(id, () => {
            ran.push(index);
            return `${id} at ${index}`;
          }),
        );
      }
      return seen;
    });
    const { output, steps } = await run(t, fn);
    const name = order.join(" ");
    assert.deepEqual(
      output,
      order.map((id, index) => `${id} at ${index}`),
      `each step has its own result: ${name}`,
    );
    assert.deepEqual(ran, [...order.keys()], `each runs once: ${name}`);
    assert.equal(Object.keys(steps).length, order.length, name);
  }
});

test("results are what JSON makes of them", async (t) => {
  const { inlet } = await testApp(t);
  const fn = inlet.createFunction({ id: "json" }, { event: "test/event" }, async ({ step }) => {
    const when = await step.run("when", () => ({ at: new Date(0), nothing: undefined }));
    const nothing = await step.run("nothing", () => {});
    return { at: when.at.slice(0, 10), keys: Object.keys(when), nothing };
  });
  assert.deepEqual((await run(t, fn)).output, { at: "1970-01-01", keys: ["at"], nothing: null });
});

test("sleeps are announced as durations or instants, and end with nothing", async (t) => {
  const { inlet } = await testApp(t);
  const fn = inlet.createFunction({ id: "naps" }, { event: "test/event" }, async ({ step }) => {
    const results = [await step.sleep("text", "1h30m"), await step.sleep("ms", 1_500)];
    return [...results, await step.sleepUntil("date", new Date("2030-01-02T03:04:05Z"))].map((result) => result === undefined);
  });
  const { output, calls } = await run(t, fn);
  assert.deepEqual(output, [true, true, true]);
  const operations = calls.slice(0, 3).map(({ body }) => (body as { op: string; name: string }[])[0]);
  assert.deepEqual(
    operations.map((operation) => `${operation?.op} ${operation?.name}`),
    ["Sleep 1h30m", "Sleep 1s500ms", "Sleep 2030-01-02T03:04:05.000Z"],
  );
});

test("a wait yields the whole event, or null when none came", async (t) => {
  const { inlet } = await testApp(t);
  const fn = inlet.createFunction({ id: "wait" }, { event: "test/event" }, async ({ step }) => {
    const paid = await step.waitForEvent("paid", { event: "shop/paid", timeout: "7d", match: "data.orderId" });
    const late = await step.waitForEvent("late", { event: "shop/late", timeout: 1_000, if: "async.data.n > 1" });
    return [paid?.name, paid?.data, late];
  });
  const paid = { name: "shop/paid", data: { orderId: 7 }, id: "e2", ts: 1 };
  const { output, calls } = await run(t, fn, { outcomes: { paid } });
  assert.deepEqual(output, ["shop/paid", { orderId: 7 }, null]);
  const [first, second] = calls.map(({ body }) => (body as { op: string; name: string; opts: unknown }[])[0]);
  assert.deepEqual(
    [first?.op, first?.name, first?.opts],
    ["WaitForEvent", "shop/paid", { timeout: "1w", if: "event.data.orderId == async.data.orderId" }],
  );
  assert.deepEqual(second?.opts, { timeout: "1s", if: "async.data.n > 1" });
});

test("a wait for a pattern, or without a timeout, is refused where it stands", async (t) => {
  const { inlet } = await testApp(t);
  const fn = inlet.createFunction({ id: "refused" }, { event: "test/event" }, async ({ step }) => {
    const faults = [
      () => step.waitForEvent("a", { event: "t/wa*", timeout: "1h" }),
      () => step.waitForEvent("b", { event: "t/wake" } as never),
      () => step.waitForSignal("c", { signal: "s" } as never),
      () => step.waitForApproval("d", { prompt: "p", timeout: null } as never),
    ];
    return faults.map((wait) => {
      try {
        return wait();
      } catch (error) {
        return (error as Error).message;
      }
    });
  });
  assert.deepEqual((await run(t, fn)).output, [
    'step.waitForEvent("a") needs the whole name of an event: the pattern "t/wa*" would never match one',
    'step.waitForEvent("b") needs a timeout, such as "1h"',
    'step.waitForSignal("c") needs a timeout, such as "1h"',
    'step.waitForApproval("d") needs a timeout, such as "1h"',
  ]);
});

test("invoke names the other function and yields what it returned", async (t) => {
  const { inlet } = await testApp(t);
  const other = inlet.createFunction({ id: "other" }, { event: "shop/other" }, () => ({ total: 3 }));
  const fn = inlet.createFunction({ id: "caller" }, { event: "test/event" }, async ({ step }) => {
    const ours = await step.invoke("ours", { function: other, data: { orderId: 7 } });
    const theirs = await step.invoke("theirs", { function: "billing-charge", data: { cents: 5 }, timeout: "1h" });
    return [ours.total, theirs];
  });
  const { output, calls } = await run(t, fn, { outcomes: { ours: { data: { total: 3 } }, theirs: { data: "ok" } } });
  assert.deepEqual(output, [3, "ok"]);
  const [first, second] = calls.map(({ body }) => (body as { op: string; opts: unknown }[])[0]);
  assert.deepEqual([first?.op, first?.opts], ["InvokeFunction", { function_id: "shop-other", payload: { data: { orderId: 7 } } }]);
  assert.deepEqual(second?.opts, { function_id: "billing-charge", payload: { data: { cents: 5 } }, timeout: "1h" });
});

test("a batch arrives as events, with the first as event", async (t) => {
  const { inlet } = await testApp(t);
  const fn = inlet.createFunction(
    { id: "batch", batchEvents: { maxSize: 10, timeout: "5s" } },
    { event: "test/event" },
    ({ event, events }) => [event.data.n, events.map(({ data }) => data.n)],
  );
  const events = [1, 2, 3].map((n) => ({ name: "test/event", data: { n } }));
  assert.deepEqual((await run(t, fn, { events })).output, [1, [1, 2, 3]]);
});

test("the logger speaks once per line of code, not once per call", async (t) => {
  const { service } = await testApp(t);
  const lines: unknown[] = [];
  const inlet = new Inlet({ id: "shop", isDev: true, baseUrl: service.url, logger: { ...quiet, info: (...args) => lines.push(args[0]) } });
  const fn = inlet.createFunction({ id: "talk" }, { event: "test/event" }, async ({ step, logger }) => {
    logger.info("start");
    await step.run("a", () => 1);
    logger.info("between");
    await step.run("b", () => 2);
    logger.info("end");
  });
  await run(t, fn);
  assert.deepEqual(lines, ["start", "between", "end"]);
});

test("state too large for a call is fetched from the service", async (t) => {
  const { inlet, service } = await testApp(t);
  const fn = inlet.createFunction({ id: "large" }, { event: "test/event" }, async ({ event, events, step }) => {
    const kept = await step.run("kept", () => assert.fail("was done already"));
    return [event.data.n, events.length, kept];
  });
  const { output } = await run(t, fn, {
    edit: (body) => {
      const ctx = body.ctx as { run_id: string; stack: unknown; use_api: boolean };
      service.files.set(`/v0/runs/${ctx.run_id}/batch`, [
        { name: "test/event", data: { n: 1 } },
        { name: "test/event", data: { n: 2 } },
      ]);
      service.files.set(`/v0/runs/${ctx.run_id}/actions`, { [KEPT]: { data: "from the service" } });
      Object.assign(ctx, { use_api: true });
      Object.assign(body, { events: [], steps: {} });
    },
  });
  assert.deepEqual(output, [1, 2, "from the service"]);
});

/** printf kept | sha1sum */
const KEPT = "1e61fe1e47593d783345ac78ef213cc0446fd78c";

test("a step that is begun and never awaited fails the attempt; the loser of a race was awaited", async (t) => {
  const { inlet } = await testApp(t);
  const alone = inlet.createFunction({ id: "alone" }, { event: "test/event" }, async ({ step }) => {
    step.run("charge", () => 1);
    return "done";
  });
  const beside = inlet.createFunction({ id: "beside" }, { event: "test/event" }, async ({ step }) => {
    step.sendEvent("tell", { name: "test/told", data: {} });
    await step.run("other", () => 1);
  });
  for (const [fn, name] of [
    [alone, "charge"],
    [beside, "tell"],
  ] as const) {
    const { status, output } = await run(t, fn, { maxAttempts: 1 });
    assert.deepEqual(
      [status, (output as Error).message],
      ["failed", `Step "${name}" was begun and never awaited. Write "await" before it`],
    );
  }
  const fine = inlet.createFunction({ id: "fine" }, { event: "test/event" }, async ({ step }) => {
    const early = step.run("early", () => "early");
    const caught = step.run("caught", () => 1).catch(() => 2);
    const first = await Promise.race([step.run("quick", () => "quick"), step.sleep("day", "1d").then(() => "day")]);
    return [first, await early, await caught];
  });
  assert.deepEqual((await run(t, fine)).output, ["quick", "early", 1]);
  const throwing = inlet.createFunction({ id: "throwing" }, { event: "test/event" }, async ({ step }) => {
    step.run("charge", () => 1);
    throw new Error("its own");
  });
  assert.equal(((await run(t, throwing, { maxAttempts: 1 })).output as Error).message, "its own");
});
