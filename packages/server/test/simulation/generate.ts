/** Random scenarios. A function may only start functions that come after it, so that everything comes to an end. */

import { generateAlerts } from "./deeds/alerts.ts";
import { generateApprovals } from "./deeds/approvals.ts";
import { generateArchives } from "./deeds/archives.ts";
import { generateBatches } from "./deeds/batches.ts";
import { generateCancellations } from "./deeds/cancellations.ts";
import { generateDecisions } from "./deeds/decisions.ts";
import { SPAN_MS } from "./deeds/doing.ts";
import { drilledFunctions, generateDrills } from "./deeds/drills.ts";
import { generateEchoes } from "./deeds/echoes.ts";
import { erasedFunctions, generateErasures } from "./deeds/erasures.ts";
import { CANCELLING, generateEvents } from "./deeds/events.ts";
import { generateFunctionLimits } from "./deeds/function-limits.ts";
import { generateHooks, mirroredFunctions } from "./deeds/hooks.ts";
import { generateInvocations } from "./deeds/invocations.ts";
import { generateJobs } from "./deeds/jobs.ts";
import { generatePauses } from "./deeds/pauses.ts";
import { generateQuotas } from "./deeds/quotas.ts";
import { generateReruns } from "./deeds/reruns.ts";
import { generateRetentions } from "./deeds/retentions.ts";
import { generateRotations } from "./deeds/rotations.ts";
import { generateSchedules, scheduledFunctions } from "./deeds/schedules.ts";
import { generateSchemas } from "./deeds/schemas.ts";
import { generateSignals } from "./deeds/signals.ts";
import { generateSigningRotations } from "./deeds/signing-rotations.ts";
import { generateStreams } from "./deeds/streams.ts";
import { generateWakes } from "./deeds/wakes.ts";
import { CodeWriter } from "./generate-code.ts";
import { generateFlow } from "./generate-flow.ts";
import { Random } from "./random.ts";
import { type NetworkFaults, type Outage, QUIET_NETWORK, removes, type Scenario, SDKS, type SimFunction } from "./scenario.ts";

export interface GenerateOptions {
  /** Events that start functions. */
  starts: number;
  functions: number;
  /** Without what few seeds were played with: streams, reconciliation, schedules, bulk cancellations, invocations, jobs that are cancelled, transforms, replays, drills, alerts, the quota of stored bytes, limits on starts without a deploy. */
  isNarrow?: boolean;
}

export function generateScenario(seed: number, { starts, functions: count, isNarrow = false }: GenerateOptions): Scenario {
  const random = new Random(seed, "scenario");
  const functions = Array.from({ length: count }, (_, index) => generateFunction(new Random(seed, "function", index), index, count));
  const schemas = generateSchemas(new Random(seed, "schemas"), functions);
  const retentions = generateRetentions(new Random(seed, "retentions"));
  // What is removed cannot be judged by what is left of it.
  const quotas = generateQuotas(new Random(seed, "quotas"), !isNarrow && retentions.length === 0);
  const isRemoving = removes({ retentions, quotas });
  const erasures = isRemoving ? [] : generateErasures(new Random(seed, "erasures"));
  const hooks = generateHooks(new Random(seed, "hooks"), functions, { isWide: !isNarrow, isRemoving });
  const schedules = isNarrow ? [] : generateSchedules(new Random(seed, "schedules"));
  const drills = isNarrow ? [] : generateDrills(new Random(seed, "drills"));
  const apart = [
    ...scheduledFunctions(new Random(seed, "scheduled functions"), schedules),
    ...(erasures.length > 0 ? erasedFunctions(new Random(seed, "erased functions")) : []),
    ...mirroredFunctions(new Random(seed, "mirrored functions"), hooks),
    ...(drills.length > 0 ? drilledFunctions(new Random(seed, "drilled functions")) : []),
  ];
  const isQuiet = random.chance(0.2);
  return {
    seed,
    functions: [...functions, ...apart],
    events: generateEvents(new Random(seed, "events"), functions, starts),
    signals: generateSignals(new Random(seed, "signals"), starts),
    pauses: generatePauses(new Random(seed, "pauses"), functions),
    archives: generateArchives(new Random(seed, "archives")),
    jobs: generateJobs(new Random(seed, "jobs"), functions, { isCancelled: !isNarrow }),
    reruns: generateReruns(new Random(seed, "reruns")),
    wakes: generateWakes(new Random(seed, "wakes")),
    approvals: generateApprovals(new Random(seed, "approvals")),
    decisions: generateDecisions(new Random(seed, "decisions"), starts),
    quotas,
    functionLimits: generateFunctionLimits(new Random(seed, "function limits"), functions, isNarrow ? ["concurrency"] : undefined),
    schemas,
    batches: generateBatches(new Random(seed, "batches"), functions, schemas),
    echoes: generateEchoes(new Random(seed, "echoes"), functions),
    retentions,
    hooks,
    schedules,
    drills,
    // What was removed does not count.
    alerts: isNarrow || isRemoving ? [] : generateAlerts(new Random(seed, "alerts"), functions),
    cancellations: isNarrow ? [] : generateCancellations(new Random(seed, "cancellations"), functions),
    // What was removed may be invoked once more.
    invocations: isNarrow || isRemoving ? [] : generateInvocations(new Random(seed, "invocations"), functions),
    streams: isNarrow ? [] : generateStreams(new Random(seed, "streams")),
    rotations: generateRotations(new Random(seed, "rotations")),
    signingRotations: generateSigningRotations(new Random(seed, "signing rotations")),
    erasures,
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

function generateFunction(random: Random, index: number, count: number): SimFunction {
  const sdk = random.pick(SDKS);
  const later = Array.from({ length: count - index - 1 }, (_, offset) => `f${index + 1 + offset}`);
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
