/** The flags by which a process opens the store of its test. */

import type { TestContext } from "node:test";
import { currentStore } from "./current-store.ts";
import { inDatabase, migratedDatabase } from "./postgres.ts";
import { until } from "./runs.ts";

/** A process on a busy machine does not lose what it works on. What a killed one held need not be waited for: see `passLeases`. */
const LEASE = "30s";
const POLL = ["--poll-interval", "200ms"];

/** What an ended process still holds is due, as it is once its leases are over. */
const PASS_LEASES = `
  UPDATE queue SET due_at = $1, rank = CASE lane WHEN 'timers' THEN $1 ELSE rank END WHERE leased_by IS NOT NULL AND due_at > $1`;
const PASS_LEASES_OF_JOBS = "UPDATE jobs SET leased_until = 0 WHERE leased_by IS NOT NULL";
/** PostgreSQL goes on with a statement, and with a commit, whose client was killed. */
const AT_WORK =
  "SELECT FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' AND state = 'active' AND pid <> pg_backend_pid()";
const RELEASE_LEADERSHIP = "DELETE FROM leaders";

export interface StoreFlagsOptions {
  /** Of the embedded store. */
  dataDir: string;
  /** The URL by which the process reaches its database. */
  reachDatabase?(url: string): Promise<string>;
  /** Longer where losing one would fail the test. */
  lease?: string;
}

export interface StoreFlags {
  flags: string[];
  /** Of PostgreSQL, past anything that stands between. */
  databaseUrl?: string;
  /** Once the only process has ended: what it had sent is done, and the next one does not wait for its leases. On the embedded store they end with the process. */
  passLeases(): Promise<void>;
}

export async function storeFlags(t: TestContext, options: StoreFlagsOptions): Promise<StoreFlags> {
  const { dataDir, lease = LEASE, reachDatabase = async (url) => url } = options;
  if (currentStore() === "sqlite") return { flags: ["--data-dir", dataDir, "--lease", lease], passLeases: async () => undefined };
  const databaseUrl = await migratedDatabase(t);
  const flags = ["--database-url", await reachDatabase(databaseUrl), "--lease", lease, ...POLL];
  return { databaseUrl, flags, passLeases: () => passLeases(databaseUrl) };
}

async function passLeases(databaseUrl: string): Promise<void> {
  await inDatabase(databaseUrl, async (client) => {
    await until("what the process had sent", async () => (await client.query(AT_WORK)).rowCount === 0 || undefined);
    await client.query(PASS_LEASES, [Date.now()]);
    await client.query(PASS_LEASES_OF_JOBS);
    await client.query(RELEASE_LEADERSHIP);
  });
}
