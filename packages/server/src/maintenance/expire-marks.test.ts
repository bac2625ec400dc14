import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pino } from "pino";
import { makeScene, sampleLease } from "../store/conformance/run-samples.ts";
import { sampleBatch, sampleEvent } from "../store/conformance/samples.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { expireMarks } from "./expire-marks.ts";

test("marks are swept away when they may be forgotten, not before", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "inlet-sweep-"));
  const store = openSqliteStore({ folder, onFault: () => undefined, onRecovery: () => undefined });
  t.after(async () => {
    await store.stop();
    rmSync(folder, { recursive: true });
  });
  const { environment, functions } = await makeScene(store);
  const [functionNo] = functions;
  const lease = sampleLease();
  const event = sampleEvent({ starts: [{ functionNo, dueAt: 1_000 }] });
  const [entry] = (await store.eventAppend(sampleBatch(environment, [event], { lease }))).leased;
  assert.ok(entry);
  const mark = { kind: "rate", key: "k" } as const;
  const marks = [{ ...mark, value: "1", expiresAt: 5_000 }];
  const environmentId = environment.id;
  await store.functionStart({ environmentId, entry, functionNo, marks: [], now: 1_000, lease, decide: () => ({ marks }) });

  let now = 4_999;
  let neededUntil = 6_000;
  const sweeper = expireMarks({ store, log: pino({ level: "silent" }), now: () => now, neededUntil: () => neededUntil });
  assert.equal(await sweeper.sweep(), 0);
  assert.equal(await store.markGet({ environmentId, functionNo, ...mark }), "1");
  now = 5_000;
  await sweeper.sweep();
  assert.equal(await store.markGet({ environmentId, functionNo, ...mark }), "1", "a rate that was lowered needs it for longer");
  now = 5_999;
  neededUntil = 0;
  assert.equal(await sweeper.sweep(), 0, "it is examined again when it is not needed any more");
  now = 6_000;
  assert.equal(await sweeper.sweep(), 1);
  assert.equal(await store.markGet({ environmentId, functionNo, ...mark }), null);
  await sweeper.stop();
});
