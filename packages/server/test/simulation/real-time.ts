/** The same scenarios where time is real: everything that takes long takes a fraction of it. */

import { Random } from "./random.ts";
import { type Code, type Flow, REAL_TELLING_MS, type Scenario } from "./scenario.ts";

const SPEED = 20;
const LONGEST_MS = 1_000;
const RETRY_MS = 200;
const CALL_TIMEOUT_MS = 5_000;
/** Longer than anybody sends an event again. */
const KEPT_MS_MIN = 5_000;
/** Longer than it takes until every node knows of a change. */
const CHANGED_MS = 2 * REAL_TELLING_MS;
const LEASE_MS = 10_000;
/** A long period of a throttle would be waited for by every run behind it. */
const THROTTLE_PERIOD = "1s";

export function inRealTime(scenario: Scenario, nodes: number): Scenario {
  const random = new Random(scenario.seed, "real time");
  return {
    ...scenario,
    functions: scenario.functions.map((fn) => ({
      ...fn,

      code: quicker(fn.code),
      flow: quickerFlow(fn.flow),
    })),
    events: scenario.events.map((event) => ({ ...event, atMs: Math.ceil(event.atMs / SPEED) })),
    signals: (scenario.signals ?? []).map((signal) => ({ ...signal, atMs: Math.ceil(signal.atMs / SPEED) })),
    pauses: (scenario.pauses ?? []).map((pause) => ({ ...pause, atMs: Math.ceil(pause.atMs / SPEED), forMs: quick(pause.forMs) })),
    archives: (scenario.archives ?? []).map((archive) => ({ atMs: Math.ceil(archive.atMs / SPEED), forMs: quick(archive.forMs) })),
    jobs: (scenario.jobs ?? []).map(({ cancelAfterMs, ...job }) => ({
      ...job,
      atMs: Math.ceil(job.atMs / SPEED),
      ...(cancelAfterMs !== undefined && { cancelAfterMs: quick(cancelAfterMs) }),
    })),
    reruns: (scenario.reruns ?? []).map((rerun) => ({ ...rerun, atMs: Math.ceil(rerun.atMs / SPEED) })),
    decisions: (scenario.decisions ?? []).map((decision) => ({ ...decision, atMs: Math.ceil(decision.atMs / SPEED) })),
    approvals: (scenario.approvals ?? []).map(({ atMs, timeoutMs, decideAfterMs, ...approval }) => ({
      ...approval,
      atMs: Math.ceil(atMs / SPEED),
      timeoutMs: quick(timeoutMs),
      decideAfterMs: quick(decideAfterMs),
    })),
    quotas: (scenario.quotas ?? []).map((quota) => ({ ...quota, atMs: Math.ceil(quota.atMs / SPEED), forMs: CHANGED_MS })),
    functionLimits: (scenario.functionLimits ?? []).map((limit) => ({ ...limit, atMs: Math.ceil(limit.atMs / SPEED), forMs: CHANGED_MS })),
    wakes: (scenario.wakes ?? []).map((wake) => ({ ...wake, atMs: Math.ceil(wake.atMs / SPEED) })),
    outages: scenario.outages.map((outage, index) => ({
      ...outage,
      atMs: Math.ceil(outage.atMs / SPEED),
      downMs: quick(outage.downMs),
      node: index % nodes,
    })),
    schemas: (scenario.schemas ?? []).map((schema) => ({ ...schema, atMs: Math.ceil(schema.atMs / SPEED), forMs: quick(schema.forMs) })),
    batches: (scenario.batches ?? []).map((batch) => ({ ...batch, atMs: Math.ceil(batch.atMs / SPEED) })),
    echoes: (scenario.echoes ?? []).map((echo) => ({ ...echo, atMs: Math.ceil(echo.atMs / SPEED), afterMs: quick(echo.afterMs) })),
    retentions: (scenario.retentions ?? []).map(({ atMs, eventsMs, runsMs }) => ({
      atMs: Math.ceil(atMs / SPEED),
      eventsMs: Math.max(eventsMs / SPEED, KEPT_MS_MIN),
      runsMs: Math.max(runsMs / SPEED, KEPT_MS_MIN),
    })),
    erasures: (scenario.erasures ?? []).map((erasure) => ({
      ...erasure,
      atMs: Math.ceil(erasure.atMs / SPEED),
      afterMs: quick(erasure.afterMs),
    })),
    rotations: (scenario.rotations ?? []).map((rotation) => ({
      ...rotation,
      atMs: Math.ceil(rotation.atMs / SPEED),
      overlapMs: quick(rotation.overlapMs),
    })),
    signingRotations: (scenario.signingRotations ?? []).map((rotation) => ({
      ...rotation,
      atMs: Math.ceil(rotation.atMs / SPEED),
      deployAfterMs: quick(rotation.deployAfterMs),
      overlapMs: quick(rotation.overlapMs),
    })),
    hooks: (scenario.hooks ?? []).map(({ brokenForMs, replays = [], ...hook }) => ({
      ...hook,
      atMs: Math.ceil(hook.atMs / SPEED),
      rotateAfterMs: quick(hook.rotateAfterMs),
      overlapMs: quick(hook.overlapMs),
      requests: hook.requests.map((request) => ({ ...request, afterMs: quick(request.afterMs) })),
      reconciledAfterMs: hook.reconciledAfterMs.map(quick),
      ...(brokenForMs !== undefined && { brokenForMs: quick(brokenForMs) }),
      replays: replays.map((one) => ({ ...one, afterMs: quick(one.afterMs) })),
    })),
    drills: (scenario.drills ?? []).map((drill) => ({ ...drill, atMs: Math.ceil(drill.atMs / SPEED) })),
    alerts: (scenario.alerts ?? []).map(({ disabledForMs, ...alert }) => ({
      ...alert,
      atMs: Math.ceil(alert.atMs / SPEED),
      forMs: Math.ceil(alert.forMs / SPEED),
      windowMs: Math.max(alert.windowMs / SPEED, LONGEST_MS),
      ...(disabledForMs !== undefined && { disabledForMs: quick(disabledForMs) }),
    })),
    cancellations: (scenario.cancellations ?? []).map((one) => ({ ...one, atMs: Math.ceil(one.atMs / SPEED) })),
    schedules: (scenario.schedules ?? []).map((schedule) => ({ ...schedule, atMs: Math.ceil(schedule.atMs / SPEED) })),
    streams: (scenario.streams ?? []).map((stream) => ({
      ...stream,
      atMs: Math.ceil(stream.atMs / SPEED),
      pairs: stream.pairs.map(quick),
      connections: stream.connections.map(({ forMs, awayMs }) => ({ forMs: quick(forMs), awayMs: quick(awayMs) })),
    })),
    refusals: [],
    callTimeoutMs: CALL_TIMEOUT_MS,
    retryMs: RETRY_MS,
    leaseMs: LEASE_MS,
    connectionCuts: random.pick([0, 0.001, 0.005]),
    isRealTime: true,
    nodes,
    // Nothing happens in one instant: checks allow for that.
    jumble: 1,
  };
}

function quick(ms: number): number {
  return Math.min(Math.ceil(ms / SPEED), LONGEST_MS);
}

function quickerFlow(flow: Flow): Flow {
  return flow.throttle ? { ...flow, throttle: { ...flow.throttle, period: THROTTLE_PERIOD } } : flow;
}

function quicker(code: Code): Code {
  switch (code.kind) {
    case "run":
      return { ...code, tookMs: quick(code.tookMs), error: code.error === "retry-after" ? "plain" : code.error };
    case "sleep":
      return { ...code, ms: quick(code.ms) };
    case "wait":
    case "signal":
    case "ask":
      return { ...code, timeoutMs: quick(code.timeoutMs) };
    case "invoke":
      return { ...code, timeoutMs: code.timeoutMs === null ? null : quick(code.timeoutMs) };
    case "fetch":
      return { ...code, tookMs: quick(code.tookMs) };
    case "sequence":
    case "all":
    case "race":
      return { ...code, parts: code.parts.map(quicker) };
    case "loop":
      return { ...code, part: quicker(code.part) };
    case "try":
      return { ...code, part: quicker(code.part), otherwise: quicker(code.otherwise) };
    default:
      return code;
  }
}
