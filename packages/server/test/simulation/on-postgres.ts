/** Plays scenarios over a PostgreSQL server that is started for them, each in a database of its own, in real time. */

import { inDatabase, startPostgres } from "../support/postgres-server.ts";
import { createDatabaseStores } from "./databases.ts";
import { inRealTime } from "./real-time.ts";
import type { Scenario } from "./scenario.ts";
import { type Outcome, simulateInRealTime } from "./simulate.ts";
import { dropRealTimers } from "./virtual-time.ts";

export interface PostgresPlayer {
  simulate(scenario: Scenario): Promise<Outcome>;
  end(): Promise<void>;
}

export async function playOnPostgres(nodes: number): Promise<PostgresPlayer> {
  const server = await startPostgres({ fsync: false });
  const ask = (text: string) => inDatabase(server.url, (client) => client.query(text));
  let played = 0;
  return {
    async simulate(scenario) {
      const name = `simulation_${scenario.seed}_${played++}`;
      await ask(`CREATE DATABASE ${name}`);
      const url = new URL(server.url);
      url.pathname = `/${name}`;
      const given = inRealTime(scenario, nodes);
      const outcome = await simulateInRealTime(given, await createDatabaseStores(url.href, given));
      await ask(`DROP DATABASE ${name} WITH (FORCE)`);
      return outcome;
    },
    async end() {
      dropRealTimers();
      await server.remove();
    },
  };
}
