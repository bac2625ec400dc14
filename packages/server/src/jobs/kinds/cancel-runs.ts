/** The kind runs.cancel. Cancelling twice does no harm: a run that is cancelled already counts as done. */

import type { RunNo } from "@inlet/protocol";
import { RUN_FILTERS } from "../../api/runs/run-filters.ts";
import type { JobError, RunStore, RunSummary } from "../../store/contract/index.ts";
import type { JobKind } from "../job-kind.ts";
import { type FindRunsParts, findRuns } from "./find-runs.ts";

export interface CancelRunsParts extends FindRunsParts {
  store: Pick<RunStore, "runList" | "runSummaries" | "runEnd">;
  /** False when the run has ended already. */
  cancel(run: RunSummary): Promise<boolean>;
}

export function cancelRuns(parts: CancelRunsParts): JobKind {
  const { store, cancel } = parts;

  async function cancelOne(run: RunSummary): Promise<JobError[]> {
    if (run.endedAt === null && (await cancel(run))) return [];
    const end = await store.runEnd({ environmentId: run.environmentId, runNo: run.no });
    return end?.status === "cancelled" ? [] : [{ item: run.id, message: `The run has ended already: it is ${end?.status ?? run.status}.` }];
  }

  return {
    kind: "runs.cancel",
    filters: RUN_FILTERS,
    takesAll: true,
    find: (environment, filter, cursor) => findRuns(parts, environment, filter, cursor),
    async work({ environmentId }, items) {
      const runs = await store.runSummaries({ environmentId, runNos: items as readonly RunNo[] });
      const failures = (await Promise.all(runs.map(cancelOne))).flat();
      const removed = Array.from({ length: items.length - runs.length }, () => ({ item: null, message: "The run has been removed." }));
      return { starts: [], failures: [...removed, ...failures] };
    },
  };
}
