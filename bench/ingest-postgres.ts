/**
 * How fast events are accepted when PostgreSQL keeps them, beside floors that keep the same rows in it: see postgres-floor.ts. Inlet is
 * driven first; how many events its transactions held on average is counted in the table, and the floors then use groups of that size.
 * All are driven in turn, several rounds, so that a slow spell of the machine hits all of them; the ratio of a round counts, and the
 * median of the rounds.
 *
 * All of it runs on this machine, so there are two floors. One bare client is sent its events by HTTP as Inlet is: what the load generator and
 * HTTP take is taken from both. The other has the machine to itself, and inserts one group after the other; beside it stands what two of
 * them insert at once.
 */

import { join } from "node:path";
import { inDatabase } from "../packages/server/test/support/postgres-server.ts";
import { SHAPES, type Shape, startUp } from "./ingest.ts";
import type { BenchPostgres } from "./postgres.ts";
import { bareClients, drive, residentMb, type Server, startBareClientByHttp, startInlet } from "./processes.ts";
import { median, type Row } from "./report.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

export interface PostgresIngestOptions {
  seconds: number;
  rounds: number;
  postgres: BenchPostgres;
}

/** Shares of a bare client, by the body that is sent. */
const GOALS: Readonly<Record<string, number>> = { event: 0.5, "batch-100": 0.6 };

interface Round {
  inlet: number;
  byHttp: number;
  one: number;
  two: number;
  groupRows: number;
  floorGroupRows: number;
  p50Ms: number;
  p99Ms: number;
  cpu: number;
}

export async function benchIngestPostgres(options: PostgresIngestOptions): Promise<Row[]> {
  return inTemporaryFolder(async (folder) => {
    const rows = await startUp(join(folder, "start-up"));
    // Makes the floor's tables and partitions, and no more.
    await (await startInlet(join(folder, "floor"))).stop();
    const inlet = await startInlet(join(folder, "inlet"));
    const urls = { inlet: await options.postgres.urlOf(join(folder, "inlet")), floor: await options.postgres.urlOf(join(folder, "floor")) };
    try {
      for (const shape of SHAPES) rows.push(...rowsOf(shape, await rounds(options, inlet, urls, shape)));
      rows.push({ what: "resident after load", value: residentMb(inlet) ?? Number.NaN, unit: "MB" });
    } finally {
      await inlet.stop();
    }
    return rows;
  });
}

async function rounds(options: PostgresIngestOptions, inlet: Server, urls: { inlet: string; floor: string }, shape: Shape) {
  const done: Round[] = [];
  for (let round = 0; round < options.rounds; round++) {
    const ours = await driven(options.seconds, shape, inlet, urls.inlet);
    const size = Math.round(ours.groupRows);
    const server = await startBareClientByHttp(urls.floor, size);
    const byHttp = await driven(options.seconds, shape, server, urls.floor).finally(() => server.stop());
    const one = await bareClients(1, urls.floor, size, options.seconds);
    const two = await bareClients(2, urls.floor, size, options.seconds);
    const { perSecond, groupRows, p50Ms, p99Ms, cpuPerRequest: cpu } = ours;
    done.push({
      inlet: perSecond,
      byHttp: byHttp.perSecond,
      one,
      two,
      groupRows,
      floorGroupRows: byHttp.groupRows,
      p50Ms,
      p99Ms,
      cpu,
    });
  }
  return done;
}

async function driven(seconds: number, shape: Shape, server: Server, databaseUrl: string) {
  const before = await lastSequence(databaseUrl);
  const result = await drive(server, shape.connections, shape.body, seconds);
  const groupRows = await rowsPerTransaction(databaseUrl, before);
  return { ...result, perSecond: result.perSecond * shape.eventsPerRequest, groupRows };
}

async function lastSequence(url: string): Promise<number> {
  const { rows } = await inDatabase(url, (client) => client.query("SELECT last_value FROM event_sequence"));
  return Number(rows[0].last_value);
}

/** Every row names the transaction that wrote it. */
async function rowsPerTransaction(url: string, after: number): Promise<number> {
  const { rows } = await inDatabase(url, (client) =>
    client.query("SELECT count(*)::float8 / count(DISTINCT xmin::text) AS size FROM events WHERE sequence > $1", [after]),
  );
  return rows[0].size;
}

function rowsOf({ label, body }: Shape, all: readonly Round[]): Row[] {
  const of = (pick: (round: Round) => number) => median(all.map(pick));
  const share = of(({ inlet, byHttp }) => inlet / byHttp);
  const ofAlone = of(({ inlet, one }) => inlet / one);
  const what = (name: string) => `${label}: ${name}`;
  const min = GOALS[body] ?? Number.NaN;
  const goal = `≥ ${min}`;
  return [
    { what: what("Inlet"), value: of(({ inlet }) => inlet), unit: "events/s" },
    { what: what("bare client by HTTP"), value: of(({ byHttp }) => byHttp), unit: "events/s" },
    { what: what("share of the bare client by HTTP"), value: share, unit: "×", goal, met: share >= min },
    { what: what("bare client alone"), value: of(({ one }) => one), unit: "events/s" },
    { what: what("share of the bare client alone"), value: ofAlone, unit: "×", goal, met: ofAlone >= min },
    { what: what("two bare clients alone"), value: of(({ two }) => two), unit: "events/s" },
    { what: what("share of two bare clients alone"), value: of(({ inlet, two }) => inlet / two), unit: "×" },
    { what: what("Inlet, events per transaction"), value: of(({ groupRows }) => groupRows), unit: "events" },
    { what: what("bare client by HTTP, events per transaction"), value: of(({ floorGroupRows }) => floorGroupRows), unit: "events" },
    { what: what("p50"), value: of(({ p50Ms }) => p50Ms), unit: "ms" },
    { what: what("p99"), value: of(({ p99Ms }) => p99Ms), unit: "ms" },
    { what: what("CPU per request"), value: of(({ cpu }) => cpu * 1e6), unit: "µs" },
  ];
}
