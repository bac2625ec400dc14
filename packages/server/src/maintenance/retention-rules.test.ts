import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { makeEnvironment } from "../store/conformance/samples.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { createKeptScopes } from "./retention-rules.ts";

test("with an archive, events and runs leave with their partitions; what has none is removed row by row", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "inlet-rules-"));
  const store = openSqliteStore({ folder, onFault: () => undefined, onRecovery: () => undefined });
  t.after(async () => {
    await store.stop();
    rmSync(folder, { recursive: true });
  });
  await makeEnvironment(store);
  const installation = { eventsMs: 30, runsMs: 20, requestsMs: 10 };
  const scopes = async (isArchived: boolean) => {
    const kept = createKeptScopes({ store, installation, now: () => 1, isArchived });
    return Promise.all([kept.events(), kept.runs(), kept.approvals(), kept.requests()]);
  };
  assert.deepEqual(await scopes(false), [[{ keptMs: 30 }], [{ keptMs: 20 }], [{ keptMs: 20 }], [{ keptMs: 10 }]]);
  assert.deepEqual(await scopes(true), [[], [], [{ keptMs: 20 }], [{ keptMs: 10 }]]);
});
