/**
 * What a team that floods costs others on the same installation. One sends over few connections, and of one the functions are started: alone, and
 * beside a team that sends as fast as it can over many, with a quota that refuses nearly all of it and without one. The ratio of a round counts,
 * and the median of the rounds.
 */

import { idleDelaysMs, SIGNING_KEY, sync } from "./drive-runs.ts";
import type { LoadResult } from "./load.ts";
import { load, type Server, startApp, startInlet } from "./processes.ts";
import { median, type Row } from "./report.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

const FLOOD_CONNECTIONS = 64;
const CONNECTIONS = 4;
const WARM_SECONDS = 2;
const STARTS = 200;
const STARTS_PERCENTILE = 0.95;
/** Of what it takes alone. */
const RATIO_GOAL = 1.5;
const FLOOD_QUOTA = { eventsPerSecond: 100 };
const HEADERS = { authorization: "Bearer bench", "content-type": "application/json" };

interface Round {
  alone: LoadResult;
  besideQuota: LoadResult;
  besideFlood: LoadResult;
  /** Milliseconds from a send to the entry into the function. */
  starts: { alone: number; besideQuota: number };
}

export function benchTeams(options: { seconds: number; rounds: number }): Promise<Row[]> {
  return inTemporaryFolder((folder) => compare(folder, options));
}

async function compare(folder: string, { seconds, rounds }: { seconds: number; rounds: number }): Promise<Row[]> {
  const server = await startInlet(folder, ["--signing-key", SIGNING_KEY]);
  const app = await startApp("inlet", server.url, SIGNING_KEY);
  try {
    await sync(server, app);
    await idleDelaysMs(server, app, STARTS);
    const [flooding, calm] = [await makeTeam(server, "flooding"), await makeTeam(server, "calm")];
    for (const url of [flooding, calm]) await load(url, CONNECTIONS, "event", WARM_SECONDS);
    const results: Round[] = [];
    for (let round = 0; round < rounds; round++) results.push(await playRound(server, app, { flooding, calm }, seconds));
    return rowsOf(results);
  } finally {
    await app.stop();
    await server.stop();
  }
}

/** Returns the address to which it sends. */
async function makeTeam(server: Server, name: string): Promise<string> {
  const { keys } = (await ask(server, "POST", "/environments", { name })) as { keys: { kind: string; key: string }[] };
  const key = keys.find(({ kind }) => kind === "event")?.key;
  if (key === undefined) throw new Error(`the environment ${name} has no event key`);
  return `${server.url}/e/${key}`;
}

async function playRound(server: Server, app: Server, teams: { flooding: string; calm: string }, seconds: number): Promise<Round> {
  const { flooding, calm } = teams;
  const send = () => load(calm, CONNECTIONS, "event", seconds);
  const beside = async (quotas: object) => {
    await ask(server, "PUT", "/environments/flooding", { quotas });
    const [result] = await Promise.all([send(), load(flooding, FLOOD_CONNECTIONS, "event", seconds)]);
    return result;
  };
  const start = async () => highOf(await idleDelaysMs(server, app, STARTS));
  const alone = await send();
  const startsAlone = await start();
  const besideQuota = await beside(FLOOD_QUOTA);
  const [startsBeside] = await Promise.all([start(), load(flooding, FLOOD_CONNECTIONS, "event", seconds)]);
  const besideFlood = await beside({ eventsPerSecond: null });
  return { alone, besideQuota, besideFlood, starts: { alone: startsAlone, besideQuota: startsBeside } };
}

const highOf = (delaysMs: number[]) => delaysMs.sort((a, b) => a - b)[Math.floor(delaysMs.length * STARTS_PERCENTILE)] as number;

async function ask({ url }: Server, method: string, path: string, body: object): Promise<unknown> {
  const answer = await fetch(`${url}/v1${path}`, { method, headers: HEADERS, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${path} was answered with ${answer.status}: ${await answer.text()}`);
  return ((await answer.json()) as { data: unknown }).data;
}

function rowsOf(results: readonly Round[]): Row[] {
  for (const { alone, besideQuota, besideFlood } of results)
    if (alone.failures + besideQuota.failures + besideFlood.failures > 0) throw new Error("a team was refused that does not flood");
  const of = (pick: (round: Round) => number) => median(results.map(pick));
  const ratio = of(({ alone, besideQuota }) => besideQuota.p99Ms / alone.p99Ms);
  const startRatio = of(({ starts }) => starts.besideQuota / starts.alone);
  const what = `single events, ${CONNECTIONS} connections`;
  return [
    { what: `${what}: p99 alone`, value: of(({ alone }) => alone.p99Ms), unit: "ms" },
    { what: `${what}: p99 beside a flood over its quota`, value: of(({ besideQuota }) => besideQuota.p99Ms), unit: "ms" },
    { what: `${what}: p99 beside a flood without a quota`, value: of(({ besideFlood }) => besideFlood.p99Ms), unit: "ms" },
    {
      what: `${what}: beside a flood over its quota against alone`,
      value: ratio,
      unit: "×",
      goal: `≤ ${RATIO_GOAL}`,
      met: ratio <= RATIO_GOAL,
    },
    { what: "send to function entry: p95 alone", value: of(({ starts }) => starts.alone), unit: "ms" },
    { what: "send to function entry: p95 beside a flood over its quota", value: of(({ starts }) => starts.besideQuota), unit: "ms" },
    {
      what: "send to function entry: beside a flood over its quota against alone",
      value: startRatio,
      unit: "×",
      goal: `≤ ${RATIO_GOAL}`,
      met: startRatio <= RATIO_GOAL,
    },
    { what: `${what}: beside a flood without a quota against alone`, value: of((r) => r.besideFlood.p99Ms / r.alone.p99Ms), unit: "×" },
  ];
}
