/**
 * Runs the service under mixed traffic for minutes or hours and watches it. In the first half its processes are killed again and again;
 * in the second half nothing is killed, and memory, file handles, disk and lag must not grow. At the end nothing that was acknowledged
 * may be missing, and no completed step may have run again.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startPostgres } from "../../packages/server/test/support/postgres-server.ts";
import { endWithUsage, readFlags } from "../read-flags.ts";
import { checkGrowth } from "./check-growth.ts";
import { type Sample, sampleNode, sampleText } from "./measure.ts";
import { type Node, startApp, startNode } from "./processes.ts";
import { startTail } from "./tail.ts";
import { startTraffic } from "./traffic.ts";
import { findFaults } from "./verify.ts";

const USAGE = `Usage: npm run soak -- [flags]

  --minutes <n>     how long it runs (30)
  --store <name>    sqlite, or postgres: two nodes that share one from npm (sqlite)
  --rate <n>        events a second (40)
  --kill-every <n>  seconds between two kills (20)`;

const values = readFlags(USAGE, {
  minutes: { type: "string", default: "30" },
  store: { type: "string", default: "sqlite" },
  rate: { type: "string", default: "40" },
  "kill-every": { type: "string", default: "20" },
});
for (const flag of ["minutes", "rate", "kill-every"] as const)
  if (!(Number(values[flag]) > 0)) endWithUsage(`--${flag} must be a number above 0`, USAGE);
if (!["sqlite", "postgres"].includes(values.store)) endWithUsage("--store must be sqlite or postgres", USAGE);
const minutes = Number(values.minutes);

const folder = mkdtempSync(join(tmpdir(), "inlet-soak-"));
const postgres = values.store === "postgres" ? await startPostgres() : null;
const nodes: Node[] = [];
try {
  for (let i = 0; i < (postgres ? 2 : 1); i++)
    nodes.push(await startNode({ dataDir: join(folder, `node-${i}`), databaseUrl: postgres?.url ?? null }));
  process.exitCode = (await soak(nodes)) ? 0 : 1;
} finally {
  for (const node of nodes) await node.end("SIGKILL");
  await postgres?.remove();
  rmSync(folder, { recursive: true, force: true });
}

async function soak(all: Node[]): Promise<boolean> {
  const [node] = all as [Node];
  const stepsFile = join(folder, "steps.ndjson");
  const app = await startApp(node.url, stepsFile);
  const tail = startTail(node.url);
  const traffic = await startTraffic({ urls: all.map(({ url }) => url), perSecond: Number(values.rate) });
  const startedAt = Date.now();
  const [halfAt, endAt] = [startedAt + minutes * 30_000, startedAt + minutes * 60_000];
  try {
    const [killedAt, samples] = await Promise.all([killUntil(all, halfAt), sampleUntil(all, endAt, startedAt)]);
    await traffic.stop();
    const faults = await findFaults({ ...traffic.sent(), tail, stepsFile, killedAt, url: node.url });
    const quiet = samples.filter(({ at }) => at > halfAt);
    const growth = checkGrowth(quiet, { checkDisk: values.store === "sqlite" && minutes >= 20 });
    return report({ faults, growth, ...traffic.counts(), kills: killedAt.length });
  } finally {
    await traffic.stop();
    tail.stop();
    await app.end("SIGKILL");
  }
}

/** Kills one node after the other, as a power cut would, and starts it again. */
async function killUntil(all: Node[], until: number): Promise<number[]> {
  const killedAt: number[] = [];
  const everyMs = Number(values["kill-every"]) * 1_000;
  for (let i = 0; Date.now() + everyMs < until; i++) {
    await sleep(everyMs);
    const node = all[i % all.length] as Node;
    killedAt.push(Date.now());
    await node.end("SIGKILL");
    await node.start();
  }
  return killedAt;
}

async function sampleUntil(all: Node[], until: number, startedAt: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  const everyMs = Math.max(2_000, Math.min(30_000, (minutes * 60_000) / 60));
  console.log(sampleText(null, startedAt));
  while (Date.now() < until) {
    await sleep(Math.min(everyMs, Math.max(0, until - Date.now())));
    const sample = await sampleNode(all, postgres?.url ?? null);
    // A node that is being started has nothing to tell.
    if (!sample) continue;
    samples.push(sample);
    console.log(sampleText(sample, startedAt));
  }
  return samples;
}

function report({ faults, growth, ...counts }: { faults: string[]; growth: string[]; [name: string]: unknown }): boolean {
  console.log(
    `\n${Object.entries(counts)
      .map(([name, count]) => `${name} ${count}`)
      .join(", ")}`,
  );
  for (const fault of [...faults.slice(0, 20), ...growth]) console.log(`FAIL  ${fault}`);
  if (faults.length > 20) console.log(`FAIL  and ${faults.length - 20} more`);
  const passed = faults.length === 0 && growth.length === 0;
  if (passed) console.log("ok    nothing acknowledged was lost, no completed step ran again, and nothing grew");
  return passed;
}
