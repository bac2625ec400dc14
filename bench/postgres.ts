/** PostgreSQL for benchmarks: the one from npm, started for the time they take, or the one BENCH_DATABASE_URL names. */

import { inDatabase, startPostgres } from "../packages/server/test/support/postgres-server.ts";
import { useStore } from "./processes.ts";

export interface BenchPostgres {
  /** The database that stands for a data folder. */
  urlOf(dataDir: string): Promise<string>;
  end(): Promise<void>;
}

/** All servers that are started from now on keep their data in it. */
export async function benchOnPostgres(): Promise<BenchPostgres> {
  const postgres = await startBenchPostgres();
  useStore(async (dataDir) => ["--database-url", await postgres.urlOf(dataDir)]);
  return postgres;
}

/** Every data folder gets a database of its own. */
export async function startBenchPostgres(): Promise<BenchPostgres> {
  const given = process.env.BENCH_DATABASE_URL;
  const server = given ? { url: given, remove: async () => {} } : await startPostgres();
  const databases = new Map<string, string>();
  async function urlOf(dataDir: string): Promise<string> {
    const name = databases.get(dataDir) ?? `bench_${process.pid}_${databases.size}`;
    if (!databases.has(dataDir))
      await inDatabase(server.url, (client) => client.query(`CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`));
    databases.set(dataDir, name);
    const url = new URL(server.url);
    url.pathname = `/${name}`;
    return url.href;
  }
  return {
    urlOf,
    async end() {
      if (given)
        for (const name of databases.values()) await inDatabase(given, (client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`));
      await server.remove();
    },
  };
}
