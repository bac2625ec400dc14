import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
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
