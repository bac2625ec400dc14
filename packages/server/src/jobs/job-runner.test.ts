import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
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

test("a job does not fail for what is in its way and ends by itself, however often it finds it there", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "inlet-jobs-"));
  const store = openSqliteStore({ folder, onFault: () => undefined, onRecovery: () => undefined });
  const environment = await makeEnvironment(store);
  let foundInTheWay = 0;
  const ended = Promise.withResolvers<void>();
  const kind: JobKind = {
    kind: "things",
    filters: {},
    takesAll: true,
    find: async () => ({ found: [], next: null }),
    async work() {
      if (foundInTheWay++ < 30) throw new InTheWay("something is being done");
      return { starts: [], failures: [] };
    },
    async settle() {
      ended.resolve();
      return undefined;
    },
    ended: async () => ended.resolve(),
  };
  const log = pino({ level: "silent" });
  const runner = new JobRunner({ store, kinds: [kind], environment: () => environment, log, now: Date.now, leaseMs: 30_000 });
  t.after(async () => {
    await runner.stop();
    await store.stop();
    rmSync(folder, { recursive: true });
  });
  const id = createEventIdGenerator().next(1) as string as JobId;
  const of = { id, environmentId: environment.id };
  const made = {
    kind: "things",
    filter: "{}",
    functionId: null,
    rate: 1_000,
    createdAt: 1,
    listCursor: null,
    series: null,
    isScheduled: false,
  };
  await runner.add({ ...of, ...made, items: [1] }, {});
  runner.start();
  await ended.promise;
  await runner.stop();
  const job = await store.jobGet(of);
  assert.deepEqual([job?.status, job?.done, foundInTheWay], ["completed", 1, 31]);
});
