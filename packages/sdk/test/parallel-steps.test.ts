/** Steps side by side: planned together, run in calls of their own, and code that races them takes the same path in every call. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import test from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { NonRetriableError } from "@inlet/sdk";
import { serve } from "@inlet/sdk/node";
import { listen } from "./listen.ts";
import { operationsOf, run, testApp } from "./test-app.ts";

test("Promise.all plans its steps, runs each once, and goes on when the last has ended", async (t) => {
  const { inlet } = await testApp(t);
  const bodies: string[] = [];
  const fn = inlet.createFunction({ id: "all" }, { event: "test/event" }, async ({ step }) => {
    const both = await Promise.all(["a", "b", "c"].map((id) => step.run(id, () => bodies.push(id) && id)));
    return step.run("after", () => both.join("+"));
  });
  const driven = await run(t, fn, { order: ["c", "a", "b"] });
  assert.equal(driven.output, "a+b+c");
  assert.deepEqual(bodies, ["c", "a", "b"]);
  assert.deepEqual(
    operationsOf(driven, 0).map(({ op, displayName }) => [op, displayName]),
    [
      ["StepPlanned", "a"],
      ["StepPlanned", "b"],
      ["StepPlanned", "c"],
    ],
  );
  // Discovery, three steps, a call after each of which the last runs "after", the end.
  assert.equal(driven.calls.length, 8);
});

test("Promise.race goes on with the first to end, and stays with it", async (t) => {
  const { inlet } = await testApp(t);
  for (const winner of ["slow", "fast"]) {
    const fn = inlet.createFunction({ id: "race" }, { event: "test/event" }, async ({ step }) => {
      const first = await Promise.race([step.run("fast", () => "fast"), step.run("slow", () => "slow")]);
      const echoed = await step.run(`after ${first}`, () => first);
      await step.run("last", () => null);
      return [first, echoed];
    });
    const driven = await run(t, fn, { order: [winner, `after ${winner}`, "last", "fast", "slow"] });
    assert.deepEqual(driven.output, [winner, winner]);
    assert.equal(driven.calls[0]?.headers.get("x-service-req-version"), "1");
  }
});

test("a race between chains of different length keeps to the order in which steps ended", async (t) => {
  const { inlet } = await testApp(t);
  const fn = inlet.createFunction({ id: "chains" }, { event: "test/event" }, async ({ step }) => {
    const long = async () => {
      const value = await step.run("long", () => "long");
      for (let i = 0; i < 30; i++) await null;
      return value;
    };
    const winner = await Promise.race([long(), step.run("short", () => "short")]);
    await step.run("after", () => winner);
    return winner;
  });
  assert.equal((await run(t, fn, { order: ["long", "short", "after"] })).output, "long");
  assert.equal((await run(t, fn, { order: ["short", "long", "after"] })).output, "short");
});

test("a chain goes on while another still waits", async (t) => {
  const { inlet } = await testApp(t);
  const order: string[] = [];
  const fn = inlet.createFunction({ id: "chains" }, { event: "test/event" }, async ({ step }) => {
    const quick = async () => {
      await step.run("quick 1", () => order.push("quick 1"));
      await step.run("quick 2", () => order.push("quick 2"));
    };
    await Promise.all([quick(), step.waitForEvent("never", { event: "x", timeout: "1d" })]);
    return order.length;
  });
  const driven = await run(t, fn, { order: ["quick 1", "quick 2", "never"] });
  assert.equal(driven.output, 2);
  assert.deepEqual(order, ["quick 1", "quick 2"]);
});

test("a step that someone awaits beside the Promise.all does not have to wait for the others", async (t) => {
  const { inlet } = await testApp(t);
  const fn = inlet.createFunction({ id: "beside" }, { event: "test/event" }, async ({ step }) => {
    const first = step.run("first", () => 1);
    const beside = (async () => {
      await first;
      return step.run("second", () => 2);
    })();
    return [await Promise.all([first, step.waitForEvent("never", { event: "x", timeout: "1d" })]), await beside];
  });
  const driven = await run(t, fn, { order: ["first", "second", "never"] });
  assert.deepEqual(driven.output, [[1, null], 2]);
  assert.equal(driven.calls[0]?.headers.get("x-service-req-version"), "1");
});

test("a timer races a wait, and the loser's later end changes nothing", async (t) => {
  const { inlet } = await testApp(t);
  const fn = inlet.createFunction({ id: "timer" }, { event: "test/event" }, async ({ step }) => {
    const event = step.waitForEvent("event", { event: "x", timeout: "1d" }).then(() => "event");
    const timer = step.sleep("timer", "1m").then(() => "timer");
    const winner = await Promise.race([event, timer]);
    await step.run("after", () => winner);
    return winner;
  });
  assert.equal((await run(t, fn, { order: ["timer", "event"] })).output, "timer");
  assert.equal(
    (await run(t, fn, { order: ["event", "timer"], outcomes: { event: { name: "x", data: {}, id: "1", ts: 1 } } })).output,
    "event",
  );
});

test("one failed step of several fails a Promise.all, and Promise.allSettled sees both sides", async (t) => {
  const { inlet } = await testApp(t);
  const steps = (step: { run: (id: string, body: () => unknown) => Promise<unknown> }) => [
    step.run("good", () => 1),
    step.run("bad", () => {
      throw new Error("no stock");
    }),
  ];
  const all = inlet.createFunction({ id: "all" }, { event: "test/event" }, async ({ step }) => Promise.all(steps(step)));
  const settled = inlet.createFunction({ id: "settled" }, { event: "test/event" }, async ({ step }) =>
    (await Promise.allSettled(steps(step))).map(({ status }) => status),
  );
  const failed = await run(t, all);
  assert.equal(failed.status, "failed");
  assert.equal((failed.output as Error).message, "no stock");
  assert.deepEqual((await run(t, settled)).output, ["fulfilled", "rejected"]);
});

test("a step that lost its race is still run when its call comes late", async (t) => {
  const { inlet } = await testApp(t);
  const bodies: string[] = [];
  const fn = inlet.createFunction({ id: "late" }, { event: "test/event" }, ({ step }) =>
    Promise.race([step.run("winner", () => bodies.push("winner")), step.run("loser", () => bodies.push("loser"))]),
  );
  const url = await listen(t, serve({ client: inlet, functions: [fn] }));
  const hash = (id: string) => createHash("sha1").update(id).digest("hex");
  const event = { name: "test/event", data: {}, id: "1", ts: 1 };
  const ctx = {
    run_id: "r1",
    attempt: 0,
    max_attempts: 1,
    stack: { stack: [hash("winner")], current: 1 },
    disable_immediate_execution: true,
  };
  const body = JSON.stringify({ event, events: [event], steps: { [hash("winner")]: { data: 1 } }, ctx, version: 1 });
  const answer = await fetch(`${url}/?fnId=shop-late&stepId=${hash("loser")}`, { method: "POST", body });
  assert.deepEqual([answer.status, answer.headers.get("x-service-req-version"), bodies], [206, "1", ["loser"]]);
});

test("a call for a step runs that step and no other, even when others are new too", async (t) => {
  const { inlet } = await testApp(t);
  const bodies: string[] = [];
  const fn = inlet.createFunction({ id: "only" }, { event: "test/event" }, ({ step }) =>
    Promise.all([step.run("a", () => bodies.push("a")), step.run("b", () => bodies.push("b"))]),
  );
  const driven = await run(t, fn, { order: ["b", "a"] });
  assert.deepEqual(bodies, ["b", "a"]);
  assert.deepEqual(
    driven.calls.slice(1, 3).map(({ body }) => (body as { displayName: string }[]).map(({ displayName }) => displayName)),
    [["b"], ["a"]],
  );
});

test("the result of a step that runs is kept, however the code beside it ends meanwhile", async (t) => {
  const { inlet } = await testApp(t);
  for (const [id, beside] of [
    ["throws", () => Promise.reject(new Error("too slow"))],
    ["returns", () => Promise.resolve("too slow")],
  ] as const) {
    let charged = 0;
    const fn = inlet.createFunction({ id }, { event: "test/event" }, ({ step }) => {
      const charge = step.run("charge", async () => {
        charged++;
        await delay(50);
        return "paid";
      });
      return Promise.race([charge, delay(5).then(beside)]);
    });
    const { output, steps } = await run(t, fn);
    assert.deepEqual([output, charged, Object.keys(steps).length], ["paid", 1, 1], id);
  }
});

test("the code that ends beside a step counts if the step fails: what is not to be tried again is not", async (t) => {
  const { inlet } = await testApp(t);
  let charged = 0;
  const fn = inlet.createFunction({ id: "refused" }, { event: "test/event" }, ({ step }) => {
    const charge = step.run("charge", async () => {
      charged++;
      await delay(50);
      throw new Error("try again");
    });
    return Promise.all([charge, delay(5).then(() => Promise.reject(new NonRetriableError("invalid")))]);
  });
  const { status, output } = await run(t, fn, { maxAttempts: 3 });
  assert.deepEqual([status, (output as { message: string }).message, charged], ["failed", "invalid", 1]);
});
