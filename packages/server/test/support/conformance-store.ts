/** A store of PostgreSQL as the conformance suite needs it, with a new database for each case. */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { openPlacedPostgres } from "../../src/service/open-placed-postgres.ts";
import { SAMPLE_RULES } from "../../src/store/conformance/run-samples.ts";
import type { Store } from "../../src/store/contract/index.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { migratedDatabase } from "./postgres.ts";

/** Healthy work ends within this time on any machine. */
const TIMEOUT_MS = 60_000;

export { openPlacedPostgres };

export const HOOKS = { onFault: () => undefined, onRecovery: () => undefined, rules: SAMPLE_RULES, timeoutMs: TIMEOUT_MS };
/** Three transactions of events and runs can meet. Every connection more costs PostgreSQL as much as a case. */
const CONNECTIONS_MAX = 4;

export async function openForConformance(t: TestContext) {
  const url = await migratedDatabase(t);
  const open = () => openPostgresStore({ url, ...HOOKS, connectionsMax: CONNECTIONS_MAX });
  let store: Store = await open();
  t.after(() => store.stop());
  const reopen = async () => {
    await store.stop();
    store = await open();
    return store;
  };
  return { store, reopen, url };
}

const SECOND = 1;

/** A store of two databases, with every environment of a test on the second. */
export async function openOnTwoDatabases(t: TestContext) {
  const [url, second] = await Promise.all([migratedDatabase(t), migratedDatabase(t)]);
  const log = { error: () => undefined, info: () => undefined };
  const open = async () => {
    const placed = await openPlacedPostgres({ url, ...HOOKS, connectionsMax: CONNECTIONS_MAX }, log);
    const environmentInsert: Store["environmentInsert"] = (params) =>
      placed.environmentInsert(params.kind === "custom" ? { databaseNo: SECOND, ...params } : params);
    return { ...placed, environmentInsert };
  };
  let store: Store = await open();
  t.after(() => store.stop());
  assert.ok("no" in (await store.databaseAdd({ name: "second", url: second, readUrl: null, createdAt: 1 })));
  const reopen = async () => {
    await store.stop();
    store = await open();
    return store;
  };
  return { store, reopen, url, second };
}
