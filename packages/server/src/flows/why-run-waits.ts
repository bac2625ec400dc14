/**
 * Why an unfinished run is not being called at the moment: the first of the reasons that hold it up, from the widest to the narrowest.
 * Null if its app is being called, or if it sleeps or waits by itself.
 */

import { NO_RESPONSE } from "../execute/call/no-response.ts";
import { type Gate, gateOfLane } from "../fan-out/lanes.ts";
import type { Registry } from "../fan-out/registry.ts";
import type { AdmissionStore, Environment, QueueStore, RunDetails, RunWaiting } from "../store/contract/index.ts";

export interface WhyRunWaitsParts {
  store: Pick<QueueStore, "queueCallOf"> & Pick<AdmissionStore, "throttleGet">;
  registry: Registry;
  now(): number;
}

export async function whyRunWaits(parts: WhyRunWaitsParts, run: RunDetails, environment: Environment): Promise<RunWaiting | null> {
  const { store, registry, now } = parts;
  if (run.endedAt !== null) return null;
  const call = await store.queueCallOf({ environmentId: run.environmentId, runNo: run.no });
  if (!call || call.isLeased) return null;
  const waits = (reason: RunWaiting["reason"], more: Partial<RunWaiting> = {}) => ({ reason, until: null, runId: null, ...more });
  const pausedAt = registry.function(run.functionNo)?.stored.pausedAt ?? null;
  if (environment.archivedAt !== null) return waits("environment_archived");
  if (pausedAt !== null) return waits("function_paused");
  if (call.behind) return waits(call.behind.isHeld ? "key_on_hold" : "key_busy", { runId: call.behind.runId });
  if (call.dueAt > now()) {
    return waits(call.attempt > 0 && wasUnreachable(run.attempts.at(-1)) ? "app_unreachable" : call.attempt > 0 ? "retry" : "delayed", {
      until: call.dueAt,
    });
  }
  const gate = gateOfLane(registry, call.lane);
  const until = gate && (await throttledUntil(parts, run, gate));
  if (until) return waits("throttled", { until });
  if (gate) return waits(gate.limit ? "limit_full" : "throttled");
  return waits(call.lane.startsWith("fn:") || environment.quotas.callsAtOnce !== null ? "limit_full" : "app_busy");
}

/** A step that failed has no status of its own either: its app reported it. */
function wasUnreachable(attempt: RunDetails["attempts"][number] | undefined): boolean {
  return attempt?.httpStatus === null && attempt.error.name === NO_RESPONSE;
}

/** When the throttle admits the next run; null if it would admit one now. */
async function throttledUntil({ store, now }: WhyRunWaitsParts, { environmentId }: RunDetails, gate: Gate): Promise<number | null> {
  if (!gate.throttle) return null;
  const { key, admit } = gate.throttle;
  const remembered = await store.throttleGet({ environmentId, functionNo: gate.functionNo, key });
  const at = now();
  const { nextAt } = admit(at)(remembered, 0);
  return nextAt > at ? nextAt : null;
}
