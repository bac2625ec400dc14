/**
 * What nodes that share a PostgreSQL cost each other: the first is driven alone, with a second beside it that only waits, and while
 * the second is driven as well. All of it runs on this machine, so when both are driven they share its cores: then the first one's
 * CPU time for a request counts, and not how many it answers.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LoadResult } from "./load.ts";
import { cpuSeconds, load, type Server, startInlet } from "./processes.ts";
import { median, type Row } from "./report.ts";

export interface NodesOptions {
  seconds: number;
  rounds: number;
}

interface Driven {
  perSecond: number;
  p50Ms: number;
  /** Of the first node. */
  cpuMs: number;
}

const CONNECTIONS = 32;
/** A second node may cost the first this share. */
const COST_GOAL = 0.2;

export async function benchNodes(options: NodesOptions): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), "inlet-bench-"));
  try {
    const first = await startInlet(join(folder, "shared"));
    try {
      return rowsOf(await rounds(options, first, join(folder, "shared")));
    } finally {
      await first.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Round {
  alone: Driven;
  beside: Driven;
  both: Driven;
  second: LoadResult;
}

/** In turn, so that a slow spell of the machine hits all of them. */
async function rounds({ rounds: count, seconds }: NodesOptions, first: Server, dataDir: string): Promise<Round[]> {
  await drive(first, seconds);
  const done: Round[] = [];
  for (let round = 0; round < count; round++) {
    const alone = await drive(first, seconds);
    const second = await startInlet(dataDir);
    try {
      const beside = await drive(first, seconds);
      const [both, other] = await Promise.all([drive(first, seconds), loadNode(second, seconds)]);
      done.push({ alone, beside, both, second: other });
    } finally {
      await second.stop();
    }
  }
  return done;
}

async function drive(node: Server, seconds: number): Promise<Driven> {
  const before = cpuSeconds(node) ?? Number.NaN;
  const result = await loadNode(node, seconds);
  const cpuMs = (((cpuSeconds(node) ?? Number.NaN) - before) * 1_000) / result.allRequests;
  return { perSecond: result.requests / result.seconds, p50Ms: result.p50Ms, cpuMs };
}

async function loadNode({ url }: Server, seconds: number): Promise<LoadResult> {
  const result = await load(`${url}/e/bench`, CONNECTIONS, "event", seconds);
  if (result.failures > 0) throw new Error(`${result.failures} requests failed`);
  return result;
}

function rowsOf(all: readonly Round[]): Row[] {
  const of = (pick: (round: Round) => number) => median(all.map(pick));
  const waiting = 1 - of(({ beside, alone }) => beside.perSecond / alone.perSecond);
  const working = of(({ both, alone }) => both.cpuMs / alone.cpuMs) - 1;
  const goal = `≤ ${COST_GOAL}`;
  return [
    { what: "first node alone: single events", value: of(({ alone }) => alone.perSecond), unit: "events/s" },
    { what: "first node beside one that waits: single events", value: of(({ beside }) => beside.perSecond), unit: "events/s" },
    { what: "both driven: first node", value: of(({ both }) => both.perSecond), unit: "events/s" },
    {
      what: "both driven: both together",
      value: of(({ both, second }) => both.perSecond + second.requests / second.seconds),
      unit: "events/s",
    },
    { what: "first node alone: p50", value: of(({ alone }) => alone.p50Ms), unit: "ms" },
    { what: "first node beside one that waits: p50", value: of(({ beside }) => beside.p50Ms), unit: "ms" },
    { what: "a second node that waits costs the first, of its events/s", value: waiting, unit: "×", goal, met: waiting <= COST_GOAL },
    { what: "a second node that works costs the first, of CPU per event", value: working, unit: "×", goal, met: working <= COST_GOAL },
  ];
}
