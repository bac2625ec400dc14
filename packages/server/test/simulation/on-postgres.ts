/** Plays scenarios over a PostgreSQL server that is started for them, each in a database of its own, in real time. */

import type { Client } from "pg";
import { inDatabase, startPostgres } from "../support/postgres-server.ts";
import { createDatabaseStores } from "./databases.ts";
import { inRealTime } from "./real-time.ts";
import type { Scenario } from "./scenario.ts";
import { type Outcome, simulateInRealTime } from "./simulate.ts";
import { keepPlay, Trace } from "./trace.ts";
import { dropRealTimers } from "./virtual-time.ts";

export interface PostgresPlayer {
  simulate(scenario: Scenario): Promise<Outcome>;
  end(): Promise<void>;
}

/** `databases`: one or two. `keepIn`: the folder for what is needed to judge the faults of a play; null: it is not kept. */
export async function playOnPostgres(nodes: number, keepIn: string | null, databases = 1): Promise<PostgresPlayer> {
  const server = await startPostgres({ fsync: false });
  const ask = (text: string) => inDatabase(server.url, (client) => client.query(text));
  let played = 0;
  return {
    async simulate(scenario) {
      const name = `simulation_${scenario.seed}_${played++}`;
      const create = async (made: string) => {
        await ask(`CREATE DATABASE ${made}`);
        const url = new URL(server.url);
        url.pathname = `/${made}`;
        return url;
      };
      const url = await create(name);
      const second = databases > 1 ? (await create(`${name}_second`)).href : null;
      const given = inRealTime(scenario, nodes);
      const trace = keepIn === null ? null : new Trace();
      const outcome = await simulateInRealTime(
        given,
        await createDatabaseStores(url.href, given, second, { isMoving: second !== null }),
        trace,
      );
      if (keepIn !== null && outcome.faults.length > 0) {
        const { faults, played } = outcome;
        const rows = await inDatabase(second ?? url.href, readTables);
        keepPlay(keepIn, name, { ...played.journal, ...played, ...rows, faults, trace: trace?.entries });
      }
      await ask(`DROP DATABASE ${name} WITH (FORCE)`);
      await ask(`DROP DATABASE IF EXISTS ${name}_second WITH (FORCE)`);
      return outcome;
    },
    async end() {
      dropRealTimers();
      await server.remove();
    },
  };
}

const TABLES = ["runs", "steps", "queue", "marks", "events", "jobs"];

async function readTables(client: Client): Promise<Record<string, unknown[]>> {
  const tables: Record<string, unknown[]> = {};
  for (const table of TABLES) tables[`table-${table}`] = (await client.query(`SELECT * FROM ${table}`)).rows;
  return tables;
}
