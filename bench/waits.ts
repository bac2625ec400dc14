/** What one event that ends many waits at once costs live traffic: the time until other events are accepted, before and meanwhile. */

import { batchOf, pause, runMany, SIGNING_KEY, send, sync } from "./drive-runs.ts";
import { LIVE_PER_S, latencyAt, sendLive } from "./live-traffic.ts";
import { type Server, startApp, startInlet } from "./processes.ts";
import { median, type Row } from "./report.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

export interface WaitsOptions {
  /** That wait for the event. */
  runs: number;
  rounds: number;
  /** How long live traffic is measured alone. */
  seconds: number;
}

const LONGEST_MS_GOAL = 250;
const EVENTS_PER_BATCH = 100;
const POLL_INTERVAL_MS = 200;
const HEADERS = { authorization: "Bearer bench" };

interface Round {
  alone: number[];
  meanwhile: number[];
  tookS: number;
}

export async function benchWaits({ runs, rounds, seconds }: WaitsOptions): Promise<Row[]> {
  return inTemporaryFolder(async (folder) => {
    const inlet = await startInlet(folder, ["--signing-key", SIGNING_KEY]);
    const app = await startApp("inlet", inlet.url, SIGNING_KEY);
    const done: Round[] = [];
    try {
      await sync(inlet, app);
      await runMany(inlet, app, "plain", EVENTS_PER_BATCH);
      for (let round = 0; round < rounds; round++) done.push(await oneRound(inlet, runs, seconds));
    } finally {
      await app.stop();
      await inlet.stop();
    }
    return rowsOf(done, runs);
  });
}

async function oneRound(inlet: Server, runs: number, seconds: number): Promise<Round> {
  for (let sent = 0; sent < runs; sent += EVENTS_PER_BATCH) {
    await send(inlet, batchOf("waits", Math.min(EVENTS_PER_BATCH, runs - sent)));
  }
  while ((await hasRuns(inlet, "queued")) || (await hasRuns(inlet, "running"))) await pause(POLL_INTERVAL_MS);
  const alone = await sendLive(inlet, () => pause(seconds * 1_000));
  let begun = 0;
  const meanwhile = await sendLive(inlet, async () => {
    begun = performance.now();
    await send(inlet, batchOf("go", 1));
    while (await hasRuns(inlet, "waiting")) await pause(POLL_INTERVAL_MS);
  });
  return { alone, meanwhile, tookS: (performance.now() - begun) / 1_000 };
}

async function hasRuns(inlet: Server, status: string): Promise<boolean> {
  const response = await fetch(`${inlet.url}/v1/runs?limit=1&status=${status}`, { headers: HEADERS });
  return ((await response.json()) as { data: unknown[] }).data.length > 0;
}

function rowsOf(rounds: readonly Round[], runs: number): Row[] {
  const of = (pick: (round: Round) => number) => median(rounds.map(pick));
  const longest = of(({ meanwhile }) => latencyAt(meanwhile, 1));
  const meanwhile = `the same while one event ends ${runs.toLocaleString("en")} waits`;
  return [
    { what: `accept, ${LIVE_PER_S} events/s, alone: p99`, value: of(({ alone }) => latencyAt(alone, 0.99)), unit: "ms" },
    { what: `accept, ${LIVE_PER_S} events/s, alone: longest`, value: of(({ alone }) => latencyAt(alone, 1)), unit: "ms" },
    { what: `${meanwhile}: p99`, value: of((round) => latencyAt(round.meanwhile, 0.99)), unit: "ms" },
    { what: `${meanwhile}: longest`, value: longest, unit: "ms", goal: `≤ ${LONGEST_MS_GOAL}`, met: longest <= LONGEST_MS_GOAL },
    { what: "until all are resumed", value: of(({ tookS }) => tookS), unit: "s" },
  ];
}
