/**
 * A run that takes the service down whenever it is worked on is given up after a while; what was under way beside it is not.
 * The deadly one: its app kills the service with SIGKILL as soon as it is called.
 */

import assert from "node:assert/strict";
import { test as nodeTest } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "./support/both-stores.ts";
import { startOneRun } from "./support/one-run.ts";
import { until } from "./support/runs.ts";
import { call } from "./support/service.ts";
import { queryStore } from "./support/store-contents.ts";

/** Many more than it takes. */
const DEATHS_MAX = 30;
/** In the last two, the run is probed; the test waits until each probe is cleared, so that more deaths would add nothing. */
const DEATHS_OUTLIVED = 5;
const IN_PROBE = "SELECT entry_no FROM queue WHERE calling_probes > 0";
/** For so long the harmless run is left without a response: it is probed as well. */
const DEATHS_SHARED = 4;

test("a run that kills the service whenever it is called is quarantined, and no other run suffers", async (t) => {
  const scene = await startOneRun(t);
  await scene.begin();
  const { runId: deadly } = await scene.app.next();
  await scene.begin();
  const { runId: harmless } = await scene.app.next();
  await scene.kill();

  const runs = async () => {
    const { body } = await call(`${scene.inlet.url}/v1/runs`);
    const status = (id: string) => body.data.find((run: { id: string }) => run.id === id)?.status;
    return { deadly: status(deadly), harmless: status(harmless) };
  };
  let deaths = 1;
  // At once: a service that outlives the beginning of a call by a second has not died of it.
  scene.app.onCall = (runId) => void (runId === deadly && scene.inlet.child.kill("SIGKILL"));
  await scene.restart();
  for (;;) {
    const found = await nextCallOrEnd();
    if (found === "ended") break;
    if (found.runId === deadly) {
      assert.ok(++deaths < DEATHS_MAX, "it is never given up");
      await scene.kill();
      await scene.restart();
    } else if (deaths >= DEATHS_SHARED) await found.finish("fine").catch(() => undefined);
  }

  const { body } = await call(`${scene.inlet.url}/v1/runs/${deadly}`);
  assert.deepEqual([body.data.status, body.data.error.name], ["failed", "RunAbandoned"]);
  assert.match(body.data.error.message, /quarantined: the service crashed or failed each time it processed this run/);
  assert.equal((await runs()).harmless, "completed");
  assert.ok(deaths > DEATHS_SHARED, "it was tried several times");
  await scene.begin();
  const another = await scene.app.next();
  assert.notEqual(another.runId, deadly);
  await another.finish("fine");
  assert.equal(scene.app.waiting, 0, "it is called no more");

  async function nextCallOrEnd() {
    for (;;) {
      if (scene.app.waiting > 0) return scene.app.next();
      // Null: it was killed before it had answered.
      const found = await runs().catch(() => null);
      if (found?.deadly === "failed" && found.harmless === "completed") return "ended";
      assert.notEqual(found?.harmless, "failed");
      await sleep(150);
    }
  }
});

// What the store does for this is the same on both engines: queue/conformance.ts counts and clears probes on each.
nodeTest("a long step of a service that is killed for other reasons, however often, is not given up", async (t) => {
  const scene = await startOneRun(t);
  await scene.begin();
  for (let deaths = 0; deaths < DEATHS_OUTLIVED; deaths++) {
    await scene.app.next();
    // The service outlives the beginning of the call: what it dies of is something else.
    await until("the end of the probe", async () => ((await queryStore(scene, IN_PROBE)).length === 0 ? true : undefined));
    await scene.kill();
    await scene.restart();
  }
  const last = await scene.app.next();
  await last.finish("done");
  assert.equal((await scene.ended()).status, "completed");
});
