/** What is thrown: retried, not retried, retried later, caught by the function, handed to onFailure. */

import assert from "node:assert/strict";
import test from "node:test";
import { NonRetriableError, RetryAfterError, StepError } from "@inlet/sdk";
import { serve } from "@inlet/sdk/node";
import { driveRun } from "./drive-run.ts";
import { listen } from "./listen.ts";
import { operationsOf, run, testApp } from "./test-app.ts";

test("a step that throws is tried again, with the attempt counted", async (t) => {
  const { inlet } = await testApp(t);
  const attempts: number[] = [];
  const fn = inlet.createFunction({ id: "flaky" }, { event: "test/event" }, ({ step, attempt, maxAttempts }) =>
    step.run("flaky", () => {
      attempts.push(attempt);
      if (attempts.length < 3) throw new TypeError("not yet");
      return maxAttempts;
    }),
  );
  const driven = await run(t, fn, { maxAttempts: 4 });
  const { output, calls } = driven;
  assert.equal(output, 4);
  assert.deepEqual(attempts, [0, 1, 2]);
  assert.equal(calls[0]?.status, 206);
  assert.equal(calls[0]?.headers.get("x-service-no-retry"), "false");
  const [operation] = operationsOf(driven, 0);
  assert.deepEqual([operation?.op, operation?.error?.name, operation?.error?.message], ["StepError", "TypeError", "not yet"]);
  assert.match(operation?.error?.stack ?? "", /errors-and-retries\.test/);
});

test("a step that has failed for good throws a StepError that the function can catch", async (t) => {
  const { inlet } = await testApp(t);
  class CardDeclined extends Error {
    override name = "CardDeclined";
  }
  const fn = inlet.createFunction({ id: "caught" }, { event: "test/event" }, async ({ step }) => {
    try {
      await step.run("charge", () => {
        throw new CardDeclined("no funds", { cause: new Error("limit reached") });
      });
    } catch (error) {
      assert(error instanceof StepError);
      return step.run("undo", () => [error.stepId, error.name, error.message, (error.cause as Error).message]);
    }
  });
  assert.deepEqual((await run(t, fn, { maxAttempts: 2 })).output, ["charge", "CardDeclined", "no funds", "limit reached"]);
});

test("a step's failure that nobody catches ends the run without further attempts", async (t) => {
  const { inlet } = await testApp(t);
  let tries = 0;
  const fn = inlet.createFunction({ id: "uncaught" }, { event: "test/event" }, ({ step }) =>
    step.run("charge", () => {
      tries++;
      throw new Error("no funds");
    }),
  );
  const { status, calls, output } = await run(t, fn, { maxAttempts: 3 });
  assert.equal(status, "failed");
  assert.equal(tries, 3);
  assert.equal(calls.length, 4);
  assert.deepEqual([calls[3]?.status, calls[3]?.headers.get("x-service-no-retry")], [400, "true"]);
  assert.equal((output as Error).message, "no funds");
});

test("NonRetriableError ends a step, or the function, at once", async (t) => {
  const { inlet } = await testApp(t);
  const inStep = inlet.createFunction({ id: "in-step" }, { event: "test/event" }, ({ step }) =>
    step.run("verify", () => {
      throw new NonRetriableError("forged");
    }),
  );
  const outside = inlet.createFunction({ id: "outside" }, { event: "test/event" }, () => {
    throw new NonRetriableError("forged");
  });
  const first = await run(t, inStep, { maxAttempts: 5 });
  assert.deepEqual([first.status, first.calls.length, first.calls[0]?.headers.get("x-service-no-retry")], ["failed", 2, "true"]);
  assert.equal(operationsOf(first, 0)[0]?.op, "StepFailed");
  const second = await run(t, outside, { maxAttempts: 5 });
  assert.deepEqual([second.status, second.calls.length, second.calls[0]?.status], ["failed", 1, 400]);
  assert.equal((second.output as Error).name, "NonRetriableError");
});

test("RetryAfterError says when, for steps and for functions", async (t) => {
  const { inlet } = await testApp(t);
  const inStep = inlet.createFunction({ id: "in-step" }, { event: "test/event" }, ({ step }) =>
    step.run("call", () => {
      throw new RetryAfterError("busy", "1m30s");
    }),
  );
  const outside = inlet.createFunction({ id: "outside" }, { event: "test/event" }, () => {
    throw new RetryAfterError("busy", 2_500);
  });
  assert.equal((await run(t, inStep, { maxAttempts: 2 })).calls[0]?.headers.get("retry-after"), "90");
  const { calls } = await run(t, outside, { maxAttempts: 2 });
  assert.deepEqual(
    [calls[0]?.status, calls[0]?.headers.get("retry-after"), calls[0]?.headers.get("x-service-no-retry")],
    [500, "3", "false"],
  );
  class TooManyRequests extends RetryAfterError {
    override name = "TooManyRequests";
  }
  const named = inlet.createFunction({ id: "named" }, { event: "test/event" }, () => {
    throw new TooManyRequests("busy", "40s");
  });
  const [refused] = (await run(t, named, { maxAttempts: 2 })).calls;
  assert.equal(refused?.headers.get("retry-after"), "40", "a subclass with a name of its own");
  t.mock.timers.enable({ apis: ["Date"] });
  assert.equal(new RetryAfterError("later", new Date(Date.now() + 10_000)).retryAfterSeconds, 10);
  const past = Date.now() - 10_000;
  assert.deepEqual(
    [new Date(past), past - Date.now()].map((when) => new RetryAfterError("late", when).retryAfterSeconds),
    [0, 0],
    "a time that has passed while the error was made",
  );
});

test("an error of the function itself is retried", async (t) => {
  const { inlet } = await testApp(t);
  let entries = 0;
  const fn = inlet.createFunction({ id: "moody" }, { event: "test/event" }, () => {
    if (++entries < 3) throw new Error("not today");
    return "at last";
  });
  const { output, calls } = await run(t, fn, { maxAttempts: 5 });
  assert.equal(output, "at last");
  assert.deepEqual(
    calls.map(({ status }) => status),
    [500, 500, 200],
  );
});

test("anything can be thrown", async (t) => {
  const { inlet } = await testApp(t);
  for (const [thrown, message] of [
    ["text", "text"],
    [{ code: 7 }, '{"code":7}'],
    [undefined, "undefined"],
  ]) {
    const fn = inlet.createFunction({ id: "odd" }, { event: "test/event" }, () => {
      throw thrown;
    });
    const { output } = await run(t, fn);
    assert.deepEqual(output, { name: "Error", message });
  }
  const fn = inlet.createFunction({ id: "odder" }, { event: "test/event" }, ({ step }) =>
    step.run("odd", () => {
      throw { message: "no text in its other fields", name: 7n, stack: [7n] };
    }),
  );
  assert.deepEqual(operationsOf(await run(t, fn), 0)[0]?.error, { name: "Error", message: "no text in its other fields" });
});

test("results that JSON cannot hold fail without retry and say so", async (t) => {
  const { inlet } = await testApp(t);
  const fn = inlet.createFunction({ id: "big" }, { event: "test/event" }, ({ step }) => step.run("count", () => 10n as unknown as number));
  const { status, output, calls } = await run(t, fn, { maxAttempts: 5 });
  assert.deepEqual([status, calls.length], ["failed", 2]);
  assert.match((output as Error).message, /result of step "count" cannot be kept as JSON.*BigInt/);
  const returning = inlet.createFunction({ id: "big-return" }, { event: "test/event" }, () => 10n);
  assert.match(((await run(t, returning)).output as Error).message, /function returned cannot be kept as JSON/);
});

test("a step inside a step is refused with a sentence that names both", async (t) => {
  const { inlet } = await testApp(t);
  const fn = inlet.createFunction({ id: "nested" }, { event: "test/event" }, ({ step }) =>
    step.run("outer", () => step.run("inner", () => 1)),
  );
  assert.match(((await run(t, fn, { maxAttempts: 5 })).output as Error).message, /Step "inner" is inside step "outer"/);
});

test("a call for a step the code does not come to says what it found", async (t) => {
  const { inlet } = await testApp(t);
  const fn = inlet.createFunction({ id: "moved" }, { event: "test/event" }, () => "done");
  const url = await listen(t, serve({ client: inlet, functions: [fn] }));
  const body = {
    event: { name: "test/event", data: {}, id: "1", ts: 1 },
    events: [],
    steps: {},
    ctx: { run_id: "r1", attempt: 0, max_attempts: 1 },
  };
  const answer = await fetch(`${url}/?fnId=shop-moved&stepId=0000`, { method: "POST", body: JSON.stringify(body) });
  assert.equal(answer.status, 500);
  assert.match(((await answer.json()) as Error).message, /wants the step 0000/);
});

test("onFailure runs as a second function with the error and the first event", async (t) => {
  const { inlet } = await testApp(t);
  const fn = inlet.createFunction(
    {
      id: "ship",
      onFailure: async ({ event, error, step }) =>
        step.run("note", () => [error.name, error.message, event.data.event.data.orderId, event.data.run_id]),
    },
    { event: "test/event" },
    () => {
      throw new NonRetriableError("lost");
    },
  );
  const url = `${await listen(t, serve({ client: inlet, functions: [fn] }))}/`;
  const failed = await driveRun({ url, functionId: "shop-ship", event: { name: "test/event", data: { orderId: 7 } } });
  const data = {
    function_id: "shop-ship",
    run_id: failed.runId,
    error: failed.output,
    event: { name: "test/event", data: { orderId: 7 } },
  };
  const { output } = await driveRun({ url, functionId: "shop-ship-failure", event: { name: "inlet/function.failed", data } });
  assert.deepEqual(output, ["NonRetriableError", "lost", 7, failed.runId]);
});
