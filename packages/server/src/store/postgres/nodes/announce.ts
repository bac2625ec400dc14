/** Announces changes of data that every node caches, in the transaction that makes them: no node misses a committed change. */

import type { PoolClient } from "pg";
import type { StoreTopic } from "../../contract/index.ts";
import type { Database } from "../database.ts";
import { retryCollisions } from "../retry-collisions.ts";

/** Every node listens to it. */
export const CHANNEL = "inlet";

/** `work` may be done several times. */
export type Announced = <Result>(topic: StoreTopic, work: (client: PoolClient) => Promise<Result>) => Promise<Result>;

export function createAnnounced(database: Database, node: string): Announced {
  return (topic, work) =>
    retryCollisions(() =>
      database.transaction(async (client) => {
        const result = await work(client);
        await client.query("SELECT pg_notify($1, $2)", [CHANNEL, `${node} ${topic}`]);
        return result;
      }),
    );
}
