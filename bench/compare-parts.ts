/** What a comparison measures, part by part. Floors are those the service is held to, and are compared with the new side. */

import { join } from "node:path";
import { embedded, inTurn, type Pair, type Side, withApps, withServers } from "./compare-sides.ts";
import { type Compared, type Floor, figureOf, type Rounds } from "./compare-table.ts";
import { idleDelaysMs, postMany, readControl, runMany, type Sdk } from "./drive-runs.ts";
import { RESIDENT_MB_GOAL, SHAPES, startOnce } from "./ingest.ts";
import { startBenchPostgres } from "./postgres.ts";
import { cpuSeconds, drive, type Server, startFloor } from "./processes.ts";
import { median } from "./report.ts";
import { PUBLISHED_TAKES, RUN_SHARE_GOAL } from "./runs.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";
import { makeWebhook, TYPICAL, WEBHOOK_SHARE_GOAL } from "./webhooks.ts";

export interface PartOptions {
  seconds: number;
  rounds: number;
  /** Runs of each turn. */
  runs: number;
}

export type Part = (programs: Pair<string>, options: PartOptions) => Promise<Compared[]>;

export const PARTS: Readonly<Record<string, Part>> = { start, accept, webhooks, runs, published, postgres };

const CONNECTIONS = 64;
const IDLE_SENDS = 50;
const IDLE_MS_GOAL = 5;
const POSTGRES_RUNS_GOAL = 1_500;

/** The first start of each fills the compile cache, and does not count. */
async function start(programs: Pair<string>, { rounds }: PartOptions): Promise<Compared[]> {
  return inTemporaryFolder(async (folder) => {
    const sides = { old: join(folder, "old"), new: join(folder, "new") };
    const startSide = (dataDir: string) => startOnce(dataDir, dataDir === sides.old ? programs.old : programs.new);
    await inTurn(1, sides, startSide);
    const started = await inTurn(rounds, sides, startSide);
    return [
      { what: "start to first event accepted", unit: "ms", rounds: figureOf(started, ({ firstEventMs }) => firstEventMs) },
      { what: "resident at rest", unit: "MB", rounds: figureOf(started, ({ residentMb }) => residentMb), floor: { max: RESIDENT_MB_GOAL } },
    ];
  });
}

async function accept(programs: Pair<string>, options: PartOptions): Promise<Compared[]> {
  const bare = await startFloor();
  try {
    return await withServers(programs, embedded, (servers) => acceptRows(options, servers, bare));
  } finally {
    await bare.stop();
  }
}

async function acceptRows({ rounds, seconds }: PartOptions, servers: Pair<Server>, bare?: Server): Promise<Compared[]> {
  const rows: Compared[] = [];
  for (const { label, connections, body, eventsPerRequest, goal } of SHAPES) {
    const send = (server: Server) => drive(server, connections, body, seconds);
    const sendBare = bare && (async () => eventsPerRequest * (await send(bare)).perSecond);
    const driven = await inTurn(rounds, servers, send, sendBare);
    rows.push(
      {
        what: label,
        unit: "events/s",
        rounds: figureOf(driven, ({ perSecond }) => perSecond * eventsPerRequest),
        ...(bare && { floor: { shareMin: goal, of: "a bare server" } }),
      },
      cpuRow(`${label}: CPU per request`, driven),
    );
  }
  return rows;
}

/** The figure that is least disturbed by what else the machine does. */
function cpuRow(what: string, rounds: Rounds<{ cpuPerRequest: number }>): Compared {
  return { what, unit: "µs", rounds: figureOf(rounds, ({ cpuPerRequest }) => cpuPerRequest * 1e6) };
}

async function webhooks(programs: Pair<string>, { rounds, seconds }: PartOptions): Promise<Compared[]> {
  return withServers(programs, embedded, async (servers) => {
    const sides = {
      old: { inlet: servers.old, url: await makeWebhook(servers.old, TYPICAL) },
      new: { inlet: servers.new, url: await makeWebhook(servers.new, TYPICAL) },
    };
    const driven = await inTurn(
      rounds,
      sides,
      ({ inlet, url }) => drive(inlet, CONNECTIONS, "webhook-1kb", seconds, url),
      async () => (await drive(servers.new, CONNECTIONS, "event-1kb", seconds)).perSecond,
    );
    const what = `webhook requests of 1 KB, ${CONNECTIONS} connections`;
    const floor = { shareMin: WEBHOOK_SHARE_GOAL, of: "single events" };
    return [
      { what, unit: "req/s", rounds: figureOf(driven, ({ perSecond }) => perSecond), floor },
      cpuRow(`${what}: CPU per request`, driven),
    ];
  });
}

async function runs(programs: Pair<string>, options: PartOptions): Promise<Compared[]> {
  return withApps(programs, embedded, "inlet", async (sides) => [
    ...(await runRows(options, sides, 0, shareOf("inlet"))),
    ...(await runRows(options, sides, 2, shareOf("inlet"))),
    await idleRow(options, sides),
  ]);
}

async function published(programs: Pair<string>, options: PartOptions): Promise<Compared[]> {
  const fewer = { ...options, runs: Math.ceil(options.runs / PUBLISHED_TAKES) };
  const rows = await withApps(programs, embedded, "inngest", (sides) => runRows(fewer, sides, 0, shareOf("inngest")));
  return rows.map((row) => ({ ...row, what: `published SDK: ${row.what}` }));
}

function shareOf(sdk: Sdk): Floor {
  return { shareMin: RUN_SHARE_GOAL[sdk], of: "bare calls" };
}

/** Both checkouts use one PostgreSQL, each a database of its own. */
async function postgres(programs: Pair<string>, options: PartOptions): Promise<Compared[]> {
  const server = await startBenchPostgres();
  try {
    const flags = async (folder: string) => ["--database-url", await server.urlOf(folder)];
    const rows = await withApps(programs, flags, "inlet", async (sides) => [
      ...(await acceptRows(options, { old: sides.old.inlet, new: sides.new.inlet })),
      ...(await runRows(options, sides, 0, { min: POSTGRES_RUNS_GOAL })),
      ...(await runRows(options, sides, 2)),
    ]);
    return rows.map((row) => ({ ...row, what: `PostgreSQL: ${row.what}` }));
  } finally {
    await server.end();
  }
}

/** Beside bare calls of the new side's app, as many as the runs take. The first turn warms up. */
async function runRows({ rounds, runs: count }: PartOptions, sides: Pair<Side>, steps: number, floor?: Floor): Promise<Compared[]> {
  const name = steps === 0 ? "plain" : "two-steps";
  const calls = steps + 1;
  const runAll = async ({ inlet, app }: Side) => {
    const before = cpuSeconds(inlet) ?? Number.NaN;
    const perSecond = await runMany(inlet, app, name, count);
    return { perSecond, cpuPerRequest: ((cpuSeconds(inlet) ?? Number.NaN) - before) / count };
  };
  await inTurn(1, sides, runAll);
  const samples = (await readControl(sides.new.app)).samples.filter(({ path }) => path.includes(`bench-${name}`)).slice(0, calls);
  const driven = await inTurn(rounds, sides, runAll, async () => (await postMany(sides.new.app, samples, count * calls)) / calls);
  const what = `runs, ${steps === 0 ? "no steps" : "two steps"}`;
  return [
    { what, unit: "runs/s", rounds: figureOf(driven, ({ perSecond }) => perSecond), ...(floor && { floor }) },
    cpuRow(`${what}: CPU of the service per run`, driven),
  ];
}

async function idleRow({ rounds }: PartOptions, sides: Pair<Side>): Promise<Compared> {
  const delay = async ({ inlet, app }: Side) => median(await idleDelaysMs(inlet, app, IDLE_SENDS));
  return {
    what: "idle: send to function entry, p50",
    unit: "ms",
    rounds: await inTurn(rounds, sides, delay),
    floor: { max: IDLE_MS_GOAL },
  };
}
