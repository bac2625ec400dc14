/**
 * What a job costs live traffic: single events are sent at a steady rate, each starts a function, and the time until each is accepted is
 * measured before and while a job reruns many runs. Times count from when an event was due to be sent, so that a stall is seen whole.
 */

import { Agent } from "undici";
import { pause, runMany, SIGNING_KEY, sync } from "./drive-runs.ts";
import { type Server, startApp, startInlet } from "./processes.ts";
import type { Row } from "./report.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

export interface JobsOptions {
  /** Runs that the job starts again. */
  runs: number;
  /** Items a second that the job may do. */
  rate: number;
  /** How long live traffic is measured alone. */
  seconds: number;
}

const LIVE_PER_S = 200;
const WARM_SECONDS = 3;
const CONNECTIONS = 64;
const RATIO_GOAL = 2;
const LOOK_EVERY_MS = 200;
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

export async function benchJobs({ runs, rate, seconds }: JobsOptions): Promise<Row[]> {
  return inTemporaryFolder(async (folder) => {
    const inlet = await startInlet(folder, ["--signing-key", SIGNING_KEY]);
    const app = await startApp("inlet", inlet.url, SIGNING_KEY);
    try {
      await sync(inlet, app);
      await runMany(inlet, app, "plain", runs);
      await sendLive(inlet, () => pause(WARM_SECONDS * 1_000));
      const before = await sendLive(inlet, () => pause(seconds * 1_000));
      let job: ShownJob | null = null;
      const during = await sendLive(inlet, async () => {
        job = await rerunAll(inlet, rate);
      });
      return rowsOf(before.latenciesMs, during.latenciesMs, job as unknown as ShownJob, runs);
    } finally {
      await app.stop();
      await inlet.stop();
    }
  });
}

async function rerunAll(inlet: Server, rate: number): Promise<ShownJob> {
  const body = JSON.stringify({ kind: "runs.rerun", filter: { function: "bench-plain" }, rate });
  const made = await fetch(`${inlet.url}/v1/jobs`, { method: "POST", headers: HEADERS, body });
  if (made.status !== 202) throw new Error(`the job was refused: ${await made.text()}`);
  const { id } = ((await made.json()) as { data: ShownJob }).data;
  for (;;) {
    const { data } = (await (await fetch(`${inlet.url}/v1/jobs/${id}`, { headers: HEADERS })).json()) as { data: ShownJob };
    if (data.endedAt !== null) return data;
    await pause(LOOK_EVERY_MS);
  }
}

/** Sends for as long as `work` takes. */
async function sendLive(inlet: Server, work: () => Promise<void>): Promise<{ latenciesMs: number[] }> {
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
  return { latenciesMs };
}

function rowsOf(before: number[], during: number[], job: ShownJob, runs: number): Row[] {
  if (job.status !== "completed" || job.failed > 0 || job.total !== runs) throw new Error(`the job went wrong: ${JSON.stringify(job)}`);
  const tookS = (Date.parse(job.endedAt as string) - Date.parse(job.startedAt)) / 1_000;
  const ratio = at(during, 0.99) / at(before, 0.99);
  return [
    { what: `accept, ${LIVE_PER_S} events/s, no job: p50`, value: at(before, 0.5), unit: "ms" },
    { what: `accept, ${LIVE_PER_S} events/s, no job: p99`, value: at(before, 0.99), unit: "ms" },
    { what: `the same beside a job that reruns ${runs.toLocaleString("en")} runs: p50`, value: at(during, 0.5), unit: "ms" },
    { what: `the same beside a job that reruns ${runs.toLocaleString("en")} runs: p99`, value: at(during, 0.99), unit: "ms" },
    { what: "p99 beside the job, against none", value: ratio, unit: "×", goal: `≤ ${RATIO_GOAL}`, met: ratio <= RATIO_GOAL },
    { what: "the job", value: job.done / tookS, unit: "items/s" },
  ];
}

function at(latenciesMs: number[], share: number): number {
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
