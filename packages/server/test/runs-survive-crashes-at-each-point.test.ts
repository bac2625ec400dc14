/**
 * The service is killed at each point of a call's life, one test for each: whatever had been kept by then is not done again,
 * and nothing else is lost. What happens at random moments is runs-survive-crashes.test.ts's business.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { startOneRun } from "./support/one-run.ts";
import { call } from "./support/service.ts";

const NAMES = (run: { steps: { name: string; status: string }[] }) => run.steps.map(({ name, status }) => `${name} ${status}`);

test("crash point: the event is acknowledged, and its run not called", async (t) => {
  const scene = await startOneRun(t);
  await scene.begin();
  await scene.inlet.end("SIGKILL");
  // The first call may have gone out before the kill.
  const before = scene.app.calls;
  for (let n = 0; n < before; n++) await scene.app.next();
  await scene.restart();
  await (await scene.app.next()).finish("done");
  assert.equal((await scene.ended()).status, "completed");
  assert.equal(scene.app.calls, before + 1);
});

test("crash point: the app has the call, and has not answered", async (t) => {
  const scene = await startOneRun(t);
  await scene.begin();
  await scene.app.next();
  await scene.inlet.end("SIGKILL");
  await scene.restart();
  const again = await scene.app.next();
  assert.deepEqual([again.done, again.attempt], [[], 0], "the same call again: a crash of the service is not the function's failure");
  await again.finish("done");
  assert.equal((await scene.ended()).status, "completed");
  assert.equal(scene.app.calls, 2);
});

test("crash point: the answer has arrived, and is not committed", async (t) => {
  const scene = await startOneRun(t);
  await scene.begin();
  const first = await scene.app.next();
  // Stopped, the process reads nothing: the answer is in its socket and nowhere else.
  scene.inlet.child.kill("SIGSTOP");
  await first.ranStep("a");
  await scene.inlet.end("SIGKILL");
  await scene.restart();
  const again = await scene.app.next();
  assert.deepEqual(again.done, [], "what was not kept is asked for again");
  await again.ranStep("a");
  const next = await scene.app.next();
  assert.deepEqual(next.done, ["a"]);
  await next.finish("done");
  assert.deepEqual(NAMES(await scene.ended()), ["a completed"]);
  assert.equal(scene.app.calls, 3, "the step that crossed the crash ran twice");
});

test("crash point: a step is committed, and the next call is on its way", async (t) => {
  const scene = await startOneRun(t);
  await scene.begin();
  await (await scene.app.next()).ranStep("a");
  await scene.app.next();
  await scene.inlet.end("SIGKILL");
  await scene.restart();
  const again = await scene.app.next();
  assert.deepEqual(again.done, ["a"], "what was kept comes with the call");
  await again.finish("done");
  assert.deepEqual(NAMES(await scene.ended()), ["a completed"]);
  assert.equal(scene.app.calls, 3);
});

test("crash point: a step was handed in while its call went on", async (t) => {
  const scene = await startOneRun(t);
  await scene.begin();
  const first = await scene.app.next();
  const handIn = (dispatch: string, id: string) => {
    const body = { qi_id: dispatch, steps: [{ op: "StepRun", id, name: id, displayName: id, data: 1 }] };
    return call(`${scene.inlet.url}/v1/checkpoint/${first.runId}/async`, { method: "POST", body: JSON.stringify(body) });
  };
  assert.equal((await handIn(first.dispatch, "a")).status, 200);
  await scene.inlet.end("SIGKILL");
  await scene.restart();
  const again = await scene.app.next();
  assert.deepEqual(again.done, ["a"], "it counts though its call never ended");
  const late = await handIn(first.dispatch, "b");
  assert.deepEqual([late.status, late.body.code], [409, "call_superseded"], "the call before the crash is told to stop");
  assert.equal((await handIn(again.dispatch, "b")).status, 200);
  await again.finish("done");
  assert.deepEqual(NAMES(await scene.ended()), ["a completed", "b completed"]);
  assert.equal(scene.app.calls, 2);
});

test("crash point: a retry waits for its time", async (t) => {
  const scene = await startOneRun(t, { retryInterval: "1s" });
  await scene.begin();
  await (await scene.app.next()).fail(500);
  for (let attempts = 0; attempts === 0; ) {
    const [run] = (await call(`${scene.inlet.url}/v1/runs`)).body.data;
    attempts = (await call(`${scene.inlet.url}/v1/runs/${run.id}`)).body.data.attempts.length;
  }
  await scene.inlet.end("SIGKILL");
  await scene.restart();
  const again = await scene.app.next();
  assert.equal(again.attempt, 1, "the attempt before the crash counts");
  await again.finish("done");
  assert.equal((await scene.ended()).status, "completed");
});

test("crash point: the run's end is committed", async (t) => {
  const scene = await startOneRun(t);
  await scene.begin();
  await (await scene.app.next()).finish("done");
  const ended = await scene.ended();
  await scene.inlet.end("SIGKILL");
  await scene.restart();
  assert.deepEqual(await scene.ended(), ended);
  assert.equal(scene.app.calls, 1);
});
