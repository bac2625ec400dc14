/** The flags by which a process opens the store of its test. */

import type { TestContext } from "node:test";
import { currentStore } from "./both-stores.ts";
import { migratedDatabase } from "./postgres.ts";

/** What a killed process held is taken over soon. */
const SOON = ["--lease", "2s", "--poll-interval", "200ms"];

export interface StoreFlagsOptions {
  /** Of the embedded store. */
  dataDir: string;
  /** The URL by which the process reaches its database. */
  reachDatabase?(url: string): Promise<string>;
}

export interface StoreFlags {
  flags: string[];
  /** Of PostgreSQL, past anything that stands between. */
  databaseUrl?: string;
}

export async function storeFlags(t: TestContext, { dataDir, reachDatabase = async (url) => url }: StoreFlagsOptions): Promise<StoreFlags> {
  if (currentStore() === "sqlite") return { flags: ["--data-dir", dataDir] };
  const databaseUrl = await migratedDatabase(t);
  return { databaseUrl, flags: ["--database-url", await reachDatabase(databaseUrl), ...SOON] };
}
