import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pino } from "pino";
import { makeEnvironment, sampleBatch, sampleEvent } from "../store/conformance/samples.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { expireDedupKeys } from "./expire-dedup-keys.ts";

test("keys whose window has passed are swept away, in as many transactions as it takes", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "inlet-sweep-"));
  const store = openSqliteStore({ folder, onFault: () => undefined, onRecovery: () => undefined });
  t.after(async () => {
    await store.stop();
    rmSync(folder, { recursive: true });
  });
  const environment = await makeEnvironment(store);
  const keys = (from: number, count: number) => Array.from({ length: count }, (_, n) => sampleEvent({ dedupId: `d${from + n}` }));
  await store.eventAppend(sampleBatch(environment, keys(0, 1_200), { receivedAt: 1_000 }));
  await store.eventAppend(sampleBatch(environment, keys(1_200, 10), { receivedAt: 2_000 }));

  let now = 1_000;
  const sweeper = expireDedupKeys({ store, seenUntil: () => now, log: pino({ level: "silent" }), everyMs: 5 });
  assert.equal(await sweeper.sweep(), 1_200);
  now = 2_000;
  sweeper.start();
  const again = () => store.eventAppend(sampleBatch(environment, [sampleEvent({ dedupId: "d1205" })], { receivedAt: 3_000 }));
  const deadline = Date.now() + 60_000;
  while ((await again()).duplicates > 0) assert.ok(Date.now() < deadline, "the timer does not sweep");
  await sweeper.stop();
  await sweeper.stop();
});
