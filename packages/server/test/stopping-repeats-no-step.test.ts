/**
 * SIGTERM while functions are being called: nothing new is begun, calls under way may end within the drain timeout, and what
 * they answer is kept. A call that does not end in time is cut, and made again after the next start.
 */

import assert from "node:assert/strict";
import { poll } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { type OneRun, startOneRun } from "./support/one-run.ts";

test("calls that end in time: a response is kept, a call to an app that has gone is made again, and the service exits with 0", async (t) => {
  const scene = await startOneRun(t);
  for (let n = 0; n < 2; n++) await scene.begin();
  const [answered, gone] = [await scene.app.next(), await scene.app.next()];
  const exited = scene.inlet.end("SIGTERM");
  await hasBegunToStop(scene);
  assert.equal(scene.inlet.child.exitCode, null, "it waits for the calls");
  await answered.ranStep("a");
  await gone.fail(503);
  assert.equal(await exited, 0);
  assert.equal(scene.app.calls, 2, "nothing was begun while it stopped");
  await scene.restart();
  const next = await scene.app.next(answered.runId);
  assert.deepEqual([next.done, next.attempt], [["a"], 0], "the step is not run again");
  await next.finish("done");
  assert.equal((await scene.ended(answered.runId)).status, "completed");
  await (await scene.app.next(gone.runId)).finish("done");
  assert.equal((await scene.ended(gone.runId)).status, "completed");
  assert.equal(scene.app.calls, 4);
});

test("a call that hangs: the wait is bounded, and the call is made again", async (t) => {
  const scene = await startOneRun(t, { drainTimeout: "300ms" });
  await scene.begin();
  await scene.app.next();
  // The call itself never ends: that the process exits is the bound.
  assert.equal(await scene.inlet.end("SIGTERM"), 0);
  await scene.restart();
  const again = await scene.app.next();
  assert.deepEqual([again.done, again.attempt], [[], 0], "stopping is not the function's failure");
  await again.finish("done");
  assert.equal((await scene.ended()).status, "completed");
  assert.equal(scene.app.calls, 2);
});

/** From the moment it stops, it takes no more requests. */
async function hasBegunToStop({ inlet }: OneRun): Promise<void> {
  await poll(async () => {
    const isUp = await fetch(`${inlet.url}/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
    return isUp ? null : true;
  }, "the beginning of its end");
}
