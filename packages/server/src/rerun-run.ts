/** Runs a function anew, with the events one of its runs was started by. */

import type { RunId } from "@inlet/protocol";
import type { Executor } from "./execute/executor.ts";
import { type FanOut, once } from "./fan-out/fan-out.ts";
import type { Registry } from "./fan-out/registry.ts";
import { eventValue } from "./fan-out/waits.ts";
import type { RunDetails, Store } from "./store/contract/index.ts";

export interface RerunParts {
  store: Store;
  registry: Registry;
  fanOut: FanOut;
  executor: Executor;
  now(): number;
}

/** Null when the function or the event is gone. */
export async function rerunRun({ store, registry, fanOut, executor, now }: RerunParts, run: RunDetails): Promise<RunId | null> {
  const target = registry.function(run.functionNo);
  const { environmentId, eventSequence } = run;
  const event = await store.eventAt({ environmentId, sequence: eventSequence });
  if (!target || target.isArchived || !event) return null;
  const at = now();
  const value = once(() => eventValue(event));
  const fresh = {
    ...fanOut.newRun(target, value, at, at),
    originalRunId: run.originalRunId ?? run.id,
    ...(run.cron !== null && { cron: run.cron }),
    ...(run.eventSequences !== null && { eventSequences: run.eventSequences }),
  };
  const { leased } = await store.runStart({ environmentId, eventSequence, run: fresh, now: at, lease: executor.lease() });
  executor.take(leased);
  return fresh.id;
}
