/** PostgreSQL for benchmarks: the one from npm, started for the time they take, or the one BENCH_DATABASE_URL names. */

import { inDatabase, startPostgres } from "../packages/server/test/support/postgres-server.ts";
import { postgresFloor } from "./postgres-floor.ts";
import { useStore } from "./processes.ts";
import type { Row } from "./report.ts";

/** Every data folder gets a database of its own. Returns what PostgreSQL itself can do, and how to end it all. */
export async function benchOnPostgres(seconds: number): Promise<{ floor: Row[]; end(): Promise<void> }> {
  const given = process.env.BENCH_DATABASE_URL;
  const server = given ? { url: given, remove: async () => {} } : await startPostgres();
  const databases = new Map<string, string>();
  const storeFlagsOf = async (dataDir: string) => {
    const name = databases.get(dataDir) ?? `bench_${process.pid}_${databases.size}`;
    if (!databases.has(dataDir))
      await inDatabase(server.url, (client) => client.query(`CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`));
    databases.set(dataDir, name);
    const url = new URL(server.url);
    url.pathname = `/${name}`;
    return ["--database-url", url.href];
  };
  useStore(storeFlagsOf);
  const [, address = server.url] = await storeFlagsOf("floor");
  return {
    floor: await postgresFloor(address, seconds),
    async end() {
      if (given)
        for (const name of databases.values()) await inDatabase(given, (client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`));
      await server.remove();
    },
  };
}
