import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { JobRunner, type JobRunnerParts } from "./job-runner.ts";

test("however long the store takes to answer, it is asked for jobs once more after that", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const first = Promise.withResolvers<null>();
  let claims = 0;
  const store = { storeNode: "n", jobClaim: () => (++claims === 1 ? first.promise : Promise.resolve(null)) };
  const parts = { store, kinds: [], environment: () => undefined, log: pino({ level: "silent" }), now: () => 1, leaseMs: 1_000 };
  const runner = new JobRunner(parts as unknown as JobRunnerParts);
  runner.start();
  await new Promise(setImmediate);
  for (let n = 0; n < 20; n++) t.mock.timers.tick(500);
  first.resolve(null);
  await new Promise(setImmediate);
  assert.equal(claims, 2);
  await runner.stop();
});
