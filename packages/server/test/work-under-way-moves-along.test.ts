/**
 * An environment is moved to another database while it has work of every kind under way: gathered batches, debounces, schedules, sleeps,
 * waits, calls in progress, limits, holds, jobs, cursors, subscribers. Each goes on in the new place: nothing is lost, nothing happens twice.
 */

import { test } from "node:test";
import { OTHER_CASES } from "./support/moving-work/others.ts";
import { RUN_CASES } from "./support/moving-work/runs.ts";
import { makeScene, moveAway } from "./support/moving-work/scene.ts";
import { whyNoPostgres } from "./support/postgres.ts";

const skip = whyNoPostgres() ?? false;

test("work under way moves along with its environment", { skip }, async (t) => {
  const scene = await makeScene(t);
  const before = Object.entries({ ...RUN_CASES, ...OTHER_CASES }).map(async ([name, begin]) => [name, await begin(scene)] as const);
  const begun = await Promise.all(before);
  await moveAway(scene);
  for (const [name, check] of begun) await t.test(name, check);
});
