import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { HoldFunctions, type HoldFunctionsParts } from "./hold-functions.ts";

test("a change that comes after the stop is left to the next start", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "inlet-hold-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const store = openSqliteStore({ folder, onFault: () => undefined, onRecovery: () => undefined });
  const faults: unknown[] = [];
  const holds = new HoldFunctions({
    store,
    now: () => 1,
    onFault: (error) => faults.push(error),
  } as Partial<HoldFunctionsParts> as HoldFunctionsParts);
  holds.refresh();
  await holds.stop();
  await store.stop();
  holds.refresh();
  await holds.stop();
  assert.deepEqual(faults, []);
});
