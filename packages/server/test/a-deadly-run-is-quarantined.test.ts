/**
 * A run that takes the service down whenever it is worked on is given up after a while; what was under way beside it is not.
 * Deaths of the same kind are not all died here: the store is told of the others, as it was of the first.
 */

import assert from "node:assert/strict";
import { test as nodeTest } from "node:test";
import { test } from "./support/both-stores.ts";
import { type OneRun, startOneRun } from "./support/one-run.ts";
import { until } from "./support/runs.ts";
import { call } from "./support/service.ts";
import { queryStore } from "./support/store-contents.ts";

/** As the queue counts them, in the order in which the runs began. */
async function counted(scene: OneRun): Promise<{ claims: number; probes: number }[]> {
  const rows = await queryStore(scene, "SELECT claims, calling_probes AS probes FROM queue WHERE kind = 'call' ORDER BY entry_no");
  return rows as { claims: number; probes: number }[];
}

test("a run that kills the service whenever it is called is quarantined, and no other run suffers", async (t) => {
  const scene = await startOneRun(t);
  await scene.begin();
  const { runId: deadly } = await scene.app.next();
  await scene.begin();
  const { runId: harmless } = await scene.app.next();
  await scene.kill();

  await scene.dieOf(deadly);
  assert.deepEqual(
    (await counted(scene)).map(({ claims }) => claims),
    [2, 2],
    "nobody knows of which of them it died",
  );
  await queryStore(scene, "UPDATE queue SET claims = 3");
  await scene.dieOf(deadly);
  assert.deepEqual(
    (await counted(scene)).map(({ probes }) => probes),
    [1, 0],
    "it was called alone; the other was not called, or outlived",
  );
  await queryStore(scene, "UPDATE queue SET calling_probes = 4 WHERE calling_probes = 1");
  await scene.dieOf(deadly);

  await scene.restart();
  const { status, error } = await scene.ended(deadly);
  assert.deepEqual([status, error.name], ["failed", "RunAbandoned"]);
  assert.match(error.message, /^The run was ended, because the service crashed or failed each time it processed it: /);
  // Among them are calls of the services that died, which get no response.
  for (let status = "running"; status !== "completed"; ) {
    const called = await scene.app.next();
    assert.equal(called.runId, harmless);
    await called.finish("fine");
    status = await afterCalls(harmless);
  }
  await scene.begin();
  const another = await scene.app.next();
  assert.notEqual(another.runId, deadly);
  await another.finish("fine");
  assert.equal(scene.app.waiting, 0, "it is called no more");

  /** Of a run that has ended, or has another call to be answered. */
  function afterCalls(runId: string): Promise<string> {
    return until("the end of the run, or a call", async () => {
      const { status } = (await call(`${scene.inlet.url}/v1/runs/${runId}`)).body.data;
      return status !== "running" || scene.app.waiting > 0 ? status : undefined;
    });
  }
});

// What the store does for this is the same on both engines: queue/conformance.ts counts and clears probes on each.
nodeTest("a long step of a service that is killed for other reasons, however often, is not given up", async (t) => {
  const scene = await startOneRun(t);
  await scene.begin();
  await scene.app.next();
  await scene.kill();
  await queryStore(scene, "UPDATE queue SET claims = 20, calling_probes = 4");
  await scene.restart();
  await scene.app.next();
  // The service outlives the beginning of the call: what it dies of is something else.
  await until("the end of the probe", async () => ((await counted(scene))[0]?.probes === 0 ? true : undefined));
  await scene.kill();
  await scene.restart();
  const last = await scene.app.next();
  await last.finish("done");
  assert.equal((await scene.ended()).status, "completed");
});
