import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pino } from "pino";
import { advance, beginOne, detailsOf, makeScene, SAMPLE_RULES, sampleEnd } from "../store/conformance/run-samples.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { forgetLanes } from "./forget-lanes.ts";

const log = pino({ level: "silent" });

test("lanes that nothing stands in any more are swept away, and those in use stay", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "inlet-sweep-"));
  const store = openSqliteStore({ folder, rules: SAMPLE_RULES, onFault: () => undefined, onRecovery: () => undefined });
  t.after(async () => {
    await store.stop();
    rmSync(folder, { recursive: true });
  });
  const scene = await makeScene(store);
  const begun = await Promise.all(Array.from({ length: 600 }, (_, n) => beginOne(scene, { lane: `fn:1:${n}` })));
  const [ended, active] = [begun.slice(0, 300), begun.slice(300)];
  await Promise.all(ended.map((one) => advance(scene, one, { end: sampleEnd() })));
  const lanesOf = (runs: typeof begun) => Promise.all(runs.map(async ({ run }) => (await detailsOf(scene, run.id)).lane));

  const sweeper = forgetLanes({ store, log });
  await sweeper.sweep();
  await sweeper.sweep();
  assert.deepEqual(new Set(await lanesOf(ended)), new Set([""]));
  assert.deepEqual(
    await lanesOf(active),
    active.map(({ run }) => run.lane),
  );
  await sweeper.stop();
});
