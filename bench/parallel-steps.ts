/**
 * What steps that run side by side cost with our SDK: runs a second, and calls of the app for each run, in a queue full of runs and for a
 * run alone. Steps that end together share a call for what comes next; those that end 20 ms apart are the worst case.
 */

import { readControl, runMany, SIGNING_KEY, sync } from "./drive-runs.ts";
import { type Server, startApp, startInlet } from "./processes.ts";
import { median, type Row } from "./report.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

export interface ParallelOptions {
  /** Steps of each load. */
  steps: number;
  rounds: number;
}

const SHAPES = [
  { name: "parallel-3", steps: 3, what: "3 steps side by side" },
  { name: "parallel-20", steps: 20, what: "20 steps side by side" },
  { name: "parallel-20-apart", steps: 20, what: "20 steps that end 20 ms apart" },
];
const ALONE_RUNS = 20;

export async function benchParallelSteps({ steps, rounds }: ParallelOptions): Promise<Row[]> {
  return inTemporaryFolder(async (folder) => {
    const inlet = await startInlet(folder, ["--signing-key", SIGNING_KEY]);
    const app = await startApp("inlet", inlet.url, SIGNING_KEY);
    try {
      await sync(inlet, app);
      const rows: Row[] = [];
      for (const shape of SHAPES) rows.push(...(await measure(inlet, app, shape, Math.ceil(steps / shape.steps), rounds)));
      return rows;
    } finally {
      await app.stop();
      await inlet.stop();
    }
  });
}

async function measure(inlet: Server, app: Server, { name, what }: (typeof SHAPES)[number], runs: number, rounds: number): Promise<Row[]> {
  await runMany(inlet, app, name, Math.min(runs, 100));
  const rates: number[] = [];
  const many = await callsOf(app, async () => {
    for (let round = 0; round < rounds; round++) rates.push(await runMany(inlet, app, name, runs));
  });
  const alone = await callsOf(app, async () => {
    for (let run = 0; run < ALONE_RUNS; run++) await runMany(inlet, app, name, 1);
  });
  return [
    { what: `${what}: runs`, value: median(rates), unit: "runs/s" },
    { what: `${what}: calls`, value: many / (runs * rounds), unit: "per run" },
    { what: `${what}: calls of a run alone`, value: alone / ALONE_RUNS, unit: "per run" },
  ];
}

async function callsOf(app: Server, work: () => Promise<void>): Promise<number> {
  const before = (await readControl(app)).calls;
  await work();
  return (await readControl(app)).calls - before;
}
