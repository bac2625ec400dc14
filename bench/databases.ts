/**
 * What several databases cost a node. One environment is driven on one database, then one on each of several, on one PostgreSQL server,
 * every environment by as many connections: each database has the load that the one had, and writes groups as large. All of it runs on
 * this machine, so the CPU time for an event counts, of Inlet and of PostgreSQL, and not how many are accepted.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { inDatabase } from "../packages/server/test/support/postgres-server.ts";
import type { BenchPostgres } from "./postgres.ts";
import { cpuSeconds, load, type Server, startInlet } from "./processes.ts";
import { median, type Row } from "./report.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

export interface DatabasesOptions {
  /** With the directory. Each holds one environment. */
  databases: number;
  seconds: number;
  rounds: number;
  postgres: BenchPostgres;
}

/** Of each environment. */
const CONNECTIONS = 32;
/** An event may cost this many times the CPU time it costs on one database. */
const GOAL = 1.15;
const CLOCK_TICKS_PER_SECOND = 100;

interface Side {
  server: Server;
  databaseUrl: string;
  /** An event key of each environment. */
  keys: string[];
}

interface Driven {
  perSecond: number;
  p99Ms: number;
  inletCpu: number;
  postgresCpu: number;
}

export async function benchDatabases(options: DatabasesOptions): Promise<Row[]> {
  return inTemporaryFolder(async (folder) => {
    const [one, several] = [await open({ ...options, databases: 1 }, join(folder, "one")), await open(options, join(folder, "several"))];
    try {
      // A server that has just started costs more until it is compiled.
      for (const side of [one, several]) await drive(side, options);
      const rounds: { one: Driven; several: Driven }[] = [];
      for (let n = 0; n < options.rounds; n++) rounds.push({ one: await drive(one, options), several: await drive(several, options) });
      return rowsOf(options.databases, rounds);
    } finally {
      await Promise.all([one.server.stop(), several.server.stop()]);
    }
  });
}

/** The first environment is on the directory. */
async function open({ databases, postgres }: DatabasesOptions, folder: string): Promise<Side> {
  const server = await startInlet(folder);
  const keys = ["bench"];
  for (let n = 1; n < databases; n++) {
    const name = `e${n}`;
    await post(server, "/databases", { name, url: await postgres.urlOf(join(folder, name)) });
    const made = await post<{ keys: { kind: string; key: string }[] }>(server, "/environments", { name, database: name });
    keys.push(made.keys.find(({ kind }) => kind === "event")?.key ?? "");
  }
  return { server, databaseUrl: await postgres.urlOf(folder), keys };
}

export async function post<Data>({ url }: Server, path: string, body: object): Promise<Data> {
  const headers = { authorization: "Bearer bench", "content-type": "application/json" };
  const response = await fetch(`${url}/v1${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  if (response.status !== 201) throw new Error(`${path}: ${await response.text()}`);
  return ((await response.json()) as { data: Data }).data;
}

async function drive({ server, databaseUrl, keys }: Side, { seconds }: DatabasesOptions): Promise<Driven> {
  const used = async () => ({ inlet: cpuSeconds(server) ?? Number.NaN, postgres: await postgresCpuSeconds(databaseUrl) });
  const before = await used();
  const loads = await Promise.all(keys.map((key) => load(`${server.url}/e/${key}`, CONNECTIONS, "event", seconds)));
  const after = await used();
  const failures = loads.reduce((sum, each) => sum + each.failures, 0);
  if (failures > 0) throw new Error(`${failures} requests failed`);
  const requests = loads.reduce((sum, each) => sum + each.allRequests, 0);
  return {
    perSecond: loads.reduce((sum, each) => sum + each.requests / each.seconds, 0),
    p99Ms: Math.max(...loads.map((each) => each.p99Ms)),
    inletCpu: (after.inlet - before.inlet) / requests,
    postgresCpu: (after.postgres - before.postgres) / requests,
  };
}

/** Of all processes of the server, whichever database they work for. Connections stay open while a load runs. */
async function postgresCpuSeconds(url: string): Promise<number> {
  const { rows } = await inDatabase(url, (client) => client.query<{ pid: number }>("SELECT pid FROM pg_stat_activity"));
  return rows.reduce((sum, { pid }) => sum + cpuOf(pid), 0);
}

function cpuOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND;
  } catch {
    return 0;
  }
}

function rowsOf(databases: number, rounds: readonly { one: Driven; several: Driven }[]): Row[] {
  const of = (pick: (round: (typeof rounds)[number]) => number) => median(rounds.map(pick));
  const many = `on ${databases} databases`;
  const whole = ({ inletCpu, postgresCpu }: Driven) => inletCpu + postgresCpu;
  const times = of(({ one, several }) => several.inletCpu / one.inletCpu);
  const both = ([what, side]: readonly [string, (round: (typeof rounds)[number]) => Driven]): Row[] => [
    { what: `${what}: single events`, value: of((round) => side(round).perSecond), unit: "events/s" },
    { what: `${what}: p99`, value: of((round) => side(round).p99Ms), unit: "ms" },
    { what: `${what}: CPU of Inlet per event`, value: of((round) => side(round).inletCpu) * 1e6, unit: "µs" },
    { what: `${what}: CPU of PostgreSQL per event`, value: of((round) => side(round).postgresCpu) * 1e6, unit: "µs" },
  ];
  return [
    ...both(["on one database", ({ one }) => one]),
    ...both([many, ({ several }) => several]),
    { what: `${many}: CPU of Inlet per event, of that on one`, value: times, unit: "×", goal: `≤ ${GOAL}`, met: times <= GOAL },
    { what: `${many}: CPU of both per event, of that on one`, value: of(({ one, several }) => whole(several) / whole(one)), unit: "×" },
  ];
}
