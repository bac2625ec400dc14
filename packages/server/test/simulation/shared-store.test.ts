/**
 * Runs end right on nodes that share a PostgreSQL: cases that once went wrong, played in real time on two nodes. Random scenarios are
 * played there by `npm run simulate -- --store postgres --nodes 2`.
 */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { migratedDatabase, whyNoPostgres } from "../support/postgres.ts";
import { dropRealTimers } from "./virtual-time.ts";

const { SHARED_CASES } = await import("./cases.ts");
const { createDatabaseStores } = await import("./databases.ts");
const { simulateInRealTime } = await import("./simulate.ts");

const skip = whyNoPostgres() ?? false;

after(dropRealTimers);

/** Most of the time they wait, for the lease of a node that was cut off. */
test("cases on nodes that share a store", { concurrency: true, skip }, async (t) => {
  await Promise.all(
    SHARED_CASES.map(({ name, scenario, expect }) =>
      t.test(name, async (each) => {
        const outcome = await simulateInRealTime(scenario, createDatabaseStores(await migratedDatabase(each)));
        assert.deepEqual(outcome.faults, []);
        expect?.(outcome);
      }),
    ),
  );
});
