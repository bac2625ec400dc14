/**
 * SIGTERM while functions are being called: nothing new is begun, calls under way may end within the drain timeout, and what
 * they answer is kept. A call that does not end in time is cut, and made again after the next start.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { poll } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { type OneRun, startOneRun } from "./support/one-run.ts";

test("a call that ends in time: its response is kept, the service exits with 0, and the step is not run again", async (t) => {
  const scene = await startOneRun(t);
  await scene.begin();
  const first = await scene.app.next();
  const exited = scene.inlet.end("SIGTERM");
  await hasBegunToStop(scene);
  assert.equal(scene.inlet.child.exitCode, null, "it waits for the call");
  await first.ranStep("a");
  assert.equal(await exited, 0);
  assert.equal(scene.app.calls, 1, "nothing was begun while it stopped");
  await scene.restart();
  const next = await scene.app.next();
  assert.deepEqual([next.done, next.attempt], [["a"], 0]);
  await next.finish("done");
  assert.equal((await scene.ended()).status, "completed");
  assert.equal(scene.app.calls, 2);
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

test("an app that goes away while the service stops: the call is made again", async (t) => {
  const scene = await startOneRun(t);
  await scene.begin();
  const first = await scene.app.next();
  const exited = once(scene.inlet.child, "exit");
  scene.inlet.child.kill("SIGTERM");
  await hasBegunToStop(scene);
  await first.fail(503);
  await exited;
  await scene.restart();
  const again = await scene.app.next();
  await again.finish("done");
  assert.equal((await scene.ended()).status, "completed");
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
