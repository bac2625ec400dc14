/**
 * What a job costs live traffic: single events are sent at a steady rate, each starts a function, and the time until each is accepted is
 * measured before and while a job reruns many runs. Times count from when an event was due to be sent, so that a stall is seen whole.
 */

import { Agent } from "undici";
import { pause, runMany, SIGNING_KEY, sync } from "./drive-runs.ts";
import { type Server, startApp, startInlet } from "./processes.ts";
import { median, type Row } from "./report.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

export interface JobsOptions {
  /** Runs that are started again, in all rounds together. */
  runs: number;
  rounds: number;
  /** Items a second that the job may do. */
  rate: number;
  /** How long live traffic is measured alone. */
  seconds: number;
}

const LIVE_PER_S = 200;
const WARM_SECONDS = 3;
const CONNECTIONS = 64;
const RATIO_GOAL = 2;
const POLL_INTERVAL_MS = 200;
const HEADERS = { authorization: "Bearer bench", "content-type": "application/json" };

interface ShownJob {
  id: string;
  status: string;
  total: number;
  done: number;
  failed: number;
  startedAt: string;
  endedAt: string | null;
}

/** What one round saw: live traffic alone, then beside a job. */
interface Round {
  alone: number[];
  beside: number[];
  job: ShownJob;
}

/** In rounds, since the machine is not equally fast from one minute to the next: of the ratios the median counts. */
export async function benchJobs({ runs, rate, seconds, rounds }: JobsOptions): Promise<Row[]> {
  return inTemporaryFolder(async (folder) => {
    const inlet = await startInlet(folder, ["--signing-key", SIGNING_KEY]);
    const app = await startApp("inlet", inlet.url, SIGNING_KEY);
    const done: Round[] = [];
    try {
      await sync(inlet, app);
      for (let round = 0; round < rounds; round++) done.push(await oneRound(inlet, app, Math.ceil(runs / rounds), rate, seconds));
    } finally {
      await app.stop();
      await inlet.stop();
    }
    return rowsOf(done);
  });
}

async function oneRound(inlet: Server, app: Server, runs: number, rate: number, seconds: number): Promise<Round> {
  const from = Date.now();
  await runMany(inlet, app, "plain", runs);
  const filter = { function: "bench-plain", from: String(from), to: String(Date.now() + 1) };
  await sendLive(inlet, () => pause(WARM_SECONDS * 1_000));
  const alone = await sendLive(inlet, () => pause(seconds * 1_000));
  const jobs: ShownJob[] = [];
  const beside = await sendLive(inlet, async () => void jobs.push(await rerunAll(inlet, filter, rate)));
  const [job] = jobs;
  if (job?.status !== "completed" || job.failed > 0 || job.total !== runs) throw new Error(`the job went wrong: ${JSON.stringify(job)}`);
  return { alone, beside, job };
}

async function rerunAll(inlet: Server, filter: object, rate: number): Promise<ShownJob> {
  const body = JSON.stringify({ kind: "runs.rerun", filter, rate });
  const made = await fetch(`${inlet.url}/v1/jobs`, { method: "POST", headers: HEADERS, body });
  if (made.status !== 202) throw new Error(`the job was refused: ${await made.text()}`);
  const { id } = ((await made.json()) as { data: ShownJob }).data;
  for (;;) {
    const { data } = (await (await fetch(`${inlet.url}/v1/jobs/${id}`, { headers: HEADERS })).json()) as { data: ShownJob };
    if (data.endedAt !== null) return data;
    await pause(POLL_INTERVAL_MS);
  }
}

/** Sends for as long as `work` takes; how many milliseconds each event took. */
async function sendLive(inlet: Server, work: () => Promise<void>): Promise<number[]> {
  const agent = new Agent({ connections: CONNECTIONS });
  const body = JSON.stringify({ name: "bench/live", data: { order: "A-1042", total: 99.5 } });
  const latenciesMs: number[] = [];
  let isOver = false;
  async function send(dueAt: number): Promise<void> {
    const { statusCode, body: answer } = await agent.request({ origin: inlet.url, path: "/e/bench", method: "POST", body });
    await answer.dump();
    if (statusCode !== 200) throw new Error(`a send was answered with ${statusCode}`);
    latenciesMs.push(performance.now() - dueAt);
  }
  async function sendOnTime(): Promise<void> {
    const sent: Promise<void>[] = [];
    const begun = performance.now();
    for (let n = 0; !isOver; n++) {
      const dueAt = begun + (n * 1_000) / LIVE_PER_S;
      const earlyMs = dueAt - performance.now();
      if (earlyMs > 0) await pause(earlyMs);
      sent.push(send(dueAt));
    }
    await Promise.all(sent);
  }
  const sending = sendOnTime();
  await Promise.race([work(), sending]);
  isOver = true;
  await sending;
  await agent.close();
  return latenciesMs;
}

function rowsOf(rounds: readonly Round[]): Row[] {
  const of = (pick: (round: Round) => number) => median(rounds.map(pick));
  const ratio = of(({ alone, beside }) => at(beside, 0.99) / at(alone, 0.99));
  const total = rounds.reduce((sum, { job }) => sum + job.total, 0).toLocaleString("en");
  const tookS = ({ job }: Round) => (Date.parse(job.endedAt as string) - Date.parse(job.startedAt)) / 1_000;
  return [
    { what: `accept, ${LIVE_PER_S} events/s, no job: p50`, value: of(({ alone }) => at(alone, 0.5)), unit: "ms" },
    { what: `accept, ${LIVE_PER_S} events/s, no job: p99`, value: of(({ alone }) => at(alone, 0.99)), unit: "ms" },
    { what: `the same while jobs rerun ${total} runs: p50`, value: of(({ beside }) => at(beside, 0.5)), unit: "ms" },
    { what: `the same while jobs rerun ${total} runs: p99`, value: of(({ beside }) => at(beside, 0.99)), unit: "ms" },
    { what: "p99 beside a job, against none", value: ratio, unit: "×", goal: `≤ ${RATIO_GOAL}`, met: ratio <= RATIO_GOAL },
    { what: "the job", value: of((round) => round.job.done / tookS(round)), unit: "items/s" },
  ];
}

function at(latenciesMs: number[], share: number): number {
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
