import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createEventIdGenerator, type JobId } from "@inlet/protocol";
import { pino } from "pino";
import { makeEnvironment } from "../store/conformance/samples.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { InTheWay, type JobKind } from "./job-kind.ts";
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

/** A job with one item, whose first tries find something in the way; `onTry` is called with the number of each. */
async function workedOn(t: TestContext, triesInTheWay: number, onTry?: (tries: number, cancel: () => Promise<unknown>) => void) {
  const folder = mkdtempSync(join(tmpdir(), "inlet-jobs-"));
  const store = openSqliteStore({ folder, onFault: () => undefined, onRecovery: () => undefined });
  const environment = await makeEnvironment(store);
  const of = { id: createEventIdGenerator().next(1) as string as JobId, environmentId: environment.id };
  let tries = 0;
  const ended = Promise.withResolvers<void>();
  const kind: JobKind = {
    kind: "things",
    filters: {},
    takesAll: true,
    find: async () => ({ found: [], next: null }),
    async work() {
      tries++;
      onTry?.(tries, () => store.jobEnd({ ...of, status: "cancelled", now: 2 }));
      if (tries <= triesInTheWay) throw new InTheWay("something is being done");
      return { starts: [], failures: [] };
    },
    async settle() {
      ended.resolve();
      return undefined;
    },
    ended: async () => ended.resolve(),
  };
  const log = pino({ level: "silent" });
  let at = 0;
  // So fast that no try is waited for.
  const now = () => {
    at += 10_000;
    return at;
  };
  const runner = new JobRunner({ store, kinds: [kind], environment: () => environment, log, now, leaseMs: 3_600_000 });
  t.after(async () => {
    await runner.stop();
    await store.stop();
    rmSync(folder, { recursive: true });
  });
  const list = { listCursor: null, series: null, isScheduled: false };
  await runner.add({ ...of, ...list, kind: "things", filter: "{}", functionId: null, rate: 1_000, createdAt: 1, items: [1] }, {});
  runner.start();
  await ended.promise;
  await runner.stop();
  return { job: await store.jobGet(of), tries };
}

test("a job does not fail for what is in its way and ends by itself, however often it finds it there", async (t) => {
  const { job, tries } = await workedOn(t, 30);
  assert.deepEqual([job?.status, job?.done, tries], ["completed", 1, 31]);
});

test("a job that is cancelled while something is in its way goes no further", async (t) => {
  const { job, tries } = await workedOn(t, 30, (n, cancel) => n === 3 && void cancel());
  assert.deepEqual([job?.status, job?.done], ["cancelled", 0]);
  assert.ok(tries < 30);
});
