/**
 * What a job costs live traffic, measured before and while a job reruns many runs.
 */

import { pause, runMany, SIGNING_KEY, sync } from "./drive-runs.ts";
import { LIVE_PER_S, latencyAt, sendLive } from "./live-traffic.ts";
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

const WARM_SECONDS = 3;
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

function rowsOf(rounds: readonly Round[]): Row[] {
  const of = (pick: (round: Round) => number) => median(rounds.map(pick));
  const ratio = of(({ alone, beside }) => latencyAt(beside, 0.99) / latencyAt(alone, 0.99));
  const total = rounds.reduce((sum, { job }) => sum + job.total, 0).toLocaleString("en");
  const tookS = ({ job }: Round) => (Date.parse(job.endedAt as string) - Date.parse(job.startedAt)) / 1_000;
  return [
    { what: `accept, ${LIVE_PER_S} events/s, no job: p50`, value: of(({ alone }) => latencyAt(alone, 0.5)), unit: "ms" },
    { what: `accept, ${LIVE_PER_S} events/s, no job: p99`, value: of(({ alone }) => latencyAt(alone, 0.99)), unit: "ms" },
    { what: `the same while jobs rerun ${total} runs: p50`, value: of(({ beside }) => latencyAt(beside, 0.5)), unit: "ms" },
    { what: `the same while jobs rerun ${total} runs: p99`, value: of(({ beside }) => latencyAt(beside, 0.99)), unit: "ms" },
    { what: "p99 beside a job, against none", value: ratio, unit: "×", goal: `≤ ${RATIO_GOAL}`, met: ratio <= RATIO_GOAL },
    { what: "the job", value: of((round) => round.job.done / tookS(round)), unit: "items/s" },
  ];
}
