import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Environment } from "../store/contract/index.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { PauseFunctions, type PauseFunctionsParts } from "./pause-functions.ts";

test("a change that comes after the stop is left to the next start", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "inlet-hold-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const store = openSqliteStore({ folder, onFault: () => undefined, onRecovery: () => undefined });
  const faults: unknown[] = [];
  const holds = new PauseFunctions({
    store,
    now: () => 1,
    onFault: (error) => faults.push(error),
  } as Partial<PauseFunctionsParts> as PauseFunctionsParts);
  holds.refresh();
  await holds.stop();
  await store.stop();
  holds.refresh();
  await holds.stop();
  assert.deepEqual(faults, []);
});

test("resuming a function and cancelling its held runs ends, although a run has ended before and its call is still there", async () => {
  const held = [[1, 2], [2]];
  const paused: (number | null)[] = [];
  const holds = new PauseFunctions({
    store: {
      queueHeldRuns: async () => held.shift() ?? assert.fail("asked once more"),
      queueUnhold: async () => 0,
      functionPause: async ({ pausedAt }: { pausedAt: number | null }) => paused.push(pausedAt),
    },
    registry: { everyFunction: () => [{ no: 1, id: "shop-ship" }], refresh: async () => undefined },
    executor: { change: async ({ no }: { no: number }) => no === 1 },
    now: () => 1,
  } as unknown as PauseFunctionsParts);
  assert.equal(await holds.resume({ id: 1 } as Environment, "shop-ship", "cancel"), true);
  assert.deepEqual(paused, [null]);
  await holds.stop();
});

test("however often functions change while held calls are looked for, they are looked for once more", async () => {
  const first = Promise.withResolvers<number>();
  let looks = 0;
  const queueUnhold = () => (++looks === 1 ? first.promise : Promise.resolve(0));
  const holds = new PauseFunctions({ store: { queueUnhold }, now: () => 1 } as unknown as PauseFunctionsParts);
  holds.refresh();
  await new Promise(setImmediate);
  for (let n = 0; n < 20; n++) holds.refresh();
  const stopped = holds.stop();
  first.resolve(0);
  await stopped;
  assert.equal(looks, 2);
});
