/**
 * Compares another commit with this checkout: the programs of both are started on this machine and driven in turn by the load generator
 * of this checkout. Only HTTP and the flags of the command line are relied on, so their insides may differ in everything.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { type Checkout, checkOutBase, ownName, ROOT } from "./base-checkout.ts";
import { type Compared, comparedTable, markdown, type Rounds } from "./compare-table.ts";
import { pause, postMany, readControl, runMany, type Sdk, SIGNING_KEY, sendToEntry, sync } from "./drive-runs.ts";
import { RESIDENT_MB_GOAL, SHAPES, startOnce } from "./ingest.ts";
import { startBenchPostgres } from "./postgres.ts";
import { load, type Server, startApp, startFloor, startInlet } from "./processes.ts";
import { keep, median, written } from "./report.ts";
import { PUBLISHED_TAKES, RUN_SHARE_GOAL } from "./runs.ts";
import { sourceSize } from "./source-size.ts";
import { makeWebhook, TYPICAL, WEBHOOK_SHARE_GOAL } from "./webhooks.ts";

export interface CompareOptions {
  base: string;
  seconds: number;
  rounds: number;
  /** Runs of each turn. */
  runs: number;
  /** Names of PARTS; absent: all. */
  only: string[] | undefined;
}

interface Pair<Item> {
  old: Item;
  new: Item;
}

type Part = (programs: Pair<string>, options: CompareOptions) => Promise<Compared[]>;

const PARTS: Readonly<Record<string, Part>> = { start, accept, webhooks, runs, published, postgres };
const SIDES = ["old", "new"] as const;
const CONNECTIONS = 64;
const IDLE_SENDS = 50;
const IDLE_MS_GOAL = 5;
const POSTGRES_RUNS_GOAL = 1_000;

/** False if a part could not be measured. */
export async function benchCompare(options: CompareOptions): Promise<boolean> {
  const unknown = options.only?.find((name) => !(name in PARTS));
  if (unknown !== undefined) throw new Error(`there is no part "${unknown}", only ${Object.keys(PARTS).join(", ")}`);
  const base = checkOutBase(options.base);
  try {
    console.log(`old: ${base.name}, new: ${ownName()}`);
    tellLoad("before");
    console.log(`${sizeTable(base)}\n`);
    const programs = { old: programOf(base.folder), new: programOf(ROOT) };
    const { rows, failed } = await measure(programs, options);
    console.log(comparedTable(rows));
    tellLoad("afterwards");
    keep("compare", rows);
    return !failed;
  } finally {
    base.remove();
  }
}

/** On a machine that others keep busy even the ratios are guesses. */
function tellLoad(when: string): void {
  console.log(`load of the machine ${when}: ${loadavg().map(written).join(", ")} on ${cpus().length} cores\n`);
}

/** A part that cannot be measured leaves the others their figures. */
async function measure(programs: Pair<string>, options: CompareOptions): Promise<{ rows: Compared[]; failed: boolean }> {
  const rows: Compared[] = [];
  let failed = false;
  for (const [name, part] of Object.entries(PARTS)) {
    if (options.only && !options.only.includes(name)) continue;
    console.error(`measuring: ${name}`);
    try {
      rows.push(...(await part(programs, options)));
    } catch (error) {
      failed = true;
      console.error(`${name} could not be measured: ${error instanceof Error ? error.message : error}`);
    }
  }
  return { rows, failed };
}

/** The first start of each fills the compile cache, and does not count. */
async function start(programs: Pair<string>, { rounds }: CompareOptions): Promise<Compared[]> {
  return inFolder(async (folder) => {
    const residentMb: Rounds = { old: [], new: [], bare: [] };
    const drive = async (which: keyof Pair<string>) => {
      const started = await startOnce(join(folder, which), programs[which]);
      residentMb[which].push(started.residentMb);
      return started.firstEventMs;
    };
    const firstEventMs = await inTurn(rounds + 1, { old: "old", new: "new" } as const, drive);
    const warm = ({ old, new: newer }: Rounds) => ({ old: old.slice(1), new: newer.slice(1), bare: [] });
    return [
      { what: "start to first event accepted", unit: "ms", rounds: warm(firstEventMs) },
      { what: "resident at rest", unit: "MB", rounds: warm(residentMb), floor: { max: RESIDENT_MB_GOAL } },
    ];
  });
}

async function accept(programs: Pair<string>, options: CompareOptions): Promise<Compared[]> {
  const bare = await startFloor();
  try {
    return await withServers(programs, embedded, (servers) => acceptRows(options, servers, bare));
  } finally {
    await bare.stop();
  }
}

async function acceptRows({ rounds, seconds }: CompareOptions, servers: Pair<Server>, bare?: Server): Promise<Compared[]> {
  const rows: Compared[] = [];
  for (const { label, connections, body, eventsPerRequest, goal } of SHAPES) {
    const drive = async ({ url }: Server) => eventsPerRequest * (await perSecond(`${url}/e/bench`, connections, body, seconds));
    const row = { what: label, unit: "events/s", rounds: await inTurn(rounds, servers, drive, bare && (() => drive(bare))) };
    rows.push(bare ? { ...row, floor: { shareMin: goal, of: "a bare server" } } : row);
  }
  return rows;
}

async function webhooks(programs: Pair<string>, { rounds, seconds }: CompareOptions): Promise<Compared[]> {
  return withServers(programs, embedded, async (servers) => {
    const urls = { old: await makeWebhook(servers.old, TYPICAL), new: await makeWebhook(servers.new, TYPICAL) };
    const drive = (url: string) => perSecond(url, CONNECTIONS, "webhook-1kb", seconds);
    const singleEvents = () => perSecond(`${servers.new.url}/e/bench`, CONNECTIONS, "event-1kb", seconds);
    const figures = await inTurn(rounds, urls, drive, singleEvents);
    const floor = { shareMin: WEBHOOK_SHARE_GOAL, of: "single events" };
    return [{ what: `webhook requests of 1 KB, ${CONNECTIONS} connections`, unit: "req/s", rounds: figures, floor }];
  });
}

async function runs(programs: Pair<string>, options: CompareOptions): Promise<Compared[]> {
  return withApps(programs, embedded, "inlet", async (sides) => [
    withShare(await runRow(options, sides, 0), "inlet"),
    withShare(await runRow(options, sides, 2), "inlet"),
    await idleRow(options, sides),
  ]);
}

async function published(programs: Pair<string>, options: CompareOptions): Promise<Compared[]> {
  const fewer = { ...options, runs: Math.ceil(options.runs / PUBLISHED_TAKES) };
  return withApps(programs, embedded, "inngest", async (sides) => {
    const row = await runRow(fewer, sides, 0);
    return [withShare({ ...row, what: `published SDK, ${row.what}` }, "inngest")];
  });
}

/** Both checkouts use one PostgreSQL, each a database of its own. */
async function postgres(programs: Pair<string>, options: CompareOptions): Promise<Compared[]> {
  const server = await startBenchPostgres();
  try {
    const flags = async (folder: string) => ["--database-url", await server.urlOf(folder)];
    return await withApps(programs, flags, "inlet", async (sides) => {
      const events = await acceptRows(options, { old: sides.old.inlet, new: sides.new.inlet });
      const withoutSteps = { ...(await runRow(options, sides, 0)), floor: { min: POSTGRES_RUNS_GOAL } };
      const rows = [...events, withoutSteps, await runRow(options, sides, 2)];
      return rows.map((row) => ({ ...row, what: `PostgreSQL: ${row.what}` }));
    });
  } finally {
    await server.end();
  }
}

/** A service and the app whose functions it runs. */
interface Side {
  inlet: Server;
  app: Server;
}

/** Beside bare calls of the new side's app, as many as the runs take. */
async function runRow({ rounds, runs: count }: CompareOptions, sides: Pair<Side>, steps: number): Promise<Compared> {
  const name = steps === 0 ? "plain" : "two-steps";
  const calls = steps + 1;
  const drive = ({ inlet, app }: Side) => runMany(inlet, app, name, count);
  await drive(sides.old);
  await drive(sides.new);
  const samples = (await readControl(sides.new.app)).samples.filter(({ path }) => path.includes(`bench-${name}`)).slice(0, calls);
  const bareCalls = async () => (await postMany(sides.new.app, samples, count * calls)) / calls;
  return { what: `runs, ${steps === 0 ? "no steps" : "two steps"}`, unit: "runs/s", rounds: await inTurn(rounds, sides, drive, bareCalls) };
}

function withShare(row: Compared, sdk: Sdk): Compared {
  return { ...row, floor: { shareMin: RUN_SHARE_GOAL[sdk], of: "bare calls" } };
}

async function idleRow({ rounds }: CompareOptions, sides: Pair<Side>): Promise<Compared> {
  const drive = async ({ inlet, app }: Side) => {
    const delaysMs: number[] = [];
    for (let i = 0; i < IDLE_SENDS; i++) {
      delaysMs.push(await sendToEntry(inlet, app, "plain"));
      await pause(10);
    }
    return median(delaysMs);
  };
  return {
    what: "idle: send to function entry, p50",
    unit: "ms",
    rounds: await inTurn(rounds, sides, drive),
    floor: { max: IDLE_MS_GOAL },
  };
}

/** Old and new take turns, and change places with every round: neither always comes second. */
async function inTurn<Side>(
  rounds: number,
  sides: Pair<Side>,
  drive: (side: Side) => Promise<number>,
  driveBare?: () => Promise<number>,
): Promise<Rounds> {
  const done: Rounds = { old: [], new: [], bare: [] };
  for (let round = 0; round < rounds; round++) {
    for (const which of round % 2 === 0 ? SIDES : SIDES.toReversed()) done[which].push(await drive(sides[which]));
    if (driveBare) done.bare.push(await driveBare());
  }
  return done;
}

async function perSecond(url: string, connections: number, body: string, seconds: number): Promise<number> {
  const { requests, failures, seconds: measured } = await load(url, connections, body, seconds);
  if (failures > 0) throw new Error(`${failures} requests failed`);
  return requests / measured;
}

type FlagsOf = (folder: string) => Promise<string[]>;

async function embedded(): Promise<string[]> {
  return [];
}

async function withApps<Result>(
  programs: Pair<string>,
  flagsOf: FlagsOf,
  sdk: Sdk,
  work: (sides: Pair<Side>) => Promise<Result>,
): Promise<Result> {
  const flags = async (folder: string) => ["--signing-key", SIGNING_KEY, ...(await flagsOf(folder))];
  return withServers(programs, flags, async (servers) => {
    const apps: Server[] = [];
    const sideOf = async (inlet: Server): Promise<Side> => {
      const app = await startApp(sdk, inlet.url, SIGNING_KEY);
      apps.push(app);
      await sync(inlet, app);
      return { inlet, app };
    };
    try {
      return await work({ old: await sideOf(servers.old), new: await sideOf(servers.new) });
    } finally {
      for (const app of apps) await app.stop();
    }
  });
}

async function withServers<Result>(
  programs: Pair<string>,
  flagsOf: FlagsOf,
  work: (servers: Pair<Server>) => Promise<Result>,
): Promise<Result> {
  return inFolder(async (folder) => {
    const servers: Server[] = [];
    const startSide = async (which: keyof Pair<string>): Promise<Server> => {
      const dataDir = join(folder, which);
      const server = await startInlet(dataDir, await flagsOf(dataDir), programs[which]);
      servers.push(server);
      return server;
    };
    try {
      return await work({ old: await startSide("old"), new: await startSide("new") });
    } finally {
      for (const server of servers) await server.stop();
    }
  });
}

async function inFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "inlet-bench-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function programOf(folder: string): string {
  return join(folder, "packages/cli/bin/inlet.js");
}

function sizeTable(base: Checkout): string {
  const [old, newer] = [sourceSize(base.folder), sourceSize(ROOT)];
  const line = (what: string, name: keyof typeof old) => [what, String(old[name]), String(newer[name]), String(newer[name] - old[name])];
  return markdown([
    ["packages/*/src, without tests", "old", "new", "difference"],
    line("lines", "lines"),
    line("files", "files"),
    line("exported names", "exportedNames"),
  ]);
}
