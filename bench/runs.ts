/**
 * How fast functions run, with our SDK and with the published one, beside a floor: a bare client that posts the same calls straight
 * to the same app, at the same concurrency, and stores nothing. And how soon after a send a function is entered, when all is idle.
 */

import { join } from "node:path";
import { inDatabase } from "../packages/server/test/support/postgres-server.ts";
import {
  CALLS_AT_ONCE,
  idleDelaysMs,
  pause,
  postMany,
  readControl,
  runMany,
  type Sdk,
  SIGNING_KEY,
  sendToEntry,
  sync,
} from "./drive-runs.ts";
import { fillRuns } from "./fill-store.ts";
import type { BenchPostgres } from "./postgres.ts";
import {
  bareClientsOfRuns,
  cpuSeconds,
  type RunGroups,
  residentMb,
  type Server,
  startApp,
  startBareApp,
  startBareClientOfRuns,
  startInlet,
} from "./processes.ts";
import { median, type Row } from "./report.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

export interface RunsOptions {
  /** Runs of each load. */
  runs: number;
  rounds: number;
  /** Runs stored before the second half; 0 leaves it out. */
  stored: number;
  /** Runs over which memory is watched; 0 leaves it out. */
  long: number;
  /** Then runs are compared with what it can do itself, and nodes share it: one is measured that works on what another accepted. */
  postgres: BenchPostgres | null;
}

const IDLE_SENDS = 200;
/** Until all that a run needs is compiled and the heap has its size, which takes some 20,000: before that a run costs more. */
const WARM_RUNS = 30_000;
/** As many times longer for a run, and a signed call may be repeated for five minutes only. */
export const PUBLISHED_TAKES = 5;
/** After this a node that has no work under a limit no longer keeps it. */
const LIMIT_LET_GO_MS = 3_000;
const BARE_CLIENT_SECONDS = 2;
const TURNS_PER_ROUND = 3;
const BARE_CLIENT_GOAL = 0.5;
export const RUN_SHARE_GOAL: Readonly<Record<Sdk, number>> = { inlet: 0.4, inngest: 0.8 };

export async function benchRuns(options: RunsOptions): Promise<Row[]> {
  const rows: Row[] = [];
  const perRun: number[] = [];
  for (const sdk of ["inlet", "inngest"] as const) {
    await withService(async (inlet, app, folder) => {
      const common: Row[] = [];
      for (const steps of [0, 2]) common.push(...(await compare(options, sdk, steps, inlet, app)));
      if (sdk === "inlet") common.push(...latencyRows("idle: send to function entry", await idleDelaysMs(inlet, app, IDLE_SENDS), 5, 25));
      rows.push(...(options.postgres ? withoutGoals(common) : common));
      if (sdk === "inlet" && options.postgres) {
        rows.push(...(await besideBareClient(options, options.postgres, inlet, app, folder)));
        rows.push(...(await latencyAcross(inlet, app, folder)));
      }
      if (sdk === "inlet") perRun.push(await costPerRun(options, inlet, app));
      if (sdk === "inlet" && options.long > 0) rows.push(...(await memoryOver(options.long, inlet, app)));
    }, sdk);
  }
  if (options.stored > 0) {
    await withService(async (inlet, app) => perRun.push(await costPerRun(options, inlet, app)), "inlet", options.stored);
    const ratio = (perRun[1] as number) / (perRun[0] as number);
    const what = `CPU per run with ${options.stored.toLocaleString("en")} runs stored, against few`;
    rows.push({ what, value: ratio, unit: "×", goal: "≤ 1.25", met: ratio <= 1.25 });
  }
  return rows;
}

/** The goals of the embedded store are not those of one that several nodes share. */
function withoutGoals(rows: readonly Row[]): Row[] {
  return rows.map(({ what, value, unit }) => ({ what, value, unit }));
}

async function withService(work: (inlet: Server, app: Server, folder: string) => Promise<unknown>, sdk: Sdk, stored = 0): Promise<void> {
  await inTemporaryFolder(async (folder) => {
    if (stored > 0) await fillRuns(folder, stored);
    const inlet = await startInlet(folder, ["--signing-key", SIGNING_KEY]);
    const app = await startApp(sdk, inlet.url, SIGNING_KEY);
    try {
      await sync(inlet, app);
      await work(inlet, app, folder);
    } finally {
      await app.stop();
      await inlet.stop();
    }
  });
}

/** Service and floor take turns, so that both meet the same machine. */
async function compare({ runs: ofOurs, rounds }: RunsOptions, sdk: Sdk, steps: number, inlet: Server, app: Server): Promise<Row[]> {
  const runs = sdk === "inlet" ? ofOurs : Math.ceil(ofOurs / PUBLISHED_TAKES);
  const name = steps === 0 ? "plain" : "two-steps";
  const callsPerRun = steps + 1;
  // The calls of one run, for the floor to repeat; then a warm-up.
  await runMany(inlet, app, name, 1);
  await runMany(inlet, app, name, Math.min(runs, 500));
  const calls = (await readControl(app)).samples.filter(({ path }) => path.includes(`bench-${name}`)).slice(0, callsPerRun);
  const service: number[] = [];
  const floor: number[] = [];
  for (let round = 0; round < rounds; round++) {
    floor.push(await postMany(app, calls, runs * callsPerRun));
    service.push(((await runMany(inlet, app, name, runs)) * callsPerRun) as number);
  }
  const share = median(service.map((rate, index) => rate / (floor[index] as number)));
  const label = `${sdk === "inlet" ? "our SDK" : "published SDK"}, ${steps === 0 ? "no steps" : "two steps"}`;
  return [
    { what: `${label}: runs`, value: median(service) / callsPerRun, unit: "runs/s" },
    { what: `${label}: calls`, value: median(service), unit: "calls/s" },
    { what: `${label}: floor`, value: median(floor), unit: "calls/s" },
    { what: `${label}: share`, value: share, unit: "×", goal: `≥ ${RUN_SHARE_GOAL[sdk]}`, met: share >= RUN_SHARE_GOAL[sdk] },
  ];
}

/**
 * Beside bare clients of PostgreSQL that write the rows of as many runs at a time as Inlet's transactions held, when runs began and when they
 * ended. One is sent the same events and calls the same app on the same machine. One, and two at once, have the machine to themselves and
 * call nobody; so beside them Inlet calls an app that costs next to nothing. Each begins warm, and they take many short turns, since the
 * machine is not equally fast from one second to the next.
 */
async function besideBareClient({ runs, rounds }: RunsOptions, postgres: BenchPostgres, inlet: Server, app: Server, folder: string) {
  const floorFolder = join(folder, "floor");
  await (await startInlet(floorFolder)).stop();
  const [inletUrl, floorUrl] = [await postgres.urlOf(folder), await postgres.urlOf(floorFolder)];
  const [call] = (await readControl(app)).samples.filter(({ path }) => path.includes("bench-plain"));
  if (!call) throw new Error("no call was seen");
  const bareApp = await startBareApp(inlet.url, SIGNING_KEY);
  const results: { withSdk: number; byHttp: number; service: number; one: number; two: number; groups: RunGroups }[] = [];
  try {
    await runMany(inlet, app, "plain", WARM_RUNS);
    for (let turn = 0; turn < rounds * TURNS_PER_ROUND; turn++) {
      const withSdk = await runMany(inlet, app, "plain", runs);
      const sdkGroups = await runsPerTransaction(inletUrl, runs);
      const server = await startBareClientOfRuns(floorUrl, sdkGroups, { ...call, origin: app.url, atOnce: CALLS_AT_ONCE });
      await runMany(server, app, "plain", runs);
      const byHttp = await runMany(server, app, "plain", runs).finally(() => server.stop());
      await runMany(inlet, bareApp, "bare", runs);
      const service = await runMany(inlet, bareApp, "bare", runs);
      const groups = await runsPerTransaction(inletUrl, runs);
      const one = await bareClientsOfRuns(1, floorUrl, groups, BARE_CLIENT_SECONDS);
      const two = await bareClientsOfRuns(2, floorUrl, groups, BARE_CLIENT_SECONDS);
      results.push({ withSdk, byHttp, service, one, two, groups });
    }
  } finally {
    await bareApp.stop();
  }
  const of = (pick: (result: (typeof results)[number]) => number) => median(results.map(pick));
  const what = (name: string) => `beside a bare client: ${name}`;
  const share = of(({ withSdk, byHttp }) => withSdk / byHttp);
  const ofAlone = of(({ service, one }) => service / one);
  const goal = `≥ ${BARE_CLIENT_GOAL}`;
  const rows: Row[] = [
    { what: what("Inlet, our SDK, no steps"), value: of(({ withSdk }) => withSdk), unit: "runs/s" },
    { what: what("it, by HTTP, calling the same app"), value: of(({ byHttp }) => byHttp), unit: "runs/s" },
    { what: what("share of it by HTTP"), value: share, unit: "×", goal, met: share >= BARE_CLIENT_GOAL },
    { what: what("Inlet, bare app"), value: of(({ service }) => service), unit: "runs/s" },
    { what: what("it, alone, calling nobody"), value: of(({ one }) => one), unit: "runs/s" },
    { what: what("share of it alone"), value: ofAlone, unit: "×", goal, met: ofAlone >= BARE_CLIENT_GOAL },
    { what: what("two of it, alone"), value: of(({ two }) => two), unit: "runs/s" },
    { what: what("share of two of it, alone"), value: of(({ service, two }) => service / two), unit: "×" },
    { what: what("Inlet with our SDK, share of it alone"), value: of(({ withSdk, one }) => withSdk / one), unit: "×" },
    { what: what("runs per transaction that begins them"), value: of(({ groups }) => groups.begun), unit: "runs" },
    { what: what("runs per transaction that ends them"), value: of(({ groups }) => groups.ended), unit: "runs" },
  ];
  return rows;
}

/** Every row names the transaction that wrote it last. Events are not written again; of a run that is the one in which it ended. */
async function runsPerTransaction(url: string, last: number): Promise<RunGroups> {
  const size = async (newest: string) => {
    const sql = `SELECT count(*)::float8 / count(DISTINCT xmin::text) AS size FROM (SELECT xmin FROM ${newest} DESC LIMIT $1) AS r`;
    const { rows } = await inDatabase(url, (client) => client.query(sql, [last]));
    return rows[0].size as number;
  };
  return { begun: await size("events ORDER BY sequence"), ended: await size("runs ORDER BY run_id") };
}

/** Accepted by one node, worked on by another: the one that keeps the function's limit, because it had work under it a moment ago. */
async function latencyAcross(accepts: Server, app: Server, folder: string): Promise<Row[]> {
  const works = await startInlet(folder, ["--signing-key", SIGNING_KEY]);
  try {
    const delays: number[] = [];
    await pause(LIMIT_LET_GO_MS);
    for (let i = 0; i < IDLE_SENDS; i++) {
      await sendToEntry(works, app, "limited");
      await pause(20);
      delays.push(await sendToEntry(accepts, app, "limited"));
      await pause(20);
    }
    return latencyRows("idle: sent to one node, entered by another", delays, 15, 50);
  } finally {
    await works.stop();
  }
}

function latencyRows(what: string, delays: number[], p50Goal: number, p99Goal: number): Row[] {
  delays.sort((a, b) => a - b);
  const p50 = delays[Math.floor(delays.length * 0.5)] as number;
  const p99 = delays[Math.floor(delays.length * 0.99)] as number;
  return [
    { what: `${what}, p50`, value: p50, unit: "ms", goal: `≤ ${p50Goal}`, met: p50 <= p50Goal },
    { what: `${what}, p99`, value: p99, unit: "ms", goal: `≤ ${p99Goal}`, met: p99 <= p99Goal },
  ];
}

/** Microseconds of the service's CPU. */
async function costPerRun({ runs }: RunsOptions, inlet: Server, app: Server): Promise<number> {
  await runMany(inlet, app, "plain", WARM_RUNS);
  await settled(inlet);
  const before = cpuSeconds(inlet) ?? Number.NaN;
  await runMany(inlet, app, "plain", runs);
  return (((cpuSeconds(inlet) ?? Number.NaN) - before) / runs) * 1e6;
}

/**
 * A service that was started on a full store counts events and writes checkpoints first: that is not the cost of a run. It counts
 * every two seconds, so quiet has to last for longer.
 */
async function settled(inlet: Server): Promise<void> {
  for (let quiet = 0; quiet < 7; ) {
    const before = cpuSeconds(inlet) ?? 0;
    await pause(500);
    quiet = (cpuSeconds(inlet) ?? 0) - before < 0.03 ? quiet + 1 : 0;
  }
}

async function memoryOver(runs: number, inlet: Server, app: Server): Promise<Row[]> {
  await runMany(inlet, app, "plain", Math.round(runs / 10));
  const early = residentMb(inlet) ?? Number.NaN;
  await runMany(inlet, app, "plain", runs);
  const late = residentMb(inlet) ?? Number.NaN;
  return [
    { what: `resident after ${Math.round(runs / 10).toLocaleString("en")} runs`, value: early, unit: "MB" },
    { what: `resident after ${runs.toLocaleString("en")} more`, value: late, unit: "MB", goal: "≤ 1.3 ×", met: late <= early * 1.3 },
  ];
}
