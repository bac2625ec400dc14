/** Random scenarios. A function may only start functions that come after it, so that everything comes to an end. */

import type { SimArchive, SimEvent, SimJob, SimPause, SimRerun, SimSignal } from "./deeds.ts";
import { CodeWriter, SIGNAL, WAITED } from "./generate-code.ts";
import { generateFlow } from "./generate-flow.ts";
import { Random } from "./random.ts";
import { type NetworkFaults, type Outage, QUIET_NETWORK, type Scenario, SDKS, type SimFunction } from "./scenario.ts";

const CANCELLING = ["c/a", "c/b"] as const;
const KEYS = 4;
const SPAN_MS = 60_000;

export interface GenerateOptions {
  /** Events that start functions. */
  starts: number;
  functions: number;
}

export function generateScenario(seed: number, { starts, functions: count }: GenerateOptions): Scenario {
  const random = new Random(seed, "scenario");
  const functions = Array.from({ length: count }, (_, index) => generateFunction(new Random(seed, "function", index), index, count));
  const isQuiet = random.chance(0.2);
  return {
    seed,
    functions,
    events: generateEvents(new Random(seed, "events"), functions, starts),
    signals: generateSignals(new Random(seed, "signals"), starts),
    pauses: generatePauses(new Random(seed, "pauses"), functions),
    archives: generateArchives(new Random(seed, "archives")),
    jobs: generateJobs(new Random(seed, "jobs"), functions),
    reruns: generateReruns(new Random(seed, "reruns")),
    outages: isQuiet ? [] : generateOutages(random),
    refusals: isQuiet || random.chance(0.6) ? [] : [{ atMs: random.int(1, SPAN_MS), forMs: random.int(10, 4_000) }],
    network: isQuiet ? { ...QUIET_NETWORK, latencyMs: random.int(0, 30) } : generateNetwork(random),
    jumble: random.pick([0, 0.2, 0.5, 0.8]),
    callTimeoutMs: 60_000,
  };
}

function generateNetwork(random: Random): NetworkFaults {
  const rate = () => (random.chance(0.5) ? 0 : random.pick([0.005, 0.02, 0.05]));
  return { lost: rate(), cut: rate(), hang: rate() / 2, twice: rate() / 2, latencyMs: random.pick([0, 2, 20, 200]) };
}

function generateOutages(random: Random): Outage[] {
  const outages = Array.from({ length: random.pick([0, 0, 1, 2]) }, () => ({
    atMs: random.int(10, SPAN_MS * 1.5),
    kind: random.pick(["kill", "stop"] as const),
    turns: random.int(0, 8),
    downMs: random.pick([1, 200, 3_000, 30_000]),
  }));
  return outages.sort((a, b) => a.atMs - b.atMs);
}

function generatePauses(random: Random, functions: readonly SimFunction[]): SimPause[] {
  return Array.from({ length: random.pick([0, 0, 1, 3]) }, () => ({
    atMs: random.int(1, SPAN_MS),
    fn: random.pick(functions).id,
    forMs: random.pick([5, 2_000, 20_000]),
  }));
}

function generateArchives(random: Random): SimArchive[] {
  if (random.chance(0.7)) return [];
  return [{ atMs: random.int(1, SPAN_MS), forMs: random.pick([5, 2_000, 20_000]) }];
}

/** Of functions that events start, and few: a job starts as many runs as they have. */
function generateJobs(random: Random, functions: readonly SimFunction[]): SimJob[] {
  return Array.from({ length: random.pick([0, 0, 1, 2]) }, () => ({
    atMs: random.int(SPAN_MS / 10, SPAN_MS),
    kind: random.pick(["runs.cancel", "runs.rerun", "events.replay"] as const),
    fn: random.pick(functions.filter(({ trigger }) => trigger !== null)).id,
  }));
}

function generateReruns(random: Random): SimRerun[] {
  return Array.from({ length: random.pick([0, 2, 4]) }, () => ({
    atMs: random.int(SPAN_MS / 10, SPAN_MS * 1.5),
    pick: random.int(0, 999),
    step: random.chance(0.3) ? null : random.int(0, 99),
  }));
}

function generateEvents(random: Random, functions: readonly SimFunction[], starts: number): SimEvent[] {
  const triggers = functions.flatMap(({ trigger }) => (trigger ? [trigger.event] : []));
  const burst = random.chance(0.5);
  const at = () => (burst ? random.int(1, 5) * 4_000 + random.int(0, 20) : random.int(1, SPAN_MS));
  const names = Array.from({ length: starts }, () => random.pick(triggers));
  const others = Array.from({ length: Math.ceil(starts / 4) }, () => random.pick([...WAITED, ...WAITED, ...CANCELLING]));
  const events = [...names, ...others].map((name) => ({ atMs: at(), name, key: random.int(0, KEYS - 1) }));
  return events.sort((a, b) => a.atMs - b.atMs).map((event, n) => ({ ...event, n }));
}

function generateSignals(random: Random, starts: number): SimSignal[] {
  return Array.from({ length: Math.ceil(starts / 2) }, (_, n) => ({
    atMs: random.int(1, SPAN_MS * 1.5),
    signal: SIGNAL,
    key: random.int(0, KEYS - 1),
    n,
  }));
}

function generateFunction(random: Random, index: number, count: number): SimFunction {
  const sdk = random.pick(SDKS);
  const later = Array.from({ length: count - index - 1 }, (_, offset) => index + 1 + offset);
  const writer = new CodeWriter(random, later);
  const parts = Array.from({ length: random.int(1, random.pick([2, 3])) }, () => writer.code(0));
  if (random.chance(0.15)) parts.splice(random.int(0, parts.length), 0, { kind: "defer", id: "later", isDropped: random.chance(0.3) });
  if (random.chance(0.1)) parts.push({ kind: "throw", fails: random.pick([1, 2, 99]), final: random.chance(0.3) });
  const flow = random.chance(0.45) ? generateFlow(random) : {};
  return {
    id: `f${index}`,
    sdk,
    trigger: index > 0 && random.chance(0.15) ? null : { event: `t/${random.chance(0.8) ? index : 0}`, onlyOdd: random.chance(0.1) },
    retries: random.pick([0, 0, 1, 2, 3]),
    code: { kind: "sequence", parts },
    onFailure: random.chance(0.2),
    cancelOn:
      flow.batchEvents || random.chance(0.85)
        ? null
        : {
            event: random.pick(CANCELLING),
            by: random.pick(["match", "any"] as const),
            ...(random.chance(0.2) && { timeout: "10s" }),
          },
    flow,
  };
}
