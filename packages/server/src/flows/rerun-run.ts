/** Reruns a run: starts its function again with the same events. */

import type { RunId, StepId } from "@inlet/protocol";
import type { Executor } from "../execute/executor.ts";
import { type FanOut, once } from "../fan-out/fan-out.ts";
import type { Registry } from "../fan-out/registry.ts";
import { eventValue } from "../fan-out/waits.ts";
import type { KeptStep, NewRun, RunDetails, RunSummary, Store, StoredEvent } from "../store/contract/index.ts";

export interface RerunParts {
  store: Store;
  registry: Registry;
  fanOut: FanOut;
  executor: Executor;
  now(): number;
}

/** Null if the function or the event no longer exists. */
export async function rerunRun(
  { store, registry, fanOut, executor, now }: RerunParts,
  run: RunDetails,
  from?: StepId,
): Promise<RunId | null> {
  const { environmentId, eventSequence } = run;
  const event = await store.eventAt({ environmentId, sequence: eventSequence });
  const repeated = event && repeatedRun({ registry, fanOut, now }, run, event);
  if (!repeated) return null;
  const fresh = from === undefined ? repeated : { ...repeated, steps: stepsBefore(run, from) };
  const { isStarted, leased } = await store.runStart({ environmentId, eventSequence, run: fresh, now: now(), lease: executor.lease() });
  executor.take(leased);
  return isStarted ? fresh.id : null;
}

/** The steps that had ended when a step began, in the order in which they ended. */
function stepsBefore({ steps }: RunDetails, from: StepId): KeptStep[] {
  const first = steps.find(({ id }) => id === from);
  if (!first) return [];
  return steps
    .filter(({ id, endedAt, position }) => id !== from && endedAt !== null && endedAt <= first.startedAt && position < first.position)
    .filter((step): step is typeof step & { value: string } => step.value !== null && step.donePosition !== null)
    .sort((a, b) => Number(a.donePosition) - Number(b.donePosition));
}

/** The run that repeats this one; null if its function no longer exists. */
export function repeatedRun(
  { registry, fanOut, now }: Pick<RerunParts, "registry" | "fanOut" | "now">,
  run: RunSummary,
  event: StoredEvent,
): NewRun | null {
  const target = registry.function(run.functionNo);
  if (!target || target.isArchived) return null;
  const at = now();
  const planned = fanOut.newRun(
    target,
    once(() => eventValue(event)),
    at,
    at,
  );
  return {
    ...planned,
    // A rerun of a run that blocks its key takes its position.
    ...(planned.order !== undefined && planned.order.text === run.orderKey && { inPlaceOf: run.no }),
    originalRunId: run.originalRunId ?? run.id,
    ...(run.cron !== null && { cron: run.cron }),
    ...(run.eventSequences !== null && { eventSequences: run.eventSequences }),
  };
}
