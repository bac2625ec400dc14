import assert from "node:assert/strict";
import { test } from "node:test";
import { Metrics, type MetricsParts } from "./metrics.ts";

test("a query that took long delays the next one; one that failed delays it less", async (t) => {
  const world = { clock: 1_000, takesMs: 0, fails: false, queries: 0 };
  t.mock.method(performance, "now", () => world.clock);
  const parts = {
    store: {
      storeViews: { queueFunctionDepths: async () => [], usageList: async () => [] },
      storeBytes: async () => {
        world.queries++;
        world.clock += world.takesMs;
        if (world.fails) throw new Error("the query took too long");
        return 1;
      },
      storeDatabases: () => [],
      retentionArchiveFailingSince: async () => null,
    },
    environments: () => [],
    waitingSince: () => new Map(),
    now: () => 0,
  };
  const metrics = new Metrics(parts as unknown as MetricsParts);
  const queriesAfter = async (ms: number) => {
    world.clock += ms;
    await metrics.text();
    return world.queries;
  };
  Object.assign(world, { takesMs: 30_000, fails: true });
  assert.equal(await queriesAfter(0), 1);
  Object.assign(world, { takesMs: 1_000, fails: false });
  assert.equal(await queriesAfter(119_999), 1);
  assert.equal(await queriesAfter(1), 2, "four times its duration after a failure");
  assert.equal(await queriesAfter(99_999), 2);
  assert.equal(await queriesAfter(1), 3, "100 times its duration after a success");
});
