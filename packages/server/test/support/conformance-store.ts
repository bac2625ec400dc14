/** A store of PostgreSQL as the conformance suite needs it. Cases use one in turn, emptied before each. */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { openPlacedPostgres } from "../../src/service/open-placed-postgres.ts";
import { SAMPLE_RULES } from "../../src/store/conformance/run-samples.ts";
import type { Store } from "../../src/store/contract/index.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { type EmptiedDatabase, emptiedDatabase } from "./emptied-database.ts";
import { copyOfTemplate, onProcessEnd } from "./postgres.ts";

/** Healthy work ends within this time on any machine. */
const TIMEOUT_MS = 60_000;
/** Never: cases are about what they are notified of. */
const POLL_INTERVAL_MS = 86_400_000;

export { openPlacedPostgres };

export const HOOKS = { onFault: () => undefined, onRecovery: () => undefined, rules: SAMPLE_RULES, timeoutMs: TIMEOUT_MS };
/** Three transactions of events and runs can meet. Every connection more costs PostgreSQL as much as a case. */
const CONNECTIONS_MAX = 4;
const OPTIONS = { ...HOOKS, connectionsMax: CONNECTIONS_MAX, pollIntervalMs: POLL_INTERVAL_MS };

export const openForConformance = inTurn(1, (url: string) => openPostgresStore({ url, ...OPTIONS }));

const SECOND = 1;

/** A store of two databases, with every environment of a test on the second. */
export const openOnTwoDatabases = inTurn(2, async (url: string, second: string) => {
  const placed = await openPlacedPostgres({ url, ...OPTIONS }, { error: () => undefined, info: () => undefined });
  if ((await placed.databaseList()).length === 0)
    assert.ok("no" in (await placed.databaseAdd({ name: "second", url: second, readUrl: null, createdAt: 1 })));
  const environmentInsert: Store["environmentInsert"] = (params) =>
    placed.environmentInsert(params.kind === "custom" ? { databaseNo: SECOND, ...params } : params);
  return { ...placed, environmentInsert };
});

/** What tests use in turn. */
interface Shared {
  urls: string[];
  store: Store;
  databases: EmptiedDatabase[];
  close(): Promise<void>;
}

/** Each test gets the store as if it was new. It is opened again after a test that failed, or that changed more than rows. */
function inTurn(count: number, open: (...urls: string[]) => Promise<Store>) {
  let shared: Shared | null = null;
  let user: TestContext | null = null;

  async function close(): Promise<void> {
    const closed = shared;
    shared = null;
    await closed?.close();
  }

  async function emptied(): Promise<Shared> {
    if (shared && !(await emptyAll(shared))) await close();
    shared ??= await openShared(count, open);
    return shared;
  }

  onProcessEnd(close);
  return async (t: TestContext & { readonly passed?: boolean }) => {
    assert.equal(user, null, "one test at a time");
    user = t;
    t.after(async () => {
      user = null;
      if (!t.passed) await close();
    });
    const used = await emptied();
    const reopen = async () => {
      await used.store.stop();
      used.store = await open(...used.urls);
      return used.store;
    };
    return { store: used.store, reopen, url: used.urls[0] as string };
  };
}

async function openShared(count: number, open: (...urls: string[]) => Promise<Store>): Promise<Shared> {
  const copies = await Promise.all(Array.from({ length: count }, () => copyOfTemplate()));
  const urls = copies.map(({ url }) => url);
  const store = await open(...urls);
  const databases = await Promise.all(urls.map(emptiedDatabase));
  const shared: Shared = { urls, store, databases, close };
  async function close(): Promise<void> {
    await shared.store.stop();
    for (const database of databases) await database.close();
    for (const { drop } of copies) await drop();
  }
  return shared;
}

/** False if it cannot be used again. */
async function emptyAll({ store, databases }: Shared): Promise<boolean> {
  const emptied = await Promise.all(databases.map((database) => database.empty()));
  // A store of several databases has them in memory.
  await store.environmentList();
  return emptied.every(Boolean);
}
