/**
 * Runs end right on nodes that share a PostgreSQL, whatever happens at the same moment: the simulation in real time, with fewer seeds and
 * two nodes, and cases that once went wrong. A seed decides what is sent and what goes wrong, but not the order of everything.
 */

import "./virtual-time.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { migratedDatabase, whyNoPostgres } from "../support/postgres.ts";
import type { Scenario } from "./scenario.ts";

const { SHARED_CASES } = await import("./cases.ts");
const { createDatabaseStores } = await import("./databases.ts");
const { generateScenario } = await import("./generate.ts");
const { inRealTime } = await import("./real-time.ts");
const { simulateInRealTime } = await import("./simulate.ts");

const skip = whyNoPostgres() ?? false;
const NODES = 2;
const SEEDS = [1, 2, 3, 4];
const SIZE = { starts: 40, functions: 8 };

/** Most of the time they wait: for sleeps, and for the leases of a node that was killed. */
test("scenarios on nodes that share a store", { concurrency: true, skip }, async (t) => {
  const play = (name: string, scenario: Scenario, expect?: (outcome: Awaited<ReturnType<typeof simulateInRealTime>>) => void) =>
    t.test(name, async (each) => {
      const outcome = await simulateInRealTime(scenario, createDatabaseStores(await migratedDatabase(each)));
      assert.deepEqual(outcome.faults, []);
      expect?.(outcome);
    });
  await Promise.all([
    ...SHARED_CASES.map(({ name, scenario, expect }) => play(name, scenario, expect)),
    ...SEEDS.map((seed) => play(`seed ${seed}`, inRealTime(generateScenario(seed, SIZE), NODES))),
  ]);
});
