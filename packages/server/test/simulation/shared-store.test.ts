/**
 * Runs end right on nodes that share a PostgreSQL: cases that once went wrong and random functions, played in real time on two nodes.
 * Every day plays other seeds; `npm run simulate -- --store postgres --databases D --seed S --events 30 --functions 8` plays one again.
 */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inDatabase, migratedDatabase, whyNoPostgres } from "../support/postgres.ts";
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
const SIZE = { starts: 30, functions: 8, isNarrow: true };
const NODES = 2;
/** A play that rests says so itself: this is for a machine that does much else. */
const timeout = 1_800_000;

const skip = whyNoPostgres() ?? false;

after(dropRealTimers);

/** Most of the time they wait, for timers and for the lease of a node that was cut off. */
test("runs on nodes that share a store end as the model says", { concurrency: true, skip, timeout }, async (t) => {
  const cases = SHARED_CASES.map(({ name, scenario, expect }) =>
    t.test(name, { timeout }, async (each) => {
      const outcome = await simulateInRealTime(scenario, await createDatabaseStores(await migratedDatabase(each), scenario));
      assert.deepEqual(outcome.faults, []);
      expect?.(outcome);
    }),
  );
  const seeds = SEEDS.map((seed, index) =>
    t.test(`random functions, seed ${seed}, on ${index + 1} databases`, { timeout }, async (each) => {
      const scenario = inRealTime(generateScenario(seed, SIZE), NODES);
      const [url, second] = [await migratedDatabase(each), index === 0 ? null : await migratedDatabase(each)];
      const { faults, runs } = await simulateInRealTime(scenario, await createDatabaseStores(url, scenario, second));
      assert.deepEqual(faults, []);
      const held = await inDatabase(second ?? url, (client) => client.query("SELECT FROM runs LIMIT 1"));
      assert.equal(held.rowCount, Math.min(runs, 1), "the runs are on the last of them");
    }),
  );
  await Promise.all([...cases, ...seeds]);
});
