/** A store of PostgreSQL as the conformance suite needs it, with a new database for each case. */

import type { TestContext } from "node:test";
import { SAMPLE_RULES } from "../../src/store/conformance/run-samples.ts";
import type { Store } from "../../src/store/contract/index.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { migratedDatabase } from "./postgres.ts";

export const HOOKS = { onFault: () => undefined, onRecovery: () => undefined, rules: SAMPLE_RULES };

export async function openForConformance(t: TestContext) {
  const url = await migratedDatabase(t);
  let store: Store = await openPostgresStore({ url, ...HOOKS });
  t.after(() => store.stop());
  const reopen = async () => {
    await store.stop();
    store = await openPostgresStore({ url, ...HOOKS });
    return store;
  };
  return { store, reopen, url };
}
