/**
 * Runs end right on nodes that share a PostgreSQL: cases that once went wrong and random functions, played in real time on two nodes.
 * Every day plays other seeds; `npm run simulate -- --store postgres --seed S --events 30 --functions 8` plays one again.
 */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { migratedDatabase, whyNoPostgres } from "../support/postgres.ts";
import { dropRealTimers } from "./virtual-time.ts";

const { SHARED_CASES } = await import("./cases/shared.ts");
const { createDatabaseStores } = await import("./databases.ts");
const { generateScenario } = await import("./generate.ts");
const { inRealTime } = await import("./real-time.ts");
const { seedOfDay } = await import("./seeds.ts");
const { simulateInRealTime } = await import("./simulate.ts");

/** Time is real and mostly spent waiting, so the seeds are played at the same time. */
const FIRST = seedOfDay(Date.now());
const SEEDS = [FIRST, FIRST + 1];
const SIZE = { starts: 30, functions: 8 };
const NODES = 2;

const skip = whyNoPostgres() ?? false;

after(dropRealTimers);

/** Most of the time they wait, for timers and for the lease of a node that was cut off. */
test("runs on nodes that share a store end as the model says", { concurrency: true, skip }, async (t) => {
  const cases = SHARED_CASES.map(({ name, scenario, expect }) =>
    t.test(name, async (each) => {
      const outcome = await simulateInRealTime(scenario, await createDatabaseStores(await migratedDatabase(each), scenario));
      assert.deepEqual(outcome.faults, []);
      expect?.(outcome);
    }),
  );
  const seeds = SEEDS.map((seed) =>
    t.test(`random functions, seed ${seed}`, async (each) => {
      const scenario = inRealTime(generateScenario(seed, SIZE), NODES);
      const { faults } = await simulateInRealTime(scenario, await createDatabaseStores(await migratedDatabase(each), scenario));
      assert.deepEqual(faults, []);
    }),
  );
  await Promise.all([...cases, ...seeds]);
});
