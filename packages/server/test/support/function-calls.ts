/** How often nodes call functions of the database. */

import type { TestContext } from "node:test";
import type { Store } from "../../src/store/contract/index.ts";
import { freshDatabase, inDatabase } from "./postgres.ts";

/** A connection ends a moment after its client has left. */
const OTHERS =
  "SELECT FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()";

export interface CountedDatabase {
  url: string;
  /** Stops the nodes: what they did is told by PostgreSQL when their connections end. */
  callsBy(nodes: readonly Store[]): Promise<Record<string, number>>;
}

export async function countedDatabase(t: TestContext): Promise<CountedDatabase> {
  const url = await freshDatabase(t);
  await inDatabase(url, (client) => client.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET track_functions = 'pl'`));
  return {
    url,
    async callsBy(nodes) {
      await Promise.all(nodes.map((node) => node.stop()));
      const { rows } = await inDatabase(url, async (client) => {
        while ((await client.query(OTHERS)).rows.length > 0) await new Promise((resolve) => setTimeout(resolve, 10));
        return client.query("SELECT funcname, calls::integer FROM pg_stat_user_functions");
      });
      return Object.fromEntries(rows.map(({ funcname, calls }) => [funcname, calls]));
    },
  };
}
